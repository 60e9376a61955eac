//! Replaces inputs, and checks a moment later whether this was safe: a program that opened an input before it was
//! replaced would continue to write to its old version, which has no name. Then the old version is put back.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempPath};

use crate::metadata::FileId;
use crate::sink::{changed, folder_of, held};
use crate::{Backup, Scratch, Stamp};
use curtail_core::error::FileError;

/// How many old versions are kept at once, and for how long. They are checked together, because a scan of all programs
/// takes longer than replacing a file.
const MAX_UNCHECKED: usize = 128;
const MAX_AGE: Duration = Duration::from_secs(1);

/// A file that was replaced, and its old version.
#[derive(Debug)]
pub(super) struct Replaced {
    path: PathBuf,
    /// The path of its old version; `None` on a file system without links.
    old: Option<TempPath>,
    /// A lock on the old version, so that other runs do not remove it.
    lock: Option<File>,
    /// The stamp of the old version when it was read.
    stamp: Option<Stamp>,
    /// The backup that was made of the old version.
    backup: Option<PathBuf>,
    when: Instant,
}

/// The replaced files that are still to be checked, and the errors of those that were rolled back.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    pub(super) replaced: Vec<Replaced>,
    pub(super) errors: Vec<FileError>,
}

impl Unsettled {
    /// Adds a file, and returns the files to check now.
    pub(super) fn add(&mut self, replaced: Replaced) -> Vec<Replaced> {
        self.replaced.push(replaced);
        let is_due = self.replaced.len() >= MAX_UNCHECKED || self.replaced[0].when.elapsed() > MAX_AGE;
        if is_due { std::mem::take(&mut self.replaced) } else { Vec::new() }
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
) -> io::Result<Replaced> {
    let is_unchanged = |path: &Path| stamp.map_or(Ok(true), |stamp| stamp.holds(path));
    if !is_unchanged(path)? {
        return Err(io::ErrorKind::StaleNetworkFileHandle.into());
    }
    if scratch.is_held(path) {
        return Err(io::ErrorKind::ExecutableFileBusy.into());
    }
    let backup = backup.map(|backup| backup.make(path, scratch)).transpose()?.flatten();
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
    let replaced = Replaced { path: path.to_owned(), old, lock, stamp: stamp.cloned(), backup, when: Instant::now() };
    match &replaced.old {
        Some(old) if !is_unchanged(old)? => {
            replaced.roll_back()?;
            Err(io::ErrorKind::StaleNetworkFileHandle.into())
        }
        _ => Ok(replaced),
    }
}

/// Moves `file` to `path`, and returns the temporary path that the file there got, if the file system has links.
fn swap(file: NamedTempFile, path: &Path, scratch: &Scratch) -> io::Result<Option<TempPath>> {
    if exchange(file.path(), path) {
        return Ok(Some(file.into_temp_path()));
    }
    let spare = scratch.file_in(folder_of(path))?.into_temp_path();
    std::fs::remove_file(&spare)?;
    let old = std::fs::hard_link(path, &spare).is_ok().then_some(spare);
    if old.is_none() && open_for_writing().contains(&FileId::at_path(path)) {
        return Err(io::ErrorKind::ExecutableFileBusy.into());
    }
    file.persist(path).map(|_| old).map_err(|failed| failed.error)
}

/// Exchanges two files atomically; `false` if the system does not support this.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_one: &Path, _other: &Path) -> bool {
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
    fn settle(self, open: &HashSet<FileId>) -> Result<(), FileError> {
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
    fn roll_back(self) -> io::Result<()> {
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

// Files that other programs have open for writing. A program that keeps a log open would continue to write into the
// replaced file, and its lines would be lost.

/// How long a scan of all programs is reused: in a batch of many files, a scan for each would take longer than the work
/// itself. Programs that open a file in the meantime are detected after it was replaced.
const SCAN_LIFETIME: Duration = Duration::from_secs(1);

/// The files that were open for writing at the last scan.
#[derive(Debug, Default)]
pub(super) struct Holders(Mutex<Option<(Instant, HashSet<FileId>)>>);

impl Holders {
    /// Whether another program has the file at `path` open for writing, as far as the system reports it.
    pub(super) fn hold(&self, path: &Path) -> bool {
        let mut scan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if scan.as_ref().is_none_or(|(when, _)| when.elapsed() > SCAN_LIFETIME) {
            let open = open_for_writing();
            *scan = Some((Instant::now(), open));
        }
        scan.as_ref().is_some_and(|(_, open)| open.contains(&FileId::at_path(path)))
    }
}

/// The regular files that other programs of this user have open for writing. Only Linux reports them.
pub(super) fn open_for_writing() -> HashSet<FileId> {
    let this_program = std::process::id().to_string();
    let programs = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let others = programs.filter(|entry| {
        let name = entry.file_name();
        name != this_program.as_str() && name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    others.flat_map(|program| held_by(&program.path())).collect()
}

/// The regular files that the program with this folder in `/proc` has open for writing.
fn held_by(program: &Path) -> Vec<FileId> {
    let descriptors = std::fs::read_dir(program.join("fd")).into_iter().flatten().flatten();
    let files = descriptors.filter_map(|descriptor| {
        std::fs::metadata(descriptor.path()).ok().filter(std::fs::Metadata::is_file)?;
        let info = std::fs::read_to_string(program.join("fdinfo").join(descriptor.file_name())).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let mode = u32::from_str_radix(flags.trim(), 8).ok()? & 3;
        (mode != 0).then(|| FileId::at_path(&descriptor.path()))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::replace_input;
    use crate::{Backup, Scratch};

    #[test]
    fn an_input_that_cannot_be_replaced_keeps_no_backup() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let (path, scratch) = (folder.path().join("chat.jsonl"), Scratch::new(false));
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
