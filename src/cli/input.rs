//! The flags that commands share.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::report;
use super::sessions::named_path;
use crate::batch::{Batch, InputOptions, OnError, TextOrJson};
use crate::cli::options::{Choice, one_of};
use crate::cli::repair::{REPAIR_MODES, repairs};
use crate::console;
use crate::progress::Show;
use curtail_core::dialects::{Framing, iso_8601};
use curtail_core::figures::StaleFigures;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Live, RepairMode, Thinking};
use curtail_core::visible::number_of;
use curtail_io::{ErrorKind, FileError};
use curtail_io::{Inputs, Source, Wanted};
use curtail_memory::rolling::Shown;

/// The framing that `--framing` requests; `None` to detect it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestedFraming(pub(super) Option<Framing>);

/// The values of `--framing`.
const FRAMINGS: &[Choice<RequestedFraming>] = &[
    Choice::new("auto", RequestedFraming(None), "Detect it from the first values"),
    Choice::new("lines", RequestedFraming(Some(Framing::Lines)), "One message or event per line"),
    Choice::new("records", RequestedFraming(Some(Framing::Records)), "One transcript per line"),
    Choice::new("document", RequestedFraming(Some(Framing::Document)), "One JSON value per file"),
];

/// The values of `--on-error`.
const ERROR_POLICIES: &[Choice<OnError>] = &[
    Choice::new("fail", OnError::Fail, "Stop reading the file, write no output for it, and exit with status 2"),
    Choice::new("skip", OnError::Skip, "Drop the record, with a warning"),
    Choice::new("keep", OnError::Keep, "Keep the record unchanged, with a warning"),
    Choice::new(
        "report",
        OnError::Report,
        "Write `!` and the reason as JSON in place of the record (pipes of records)",
    ),
];

/// The values of `--thinking`.
const THINKING: &[Choice<Thinking>] = &[
    Choice::new("auto", Thinking::Auto, "Drop what the model would reject"),
    Choice::new("keep", Thinking::Keep, "Keep all"),
    Choice::new("drop", Thinking::Drop, "Drop all after the first change"),
];

/// The values of `--usage`.
const USAGE: &[Choice<StaleFigures>] = &[
    Choice::new("reset", StaleFigures::Reset, "Set them to 0, where the agent reads them back"),
    Choice::new("keep", StaleFigures::Keep, "Keep all"),
];

// What is read, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub(super) struct Input {
    /// Files, directories, globs or sessions (`@last`); `-` or none for standard input
    #[arg(
        value_name = "PATH",
        help_heading = None,
        value_parser = OsStringValueParser::new().try_map(|given| named_path(&given))
    )]
    pub(super) paths: Vec<PathBuf>,

    /// Find only files that match GLOB in directories
    ///
    /// A GLOB with a slash applies to the path below the named directory, one without to the name. Files that you name are
    /// always read.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub(super) glob: Vec<String>,

    /// Pass over files and directories that match GLOB in directories
    ///
    /// GLOB applies as that of --glob does.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub(super) exclude_path: Vec<String>,

    /// How a file contains its transcripts
    #[arg(long, value_parser = one_of(FRAMINGS), default_value = "auto", hide_short_help = true)]
    pub(super) framing: RequestedFraming,

    /// Dialect, detected by default; see `curtail dialects`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(super) dialect: String,

    /// Member that contains a record's messages, as keys joined by dots
    #[arg(long, value_name = "KEY", hide_short_help = true)]
    pub(super) messages_key: Option<String>,

    /// Column of a Parquet or Arrow file that contains the transcripts, detected by default
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(super) column: Option<String>,

    /// Longest record, log or document to read, in bytes after decompression (64k, 16m, 2g; 0 = no limit)
    #[arg(long, value_name = "SIZE", default_value = "1g", hide_short_help = true)]
    pub(super) max_record: Size,

    /// Read only what the model still reads: from the last boundary on, without turns that were rolled back
    #[arg(long, hide_short_help = true)]
    pub(super) live: bool,

    /// Name for standard input in messages [default: stdin]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(super) stdin_filename: Option<String>,
}

/// A number of bytes; 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size(usize);

impl Size {
    /// The limit; `None` for 0.
    pub(super) fn limit(self) -> Option<usize> {
        Some(self.0).filter(|&size| size > 0)
    }
}

impl std::str::FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.to_ascii_lowercase();
        let units = [("k", 10), ("m", 20), ("g", 30)];
        let unit = units.iter().find_map(|(unit, bits)| Some((lower.strip_suffix(unit)?, *bits)));
        let (digits, bits) = unit.unwrap_or((&lower, 0));
        let size = digits.parse::<usize>().ok().and_then(|count| count.checked_mul(1 << bits));
        size.map(Self).ok_or("expected a number of bytes, such as 500000, 64k, 16m or 2g")
    }
}

// The flags of every command that cuts.
#[derive(Debug, Clone, Args)]
pub(super) struct CutFlags {
    #[command(flatten)]
    pub(super) input: Input,

    /// Repair broken pairs before the cut
    #[arg(long, value_parser = one_of(REPAIR_MODES), value_name = "HOW", help_heading = "Repair")]
    pub(super) repair: Option<RepairMode>,

    /// Also repair calls that are pending at the end
    #[arg(long, hide_short_help = true, help_heading = "Repair")]
    pub(super) repair_pending: bool,

    /// How to treat signed reasoning after the first change; by default, drop what the model would reject
    ///
    /// Claude signs its reasoning. Newer models reject a signed block if anything before it was dropped, changed or inserted.
    /// `auto` drops these blocks if the transcript names such a model, and keeps them if it names another. If it names none,
    /// `auto` keeps them in datasets (a transcript per line) and in the in-flight round, and drops all others. Reasoning before
    /// the first change, and reasoning without a signature, is never touched.
    #[arg(
        long,
        value_parser = one_of(THINKING),
        value_name = "HOW",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "Repair"
    )]
    pub(super) thinking: Thinking,

    /// How to treat the token counts in a log that are wrong after the first change
    ///
    /// Agents take the last count in their log for the size of the conversation, and compact a copy that is much smaller before
    /// they answer. `reset` sets the counts after the first change to 0, and takes out lines with nothing else, in logs of agents
    /// that read them back; `keep` leaves all counts as they are.
    #[arg(
        long,
        value_parser = one_of(USAGE),
        value_name = "HOW",
        default_value = "reset",
        hide_short_help = true,
        help_heading = "Repair"
    )]
    pub(super) usage: StaleFigures,

    #[command(flatten)]
    pub(super) output: Output,

    /// Report every change and its reason on standard error
    #[arg(
        long,
        value_parser = explain_format(),
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = "Report"
    )]
    pub(super) explain: Option<TextOrJson>,

    /// Write no transcript; report what would change on standard error
    #[arg(long, help_heading = "Report")]
    pub(super) dry_run: bool,

    /// Report totals before and after, and the time
    #[arg(
        long,
        value_parser = text_or_json("A table", "One JSON object"),
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = "Report"
    )]
    pub(super) stats: Option<TextOrJson>,

    /// Exit with status 1 if anything changed or would change
    #[arg(long, hide_short_help = true, help_heading = "Report")]
    pub(super) fail_on_change: bool,
}

/// The flags of every command, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global")]
pub(super) struct Global {
    /// Number of threads (0 = all cores)
    #[arg(short, long, global = true, value_name = "N", default_value_t = 0, env = "CURTAIL_JOBS")]
    pub(super) jobs: usize,

    /// Print errors only
    #[arg(short, long, global = true, env = "CURTAIL_QUIET", value_parser = clap::builder::FalseyValueParser::new())]
    pub(super) quiet: bool,

    /// Report the framing and dialect of each input, and every note
    #[arg(short, long, global = true, env = "CURTAIL_VERBOSE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(super) verbose: bool,

    /// When to use colors; `NO_COLOR` is respected
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", env = "CURTAIL_COLOR")]
    pub(super) color: When,

    /// When to show progress: bars on a terminal, otherwise a line every ten seconds
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", env = "CURTAIL_PROGRESS")]
    pub(super) progress: When,

    #[arg(skip = Environment::of_process())]
    pub(super) environment: Environment,
}

/// `--color`, `--progress`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// Only on a terminal
    Auto,
    /// Also in files and pipes
    Always,
    /// Not at all
    Never,
}

/// Whether the user named standard input or output instead of a file.
pub(super) fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

// Where the output is written.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// Write to FILE atomically; compress `.gz` and `.zst`
    #[arg(short, long, value_name = "FILE", group = "place")]
    pub(super) output: Option<PathBuf>,

    /// Write each output below DIR, at its input's relative path
    #[arg(short = 'O', long, value_name = "DIR", group = "place")]
    pub(super) output_dir: Option<PathBuf>,

    /// Replace inputs atomically; SUFFIX keeps a backup as NAME+SUFFIX
    #[arg(
        short,
        long,
        value_name = "SUFFIX",
        group = "place",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(super) in_place: Option<OsString>,

    /// Write a session of its own, with a new id, where its agent finds it (or to --output); print its path
    ///
    /// The command that resumes it is printed on standard error. No file is ever replaced, and the input is not changed.
    #[arg(long, conflicts_with_all = ["output_dir", "in_place", "resume", "force"], hide_short_help = true)]
    pub(super) as_new_session: bool,

    /// With --in-place, also replace files that symbolic links in directories lead to
    #[arg(long, hide_short_help = true)]
    pub(super) follow_links: bool,

    /// Overwrite existing outputs; existing backups are kept
    #[arg(long, hide_short_help = true)]
    pub(super) force: bool,

    /// Skip inputs that an earlier run with the same options finished, as recorded in MANIFEST
    ///
    /// Without MANIFEST, the record is kept in the directory of --output-dir, or in the working directory with --in-place.
    #[arg(
        long,
        value_name = "MANIFEST",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        hide_short_help = true
    )]
    pub(super) resume: Option<OsString>,

    /// Do not wait until outputs are on the disk; after a power failure, some may be empty or missing
    #[arg(long, hide_short_help = true)]
    pub(super) no_sync: bool,

    /// How to handle records that fail
    #[arg(
        long,
        value_parser = one_of(ERROR_POLICIES),
        value_name = "WHAT",
        default_value = "fail",
        env = "CURTAIL_ON_ERROR",
        hide_short_help = true
    )]
    pub(super) on_error: OnError,

    /// Write records that fail or are dropped to FILE with the reason, one JSON object per line
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) rejects: Option<PathBuf>,
}

impl Input {
    /// How inputs are read.
    pub(super) fn input_options(&self) -> Result<InputOptions, FileError> {
        let dialect = Some(self.dialect.clone()).filter(|name| name != "auto");
        let input_options = InputOptions {
            framing: self.framing.0,
            dialect,
            messages_key: self.messages_key.clone(),
            max_record: self.max_record.limit(),
            block: None,
            column: self.column.clone(),
        };
        // An unknown name is an error before any input is read.
        input_options.reading(Framing::Lines)?;
        Ok(input_options)
    }

    /// A batch that only reads: what fails is passed over.
    pub(super) fn batch(&self, global: &Global) -> Result<Batch, FileError> {
        let input_options = self.input_options()?;
        Ok(Batch { jobs: global.jobs, input_options, on_error: OnError::Skip, ..Batch::default() })
    }

    /// What to look for: everything that the paths name, except what is below `except`.
    pub(super) fn wanted<'w>(&'w self, except: Option<&'w Path>) -> Wanted<'w> {
        let stdin_name = self.stdin_filename.as_deref();
        let (globs, excludes) = (&self.glob, &self.exclude_path);
        Wanted { paths: &self.paths, stdin_name, except, globs, excludes, skips_links: false }
    }

    /// The inputs that the paths name and an error for each one not found; nothing below `except`.
    pub(super) fn sources(
        &self,
        except: Option<&Path>,
        global: &Global,
    ) -> Result<(Vec<Source>, Vec<FileError>), FileError> {
        self.find(&self.wanted(except), global).map(|Inputs { sources, errors, .. }| (sources, errors))
    }

    /// As [`Input::sources`], for files that are changed in place. Symbolic links in directories may lead to files that do not
    /// belong to the directory, so they are not followed, and one warning names them.
    pub(super) fn sources_in_place(&self, global: &Global) -> Result<(Vec<Source>, Vec<FileError>), FileError> {
        let wanted = Wanted { skips_links: true, ..self.wanted(None) };
        let Inputs { sources, errors, links, .. } = self.find(&wanted, global)?;
        if !links.is_empty() && !global.quiet {
            let shown = if global.verbose { links.len() } else { 3 };
            let names: Vec<_> = links.iter().take(shown).map(|link| link.to_string_lossy()).collect();
            let more = if links.len() > shown { ", …" } else { "" };
            let (count, verb) =
                (number_of(links.len(), "symbolic link"), if links.len() == 1 { "was" } else { "were" });
            report::warning(&format!(
                "{count} {verb} not followed, because files are changed in place: {}{more}; name it, or pass --follow-links",
                names.join(", ")
            ));
        }
        Ok((sources, errors))
    }

    /// Finds the inputs. A terminal as standard input is an error: nobody types a transcript.
    fn find(&self, wanted: &Wanted<'_>, global: &Global) -> Result<Inputs, FileError> {
        let mut found = curtail_io::find_sources(wanted)?;
        if !global.quiet {
            self.warn_unused(&found);
        }
        let is_number = |name: &str| name.trim_end_matches(['k', 'm']).parse::<u64>().is_ok();
        for error in found.errors.iter_mut().filter(|error| is_number(&error.name)) {
            error.what.push_str(&format!("; a number needs a flag, such as -n {}", error.name));
        }
        if found.sources.iter().any(|source| source.path.is_none()) && std::io::stdin().is_terminal() {
            let reason = "standard input is a terminal; name a file or pipe a transcript in (see --help)";
            return Err(FileError::new(ErrorKind::Usage, "", reason));
        }
        Ok(found)
    }

    /// Warns of flags that have no effect on what was found.
    fn warn_unused(&self, found: &Inputs) {
        if let Some(glob) = found.unmatched.first() {
            report::warning(&match found.has_walked {
                true => format!("no file in a directory matches `{glob}`"),
                false => format!("`{glob}` applies to files in directories, and no directory is named"),
            });
        }
        let reads_stdin = found.sources.iter().any(|source| source.path.is_none());
        if let Some(name) = self.stdin_filename.as_ref().filter(|_| !reads_stdin) {
            report::warning(&format!("--stdin-filename {name}: standard input is not read"));
        }
        let is_json = |source: &Source| source.path.as_deref().is_some_and(has_name_of_json);
        if let Some(column) = self.column.as_ref().filter(|_| found.sources.iter().all(is_json)) {
            report::warning(&format!("--column {column}: no input is a Parquet or Arrow file"));
        }
    }
}

/// Whether a file has the name of one of JSON, compressed or not.
fn has_name_of_json(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
    [".jsonl", ".ndjson", ".json"].iter().any(|ending| name.ends_with(ending))
}

impl Global {
    /// Applies `--color` to all later output.
    pub(super) fn apply(&self) {
        if self.color != When::Auto {
            console::use_colors(self.color == When::Always);
        }
    }

    /// How progress is shown; `crowded` if standard output uses the same terminal.
    pub(super) fn progress_display(&self, crowded: bool) -> Show {
        let terminal = console::err_is_terminal();
        match self.progress {
            When::Never => Show::Never,
            _ if self.quiet => Show::Never,
            When::Always if terminal => Show::BarsNow,
            When::Always => Show::Lines,
            When::Auto if terminal && !crowded && !self.environment.is_ci => Show::Bars,
            When::Auto => Show::Never,
        }
    }
}

/// The parser of a flag for a format, with the help of each.
pub(super) fn text_or_json(text: &'static str, json: &'static str) -> impl TypedValueParser<Value = TextOrJson> {
    let formats = [PossibleValue::new("text").help(text), PossibleValue::new("json").help(json)];
    PossibleValuesParser::new(formats).map(|name| if name == "json" { TextOrJson::Json } else { TextOrJson::Text })
}

/// The parser of `--explain`.
pub(super) fn explain_format() -> impl TypedValueParser<Value = TextOrJson> {
    text_or_json("One line of text for each entry", "One JSON object per line")
}

impl CutFlags {
    /// `chain`, preceded by the stages of `--live` and `--repair`: what a cut keeps depends on which pairs are complete.
    pub(super) fn with_repair(&self, chain: Chain) -> Chain {
        let mut before = Chain::default();
        if self.input.live {
            before = before.then(Live);
        }
        if let Some(mode) = self.repair {
            before = before.at("", repairs(mode, self.repair_pending, None));
        }
        before.stages.extend(chain.stages);
        Chain { stages: before.stages, thinking: self.thinking, figures: self.usage, ..chain }
    }

    /// What a thread shows of its messages.
    pub(super) const fn shown_context(&self) -> Shown {
        Shown::Context { thinking: self.thinking, figures: self.usage }
    }
}

/// The environment variables that belong to no flag: read once when the program starts, and passed down.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    /// Whether `CI` is set, so that no progress bars are shown.
    pub(super) is_ci: bool,
    /// `SOURCE_DATE_EPOCH`: the time to use as the current one, in seconds since 1970, for reproducible output
    /// (<https://reproducible-builds.org/specs/source-date-epoch/>).
    source_date_epoch: Option<String>,
}

impl Environment {
    /// The environment of this process.
    fn of_process() -> Self {
        let seconds = std::env::var_os("SOURCE_DATE_EPOCH").filter(|seconds| !seconds.is_empty());
        Self {
            is_ci: std::env::var_os("CI").is_some(),
            source_date_epoch: seconds.map(|seconds| seconds.to_string_lossy().into_owned()),
        }
    }

    /// The current time.
    ///
    /// # Errors
    /// `SOURCE_DATE_EPOCH` is no time.
    pub(super) fn now(&self) -> anyhow::Result<SystemTime> {
        let Some(seconds) = &self.source_date_epoch else { return Ok(SystemTime::now()) };
        let since = seconds.parse().ok().map(Duration::from_secs);
        let time = since.and_then(|since| UNIX_EPOCH.checked_add(since));
        time.with_context(|| format!("`SOURCE_DATE_EPOCH` takes the seconds since 1970, not `{seconds}`"))
    }
}

/// A time in ISO 8601. One before 1970 is shown as its beginning.
pub(super) fn iso_time(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    iso_8601(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
