//! The location of the store's file. Neither files nor the environment are read here: values are passed in.

use std::ffi::OsString;
use std::path::PathBuf;

use rusqlite::Result;

use super::StoreError;

/// The settings that can name the store's file. An empty value is treated as unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreLocation {
    /// The file that a flag names.
    pub flag: Option<PathBuf>,
    /// The value of `CURTAIL_STORE`: a file.
    pub variable: Option<OsString>,
    /// The value of `XDG_STATE_HOME`; a relative one is ignored (XDG Base Directory Specification 0.8).
    pub state_home: Option<OsString>,
    /// The home folder.
    pub home: Option<PathBuf>,
}

impl StoreLocation {
    /// The store's file: the flag, else `CURTAIL_STORE`, else `curtail/state.db` in the XDG state folder.
    ///
    /// # Errors
    /// [`StoreError::NoPlace`] if none of them is set.
    pub fn path(self) -> Result<PathBuf, StoreError> {
        let named = self.flag.or_else(|| non_empty(self.variable.map(PathBuf::from)));
        if let Some(file) = named {
            return Ok(file);
        }
        let state_home = non_empty(self.state_home.map(PathBuf::from)).filter(|path| path.is_absolute());
        let folder = state_home.or_else(|| Some(non_empty(self.home)?.join(".local").join("state")));
        Ok(folder.ok_or(StoreError::NoPlace)?.join("curtail").join("state.db"))
    }
}

fn non_empty(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::StoreLocation;

    #[test]
    fn the_first_setting_is_used() {
        let cases = [
            (("f.db", "v.db", "/x", "/h"), Some("f.db")),
            (("", "v.db", "/x", "/h"), Some("v.db")),
            (("", "", "/x", "/h"), Some("/x/curtail/state.db")),
            (("", "", "rel", "/h"), Some("/h/.local/state/curtail/state.db")),
            (("", "", "", "/h"), Some("/h/.local/state/curtail/state.db")),
            (("", "", "", ""), None),
        ];
        for ((flag, variable, state_home, home), expected) in cases {
            let flag = Some(flag.into()).filter(|path: &std::path::PathBuf| !path.as_os_str().is_empty());
            let variable = Some(variable.into());
            let state_home = Some(state_home.into());
            let home = Some(home.into());
            let found = StoreLocation { flag, variable, state_home, home }.path().ok();
            assert_eq!(found.as_deref(), expected.map(Path::new));
        }
        assert!(StoreLocation::default().path().is_err());
    }
}
