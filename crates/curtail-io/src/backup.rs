//! Backups of inputs that are replaced: each is made once and never overwritten, so that it remains the original.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::file_names::with_suffix;
use crate::metadata::{FileId, folder_of};
use crate::permissions;
use crate::scratch::Scratch;

/// How the backup of an input is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup<'b> {
    /// The suffix that is added to the input's name.
    pub suffix: &'b OsStr,
    /// Whether an existing backup is kept, so that none is made; otherwise it is an error.
    pub may_exist: bool,
}

impl Backup<'_> {
    /// Makes the backup of the file at `path`: a second link, or a copy if the file system has no links. Returns its
    /// path, or `None` if it exists and is kept.
    pub(super) fn make(self, path: &Path, scratch: &Scratch) -> io::Result<Option<PathBuf>> {
        let backup = with_suffix(path, self.suffix);
        // If a run was killed after the backup and before the replacement, both are the same file.
        if FileId::at_path(path) == FileId::at_path(&backup) {
            return Ok(None);
        }
        let made = match std::fs::hard_link(path, &backup) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy(path, &backup, scratch),
            linked => linked,
        };
        match made {
            Err(error) if self.may_exist && error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            made => made.map(|()| Some(backup)),
        }
    }
}

fn copy(path: &Path, backup: &Path, scratch: &Scratch) -> io::Result<()> {
    let mut copy = scratch.file_in(folder_of(backup))?;
    let mut original = std::fs::File::open(path)?;
    io::copy(&mut original, &mut copy)?;
    if let Some(model) = permissions::Model::at_path(path) {
        permissions::take_over(copy.as_file(), &model, false)?;
    }
    copy.as_file().set_modified(original.metadata()?.modified()?)?;
    scratch.sync(copy.as_file())?;
    copy.persist_noclobber(backup).map(drop).map_err(|failed| failed.error)
}
