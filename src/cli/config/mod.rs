//! `curtail.toml`: which processors apply at which level, and the tables of other commands.
//!
//! It knows no processor by name; other commands read their own tables.

mod error;
mod owner;
mod read;
mod schema;
mod shown;
mod table;
mod value;
mod variables;

use std::cell::Cell;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

pub(crate) use error::ConfigError;
pub(crate) use schema::schema;
pub(crate) use table::ProcessorEntry;
pub(crate) use value::{Origin, Value};
pub(crate) use variables::Variables;

use super::options::ProcessorSpec;
use curtail_core::error::system_message;
use curtail_core::pipeline::{Chain, Levels, UnknownLevel};
use error::{Page, Reader};

/// A processor of a configuration and the level that it comes from.
pub(crate) type Step<'c> = curtail_core::pipeline::Step<'c, ProcessorEntry>;

/// The names of a configuration in a folder; the first that exists is used.
const NAMES: [&str; 2] = ["curtail.toml", ".curtail.toml"];

/// The most bytes, processors and `check.paths` tables of a file that was found: whoever wrote it cannot keep the program
/// busy.
const MAX_FOUND_BYTES: u64 = 1 << 20;
const MAX_FOUND_PROCESSORS: usize = 256;
const MAX_FOUND_PATHS: usize = 1000;

/// What to do with a file that was found and is refused.
const NAME_IT: &str = "name it with -c to use it";

/// How a configuration was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The user named it.
    Named,
    /// It is in the user's folder of configurations.
    OfUser,
    /// It is in the working directory or above it; other people may have written it.
    Found,
}

impl Choice {
    /// Whether the file may run programs, name servers, keys and files, and be of any size.
    pub(crate) fn is_trusted(self) -> bool {
        self != Self::Found
    }
}

/// The content of a configuration file.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// The name of the file in messages.
    pub(crate) file: String,
    /// How it was chosen.
    pub(crate) choice: Choice,
    text: String,
    levels: Levels<ProcessorEntry>,
}

impl Config {
    /// Reads the file at `path`, which may contain these processors. Relative paths in it are resolved against its folder.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is not understood.
    pub(crate) fn load(
        path: &Path,
        choice: Choice,
        specs: &'static [ProcessorSpec],
        variables: &Variables,
    ) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let unusable = |what| ConfigError { file: file.clone(), place: None, what };
        let text = if choice.is_trusted() {
            std::fs::read_to_string(path).map_err(|error| unusable(system_message(&error)))?
        } else {
            found_text(path, variables).map_err(unusable)?
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let room = Cell::new(if choice.is_trusted() { usize::MAX } else { MAX_FOUND_PROCESSORS });
        let page = Page { file: &file, text: &text };
        let levels = read::levels(Reader { page, folder, specs, variables, room: &room })?;
        Ok(Self { file, choice, text, levels })
    }

    /// The folder that globs of paths are resolved against: that of the file, or the working directory for the user's own
    /// file, which belongs to no project.
    #[must_use]
    pub(crate) fn folder(&self) -> &Path {
        let folder = Path::new(&self.file).parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.filter(|_| self.choice != Choice::OfUser).unwrap_or(Path::new("."))
    }

    /// Refuses more `check.paths` tables than a file that was found may have.
    ///
    /// # Errors
    /// There are more.
    pub(crate) fn refuse_many_paths(&self, paths: usize) -> Result<(), ConfigError> {
        if self.choice.is_trusted() || paths <= MAX_FOUND_PATHS {
            return Ok(());
        }
        let what = format!("a file that was found may have at most {MAX_FOUND_PATHS} `check.paths` tables; {NAME_IT}");
        Err(ConfigError { file: self.file.clone(), place: None, what })
    }

    /// The file that applies to `folder`: the closest one in it or above it, up to the root of the repository. Other people
    /// may have written it.
    #[must_use]
    pub(crate) fn discover(folder: &Path) -> Option<PathBuf> {
        for folder in folder.ancestors() {
            if let Some(found) = beside(folder) {
                return Some(found);
            }
            if folder.join(".git").exists() {
                break;
            }
        }
        None
    }

    /// The user's own file, for folders without one.
    #[must_use]
    pub(crate) fn of_user(variables: &Variables) -> Option<PathBuf> {
        beside(&variables.config_home()?.join("curtail"))
    }

    /// The content of the table `name`, for the command that reads it; its default if there is no such table.
    ///
    /// # Errors
    /// The first error in the table, with its place.
    pub(crate) fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, ConfigError> {
        read::section(Page { file: &self.file, text: &self.text }, name)
    }
}

impl Config {
    /// The processors that apply to `network` and `agent`, in order.
    ///
    /// # Errors
    /// A name that the file does not contain.
    pub(crate) fn steps(&self, network: Option<&str>, agent: Option<&str>) -> Result<Vec<Step<'_>>, ConfigError> {
        let unknown =
            |error: UnknownLevel| ConfigError { file: self.file.clone(), place: None, what: error.to_string() };
        self.levels.steps(network, agent).map_err(unknown)
    }

    /// The processors of all levels, in the order of the file.
    #[must_use]
    pub(crate) fn everywhere(&self) -> Vec<Step<'_>> {
        self.levels.everywhere()
    }

    /// Refuses keys that run a program, or name a server, a key or a file, in the processors of `steps`. A file that the user
    /// neither wrote nor named must not have them.
    ///
    /// # Errors
    /// The first such key, with its place.
    pub(crate) fn refuse_untrusted(&self, steps: &[Step<'_>]) -> Result<(), ConfigError> {
        let Some((key, place)) = steps.iter().flat_map(|step| &step.entry.need_trust).next() else { return Ok(()) };
        let what = format!(
            "`{key}` is not allowed in a file that was found, because it can run a program, open a file or your store, or send \
             your data; read the file, then name it with -c or pass --trust"
        );
        Err(ConfigError { file: self.file.clone(), place: Some(*place), what })
    }

    /// The chain of `steps`; in a dry run, no processor of it runs a program or sends anything.
    ///
    /// # Errors
    /// The error of a processor that cannot be built, with the place of its table.
    pub(crate) fn chain(&self, steps: &[Step<'_>], dry_run: bool) -> Result<Chain, ConfigError> {
        let mut chain = Chain::default();
        for Step { level, entry } in steps {
            let processors = entry.spec.processors(&entry.flags, dry_run).map_err(|error| ConfigError {
                file: self.file.clone(),
                place: Some(entry.place),
                what: format!("{} at {level}: {error:#}", entry.spec.name),
            })?;
            chain = chain.at(level, processors);
        }
        Ok(chain)
    }

    /// An error about `name`, a string in the file: at its first place there, or without a place if it is spelled with escapes.
    #[must_use]
    pub(crate) fn error_at(&self, name: &str, error: &impl std::fmt::Display) -> ConfigError {
        let page = Page { file: &self.file, text: &self.text };
        let quoted = |quote: char| self.text.find(&format!("{quote}{name}{quote}")).map(|at| at + 1);
        match quoted('"').or_else(|| quoted('\'')) {
            Some(at) => page.fault(at..at, error.to_string()),
            None => ConfigError { file: self.file.clone(), place: None, what: error.to_string() },
        }
    }
}

/// The levels, processors and values of `steps`, in one line: two configurations with the same line make the same cuts.
pub(in crate::cli) fn described(steps: &[Step<'_>]) -> String {
    let stages = steps.iter().map(|Step { level, entry }| {
        let values = entry.values.iter().map(|value| format!(" {}={}", value.name, value.value));
        format!("{level}: {}{}", entry.spec.name, values.collect::<String>())
    });
    stages.collect::<Vec<_>>().join("; ")
}

/// The text of a file that was found.
fn found_text(path: &Path, variables: &Variables) -> Result<String, String> {
    let system = |error| system_message(&error);
    if let Some(owner) = owner::stranger(path, variables).map_err(system)? {
        return Err(format!(
            "belongs to another user (uid {owner}) and was found, not named; {NAME_IT}, or pass --no-config"
        ));
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(system)?;
    file.take(MAX_FOUND_BYTES + 1).read_to_string(&mut text).map_err(system)?;
    if text.len() as u64 > MAX_FOUND_BYTES {
        return Err(format!("a file that was found may have at most 1 MiB; {NAME_IT}, or pass --no-config"));
    }
    Ok(text)
}

fn beside(folder: &Path) -> Option<PathBuf> {
    NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}
