//! State that outlives a run: one `SQLite` file, with a body of text for each shelf, scope and id. The store knows neither
//! transcripts nor the meaning of a body, and never changes a file that is not a store.

mod entries;
mod file;
mod listing;
mod location;
mod tables;
mod transfer;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use thiserror::Error;

use curtail_core::system_error::system_message;

pub use entries::{Aside, Record};
pub use listing::{Filter, StoreEntry};
pub use location::StoreLocation;
pub use transfer::{Clash, Export};

/// How long a read or a change waits for other processes to release their locks. A change takes about a thousandth of this.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// The part of the program that a body belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shelf {
    /// Working memory.
    Memory,
    /// The rolling window and its summaries.
    Summary,
}

impl Shelf {
    /// All shelves, in the order of a listing.
    pub const ALL: [Shelf; 2] = [Shelf::Memory, Shelf::Summary];

    /// The name in the file and in exports.
    pub fn name(self) -> &'static str {
        match self {
            Shelf::Memory => "memory",
            Shelf::Summary => "summary",
        }
    }

    /// The shelf of that name.
    pub fn named(name: &str) -> Option<Shelf> {
        Self::ALL.into_iter().find(|shelf| shelf.name() == name)
    }
}

/// The owner of a state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One conversation.
    #[default]
    Thread,
    /// All conversations of one resource: a user, a project, a repository.
    Resource,
}

impl Scope {
    /// All scopes, in the order of a listing.
    pub const ALL: [Scope; 2] = [Scope::Thread, Scope::Resource];

    /// The name in the file, in exports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Thread => "thread",
            Scope::Resource => "resource",
        }
    }

    /// The scope of that name.
    pub fn named(name: &str) -> Option<Scope> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// The key of one body. The id is any text, even an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordKey<'a> {
    /// The part of the program that owns it.
    pub shelf: Shelf,
    /// Whether `id` names a thread or a resource.
    pub scope: Scope,
    /// The thread or resource.
    pub id: &'a str,
}

impl<'a> RecordKey<'a> {
    /// The values of the columns `shelf`, `scope` and `id`.
    fn columns(&self) -> [&'a str; 3] {
        [self.shelf.name(), self.scope.name(), self.id]
    }
}

/// An open store. Open a file once per process and share the value behind a lock: closing a second
/// descriptor drops the first one's locks (<https://www.sqlite.org/howtocorrupt.html>, 2.2).
///
/// ```
/// use curtail_memory::store::{RecordKey, Scope, Shelf, Store, StoreError};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("state.db");
/// let mut store = Store::open(&path)?;
/// let key = RecordKey { shelf: Shelf::Memory, scope: Scope::Thread, id: "support-7" };
/// store.update(key, |record| record.write("{}"))?;
/// assert_eq!(store.read_body(key)?.as_deref(), Some("{}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    // Declared before `_header`, so that it releases its locks before the descriptor closes.
    connection: Connection,
    path: PathBuf,
    _header: File,
}

impl Store {
    /// Opens the store at `path` for changes, and creates it and its folders if it does not exist.
    ///
    /// # Errors
    /// [`StoreError`] if the file is not a store, is damaged, is read-only or is of a newer version. The file is not changed.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        file::make_if_missing(path)?;
        file::open(path, file::Access::Change)
    }

    /// Opens the store at `path` for reading; the file may be read-only. `None` if it does not exist.
    ///
    /// # Errors
    /// As [`Store::open`], except for a read-only file.
    pub fn open_existing(path: &Path) -> Result<Option<Store>, StoreError> {
        if !file::exists(path)? {
            return Ok(None);
        }
        file::open(path, file::Access::Read).map(Some)
    }

    /// The file, as the caller named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads and writes the record at `key` in one transaction: no other process writes in between. If this returns `Ok`, the
    /// change is on the disk; if `change` or the disk fails, nothing changed.
    ///
    /// # Errors
    /// The error of `change`, and [`StoreError`] if the file cannot be read or written.
    pub fn update<T, E: From<StoreError>>(
        &mut self,
        key: RecordKey<'_>,
        change: impl FnOnce(&mut Record<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transact(|transaction, path| change(&mut Record::load(transaction, path, key)?))
    }

    /// The body at `key`. Changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn read_body(&self, key: RecordKey<'_>) -> Result<Option<String>, StoreError> {
        self.read(|connection| Ok(entries::row(connection, key)?.and_then(|(_, body)| body)))
    }

    /// Whether an update with this id was applied to the entry at `key`.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub(crate) fn has_applied_id(&self, key: RecordKey<'_>, id: &str) -> Result<bool, StoreError> {
        self.read(|connection| entries::has_applied_id(connection, key, id))
    }

    /// The bodies set aside at `key`, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn set_aside(&self, key: RecordKey<'_>) -> Result<Vec<Aside>, StoreError> {
        self.read(|connection| entries::asides(connection, entries::row(connection, key)?.map(|(number, _)| number)))
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        query(&self.connection).map_err(|source| self.error(source))
    }

    fn error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::database(&self.path, source)
    }

    /// Runs `change` between `BEGIN IMMEDIATE` and `COMMIT`. Because the write lock is taken first, `change` never has to run
    /// twice.
    fn transact<T, E: From<StoreError>>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>, &Path) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|source| self.error(source))?;
        let result = change(&transaction, &self.path)?;
        // Not `Transaction::commit`, which rolls back if a reader still holds its lock.
        transaction.execute_batch("COMMIT").map_err(|source| self.error(source))?;
        Ok(result)
    }
}

/// Why a store could not be opened, read or written. The message includes the cause, which is no `source`: a printed chain
/// would repeat it.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file is not a store that this program can use. The file was not changed.
    #[error("store {}: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: Refusal,
    },
    /// The operating system reported an error.
    #[error("store {}: {}", path.display(), system_message(cause))]
    System {
        /// The file or folder.
        path: PathBuf,
        /// The error it reported.
        cause: io::Error,
    },
    /// `SQLite` reported an error. The transaction was rolled back.
    #[error("store {}: {}", path.display(), database_message(cause))]
    Database {
        /// The file.
        path: PathBuf,
        /// The error it reported.
        cause: rusqlite::Error,
    },
    /// A line of an export cannot be imported. Nothing of the export was imported.
    #[error("import{}: {reason}", if *line == 0 { String::new() } else { format!(", line {line}") })]
    Import {
        /// The line, from 1; 0 if the error is not in a single line.
        line: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// An export cannot be written.
    #[error("export: {}", system_message(.0))]
    Export(io::Error),
    /// Neither the flag nor the environment names the store's file.
    #[error("no file for the store: pass --store FILE, or set CURTAIL_STORE or HOME")]
    NoPlace,
}

/// What is wrong with a file that cannot be used as a store, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A folder, a pipe or a device.
    #[error("not a regular file; name another file")]
    NotAFile,
    /// A link whose target does not exist.
    #[error("a link to a file that does not exist; remove it or name another file")]
    BrokenLink,
    /// An empty file. A new store is never empty.
    #[error("the file is empty and not a curtail store; delete it to start over")]
    Empty,
    /// A file of another format.
    #[error("not a curtail store (not an SQLite file); name another file")]
    NotSqlite,
    /// An `SQLite` database of another program.
    #[error("an SQLite file of another program; name another file")]
    Foreign,
    /// Written by a newer version of this program.
    #[error("written by a newer curtail (version {found}; this one reads up to {known}); upgrade curtail")]
    Newer {
        /// The file's version.
        found: i32,
        /// The newest version known here.
        known: i32,
    },
    /// Shorter than its header says.
    #[error("truncated: the file is shorter than its header says; restore a copy")]
    Truncated,
    /// `SQLite` found it malformed.
    #[error("damaged or truncated; restore a copy")]
    Damaged,
    /// The file cannot be written.
    #[error("read-only; make it writable or name another file")]
    ReadOnly,
}

impl StoreError {
    /// The error for what `SQLite` reported about `path`. Frequent cases are a [`Refusal`].
    fn database(path: &Path, cause: rusqlite::Error) -> StoreError {
        let why = match cause.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Refusal::NotSqlite,
            Some(ErrorCode::DatabaseCorrupt) => Refusal::Damaged,
            Some(ErrorCode::ReadOnly) => Refusal::ReadOnly,
            _ => return StoreError::Database { path: path.to_owned(), cause },
        };
        StoreError::refused(path, why)
    }

    fn refused(path: &Path, why: Refusal) -> StoreError {
        StoreError::Refused { path: path.to_owned(), why }
    }

    fn system(path: &Path, cause: io::Error) -> StoreError {
        StoreError::System { path: path.to_owned(), cause }
    }
}

/// What `SQLite` reported; another message if another process has locked the file.
fn database_message(cause: &rusqlite::Error) -> String {
    match cause.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            String::from("locked by another process; try again")
        }
        _ => cause.to_string(),
    }
}
