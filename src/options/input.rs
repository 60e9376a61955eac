//! What is read, and how.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};

use crate::console;
use crate::options::choices::{Choice, one_of};
use crate::options::files::read_text;
use crate::options::global::Global;
use crate::options::numbers::Bytes;
use crate::sessions::found::named_path;
use curtail_core::dialects::{Description, DescriptionError, Framing, register};
use curtail_core::numbers::counted;
use curtail_io::batch::{Batch, Damage, InputOptions, OnError};
use curtail_io::{Beside, ErrorKind, FileError, Inputs, OpenTable, Source, Wanted};

/// What opens tables, in a build that can.
#[cfg(feature = "parquet")]
const OPEN_TABLE: Option<OpenTable> = Some(curtail_tables::open);
#[cfg(not(feature = "parquet"))]
const OPEN_TABLE: Option<OpenTable> = None;

/// The framing that `--framing` requests; `None` to detect it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestedFraming(pub(crate) Option<Framing>);

/// The values of `--framing`.
const FRAMINGS: &[Choice<RequestedFraming>] = &[
    Choice::new("auto", RequestedFraming(None), "Detect it from the first values"),
    Choice::new("lines", RequestedFraming(Some(Framing::Lines)), "One message or event per line"),
    Choice::new("records", RequestedFraming(Some(Framing::Records)), "One transcript per line"),
    Choice::new("document", RequestedFraming(Some(Framing::Document)), "One JSON value per file"),
];

// What is read, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// Files, directories, globs or sessions (`@last`); `-` or none for standard input
    #[arg(
        value_name = "PATH",
        help_heading = None,
        value_parser = OsStringValueParser::new().try_map(|given| named_path(&given))
    )]
    pub(crate) paths: Vec<PathBuf>,

    /// Find only files that match GLOB in directories
    ///
    /// A GLOB with a slash applies to the path below the named directory, one without to the name. `sub/` is the name `sub` at any
    /// depth, `./a.jsonl` only the one right in the named directory. Files that you name are always read.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub(crate) glob: Vec<String>,

    /// Pass over files and directories that match GLOB in directories
    ///
    /// GLOB applies as that of --glob does.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub(crate) exclude_path: Vec<String>,

    /// Find ignored files in directories as well
    ///
    /// A `.gitignore` in a repository, an `.ignore`, and git's own lists name ignored files. Files and globs that you name are
    /// always read.
    #[arg(long, hide_short_help = true)]
    pub(crate) no_ignore: bool,

    /// Find hidden files and folders in directories as well
    #[arg(long, hide_short_help = true)]
    pub(crate) hidden: bool,

    /// How a file contains its transcripts
    #[arg(long, value_parser = one_of(FRAMINGS), default_value = "auto", hide_short_help = true)]
    pub(crate) framing: RequestedFraming,

    /// Dialect, detected by default; see `curtail dialects`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) dialect: String,

    /// Read the input as the dialect that FILE describes
    ///
    /// Of several files, the dialect that fits is detected. `curtail dialects NAME` prints a description to start from, and `curtail dialects --test` tries one.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) dialect_file: Vec<PathBuf>,

    /// Member that contains a record's messages, as keys joined by dots
    #[arg(long, value_name = "KEY", hide_short_help = true)]
    pub(crate) messages_key: Option<String>,

    /// Column of a Parquet or Arrow file that contains the transcripts, detected by default
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) column: Option<String>,

    /// Longest record, log or document to read, in bytes after decompression (64k = 64,000; 16m, 2g; 0 = no limit)
    #[arg(long, value_name = "SIZE", default_value = "1g", hide_short_help = true)]
    pub(crate) max_record: Bytes,

    /// Read only what the model still reads: from the last boundary on, without turns that were rolled back
    #[arg(long, hide_short_help = true)]
    pub(crate) live: bool,

    /// Name for standard input in messages [default: stdin]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) stdin_filename: Option<String>,
}

/// The description in the file at `path`, to try it: one of which only `[write]` is wrong reads, and comes with what is wrong.
///
/// # Errors
/// The file cannot be read, or it does not say how a text is read.
pub(crate) fn description_to_try(path: &Path) -> Result<(Description, Option<FileError>), FileError> {
    let (description, wrong) = described(path, Description::to_try)?;
    Ok((description, wrong.map(|wrong| misdescribed(path, wrong))))
}

/// What `read` makes of the file at `path`.
fn described<T>(path: &Path, read: impl Fn(&str) -> Result<T, DescriptionError>) -> Result<T, FileError> {
    read(&read_text(path)?).map_err(|wrong| misdescribed(path, wrong))
}

fn misdescribed(path: &Path, wrong: DescriptionError) -> FileError {
    FileError::new(ErrorKind::Content, path.display().to_string(), wrong.what).at(wrong.place)
}

impl Input {
    /// Makes the dialects known that files describe, and says how inputs are read.
    pub(crate) fn prepare(&self) -> Result<InputOptions, FileError> {
        let only = self.register_described()?;
        let dialect = Some(self.dialect.clone()).filter(|name| name != "auto").or(only);
        let input_options = InputOptions {
            framing: self.framing.0,
            dialect,
            messages_key: self.messages_key.clone(),
            max_record: Some(self.max_record.0).filter(|&most| most > 0),
            block: None,
            column: self.column.clone(),
            open_table: OPEN_TABLE,
        };
        // An unknown name is an error before any input is read.
        input_options.reading(Framing::Lines)?;
        Ok(input_options)
    }

    /// Makes the described dialects known, for as long as the program runs. The name of the dialect, if there is only one.
    fn register_described(&self) -> Result<Option<String>, FileError> {
        let described = self.dialect_file.iter().map(|path| described(path, Description::read));
        let described = described.collect::<Result<Vec<_>, _>>()?;
        register(&described);
        match described.as_slice() {
            [only] => Ok(Some(only.dialect().name().to_owned())),
            _ => Ok(None),
        }
    }

    /// A batch that only reads: what fails is passed over, and of a damaged log, what can be read is read.
    pub(crate) fn batch(&self, global: &Global) -> Result<Batch, FileError> {
        let input_options = self.prepare()?;
        Ok(Batch {
            jobs: global.jobs,
            input_options,
            on_error: OnError::Skip,
            damage: Damage::ReadAround,
            ..Batch::default()
        })
    }

    /// What to look for: everything that the paths name, except what is below `except`.
    fn wanted<'w>(&'w self, except: Option<&'w Path>) -> Wanted<'w> {
        let stdin_name = self.stdin_filename.as_deref();
        let globs = &self.glob;
        let excludes = &self.exclude_path;
        let beside = Beside { ignored: self.no_ignore, hidden: self.hidden };
        Wanted { paths: &self.paths, stdin_name, except, globs, excludes, skips_links: false, beside }
    }

    /// The inputs that the paths name and an error for each one not found; nothing below `except`.
    pub(crate) fn sources(&self, except: Option<&Path>) -> Result<(Vec<Source>, Vec<FileError>), FileError> {
        self.find(&self.wanted(except)).map(|Inputs { sources, errors, .. }| (sources, errors))
    }

    /// As [`Input::sources`], for files that are changed in place. Symbolic links in directories may lead to files that do not
    /// belong to the directory, so they are not followed, and one warning names them.
    pub(crate) fn sources_in_place(&self, global: &Global) -> Result<(Vec<Source>, Vec<FileError>), FileError> {
        let wanted = Wanted { skips_links: true, ..self.wanted(None) };
        let Inputs { sources, errors, links, .. } = self.find(&wanted)?;
        if !links.is_empty() {
            let shown = if global.verbose { links.len() } else { 3 };
            let names: Vec<_> = links.iter().take(shown).map(|link| link.to_string_lossy()).collect();
            let more = if links.len() > shown { ", …" } else { "" };
            let count = counted(links.len(), "symbolic link");
            let verb = if links.len() == 1 { "was" } else { "were" };
            console::warning(&format!(
                "{count} {verb} not followed, because files are changed in place: {}{more}; name it, or pass --follow-links",
                names.join(", ")
            ));
        }
        Ok((sources, errors))
    }

    /// Finds the inputs. A terminal as standard input is an error: nobody types a transcript.
    fn find(&self, wanted: &Wanted<'_>) -> Result<Inputs, FileError> {
        let mut found = curtail_io::find_sources(wanted)?;
        self.warn_unused(&found);
        for error in found.errors.iter_mut().filter(|error| is_number(&error.name)) {
            error.what.push_str("; a number needs a flag (see --help)");
        }
        if found.sources.iter().any(|source| source.path.is_none()) && std::io::stdin().is_terminal() {
            let reason = "standard input is a terminal; name a file or pipe a transcript in (see --help)";
            return Err(FileError::new(ErrorKind::Usage, "", reason));
        }
        Ok(found)
    }

    /// Warns of flags that have no effect on `files`, which were named and not searched for.
    pub(crate) fn warn_unused_of_files(&self, files: &[&Source]) {
        let unmatched = self.glob.iter().chain(&self.exclude_path).cloned().collect();
        let sources = files.iter().copied().cloned().collect();
        self.warn_unused(&Inputs { sources, unmatched, ..Inputs::default() });
    }

    /// Warns of flags that have no effect on what was found.
    fn warn_unused(&self, found: &Inputs) {
        if let Some(glob) = found.unmatched.first() {
            console::warning(&match found.has_walked {
                true => format!("no file in a directory matches `{glob}`"),
                false => format!("`{glob}` applies to files in directories, and no directory is named"),
            });
        }
        let flags = [(self.no_ignore, "--no-ignore"), (self.hidden, "--hidden")];
        for (_, flag) in flags.iter().filter(|(given, _)| *given && !found.has_walked) {
            console::warning(&format!("{flag} applies to files in directories, and no directory is named"));
        }
        if found.passed_over > 0 {
            let files = counted(found.passed_over, "transcript");
            let verb = if found.passed_over == 1 { "is" } else { "are" };
            console::warning(&format!(
                "{files} {verb} ignored (`.gitignore`) or hidden; pass --no-ignore or --hidden, or name the files"
            ));
        }
        let reads_stdin = found.sources.iter().any(|source| source.path.is_none());
        if let Some(name) = self.stdin_filename.as_ref().filter(|_| !reads_stdin) {
            console::warning(&format!("--stdin-filename {name}: standard input is not read"));
        }
        if let Some(column) = self.column.as_ref().filter(|_| found.sources.iter().all(has_name_of_json)) {
            console::warning(&format!("--column {column}: no input is a Parquet or Arrow file"));
        }
    }
}

/// Whether the name of an input that was not found is a number, which belongs to a flag.
fn is_number(name: &str) -> bool {
    name.strip_suffix(['k', 'm']).unwrap_or(name).parse::<u64>().is_ok()
}

/// Whether an input is a file with the name of one of JSON, compressed or not.
fn has_name_of_json(source: &Source) -> bool {
    let Some(path) = &source.path else { return false };
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
    [".jsonl", ".ndjson", ".json"].iter().any(|ending| name.ends_with(ending))
}
