//! Checks a moment after an input was replaced whether this was safe: a program that opened an input before it was
//! replaced would continue to write to its old version, which has no name. Then the old version is put back.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempPath;

use super::open_files::open_for_writing;
use crate::error::FileError;
use crate::metadata::{FileId, Stamp};
use crate::refusals::{changed, held};

/// How many old versions are kept at once, and for how long. They are checked together, because a scan of all programs
/// takes longer than replacing a file.
pub(super) const MAX_UNCHECKED: usize = 128;
pub(super) const MAX_AGE: Duration = Duration::from_secs(1);

/// A file that was replaced, and its old version.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) path: PathBuf,
    /// The path of its old version; `None` on a file system without links.
    pub(super) old: Option<TempPath>,
    /// A lock on the old version, so that other runs do not remove it.
    pub(super) lock: Option<File>,
    /// The stamp of the old version when it was read.
    pub(super) stamp: Option<Stamp>,
    /// The backup that was made of the old version.
    pub(super) backup: Option<PathBuf>,
    pub(super) when: Instant,
}

/// The replaced files that are still to be checked, and the errors of those that were rolled back.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    pub(super) replaced: Vec<Replaced>,
    pub(super) errors: Vec<FileError>,
}

/// Exchanges two files atomically; `false` if the system does not support this.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn exchange(_one: &Path, _other: &Path) -> bool {
    false
}

/// Checks the old versions of `replaced`. If one was changed, or is open for writing, it is put back, with an error.
pub(super) fn settle(replaced: Vec<Replaced>) -> Vec<FileError> {
    if replaced.is_empty() {
        return Vec::new();
    }
    let open = open_for_writing();
    replaced.into_iter().filter_map(|replaced| replaced.settle(&open).err()).collect()
}

impl Replaced {
    pub(super) fn settle(self, open: &HashSet<FileId>) -> Result<(), FileError> {
        let Some(old) = &self.old else { return Ok(()) };
        let name = self.path.to_string_lossy().into_owned();
        let is_changed = self.stamp.as_ref().is_some_and(|stamp| stamp.holds(old).is_ok_and(|same| !same));
        let error = match open.contains(&FileId::at_path(old)) {
            true => held(&name),
            false if is_changed => changed(&name),
            false => return Ok(()),
        };
        self.roll_back().map_err(|failed| FileError::system(name, &failed))?;
        Err(error)
    }

    /// Puts the old version back, and removes its backup.
    pub(super) fn roll_back(self) -> io::Result<()> {
        let Some(old) = self.old else { return Ok(()) };
        if !exchange(&old, &self.path)
            && let Err(error) = std::fs::rename(&old, &self.path)
        {
            let kept = old.keep().map_err(|failed| failed.error)?;
            let message = format!("changed while it was replaced; its old version is {} ({error})", kept.display());
            return Err(io::Error::other(message));
        }
        drop(self.lock);
        self.backup.map_or(Ok(()), std::fs::remove_file)
    }
}
