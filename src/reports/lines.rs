//! The files to which a run adds lines for its inputs: the map of a split, and rejects.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::options::cut::CutFlags;
use curtail_io::batch::Failure;
use curtail_io::{ErrorKind, FileError, Source, options_of_copy};

/// A file that contains lines only of inputs whose outputs were written.
pub(crate) struct LineFile {
    path: PathBuf,
    file: File,
    /// Whether this run made the file.
    is_new: bool,
    /// Where the lines of the current input begin; `None` for a pipe or a device, which cannot be truncated.
    input_start: Option<u64>,
}

impl LineFile {
    /// Opens the file at `path`. With `--resume`, lines are added to those that it has.
    ///
    /// # Errors
    /// The file exists and is not empty, or the system refuses.
    pub(crate) fn open(path: &Path, flags: &CutFlags, sources: &[Source]) -> Result<Self, FileError> {
        let continues = flags.output.resume.is_some();
        let has_content = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        if has_content && !flags.output.force && !continues {
            let reason = "already exists (not overwritten); pass --force";
            return Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), reason));
        }
        let is_new = !path.exists();
        let inputs = sources.iter().filter_map(|source| source.path.as_deref());
        let opened = options_of_copy(inputs).write(true).create(true).truncate(!continues).open(path);
        let mut file = opened.map_err(|error| FileError::system(path.to_string_lossy(), &error))?;
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        let input_start = file.seek(SeekFrom::End(0)).ok().filter(|_| is_file);
        Ok(Self { path: path.to_owned(), file, is_new, input_start })
    }

    /// Begins an input.
    pub(crate) fn begin(&mut self) {
        self.input_start = self.input_start.and_then(|_| self.file.stream_position().ok());
    }

    /// Adds a line of JSON for each of `entries` to those of the current input.
    pub(crate) fn add<E: Serialize>(&mut self, entries: impl IntoIterator<Item = E>) -> Result<(), FileError> {
        let mut lines = Vec::new();
        for entry in entries {
            // Strings and numbers cannot fail to be written as JSON.
            lines.extend(serde_json::to_vec(&entry).unwrap_or_default());
            lines.push(b'\n');
        }
        self.file.write_all(&lines).map_err(|error| self.system_error(&error))
    }

    /// Ends an input, and removes its lines if its output was not written.
    pub(crate) fn end(&mut self, written: bool) -> Result<(), FileError> {
        match self.input_start.filter(|_| !written) {
            Some(input_start) => self.truncate_to(input_start).map_err(|error| self.system_error(&error)),
            None => Ok(()),
        }
    }

    /// Ends the run. After a failure, a new file without lines is removed, so that it does not block the next run.
    pub(crate) fn finish(&self, failed: bool) -> Result<(), FileError> {
        let is_empty = self.file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0);
        match failed && self.is_new && is_empty {
            true => std::fs::remove_file(&self.path).map_err(|error| self.system_error(&error)),
            false => Ok(()),
        }
    }

    fn truncate_to(&mut self, input_start: u64) -> io::Result<()> {
        self.file.set_len(input_start)?;
        self.file.seek(SeekFrom::Start(input_start)).map(drop)
    }

    fn system_error(&self, error: &io::Error) -> FileError {
        FileError::system(self.path.to_string_lossy(), error)
    }
}

/// A line of `--rejects`.
#[derive(Serialize)]
pub(crate) struct Reject<'r> {
    pub(crate) file: &'r str,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) reason: &'r str,
    pub(crate) record: Option<Cow<'r, str>>,
}

impl<'r> Reject<'r> {
    /// The line of a record that failed; `None` if its whole file could not be read.
    pub(crate) fn from_failure(failure: &'r Failure) -> Option<Self> {
        let FileError { name: file, place, what: reason, .. } = &failure.error;
        let (line, column) = place.map(|place| (place.line, place.column)).unzip();
        let record = String::from_utf8_lossy(failure.record.as_deref()?);
        Some(Self { file, line, column, reason, record: Some(record) })
    }
}
