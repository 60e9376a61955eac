//! Environment variables. One that is empty is not set.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A flag as every command line has it: its value may begin with a minus sign, so that the error is about the value and not about
/// an unknown flag, and its variable says nothing if it is empty.
pub(crate) fn lenient(flag: clap::Arg) -> clap::Arg {
    let takes_value = flag.get_action().takes_values() && !flag.is_positional();
    let is_empty = flag.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let flag = if is_empty { flag.env(None::<&str>) } else { flag };
    flag.allow_negative_numbers(takes_value)
}

/// Environment variables by name, as they are when they are read: the program changes none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(HashMap<OsString, OsString>);

impl Variables {
    /// The variables of this process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().filter(|(_, value)| !value.is_empty()).collect())
    }

    /// The variable's value, if it is set.
    pub(crate) fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// The variable's text, if it is set and is Unicode.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// The folder that `variable` names, else the folder `below` the user's home, by the XDG base directory specification.
    pub(crate) fn user_folder(&self, variable: &str, below: &str) -> Option<PathBuf> {
        self.absolute_path(variable).or_else(|| Some(self.absolute_path("HOME")?.join(below)))
    }

    /// The variable's value, if it is an absolute path.
    fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// A folder of `curtail` in the user's cache folder, by the same specification.
    pub(crate) fn cache_folder(&self, name: &str) -> Option<PathBuf> {
        Some(self.user_folder("XDG_CACHE_HOME", ".cache")?.join("curtail").join(name))
    }
}
