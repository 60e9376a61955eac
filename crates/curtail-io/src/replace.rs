//! Replaces an input, and keeps a backup of it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use tempfile::{NamedTempFile, TempPath};

use super::backup::Backup;
use crate::metadata::{FileId, Stamp, folder_of};
use crate::open_files::open_for_writing;
use crate::replaced::{Replaced, exchange};
use crate::scratch::Scratch;

/// Why a file was not moved to its path.
#[derive(Debug)]
pub(super) enum MoveError {
    /// The input was changed since it was opened.
    Changed,
    /// Another program has the input open for writing.
    Held,
    /// The system refused.
    System(io::Error),
}

impl From<io::Error> for MoveError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Replaces the input at `path` by `file`, if it has not changed since it was opened and no program has it open for
/// writing.
pub(super) fn replace_input(
    file: NamedTempFile,
    path: &Path,
    stamp: Option<&Stamp>,
    backup: Option<Backup<'_>>,
    scratch: &Scratch,
) -> Result<Replaced, MoveError> {
    if !is_unchanged(stamp, path)? {
        return Err(MoveError::Changed);
    }
    if scratch.is_held(path) {
        return Err(MoveError::Held);
    }
    let backup = backup.map(|backup| backup.make(path, scratch)).transpose()?.flatten();
    let new_stamp = Stamp::at_path(file.path());
    let lock = File::open(path).ok().filter(|old| old.try_lock_shared().is_ok());
    let old = match swap(file, path, scratch) {
        Ok(old) => old,
        Err(error) => {
            // A backup of a file that was not replaced would be in the way of the next run. If it cannot be removed, the first
            // error is still the one to report.
            let _ = backup.map(std::fs::remove_file);
            return Err(error);
        }
    };
    let path = path.to_owned();
    let replaced = Replaced { path, old, lock, stamp: stamp.cloned(), new_stamp, backup, when: Instant::now() };
    match &replaced.old {
        Some(old) if !is_unchanged(stamp, old)? => {
            replaced.roll_back()?;
            Err(MoveError::Changed)
        }
        _ => Ok(replaced),
    }
}

/// Whether the file at `path` is the one that `stamp` was taken of.
fn is_unchanged(stamp: Option<&Stamp>, path: &Path) -> io::Result<bool> {
    stamp.map_or(Ok(true), |stamp| stamp.holds(path))
}

/// Moves `file` to `path`, and returns the temporary path that the file there got, if the file system has links.
fn swap(file: NamedTempFile, path: &Path, scratch: &Scratch) -> Result<Option<TempPath>, MoveError> {
    if exchange(file.path(), path) {
        return Ok(Some(file.into_temp_path()));
    }
    let spare = scratch.file_in(folder_of(path))?.into_temp_path();
    std::fs::remove_file(&spare)?;
    let old = std::fs::hard_link(path, &spare).is_ok().then_some(spare);
    if old.is_none() && open_for_writing().contains(&FileId::at_path(path)) {
        return Err(MoveError::Held);
    }
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(old)
}

#[cfg(test)]
mod tests {
    use super::replace_input;
    use crate::{Backup, Scratch};
    use std::ffi::OsStr;

    #[test]
    fn an_input_that_cannot_be_replaced_keeps_no_backup() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("chat.jsonl");
        let scratch = Scratch::new(false);
        std::fs::write(&path, "before")?;
        let file = scratch.file_in(folder.path())?;
        std::fs::remove_file(file.path())?;
        let backup = Backup { suffix: OsStr::new(".bak"), may_exist: false };
        assert!(replace_input(file, &path, None, Some(backup), &scratch).is_err());
        let left: Vec<_> = std::fs::read_dir(folder.path())?.flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["chat.jsonl"]);
        assert_eq!(std::fs::read_to_string(&path)?, "before");
        Ok(())
    }
}
