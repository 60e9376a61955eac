//! What a run uses each file for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Source;
use super::metadata::FileId;
use crate::error::{ErrorKind, FileError};
use crate::scratch::lock;

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
        let mut uses = lock(&self.0);
        let ids = FileId::all_at_path(path);
        for other in ids.iter().filter_map(|id| uses.get(id)) {
            // The same output is recorded when it is planned and again when it is written.
            if matches!(new, FileUse::Output(_)) && other == new {
                continue;
            }
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
