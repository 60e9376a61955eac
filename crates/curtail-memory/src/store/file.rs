//! Opens and creates store files. Checks the header before `SQLite` opens the file, and creates a new store atomically.
//! It knows no tables.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result};

use super::tables::{APPLICATION_ID, NEWEST, create};
use super::{LOCK_TIMEOUT, Refusal, Store, StoreError};
use crate::temporary::temporary_in;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Header length and offsets: <https://www.sqlite.org/fileformat.html>, 1.3.
const HEADER: usize = 100;
const VERSION_AT: usize = 60;
const APPLICATION_AT: usize = 68;

/// Whether the caller changes the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Change,
}

/// Whether `path` exists.
pub(super) fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(|source| StoreError::system(path, source))
}

/// Creates an empty store in a temporary file and moves it to `path` in one step, so that a killed process never leaves an
/// empty or incomplete file, and two processes may do this at once.
pub(super) fn make_if_missing(path: &Path) -> Result<(), StoreError> {
    if exists(path)? {
        return Ok(());
    }
    // A new store would replace the link, or leave it as it is.
    if path.is_symlink() {
        return Err(StoreError::refused(path, Refusal::BrokenLink));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let system = |source| StoreError::system(path, source);
    make_folder(folder).map_err(|source| StoreError::system(folder, source))?;
    let blank = temporary_in(folder).map_err(system)?;
    let content = empty_store().map_err(|source| StoreError::database(path, source))?;
    blank.as_file().write_all(&content).map_err(system)?;
    blank.as_file().sync_all().map_err(system)?;
    match blank.persist_noclobber(path) {
        Err(failure) if failure.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(failure) => Err(system(failure.error)),
        Ok(_) => sync_folder(folder).map_err(system),
    }
}

/// The bytes of a store without entries. They are made in memory: `SQLite` would put a journal beside the file.
fn empty_store() -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    create(&connection)?;
    Ok(connection.serialize("main")?.to_vec())
}

/// A store may hold private text, so new folders, like new stores, are readable by their user only.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens an existing store. Reads the header itself first: `SQLite` would roll back the journal of another program's
/// database, or create files beside it.
pub(super) fn open(path: &Path, access: Access) -> Result<Store, StoreError> {
    let (header, writable) = check_header(path)?;
    if access == Access::Change && !writable {
        return Err(StoreError::refused(path, Refusal::ReadOnly));
    }
    let database = |source| StoreError::database(path, source);
    // A writable file is opened for writing even to read it: the journal of a killed process must be rolled back.
    let flags = if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    // SQLite gives some names a meaning (`:memory:`), but no absolute path.
    let absolute = std::path::absolute(path).map_err(|source| StoreError::system(path, source))?;
    let connection = connect(&absolute, flags).map_err(database)?;
    if !is_whole(&connection, &header).map_err(database)? {
        return Err(StoreError::refused(path, Refusal::Truncated));
    }
    Ok(Store { connection, path: path.to_owned(), _header: header })
}

/// Opens a file that has the header of a store, and returns whether its mode allows writing. The mode is checked because root
/// may write to any file.
fn check_header(path: &Path) -> Result<(File, bool), StoreError> {
    let system = |source| StoreError::system(path, source);
    let metadata = fs::metadata(path).map_err(system)?;
    if !metadata.is_file() {
        return Err(StoreError::refused(path, Refusal::NotAFile));
    }
    let mut file = File::open(path).map_err(system)?;
    let mut head = Vec::with_capacity(HEADER);
    let limit = u64::try_from(HEADER).unwrap_or(u64::MAX);
    (&mut file).take(limit).read_to_end(&mut head).map_err(system)?;
    match refusal(&head) {
        Some(why) => Err(StoreError::refused(path, why)),
        None => Ok((file, !metadata.permissions().readonly())),
    }
}

/// Why a file with this header is not a store that this program can use.
fn refusal(head: &[u8]) -> Option<Refusal> {
    if head.is_empty() {
        return Some(Refusal::Empty);
    }
    if head.get(..MAGIC.len()) != Some(MAGIC) {
        let is_cut = MAGIC.starts_with(head);
        return Some(if is_cut { Refusal::Truncated } else { Refusal::NotSqlite });
    }
    let (Some(application), Some(found)) = (number_at(head, APPLICATION_AT), number_at(head, VERSION_AT)) else {
        return Some(Refusal::Truncated);
    };
    if application != APPLICATION_ID {
        return Some(Refusal::Foreign);
    }
    (found > NEWEST).then_some(Refusal::Newer { found, known: NEWEST })
}

fn number_at(head: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?))
}

/// Opens a connection. The journal mode `DELETE`, unlike `WAL`, needs no shared memory, so it also works on network file
/// systems. `EXTRA` is `FULL` and also syncs the folder after a commit, so that a power cut cannot bring the journal back
/// (<https://www.sqlite.org/pragma.html#pragma_synchronous>). `secure_delete` overwrites deleted content.
fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.execute_batch(
        "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF;",
    )?;
    Ok(connection)
}

/// Whether the file is as long as its header says. Checked under a read lock, after `SQLite` has rolled back the journal
/// of a killed process: only then must the two agree.
fn is_whole(connection: &Connection, file: &File) -> rusqlite::Result<bool> {
    let reading = connection.unchecked_transaction()?;
    reading.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let [pages, size] =
        ["page_count", "page_size"].map(|name| reading.pragma_query_value(None, name, |row| row.get::<_, i64>(0)));
    let expected = pages? * size?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    Ok(u64::try_from(expected).is_ok_and(|expected| length >= expected))
}
