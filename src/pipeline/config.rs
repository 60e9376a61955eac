//! `curtail.toml`: where it lies, and its tables. What a table means is for those to say who own it.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// The name that is looked for, from the working directory upwards.
pub const NAME: &str = "curtail.toml";

/// A configuration file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where it lies.
    pub path: PathBuf,
    /// Its tables.
    pub tables: toml::Table,
}

impl Config {
    /// Reads the file that was named, or else the nearest one; nothing if there is none.
    ///
    /// # Errors
    /// A file that was named and is not there, one that cannot be read, or one that is no TOML.
    pub fn load(named: Option<&Path>) -> Result<Option<Self>, String> {
        let Some(path) = named.map(Path::to_owned).or_else(nearest) else { return Ok(None) };
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let tables = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Some(Self { path, tables }))
    }

    /// The table under `key`, as its owner knows it; its default if it is not there.
    ///
    /// # Errors
    /// A key or a value that the owner does not know.
    pub fn table<T: DeserializeOwned + Default>(&self, key: &str) -> Result<T, String> {
        let Some(table) = self.tables.get(key) else { return Ok(T::default()) };
        table
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| format!("{}: [{key}]: {}", self.path.display(), error.message()))
    }
}

fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())
}
