//! The names of files that a run makes in the folder of an input: temporary ones, and the input's with a suffix.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use curtail_core::temporary::{PREFIX, RANDOM, SUFFIX};

/// Makes temporary files. Their names end in `.tmp`, so that no walk takes one for an input. Only the user may read them.
pub(super) fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM).suffix(SUFFIX);
    builder
}

/// Whether a file is called as those of [`temporary`] are.
pub(super) fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The path of a file beside `path` that has the same name with `suffix` behind it.
pub(super) fn with_suffix(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::{is_temporary, temporary};

    #[test]
    fn only_names_that_a_run_makes_are_those_of_temporary_files() {
        let file = temporary().tempfile().expect("a file");
        assert!(is_temporary(&file.path().file_name().expect("a name").to_string_lossy()));
        assert!(!is_temporary(".curtail-mynotes.tmp"));
    }
}
