//! Backups of inputs that are replaced: each is made once and never overwritten, so that it remains the original.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::identity::FileId;
use super::sink::folder_of;
use super::{Scratch, access};

/// How the backup of an input is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup<'b> {
    /// What is added to the input's name.
    pub suffix: &'b OsStr,
    /// Whether a backup that exists stays as it is, and none is made; otherwise it is an error.
    pub may_exist: bool,
}

impl Backup<'_> {
    /// Keeps the file at `path` under the backup's name as well: as a second link, or as a copy if the file system has no links.
    /// Returns the path of the backup if it was made.
    pub(super) fn make(self, path: &Path, scratch: &Scratch) -> io::Result<Option<PathBuf>> {
        let backup = backup_path(path, self.suffix);
        // After a kill between backing up and replacing, both names lead to one file.
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

/// The name of the backup of the file at `path`.
pub(super) fn backup_path(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut backup = path.as_os_str().to_owned();
    backup.push(suffix);
    PathBuf::from(backup)
}

fn copy(path: &Path, backup: &Path, scratch: &Scratch) -> io::Result<()> {
    let mut spare = scratch.file_in(folder_of(backup))?;
    let mut original = std::fs::File::open(path)?;
    io::copy(&mut original, &mut spare)?;
    if let Some(model) = access::Model::at_path(path) {
        access::take_over(spare.as_file(), &model, false)?;
    }
    spare.as_file().set_modified(original.metadata()?.modified()?)?;
    scratch.sync(spare.as_file())?;
    spare.persist_noclobber(backup).map(drop).map_err(|failed| failed.error)
}
