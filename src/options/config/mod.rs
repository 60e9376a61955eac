//! `curtail.toml`: what it may do, and which processors it has. The keys of their tables, and of those of other commands, are read
//! in `keys`.

mod chosen;
mod levels;
mod owner;

use std::cell::Cell;
use std::fmt::Display;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeValue;

use crate::options::PROCESSOR_SPECS;
use crate::options::files::{Reads, read_text};
use crate::options::keys::{KeyReader, TableRead, TableSpec};
use crate::options::variables::Variables;
use curtail_core::dialects::{Description, register};
use curtail_core::globs::InvalidGlob;
use curtail_core::pipeline::{Chain, ProcessorLevels};
use curtail_core::system_error::system_message;
use curtail_io::{ErrorKind, FileError};
use levels::{LevelReader, MAX_FOUND_PROCESSORS, ProcessorEntry};
use owner::foreign_owner;

pub(crate) use chosen::{ConfigFlags, ConfigIndex, FileConfigs, NOT_FOUND};

/// A processor of a configuration and the level that it comes from.
pub(crate) type ConfigStep<'c> = curtail_core::pipeline::Step<'c, ProcessorEntry>;

/// The names of a configuration in a folder; the first that exists is used.
const NAMES: [&str; 2] = ["curtail.toml", ".curtail.toml"];

/// Maximum bytes and `check.paths` tables of a file that was found: whoever wrote it must not keep the program busy.
const MAX_FOUND_BYTES: u64 = 1 << 20;
const MAX_FOUND_PATHS: usize = 1000;

/// The tables that describe dialects.
const DIALECTS: &str = "dialects";

/// What the user can do about a file that was found and is refused.
const NAMING_ADVICE: &str = "name it with -c to use it";

/// How a configuration was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigChoice {
    /// The user named it.
    Named,
    /// It is in the user's configuration folder.
    OfUser,
    /// It is in the working directory or above it; other people may have written it.
    Found,
}

impl ConfigChoice {
    /// Whether the file may run programs, name servers, keys and files, and be of any size.
    pub(crate) fn is_trusted(self) -> bool {
        self != Self::Found
    }
}

/// The content of a configuration file.
pub(crate) struct Config {
    /// The name of the file in messages.
    pub(crate) file: String,
    /// How it was chosen.
    pub(crate) choice: ConfigChoice,
    text: String,
    levels: ProcessorLevels<ProcessorEntry>,
    variables: Variables,
}

impl Config {
    /// Reads the file at `path`, which the user named.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub(crate) fn named(path: &Path) -> Result<Self, FileError> {
        Self::load(path, ConfigChoice::Named, &Variables::of_process())
    }

    /// Reads the file at `path`. Relative paths in it are resolved against its folder.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is not understood.
    pub(crate) fn load(path: &Path, choice: ConfigChoice, variables: &Variables) -> Result<Self, FileError> {
        let file = path.display().to_string();
        let text = match choice.is_trusted() {
            true => read_text(path)?,
            false => found_text(path, variables)
                .map_err(|reason| FileError::new(ErrorKind::Content, file.as_str(), reason))?,
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let keys = KeyReader { file: &file, text: &text, folder, specs: PROCESSOR_SPECS, variables };
        let remaining = Cell::new(if choice.is_trusted() { usize::MAX } else { MAX_FOUND_PROCESSORS });
        let root = keys.root()?;
        let levels = LevelReader { keys, remaining }.levels(root.get_ref())?;
        if root.get_ref().contains_key(DIALECTS) {
            if !choice.is_trusted() {
                return Err(keys.whole(format!("a file that was found may describe no dialects; {NAMING_ADVICE}")));
            }
            let described = Description::of_configuration(&text);
            register(&described.map_err(|error| keys.whole(error.what).at(error.place))?);
        }
        Ok(Self { file, choice, text, levels, variables: variables.clone() })
    }

    /// The folder that path globs are resolved against: the folder of the file, or the working directory for the user's own
    /// file, which belongs to no project.
    pub(crate) fn folder(&self) -> &Path {
        let folder = Path::new(&self.file).parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.filter(|_| self.choice != ConfigChoice::OfUser).unwrap_or(Path::new("."))
    }

    /// Refuses more `check.paths` tables than a file that was found may have.
    ///
    /// # Errors
    /// There are more.
    pub(crate) fn refuse_many_paths(&self, paths: usize) -> Result<(), FileError> {
        if self.choice.is_trusted() || paths <= MAX_FOUND_PATHS {
            return Ok(());
        }
        let reason =
            format!("a file that was found may have at most {MAX_FOUND_PATHS} `check.paths` tables; {NAMING_ADVICE}");
        Err(self.keys().whole(reason))
    }

    /// The file that applies to `folder`: the closest one in it or above it, up to the root of the repository. Other people
    /// may have written it.
    pub(crate) fn discover(folder: &Path) -> Option<PathBuf> {
        for folder in folder.ancestors() {
            if let Some(found) = in_folder(folder) {
                return Some(found);
            }
            if folder.join(".git").exists() {
                break;
            }
        }
        None
    }

    /// The user's own file, for folders without one.
    pub(crate) fn of_user(variables: &Variables) -> Option<PathBuf> {
        in_folder(&variables.user_folder("XDG_CONFIG_HOME", ".config")?.join("curtail"))
    }

    /// What the table of `spec` says; `None` if there is no such table.
    ///
    /// # Errors
    /// The first error in the table, with its place.
    pub(crate) fn table<T>(&self, spec: &TableSpec<T>) -> Result<Option<TableRead<T>>, FileError> {
        let keys = self.keys();
        let root = keys.root()?;
        root.get_ref().get(spec.name).map(|table| spec.read(keys, spec.name, table)).transpose()
    }

    /// What the tables in an array say, which the table `outer` has under the name of `spec`.
    ///
    /// # Errors
    /// The first error in a table, with its place.
    pub(crate) fn inner_tables<T>(&self, outer: &str, spec: &TableSpec<T>) -> Result<Vec<TableRead<T>>, FileError> {
        let keys = self.keys();
        let root = keys.root()?;
        let Some(members) = root.get_ref().get(outer).and_then(|table| table.get_ref().as_table()) else {
            return Ok(Vec::new());
        };
        let tables = keys.tables(members, spec.name, &format!("{outer}.{}", spec.name))?;
        tables.iter().map(|table| spec.read(keys, spec.name, table)).collect()
    }

    /// The names of the dialects that it describes, each with its line.
    ///
    /// # Errors
    /// They are no tables.
    pub(crate) fn dialects(&self) -> Result<Vec<(String, usize)>, FileError> {
        let keys = self.keys();
        let root = keys.root()?;
        let tables = keys.tables(root.get_ref(), DIALECTS, DIALECTS)?.iter();
        let named = tables.filter_map(|table| {
            let name = table.get_ref().get("name")?.get_ref().as_str()?;
            Some((name.to_owned(), keys.place(table.span().start).line))
        });
        Ok(named.collect())
    }

    fn keys(&self) -> KeyReader<'_> {
        let Self { file, text, variables, .. } = self;
        KeyReader { file, text, folder: self.folder(), specs: &[], variables }
    }

    /// The processors that apply to `network` and `agent`, in order.
    ///
    /// # Errors
    /// A name that the file does not contain.
    pub(crate) fn steps(&self, network: Option<&str>, agent: Option<&str>) -> Result<Vec<ConfigStep<'_>>, FileError> {
        self.levels.steps(network, agent).map_err(|error| self.keys().whole(error))
    }

    /// The processors of all levels, in the order of the file.
    pub(crate) fn everywhere(&self) -> Vec<ConfigStep<'_>> {
        self.levels.everywhere()
    }

    /// Refuses keys that run a program, or name a server, a key or a file, in the processors of `steps`. A file that the user
    /// neither wrote nor named must not have them.
    ///
    /// # Errors
    /// The first such key, with its place.
    pub(crate) fn refuse_untrusted(&self, steps: &[ConfigStep<'_>]) -> Result<(), FileError> {
        let Some((key, place)) = steps.iter().flat_map(|step| &step.entry.table.need_trust).next() else {
            return Ok(());
        };
        let reason = format!(
            "`{key}` is not allowed in a file that was found, because it can run a program, open a file or your store, or send \
             your data; read the file, then name it with -c or pass --trust"
        );
        Err(self.keys().whole(reason).at(*place))
    }

    /// The files that a run of `steps` reads: this one, and those of its processors.
    pub(crate) fn files(&self, steps: &[ConfigStep<'_>]) -> Reads {
        let mut reads = Reads { other: vec![PathBuf::from(&self.file)], ..Reads::default() };
        reads.extend(steps.iter().map(|step| step.entry.table.options.files()));
        reads
    }

    /// The chain of `steps`; in a dry run, no processor of it runs a program or sends anything.
    ///
    /// # Errors
    /// The error of a processor that cannot be built, with the place of the value that it names, or else of its table.
    pub(crate) fn chain(&self, steps: &[ConfigStep<'_>], dry_run: bool) -> Result<Chain, FileError> {
        let mut chain = Chain::default();
        for ConfigStep { level, entry } in steps {
            let TableRead { options, ineffective, strings, .. } = &entry.table;
            if let Some(error) = ineffective {
                return Err(error.clone());
            }
            let processors = options.processors(dry_run).map_err(|error| {
                let place = wrong_value(strings, &error).map_or(entry.place, |span| self.keys().place(span.start));
                self.keys().whole(format!("{} at {level}: {error:#}", entry.spec.name)).at(place)
            })?;
            chain = chain.at(level, processors);
        }
        Ok(chain)
    }

    /// An error about `name`, a string in `table` of the file: at its first place there.
    pub(crate) fn error_about(&self, table: &str, name: &str, error: &impl Display) -> FileError {
        let keys = self.keys();
        let root = keys.root().ok();
        match root.and_then(|root| place_of(name, root.get_ref().get(table)?)) {
            // Behind its quote.
            Some(place) => self.keys().error(place.start + 1..place.end, error),
            None => self.keys().whole(error),
        }
    }
}

/// Where the string is that `error` is about: it has the glob that cannot be compiled, or the message quotes it.
fn wrong_value<'s>(strings: &'s [(String, Range<usize>)], error: &anyhow::Error) -> Option<&'s Range<usize>> {
    let Some(InvalidGlob { glob, .. }) = error.downcast_ref() else {
        let message = format!("{error:#}");
        return first(strings, |text| message.contains(&format!("{text:?}")));
    };
    // A string may have several globs; if all together are too large, none is named.
    let holding = if glob.is_empty() { None } else { first(strings, |text| text.contains(glob)) };
    first(strings, |text| text == glob).or(holding)
}

/// The bytes of the first string that is as wanted.
fn first(strings: &[(String, Range<usize>)], is_wanted: impl Fn(&str) -> bool) -> Option<&Range<usize>> {
    strings.iter().find(|(text, _)| is_wanted(text)).map(|(_, span)| span)
}

/// Where `value` has the string `name`.
fn place_of(name: &str, value: &Spanned<DeValue<'_>>) -> Option<Range<usize>> {
    match value.get_ref() {
        DeValue::String(text) => (text == name).then(|| value.span()),
        DeValue::Array(values) => values.iter().find_map(|value| place_of(name, value)),
        DeValue::Table(members) => members.values().find_map(|value| place_of(name, value)),
        _ => None,
    }
}

/// The levels, processors and values of `steps` on one line. Two configurations with the same line make the same cuts.
pub(crate) fn described(steps: &[ConfigStep<'_>]) -> String {
    let stages = steps.iter().map(|ConfigStep { level, entry }| {
        let values = entry.table.values.iter().map(|value| format!(" {}={}", value.name, value.value));
        format!("{level}: {}{}", entry.spec.name, values.collect::<String>())
    });
    stages.collect::<Vec<_>>().join("; ")
}

/// The text of a file that was found.
fn found_text(path: &Path, variables: &Variables) -> Result<String, String> {
    if let Some(owner) = foreign_owner(path, variables).map_err(|error| system_message(&error))? {
        return Err(format!(
            "belongs to another user (uid {owner}) and was found, not named; {NAMING_ADVICE}, or pass --no-config"
        ));
    }
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FOUND_BYTES + 1).read_to_string(&mut text));
    read.map_err(|error| system_message(&error))?;
    if text.len() as u64 > MAX_FOUND_BYTES {
        return Err(format!("a file that was found may have at most 1 MiB; {NAMING_ADVICE}, or pass --no-config"));
    }
    Ok(text)
}

fn in_folder(folder: &Path) -> Option<PathBuf> {
    NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}
