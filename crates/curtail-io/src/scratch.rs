//! The temporary files of a run. Each is locked while it is written, so that a later run can detect and remove those
//! that a killed run left behind.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tempfile::NamedTempFile;

use super::file_names::{is_temporary, temporary};
use super::open_files::{SCAN_LIFETIME, open_for_writing};
use super::replaced::{MAX_AGE, MAX_UNCHECKED, Replaced, Unsettled, settle};
use crate::error::FileError;
use crate::metadata::FileId;

/// The number of renames after which directories are flushed to the disk.
const RENAMES: usize = 256;

/// Creates temporary files, and flushes outputs to the disk.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Whether nothing is flushed, because the outputs can be made again.
    unsynced: bool,
    /// Directories from which abandoned files were removed.
    swept: Mutex<HashSet<PathBuf>>,
    /// Directories with renames that may not be on the disk yet, and the number of the renames.
    renamed: Mutex<(HashSet<PathBuf>, usize)>,
    /// The files that other programs had open for writing at the last scan, and when it was.
    holders: Mutex<Option<(Instant, HashSet<FileId>)>>,
    /// Replaced inputs that are still to be checked.
    unsettled: Mutex<Unsettled>,
    /// The mode of new files in each directory.
    modes: Mutex<HashMap<PathBuf, u32>>,
}

impl Scratch {
    /// For a run that flushes its outputs to the disk if `sync`.
    pub fn new(sync: bool) -> Self {
        let mut scratch = Self::default();
        scratch.unsynced = !sync;
        scratch
    }

    /// A new locked file in `directory`. The first call also removes the files that killed runs left there.
    pub(super) fn file_in(&self, directory: &Path) -> io::Result<NamedTempFile> {
        if lock(&self.swept).insert(directory.to_owned()) {
            sweep(directory);
        }
        loop {
            let file = temporary().tempfile_in(directory)?;
            // If files cannot be locked, none are removed either.
            let locked = file.as_file().lock();
            // Another run may have found the file before it was locked.
            if locked.is_err() || file.path().exists() {
                return Ok(file);
            }
        }
    }

    /// The mode that any program would give a new file in `directory`.
    pub(super) fn usual_mode(&self, directory: &Path) -> io::Result<u32> {
        let mut modes = lock(&self.modes);
        if let Some(mode) = modes.get(directory) {
            return Ok(*mode);
        }
        let mode = mode_of_new(directory)?;
        modes.insert(directory.to_owned(), mode);
        Ok(mode)
    }

    /// Records an input that was replaced, to be checked together with others.
    pub(super) fn replaced(&self, replaced: Replaced) {
        let mut unsettled = lock(&self.unsettled);
        unsettled.replaced.push(replaced);
        if unsettled.replaced.len() >= MAX_UNCHECKED || unsettled.replaced[0].when.elapsed() > MAX_AGE {
            let due = std::mem::take(&mut unsettled.replaced);
            drop(unsettled);
            let errors = settle(due);
            lock(&self.unsettled).errors.extend(errors);
        }
    }

    /// Checks all inputs that were replaced. Returns the errors of those that another program wrote to in the meantime,
    /// which were rolled back.
    #[must_use]
    pub fn settle(&self) -> Vec<FileError> {
        let unchecked = std::mem::take(&mut lock(&self.unsettled).replaced);
        let errors = settle(unchecked);
        let mut unsettled = lock(&self.unsettled);
        unsettled.errors.extend(errors);
        std::mem::take(&mut unsettled.errors)
    }

    /// Flushes `file` to the disk.
    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        if self.unsynced { Ok(()) } else { file.sync_all() }
    }

    /// Whether another program has the file at `path` open for writing, as far as the system reports it.
    pub(super) fn is_held(&self, path: &Path) -> bool {
        let mut scan = lock(&self.holders);
        if scan.as_ref().is_none_or(|(when, _)| when.elapsed() > SCAN_LIFETIME) {
            let open = open_for_writing();
            *scan = Some((Instant::now(), open));
        }
        scan.as_ref().is_some_and(|(_, open)| open.contains(&FileId::at_path(path)))
    }

    /// Records that a file was renamed to `path`, to be flushed together with others.
    pub(super) fn renamed(&self, path: &Path) {
        let Some(directory) = path.parent().filter(|_| !self.unsynced) else { return };
        let mut renamed = lock(&self.renamed);
        renamed.0.insert(directory.to_owned());
        renamed.1 += 1;
        if renamed.1 >= RENAMES {
            let directories = std::mem::take(&mut *renamed).0;
            drop(renamed);
            sync_directories(&directories);
        }
    }

    /// Flushes all renames to the disk.
    pub fn sync_renames(&self) {
        sync_directories(&std::mem::take(&mut *lock(&self.renamed)).0);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.settle());
        self.sync_renames();
    }
}

/// The mode of a new file in `directory`, which depends on the umask and on the directory's access list.
#[cfg(unix)]
fn mode_of_new(directory: &Path) -> io::Result<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let all = std::fs::Permissions::from_mode(0o666);
    Ok(temporary().permissions(all).tempfile_in(directory)?.as_file().metadata()?.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode_of_new(_directory: &Path) -> io::Result<u32> {
    Ok(0)
}

/// Removes the temporary files in `directory` that no running program has locked or open for writing. Files that cannot be removed
/// are left.
///
/// Only an obtained lock proves that no other run uses a file. A run that was killed right after it replaced an input left the old
/// version under such a name, and a program may still write to it: so it is looked for after the files have these names.
pub fn sweep(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter(|entry| {
        is_temporary(&entry.file_name().to_string_lossy()) && entry.file_type().is_ok_and(|kind| kind.is_file())
    });
    let unlocked = files.filter_map(|entry| {
        let path = entry.path();
        lock_file(&path).ok()?;
        Some((FileId::at_path(&path), path))
    });
    let unlocked: Vec<(FileId, PathBuf)> = unlocked.collect();
    if unlocked.is_empty() {
        return;
    }
    let open = open_for_writing();
    for (id, path) in unlocked.into_iter().filter(|(id, _)| !open.contains(id)) {
        // Another run may have locked it since, or given its name to another file.
        if let Ok(_locked) = lock_file(&path)
            && FileId::at_path(&path) == id
        {
            drop(std::fs::remove_file(&path));
        }
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    file.try_lock()?;
    Ok(file)
}

/// A rename is on the disk when its directory is. If directories cannot be synced, the file system does this itself.
fn sync_directories(directories: &HashSet<PathBuf>) {
    for directory in directories.iter().filter_map(|directory| File::open(directory).ok()) {
        drop(directory.sync_all());
    }
}

/// Locks a mutex; a panic in another thread does not cause a second one here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
