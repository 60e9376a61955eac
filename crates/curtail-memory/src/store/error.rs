//! Why the store failed: the file, what is wrong with it, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use curtail_core::error::system_message;

/// Why a store could not be opened, read or written.
#[derive(Debug)]
pub enum StoreError {
    /// The file is not a store that this program can use. The file was not changed.
    Refused {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: Refusal,
    },
    /// The operating system reported an error.
    System {
        /// The file or folder.
        path: PathBuf,
        /// The error it reported.
        source: io::Error,
    },
    /// `SQLite` reported an error. The transaction was rolled back.
    Database {
        /// The file.
        path: PathBuf,
        /// The error it reported.
        source: rusqlite::Error,
    },
    /// A line of an export cannot be imported. Nothing of the export was imported.
    Import {
        /// The line, from 1; 0 if the error is not in a single line.
        line: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// An export cannot be written.
    Export(io::Error),
    /// Neither the flag nor the environment names the store's file.
    NoPlace,
}

/// What is wrong with a file that cannot be used as a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A folder, a pipe or a device.
    NotAFile,
    /// An empty file. A new store is never empty.
    Empty,
    /// A file of another format.
    NotSqlite,
    /// An `SQLite` database of another program.
    Foreign,
    /// Written by a newer version of this program.
    Newer {
        /// The file's version.
        found: i32,
        /// The newest version known here.
        known: i32,
    },
    /// Shorter than its header says.
    Truncated,
    /// `SQLite` found it malformed.
    Damaged,
    /// The file cannot be written.
    ReadOnly,
}

impl StoreError {
    /// The error for what `SQLite` reported about `path`. Frequent cases are a [`Refusal`].
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

/// Whether another process has locked the file.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Refused { path, why } => write!(f, "store {}: {why}", path.display()),
            StoreError::System { path, source } => write!(f, "store {}: {}", path.display(), system_message(source)),
            StoreError::Database { path, source } if is_busy(source) => {
                write!(f, "store {}: locked by another process; try again", path.display())
            }
            StoreError::Database { path, source } => write!(f, "store {}: {source}", path.display()),
            StoreError::Import { line: 0, reason } => write!(f, "import: {reason}"),
            StoreError::Import { line, reason } => write!(f, "import, line {line}: {reason}"),
            StoreError::Export(source) => write!(f, "export: {}", system_message(source)),
            StoreError::NoPlace => {
                f.write_str("no file for the store: pass --store FILE, or set CURTAIL_STORE or HOME")
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotAFile => f.write_str("not a regular file; name another file"),
            Refusal::Empty => f.write_str("the file is empty and not a curtail store; delete it to start over"),
            Refusal::NotSqlite => f.write_str("not a curtail store (not an SQLite file); name another file"),
            Refusal::Foreign => f.write_str("an SQLite file of another program; name another file"),
            Refusal::Newer { found, known } => {
                write!(f, "written by a newer curtail (version {found}; this one reads up to {known}); upgrade curtail")
            }
            Refusal::Truncated => f.write_str("truncated: the file is shorter than its header says; restore a copy"),
            Refusal::Damaged => f.write_str("damaged or truncated; restore a copy"),
            Refusal::ReadOnly => f.write_str("read-only; make it writable or name another file"),
        }
    }
}

// `Display` includes the cause, so `source` stays empty: a printed chain would repeat it.
impl std::error::Error for StoreError {}
