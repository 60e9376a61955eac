//! What outlives a run: one `SQLite` file with a body of text per shelf, scope and id.
//! It knows neither transcripts nor what a body says, and it never touches a file that is not its own.

mod error;
mod file;
mod listing;
mod place;
mod record;
mod transfer;
mod versions;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use error::{Refusal, StoreError};
pub use listing::{Filter, StoreEntry};
pub use place::{default_path, locate};
pub use record::{Aside, Record};
pub use transfer::Clash;

/// How long one attempt waits for another process to finish its change.
const PATIENCE: Duration = Duration::from_secs(5);
/// Attempts before a change is given up: half a minute in all, a thousand times what a change takes.
const ATTEMPTS: u32 = 6;

/// Whose bodies these are: each part of the program that keeps state has a shelf of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shelf {
    /// Working memory.
    Memory,
    /// The rolling window and its summaries.
    Summary,
}

impl Shelf {
    /// Every shelf, in the order of a listing.
    pub const ALL: [Shelf; 2] = [Shelf::Memory, Shelf::Summary];

    /// The name in the file and in exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Shelf::Memory => "memory",
            Shelf::Summary => "summary",
        }
    }

    /// The shelf of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Shelf> {
        Self::ALL.into_iter().find(|shelf| shelf.name() == name)
    }
}

/// How far a state reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One conversation.
    #[default]
    Thread,
    /// All conversations of one resource: a user, a project, a repository.
    Resource,
}

impl Scope {
    /// Every scope, in the order of a listing.
    pub const ALL: [Scope; 2] = [Scope::Thread, Scope::Resource];

    /// The name in the file, in exports and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scope::Thread => "thread",
            Scope::Resource => "resource",
        }
    }

    /// The scope of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Scope> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// Where one body lies. The id is any text, the empty text included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordKey<'a> {
    /// Whose it is.
    pub shelf: Shelf,
    /// What the id names.
    pub scope: Scope,
    /// The thread or resource.
    pub id: &'a str,
}

/// An open store. Open a file once per process and share the value behind a lock: closing a second
/// descriptor would drop the first one's locks (<https://www.sqlite.org/howtocorrupt.html>, 2.2).
#[derive(Debug)]
pub struct Store {
    // Declared before `_header`, so that its locks are gone when the descriptor closes.
    connection: Connection,
    path: PathBuf,
    _header: File,
}

impl Store {
    /// Opens the store at `path` for changes, making it and its folders where there is none.
    ///
    /// # Errors
    /// Refuses, untouched, a file that is no store, is damaged, is read-only or is of a newer version.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        file::make_if_missing(path)?;
        file::open(path, file::Access::Change)
    }

    /// Opens the store at `path` for reading; a read-only file will do. `None` where there is no file.
    ///
    /// # Errors
    /// As [`Store::open`], but for the read-only file.
    pub fn open_existing(path: &Path) -> Result<Option<Store>, StoreError> {
        if !file::exists(path)? {
            return Ok(None);
        }
        file::open(path, file::Access::Read).map(Some)
    }

    /// The file, as it was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads and writes the record at `key` in one transaction: when this returns `Ok`, the change is on the
    /// disk; when `change` or the disk fails, nothing happened. No other process comes in between.
    ///
    /// # Errors
    /// What `change` returns, and [`StoreError`] where the file cannot be read or written.
    pub fn update<T, E: From<StoreError>>(
        &mut self,
        key: RecordKey<'_>,
        change: impl FnOnce(&mut Record<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transact(|transaction, path| change(&mut Record::find(transaction, path, key)?))
    }

    /// The body at `key`, without changing anything.
    ///
    /// # Errors
    /// [`StoreError`] where the file cannot be read.
    pub fn read(&self, key: RecordKey<'_>) -> Result<Option<String>, StoreError> {
        record::body(&self.connection, key).map_err(|source| StoreError::database(&self.path, source))
    }

    /// What was set aside at `key`, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] where the file cannot be read.
    pub fn set_aside(&self, key: RecordKey<'_>) -> Result<Vec<Aside>, StoreError> {
        record::asides(&self.connection, key).map_err(|source| StoreError::database(&self.path, source))
    }

    /// Runs `change` between `BEGIN IMMEDIATE` and `COMMIT`. The write lock is taken at the start, so
    /// `change` runs once, however often the lock has to be asked for.
    fn transact<T, E: From<StoreError>>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>, &Path) -> Result<T, E>,
    ) -> Result<T, E> {
        let at = |source| StoreError::database(&self.path, source);
        let transaction =
            patiently(|| Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)).map_err(at)?;
        let result = change(&transaction, &self.path)?;
        // Not `Transaction::commit`, which rolls back when a reader is still in the way.
        patiently(|| transaction.execute_batch("COMMIT")).map_err(at)?;
        Ok(result)
    }
}

/// Asks again while another process holds the file, and at most [`ATTEMPTS`] times.
fn patiently<T>(mut ask: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let mut attempt = 1;
    loop {
        match ask() {
            Err(error) if error::is_busy(&error) && attempt < ATTEMPTS => attempt += 1,
            answer => return answer,
        }
    }
}
