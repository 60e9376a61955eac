//! The identity of a file, whatever its names, and whether a file has changed.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Source;
use crate::error::{Error, ErrorKind};

/// A file: two names of the same file are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum FileId {
    /// A file that exists: its device and inode.
    #[cfg_attr(not(unix), expect(dead_code, reason = "other systems identify files by their full path"))]
    Existing(u64, u64),
    /// A file that does not exist yet: its full path.
    Path(PathBuf),
}

impl FileId {
    pub(super) fn at_path(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(there) = std::fs::metadata(path) {
            return Self::from_metadata(&there);
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let full = path.canonicalize().ok();
        let full = full.or_else(|| Some(parent.canonicalize().ok()?.join(path.file_name()?)));
        Self::Path(full.unwrap_or_else(|| path.to_owned()))
    }

    #[cfg(unix)]
    fn from_metadata(there: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self::Existing(there.dev(), there.ino())
    }
}

/// Size, time of the last change and identity of a file: if all are the same, the content is assumed to be the same.
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
    pub fn from_metadata(there: &Metadata) -> Option<Self> {
        there.is_file().then(|| Self {
            #[cfg(unix)]
            id: FileId::from_metadata(there),
            len: there.len(),
            modified: there.modified().ok(),
        })
    }

    /// Bytes from the place `at` to the end; `None` if the file had none there.
    pub(super) fn bytes_from(&self, at: u64) -> Option<usize> {
        self.len.checked_sub(at).filter(|&rest| rest > 0).and_then(|rest| usize::try_from(rest).ok())
    }

    /// Whether the file at `path` still has this stamp.
    pub(super) fn holds(&self, path: &Path) -> io::Result<bool> {
        Ok(Self::from_metadata(&std::fs::metadata(path)?).as_ref() == Some(self))
    }
}

/// The files of a run, each with its only use: no output may be an input or another output.
#[derive(Debug, Default)]
pub struct FileUses(HashMap<FileId, FileUse>);

#[derive(Debug)]
enum FileUse {
    Input(String),
    /// The output of the input with this name.
    Output(String),
    /// A file that a flag names.
    Flag(&'static str),
}

impl FileUses {
    /// The inputs of a run.
    #[must_use]
    pub fn from_inputs(sources: &[Source]) -> Self {
        let inputs = sources.iter().filter_map(|source| Some((source.path.as_ref()?, &source.name)));
        Self(inputs.map(|(path, name)| (FileId::at_path(path), FileUse::Input(name.clone()))).collect())
    }

    /// Records `path` as the output of `source`.
    ///
    /// # Errors
    /// The file is an input or another output.
    pub(super) fn output(&mut self, path: &Path, source: &Source) -> Result<(), Error> {
        self.record(path, FileUse::Output(source.name.clone()), |other| match other {
            FileUse::Input(name) if *name == source.name => {
                "the output is the input; --in-place replaces inputs".to_owned()
            }
            FileUse::Input(name) => {
                format!("the output of {} is an input{}; name another output", source.name, named(path, name))
            }
            FileUse::Output(name) => format!("this output belongs to both {name} and {}", source.name),
            FileUse::Flag(flag) => format!("the output of {} is also named by {flag}; name another file", source.name),
        })
    }

    /// Records `path` as the file that `flag` names.
    ///
    /// # Errors
    /// The file is an input or another output.
    pub fn flag(&mut self, path: &Path, flag: &'static str) -> Result<(), Error> {
        self.record(path, FileUse::Flag(flag), |other| match other {
            FileUse::Input(name) => format!("{flag} names an input{}; name another file", named(path, name)),
            FileUse::Output(name) => format!("{flag} names the output of {name}; name another file"),
            FileUse::Flag(other) => format!("{flag} and {other} name the same file"),
        })
    }

    fn record(&mut self, path: &Path, purpose: FileUse, wrong: impl FnOnce(&FileUse) -> String) -> Result<(), Error> {
        // Writing to a pipe or a device replaces no file.
        if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Ok(());
        }
        let id = FileId::at_path(path);
        if let Some(other) = self.0.get(&id) {
            return Err(Error::new(ErrorKind::Usage, path.to_string_lossy(), wrong(other)));
        }
        self.0.insert(id, purpose);
        Ok(())
    }
}

/// ` (NAME)` if the input was named in another way.
fn named(path: &Path, name: &str) -> String {
    if path.as_os_str() == name { String::new() } else { format!(" ({name})") }
}
