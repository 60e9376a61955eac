//! The temporary files of a run. Each is locked while it is written, so that a later run can detect and remove those
//! that a killed run left behind.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempPath};

use crate::error::FileError;
use crate::metadata::{FileId, Stamp};
use crate::refusals::{changed, held};

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
            let file = builder().tempfile_in(directory)?;
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

/// The names end in `.tmp`, so that no walk takes a temporary file for an input. Only the user may read these files.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM).suffix(SUFFIX);
    builder
}

/// The mode of a new file in `directory`, which depends on the umask and on the directory's access list.
#[cfg(unix)]
fn mode_of_new(directory: &Path) -> io::Result<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let all = std::fs::Permissions::from_mode(0o666);
    Ok(builder().permissions(all).tempfile_in(directory)?.as_file().metadata()?.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode_of_new(_directory: &Path) -> io::Result<u32> {
    Ok(0)
}

const PREFIX: &str = ".curtail-";
const RANDOM: usize = 10;
const SUFFIX: &str = ".tmp";

/// Removes the temporary files in `directory` that no running program has locked. Files that cannot be removed are left.
pub fn sweep(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_ours(&entry.file_name().to_string_lossy())) {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            drop(remove_abandoned(&entry.path()));
        }
    }
}

fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() >= 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Removes the file at `path` if it can be locked: only an obtained lock proves that no other run uses it. A run that was killed
/// right after it replaced an input left the old version under such a name, and a program may still write to it.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.try_lock()?;
    if open_for_writing().contains(&FileId::at_path(path)) {
        return Err(io::ErrorKind::ExecutableFileBusy.into());
    }
    std::fs::remove_file(path)
}

/// A rename is on the disk when its directory is. If directories cannot be synced, the file system does this itself.
fn sync_directories(directories: &HashSet<PathBuf>) {
    for directory in directories.iter().filter_map(|directory| File::open(directory).ok()) {
        drop(directory.sync_all());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// Checks a moment after an input was replaced whether this was safe: a program that opened an input before it was
// replaced would continue to write to its old version, which has no name. Then the old version is put back.

/// How many old versions are kept at once, and for how long. They are checked together, because a scan of all programs
/// takes longer than replacing a file.
const MAX_UNCHECKED: usize = 128;
const MAX_AGE: Duration = Duration::from_secs(1);

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
struct Unsettled {
    replaced: Vec<Replaced>,
    errors: Vec<FileError>,
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
fn settle(replaced: Vec<Replaced>) -> Vec<FileError> {
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

// Files that other programs have open for writing. A program that keeps a log open would continue to write into the
// replaced file, and its lines would be lost.

/// How long a scan of all programs is reused: in a batch of many files, a scan for each would take longer than the work
/// itself. Programs that open a file in the meantime are detected after it was replaced.
const SCAN_LIFETIME: Duration = Duration::from_secs(1);

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
