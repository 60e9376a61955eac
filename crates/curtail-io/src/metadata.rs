//! What the system knows of a file besides its bytes: its identity, which is independent of its names, and its stamp, which
//! shows whether it has changed.

use std::collections::HashSet;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

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
    pub(super) fn all_at_path(path: &Path) -> HashSet<Self> {
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
    pub(super) len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of a regular file; `None` for pipes and devices.
    pub fn from_metadata(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Self {
            #[cfg(unix)]
            id: FileId::from_metadata(metadata),
            len: metadata.len(),
            modified: metadata.modified().ok(),
        })
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

/// The folder that contains the file at `path`.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file at `folder`, or above it, that prevents a directory there.
pub(super) fn file_as_directory(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir())
}
