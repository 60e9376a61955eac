//! Where the store lies when nobody says, or several do. It touches no file.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::StoreError;

/// The store's path: `flag`, else `CURTAIL_STORE`, else the XDG state folder, from this process's environment.
///
/// # Errors
/// [`StoreError::NoPlace`] where none of them is set.
pub fn default_path(flag: Option<&Path>) -> Result<PathBuf, StoreError> {
    let state_home = env::var_os("XDG_STATE_HOME");
    locate(flag, env::var_os("CURTAIL_STORE"), state_home, env::home_dir()).ok_or(StoreError::NoPlace)
}

/// The same from given values: `flag`, `CURTAIL_STORE`, `XDG_STATE_HOME`, the home folder. Empty values count as
/// unset, and so does a relative `XDG_STATE_HOME` (XDG Base Directory Specification 0.8).
#[must_use]
pub fn locate(
    flag: Option<&Path>,
    variable: Option<OsString>,
    state_home: Option<OsString>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    let within = |folder: PathBuf| folder.join("curtail").join("state.db");
    let said = flag.map(Path::to_owned).or_else(|| filled(variable.map(PathBuf::from)));
    let in_state_home = || filled(state_home.map(PathBuf::from)).filter(|path| path.is_absolute());
    let in_home = || filled(home).map(|home| home.join(".local").join("state"));
    said.or_else(|| in_state_home().or_else(in_home).map(within))
}

fn filled(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_set_wins() {
        let cases = [
            (("f.db", "v.db", "/x", "/h"), Some("f.db")),
            (("", "v.db", "/x", "/h"), Some("v.db")),
            (("", "", "/x", "/h"), Some("/x/curtail/state.db")),
            (("", "", "rel", "/h"), Some("/h/.local/state/curtail/state.db")),
            (("", "", "", "/h"), Some("/h/.local/state/curtail/state.db")),
            (("", "", "", ""), None),
        ];
        for ((flag, variable, state_home, home), expected) in cases {
            let flag = Some(Path::new(flag)).filter(|path| !path.as_os_str().is_empty());
            let found = locate(flag, Some(variable.into()), Some(state_home.into()), Some(home.into()));
            assert_eq!(found.as_deref(), expected.map(Path::new));
        }
        assert_eq!(locate(None, None, None, None), None);
    }
}
