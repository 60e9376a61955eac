//! State that outlives a run: one `SQLite` file, with a body of text for each shelf, scope and id. The store knows neither
//! transcripts nor the meaning of a body, and never changes a file that is not a store.

mod error;
mod file;
mod listing;
mod record;
mod transfer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use error::{Refusal, StoreError};
pub use file::StoreLocation;
pub use listing::{Filter, StoreEntry};
pub use record::{Aside, Record};
pub use transfer::Clash;

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
    #[must_use]
    pub const fn name(self) -> &'static str {
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
    #[must_use]
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
        record::body(&self.connection, key).map_err(|source| StoreError::database(&self.path, source))
    }

    /// The bodies set aside at `key`, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn set_aside(&self, key: RecordKey<'_>) -> Result<Vec<Aside>, StoreError> {
        record::asides(&self.connection, key).map_err(|source| StoreError::database(&self.path, source))
    }

    /// Runs `change` between `BEGIN IMMEDIATE` and `COMMIT`. Because the write lock is taken first, `change` never has to run
    /// twice.
    fn transact<T, E: From<StoreError>>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>, &Path) -> Result<T, E>,
    ) -> Result<T, E> {
        let at = |source| StoreError::database(&self.path, source);
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(at)?;
        let result = change(&transaction, &self.path)?;
        // Not `Transaction::commit`, which rolls back if a reader still holds its lock.
        transaction.execute_batch("COMMIT").map_err(at)?;
        Ok(result)
    }
}
