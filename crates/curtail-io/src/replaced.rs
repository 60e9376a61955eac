//! Checks a moment after an input was replaced whether this was safe: a program that opened an input before it was
//! replaced would continue to write to its old version, which has no name. Then the old version is put back.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempPath};

use super::file_names::{temporary, with_suffix};
use super::open_files::open_for_writing;
use crate::error::FileError;
use crate::metadata::{FileId, Stamp, folder_of};
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
    /// The stamp of the new version when it was complete.
    pub(super) new_stamp: Option<Stamp>,
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
    ///
    /// # Errors
    /// That was refused, or another program wrote to the new version as well, which is kept beside the old one then.
    pub(super) fn roll_back(self) -> io::Result<()> {
        self.roll_back_by(exchange)
    }

    /// Rolls back with `exchange`, or without it where it returns `false`.
    fn roll_back_by(self, exchange: fn(&Path, &Path) -> bool) -> io::Result<()> {
        let Self { path, old: Some(old), lock, new_stamp, backup, .. } = self else { return Ok(()) };
        let new = if exchange(&old, &path) { Some(old) } else { put_back(old, &path)? };
        let written = new.filter(|new| {
            let is_unchanged = new_stamp.is_some_and(|stamp| stamp.holds(new).unwrap_or_default());
            !is_unchanged || open_for_writing().contains(&FileId::at_path(new))
        });
        let kept = written.map(|new| keep_beside(&path, new)).transpose()?;
        drop(lock);
        let unmade = backup.map_or(Ok(()), std::fs::remove_file);
        let Some(kept) = kept else { return unmade };
        let mut message = format!(
            "another program wrote to the file before and after it was replaced; its old version is back, and {} has what was \
             written since",
            kept.display()
        );
        if let Err(error) = unmade {
            message += &format!("; its backup could not be removed: {error}");
        }
        Err(io::Error::other(message))
    }
}

/// Puts `old` back to `path` where files cannot be exchanged. Returns the new version that was there, unless it was removed.
fn put_back(old: TempPath, path: &Path) -> io::Result<Option<TempPath>> {
    // A second name keeps the new version, and there is a file at `path` all the time.
    let new = temporary().make_in(folder_of(path), |name| std::fs::hard_link(path, name));
    let (error, old) = match new.map(NamedTempFile::into_temp_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => (error, old),
        new => match old.persist(path) {
            Ok(()) => return Ok(new.ok()),
            Err(failed) => (failed.error, failed.path),
        },
    };
    let kept = keep_beside(path, old)?;
    let message = format!("changed while it was replaced; its old version is {} ({error})", kept.display());
    Err(io::Error::other(message))
}

/// Gives a temporary file a name beside `path`, under which no later run removes it.
fn keep_beside(path: &Path, mut file: TempPath) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let kept = with_suffix(path, OsStr::new(&format!(".kept-{number}")));
        match file.persist_noclobber(&kept) {
            Ok(()) => return Ok(kept),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists || kept.exists() => file = failed.path,
            // The file system has neither links nor renames that replace nothing.
            Err(failed) => {
                let Err(failed) = failed.path.persist(&kept) else { return Ok(kept) };
                return failed.path.keep().map_err(|failed| failed.error);
            }
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Replaced, exchange};
    use crate::Scratch;
    use crate::metadata::Stamp;
    use std::ffi::OsString;
    use std::io::{self, Write as _};
    use std::path::Path;
    use std::time::Instant;

    /// A file in `folder` that was replaced a moment ago.
    fn replaced(folder: &Path) -> io::Result<Replaced> {
        let path = folder.join("chat.jsonl");
        std::fs::write(&path, "new\n")?;
        let mut old = Scratch::new(false).file_in(folder)?;
        old.write_all(b"old\n")?;
        let new_stamp = Stamp::at_path(&path);
        let old = Some(old.into_temp_path());
        Ok(Replaced { path, old, lock: None, stamp: None, new_stamp, backup: None, when: Instant::now() })
    }

    /// Both ways of rolling back: by an exchange, and where files cannot be exchanged.
    const WAYS: [fn(&Path, &Path) -> bool; 2] = [exchange, |_, _| false];

    #[test]
    fn what_was_written_to_the_new_version_is_kept() -> io::Result<()> {
        for way in WAYS {
            let folder = tempfile::tempdir()?;
            let replaced = replaced(folder.path())?;
            let path = replaced.path.clone();
            std::fs::File::options().append(true).open(&path)?.write_all(b"a line\n")?;
            let error = replaced.roll_back_by(way).map_err(|error| error.to_string());
            assert!(error.is_err_and(|error| error.contains("chat.jsonl.kept-1")));
            assert_eq!(files(folder.path())?, ["chat.jsonl", "chat.jsonl.kept-1"]);
            assert_eq!(std::fs::read_to_string(&path)?, "old\n");
            assert_eq!(std::fs::read_to_string(folder.path().join("chat.jsonl.kept-1"))?, "new\na line\n");
        }
        Ok(())
    }

    #[test]
    fn a_new_version_that_nobody_wrote_to_is_removed() -> io::Result<()> {
        for way in WAYS {
            let folder = tempfile::tempdir()?;
            replaced(folder.path())?.roll_back_by(way)?;
            assert_eq!(files(folder.path())?, ["chat.jsonl"]);
            assert_eq!(std::fs::read_to_string(folder.path().join("chat.jsonl"))?, "old\n");
        }
        Ok(())
    }

    #[test]
    fn an_old_version_comes_back_where_the_new_one_was_removed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let replaced = replaced(folder.path())?;
        std::fs::remove_file(&replaced.path)?;
        replaced.roll_back()?;
        assert_eq!(files(folder.path())?, ["chat.jsonl"]);
        Ok(())
    }

    fn files(folder: &Path) -> io::Result<Vec<OsString>> {
        let mut names: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        Ok(names)
    }
}
