//! `curtail.toml`: which processors stand at which level, and what the other commands find in the file.
//!
//! It knows no processor by name, and leaves the tables of other commands to them.

mod error;
mod levels;
mod read;
mod schema;
mod table;
mod value;

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

pub use error::ConfigError;
pub use levels::Step;
pub use schema::schema;
pub use table::ProcessorEntry;
pub use value::{Origin, Value};

use super::options::ProcessorSpec;
use crate::error::system_words;
use error::Page;

/// The names that a configuration goes by in a folder, the first that exists counts.
const NAMES: [&str; 2] = ["curtail.toml", ".curtail.toml"];

/// What a configuration file says.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file, as messages call it.
    pub file: String,
    text: String,
    history: Vec<ProcessorEntry>,
    networks: Vec<Network>,
    agents: Vec<Named>,
}

/// A network: its processors, and its agents.
#[derive(Debug, Clone)]
struct Network {
    own: Named,
    agents: Vec<Named>,
}

/// Processors under a name.
#[derive(Debug, Clone)]
struct Named {
    name: String,
    processors: Vec<ProcessorEntry>,
}

impl Config {
    /// Reads the file at `path`, which may hold processors of these kinds. Paths in it are meant from where it stands.
    ///
    /// # Errors
    /// What cannot be read, or says what is not understood.
    pub fn read(path: &Path, specs: &'static [ProcessorSpec]) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError {
            file: file.clone(),
            place: None,
            what: system_words(&error),
        })?;
        Self::parse(file, path.parent().unwrap_or(Path::new("")), text, specs)
    }

    /// Reads `text`, which messages call `file` and whose paths are meant from `folder`.
    ///
    /// # Errors
    /// What is not understood.
    pub fn parse(
        file: String,
        folder: &Path,
        text: String,
        specs: &'static [ProcessorSpec],
    ) -> Result<Self, ConfigError> {
        let (history, networks, agents) = read::levels(Page { file: &file, text: &text }, folder, specs)?;
        Ok(Self { file, text, history, networks, agents })
    }

    /// The file that counts in `folder`: its own or the nearest above, up to the root of the repository; else the user's.
    #[must_use]
    pub fn discover(folder: &Path) -> Option<PathBuf> {
        for folder in folder.ancestors() {
            if let Some(found) = beside(folder) {
                return Some(found);
            }
            if folder.join(".git").exists() {
                break;
            }
        }
        beside(&users()?.join("curtail"))
    }

    /// What the table `name` says, for the command that reads it; its default if the table is not there.
    ///
    /// # Errors
    /// What is not understood, with its place.
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, ConfigError> {
        read::section(Page { file: &self.file, text: &self.text }, name)
    }
}

impl Config {
    /// An error about `name`, a string in the file: at its first place there, or without a place if it is spelled with escapes.
    #[must_use]
    pub fn error_at(&self, name: &str, error: &impl std::fmt::Display) -> ConfigError {
        let page = Page { file: &self.file, text: &self.text };
        let quoted = |quote: char| self.text.find(&format!("{quote}{name}{quote}")).map(|at| at + 1);
        match quoted('"').or_else(|| quoted('\'')) {
            Some(at) => page.fault(at..at, error.to_string()),
            None => ConfigError { file: self.file.clone(), place: None, what: error.to_string() },
        }
    }
}

fn beside(folder: &Path) -> Option<PathBuf> {
    NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

/// Where a user keeps configurations, after the XDG base directory specification.
fn users() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))
}
