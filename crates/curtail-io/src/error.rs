//! Errors of files: a kind, a file, a place and a message.
//!
//! A [`FileError`] reads after the program's name: `chat.jsonl:41:1032: expected ',' or ']'`. It knows no exit status.

use std::fmt;

use curtail_core::places::TextPlace;
use curtail_core::system_error::system_message;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line is invalid: conflicting outputs, an unknown name, no inputs.
    Usage,
    /// An output already exists.
    Exists,
    /// The system refused to read or write.
    System,
    /// A compressed stream is corrupt or ends early.
    Compression,
    /// Bytes that are not UTF-8, text that is not JSON, JSON that is not a transcript, or a budget that is too small.
    Content,
    /// The reader of the output is gone.
    BrokenPipe,
}

/// An operation that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Its kind.
    pub kind: ErrorKind,
    /// The file, as the user named it; empty if the error is about no file.
    pub name: String,
    /// The place in the file.
    pub place: Option<TextPlace>,
    /// What is wrong, and what to do.
    pub what: String,
}

impl FileError {
    /// An error of `kind` about the file `name`.
    #[must_use]
    pub fn new(kind: ErrorKind, name: impl Into<String>, what: impl Into<String>) -> Self {
        Self { kind, name: name.into(), place: None, what: what.into() }
    }

    /// An error of the operating system about the file `name`.
    #[must_use]
    pub fn system(name: impl Into<String>, error: &std::io::Error) -> Self {
        let kind =
            if error.kind() == std::io::ErrorKind::BrokenPipe { ErrorKind::BrokenPipe } else { ErrorKind::System };
        Self::new(kind, name, system_message(error))
    }

    /// The same error, at `place`.
    #[must_use]
    pub fn at(mut self, place: TextPlace) -> Self {
        self.place = Some(place);
        self
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            write!(f, "{}:", self.name)?;
            if let Some(TextPlace { line, column }) = self.place {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for FileError {}

#[cfg(test)]
mod tests {
    use curtail_core::places::TextPlace;

    use super::{ErrorKind, FileError};

    #[test]
    fn errors_say_file_line_and_column() {
        let error = FileError::new(ErrorKind::Content, "chat.jsonl", "expected ',' or ']'")
            .at(TextPlace { line: 41, column: 1032 });
        assert_eq!(error.to_string(), "chat.jsonl:41:1032: expected ',' or ']'");
        let missing = std::io::Error::from_raw_os_error(2);
        assert_eq!(FileError::system("x", &missing).to_string(), "x: no such file or directory");
    }
}
