//! What the store says when it cannot: always the file, what is wrong with it, and what would be right.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a store could not be opened, read or written.
#[derive(Debug)]
pub enum StoreError {
    /// The file is not one to work with. It was left as it was.
    Refused {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: Refusal,
    },
    /// The operating system said no.
    System {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// `SQLite` said no; the transaction was rolled back.
    Database {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
    /// A line of an export cannot be taken in; nothing of the export was.
    Import {
        /// The line, from 1; 0 where no line is to blame.
        line: usize,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// An export cannot be written out.
    Export(io::Error),
    /// Neither flag nor environment says where the store is.
    NoPlace,
}

/// What is wrong with a file that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A folder, a pipe or a device.
    NotAFile,
    /// No bytes at all, which no store ever is.
    Empty,
    /// Another format.
    NotSqlite,
    /// A database of another program.
    Foreign,
    /// Written by a newer version of this program.
    Newer {
        /// The file's version.
        found: i32,
        /// The newest version known here.
        known: i32,
    },
    /// Shorter than it says it is.
    Truncated,
    /// Pages that contradict each other.
    Damaged,
    /// No permission to write.
    ReadOnly,
}

impl StoreError {
    /// Puts the file's name to what `SQLite` said, and gives the frequent cases their own words.
    pub(super) fn database(path: &Path, source: rusqlite::Error) -> StoreError {
        let why = match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Refusal::NotSqlite,
            Some(ErrorCode::DatabaseCorrupt) => Refusal::Damaged,
            Some(ErrorCode::ReadOnly) => Refusal::ReadOnly,
            _ => {
                let path = path.to_owned();
                return StoreError::Database { path, source };
            }
        };
        StoreError::refused(path, why)
    }

    pub(super) fn refused(path: &Path, why: Refusal) -> StoreError {
        let path = path.to_owned();
        StoreError::Refused { path, why }
    }

    pub(super) fn system(path: &Path, source: io::Error) -> StoreError {
        let path = path.to_owned();
        StoreError::System { path, source }
    }
}

/// Whether another process holds the file for now.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Refused { path, why } => write!(f, "store {}: {why}", path.display()),
            StoreError::System { path, source } => write!(f, "store {}: {}", path.display(), words(source)),
            StoreError::Database { path, source } if is_busy(source) => {
                write!(f, "store {}: another process holds it; try again", path.display())
            }
            StoreError::Database { path, source } => write!(f, "store {}: {source}", path.display()),
            StoreError::Import { line: 0, reason } => write!(f, "import: {reason}"),
            StoreError::Import { line, reason } => write!(f, "import, line {line}: {reason}"),
            StoreError::Export(source) => write!(f, "export: {}", words(source)),
            StoreError::NoPlace => {
                f.write_str("no place for the store: give --store FILE, or set CURTAIL_STORE or HOME")
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotAFile => f.write_str("not a regular file; name a file"),
            Refusal::Empty => f.write_str(
                "an empty file, which no store is: it was cut off, or something else made it; \
                 remove it to start anew",
            ),
            Refusal::NotSqlite => f.write_str("not a store (not an SQLite file); name another file"),
            Refusal::Foreign => f.write_str("the SQLite file of another program; name another file"),
            Refusal::Newer { found, known } => {
                write!(f, "version {found}, written by a newer curtail; this one knows version {known}: upgrade it")
            }
            Refusal::Truncated => f.write_str("cut off: shorter than it says; restore a copy"),
            Refusal::Damaged => f.write_str("damaged or cut off; restore a copy"),
            Refusal::ReadOnly => f.write_str("read-only; make it writable or name another file"),
        }
    }
}

// The words say the cause already; a chain of causes would say it twice.
impl std::error::Error for StoreError {}

/// The system's words without its number, and without the temporary file that nobody named.
fn words(source: &io::Error) -> String {
    let said = source.to_string();
    said.split(" (os error").next().unwrap_or(&said).to_lowercase()
}
