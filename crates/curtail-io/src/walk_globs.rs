//! Globs that the user names for files in directories, and which of them have matched.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use globset::GlobSet;

use crate::error::{ErrorKind, FileError};
use curtail_core::globs::{self, InvalidGlob, Stars};

/// Globs of paths below a walked directory, each with whether it has matched.
#[derive(Debug, Default)]
pub(super) struct WalkGlobs {
    set: GlobSet,
    written: Vec<(String, AtomicBool)>,
}

impl WalkGlobs {
    /// # Errors
    /// A glob is invalid.
    pub(super) fn compile(globs: &[String]) -> Result<Self, FileError> {
        let compiled: Vec<String> = globs.iter().map(|glob| anywhere(glob)).collect();
        let set = globs::compile(compiled.iter().map(String::as_str), Stars::OneComponent).map_err(|error| {
            // The error contains the glob as the user wrote it.
            let nth = compiled.iter().position(|glob| *glob == error.glob);
            let glob = nth.map_or(error.glob, |nth| globs[nth].clone());
            FileError::new(ErrorKind::Usage, "", InvalidGlob { glob, ..error }.to_string())
        })?;
        let written = globs.iter().map(|glob| (glob.clone(), AtomicBool::new(false)));
        Ok(Self { set, written: written.collect() })
    }

    /// Whether `path`, below the directory, matches one of them.
    pub(super) fn is_match(&self, path: &Path) -> bool {
        let matches = self.set.matches(path);
        matches.iter().for_each(|nth| self.written[*nth].1.store(true, Ordering::Relaxed));
        !matches.is_empty()
    }

    /// Those that have matched nothing.
    pub(super) fn unmatched(&self) -> impl Iterator<Item = String> {
        self.written.iter().filter(|(_, matched)| !matched.load(Ordering::Relaxed)).map(|(glob, _)| glob.clone())
    }
}

/// A glob of paths below a walked directory. Without a slash, or with one at its end alone, it matches names at any depth.
fn anywhere(glob: &str) -> String {
    let steps: Vec<&str> = glob.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    let path = steps.join("/");
    // `.` and `./` are everything.
    let is_anchored = glob.starts_with('/') || glob.starts_with("./") && !steps.is_empty();
    if steps.len() > 1 || is_anchored { path } else { format!("**/{path}") }
}

#[cfg(test)]
mod tests {
    use super::WalkGlobs;
    use std::path::Path;

    #[test]
    fn a_glob_is_anchored_by_a_slash_that_is_not_at_its_end() {
        for (glob, top, below) in [
            ("a.jsonl", true, true),
            ("a.jsonl/", true, true),
            ("./a.jsonl", true, false),
            ("/a.jsonl", true, false),
            ("./sub//a.jsonl", false, true),
            ("sub/*", false, true),
            ("./", true, true),
        ] {
            let globs = WalkGlobs::compile(&[glob.to_owned()]).unwrap();
            let found = ["a.jsonl", "sub/a.jsonl"].map(|path| globs.is_match(Path::new(path)));
            assert_eq!(found, [top, below], "{glob}");
        }
    }
}
