//! Identifies a file independently of its names, detects whether it has changed, and records what a run uses each file
//! for.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::Source;
use curtail_core::error::{ErrorKind, FileError};

/// The identity of a file, which all of its names share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum FileId {
    /// A file that exists: its device and inode.
    #[cfg_attr(not(unix), expect(dead_code, reason = "other systems identify files by their full path"))]
    Existing(u64, u64),
    /// A file that does not exist yet: its full path.
    Path(PathBuf),
}

impl FileId {
    /// The file at `path`: by device and inode if it exists and the system reports them, otherwise by its full path.
    pub(super) fn at_path(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(metadata) = std::fs::metadata(path) {
            return Self::from_metadata(&metadata);
        }
        Self::Path(full_path(path))
    }

    /// All identities of the file at `path`: it gets another one when it is first written.
    fn all_at_path(path: &Path) -> HashSet<Self> {
        HashSet::from([Self::at_path(path), Self::Path(full_path(path))])
    }

    #[cfg(unix)]
    fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self::Existing(metadata.dev(), metadata.ino())
    }
}

/// The path without links and `..`, as far as it exists.
fn full_path(path: &Path) -> PathBuf {
    if let Ok(full) = path.canonicalize() {
        return full;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for folder in absolute.ancestors().skip(1) {
        let (Ok(mut full), Ok(rest)) = (folder.canonicalize(), absolute.strip_prefix(folder)) else { continue };
        for step in rest.components() {
            match step {
                Component::ParentDir => _ = full.pop(),
                _ => full.push(step),
            }
        }
        // Once `..` is resolved, the path may exist.
        return full.canonicalize().unwrap_or(full);
    }
    absolute
}

/// Size, time of the last change and identity of a file. If all are the same, the content is assumed to be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    #[cfg(unix)]
    id: FileId,
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of a regular file; `None` for pipes and devices.
    #[must_use]
    pub fn from_metadata(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Self {
            #[cfg(unix)]
            id: FileId::from_metadata(metadata),
            len: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// The number of bytes from the offset `at` to the end; `None` if the file had none there.
    pub(super) fn bytes_from(&self, at: u64) -> Option<usize> {
        self.len.checked_sub(at).filter(|&rest| rest > 0).and_then(|rest| usize::try_from(rest).ok())
    }

    /// When the file was written, in nanoseconds since 1970, and its length in bytes.
    pub(super) fn time_and_len(&self) -> Option<(u128, u64)> {
        let since = self.modified?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some((since.as_nanos(), self.len))
    }

    /// The stamp of the file at `path`, if there is a regular file.
    pub(super) fn at_path(path: &Path) -> Option<Self> {
        Self::from_metadata(&std::fs::metadata(path).ok()?)
    }

    /// Whether the file at `path` still has this stamp.
    pub(super) fn holds(&self, path: &Path) -> io::Result<bool> {
        Ok(Self::from_metadata(&std::fs::metadata(path)?).as_ref() == Some(self))
    }
}

/// The files of a run, each with its only use: an output must not be an input, another file that the run reads, or
/// another output. Every file that a command writes is recorded here first.
#[derive(Debug, Default)]
pub struct FileUses(Mutex<HashMap<FileId, FileUse>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum FileUse {
    Input(Owner),
    /// A file that is read because a flag or the configuration names it.
    Read,
    /// An output of this input.
    Output(Owner),
    /// A file that a flag names, to be written.
    Flag(&'static str),
}

/// The input of an output: its path, and its name in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owner(Option<PathBuf>, String);

impl Owner {
    fn from_source(source: &Source) -> Self {
        Self(source.path.clone(), source.name.clone())
    }
}

impl FileUses {
    /// The inputs of a run, and other files that it reads.
    #[must_use]
    pub fn new<'p>(sources: &[Source], reads: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        let mut uses = HashMap::new();
        for source in sources {
            let ids = source.path.iter().flat_map(|path| FileId::all_at_path(path));
            uses.extend(ids.map(|id| (id, FileUse::Input(Owner::from_source(source)))));
        }
        for id in reads.into_iter().flat_map(|path| FileId::all_at_path(path)) {
            uses.entry(id).or_insert(FileUse::Read);
        }
        Self(Mutex::new(uses))
    }

    /// Records `path` as an output of `source`. A source may have several outputs.
    ///
    /// # Errors
    /// The file is an input, a file that the run reads, or the output of another input.
    pub fn output(&self, path: &Path, source: &Source) -> Result<(), FileError> {
        let owner = Owner::from_source(source);
        let name = &source.name;
        self.record(path, &FileUse::Output(owner.clone()), |other| match other {
            FileUse::Input(input) if *input == owner => {
                "the output is the input; --in-place replaces inputs".to_owned()
            }
            FileUse::Input(Owner(_, input)) => {
                format!("the output of {name} is an input{}; name another output", other_name(path, input))
            }
            FileUse::Read => format!("the output of {name} is a file that this run reads; name another output"),
            FileUse::Output(Owner(_, other)) => format!("this output belongs to both {other} and {name}"),
            FileUse::Flag(flag) => format!("the output of {name} is also named by {flag}; name another file"),
        })
    }

    /// Records `path` as a file that is written because `flag` names it.
    ///
    /// # Errors
    /// The file is an input, a file that the run reads, or another output.
    pub fn flag(&self, path: &Path, flag: &'static str) -> Result<(), FileError> {
        self.record(path, &FileUse::Flag(flag), |other| match other {
            FileUse::Input(Owner(_, name)) => {
                format!("{flag} names an input{}; name another file", other_name(path, name))
            }
            FileUse::Read => format!("{flag} names a file that this run reads; name another file"),
            FileUse::Output(Owner(_, name)) => format!("{flag} names the output of {name}; name another file"),
            FileUse::Flag(other) => format!("{flag} and {other} name the same file"),
        })
    }

    /// Records the use of `path`. If it has another use already, `message` describes the conflict.
    fn record(&self, path: &Path, new: &FileUse, message: impl FnOnce(&FileUse) -> String) -> Result<(), FileError> {
        // Writing to a pipe or a device replaces no file.
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(());
        }
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ids = FileId::all_at_path(path);
        // The same output is recorded when it is planned and again when it is written.
        let conflicts = |other: &&FileUse| !matches!(new, FileUse::Output(_)) || *other != new;
        if let Some(other) = ids.iter().filter_map(|id| uses.get(id)).find(conflicts) {
            return Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), message(other)));
        }
        uses.extend(ids.into_iter().map(|id| (id, new.clone())));
        Ok(())
    }
}

/// ` (NAME)`, unless the name of the input is the path.
fn other_name(path: &Path, name: &str) -> String {
    if path.as_os_str() == name { String::new() } else { format!(" ({name})") }
}
