//! The entries of a store. Within a transaction, an entry is a record: its body, the ids of the updates that were applied to
//! it, and the bodies that were set aside. A listing shows sizes, never bodies.

use std::collections::HashSet;
use std::io::{BufRead, Read as _, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Result, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{RecordKey, Scope, Shelf, Store, StoreError, file};
use curtail_core::error::system_message;
use curtail_core::json::Document;

/// A body that was set aside: it could not be used and is kept for inspection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aside {
    /// The body as it was.
    pub body: String,
    /// Why it was set aside.
    pub reason: String,
    /// When it was set aside, in milliseconds since 1970 (UTC).
    pub at: i64,
}

/// The entry at a key, open for change until its transaction ends.
#[derive(Debug)]
pub struct Record<'t> {
    transaction: &'t Transaction<'t>,
    path: &'t Path,
    key: RecordKey<'t>,
    number: Option<i64>,
    body: Option<String>,
}

impl<'t> Record<'t> {
    pub(super) fn load(
        transaction: &'t Transaction<'t>,
        path: &'t Path,
        key: RecordKey<'t>,
    ) -> Result<Record<'t>, StoreError> {
        let row = row(transaction, key).map_err(|source| StoreError::database(path, source))?;
        let (number, body) = row.map_or((None, None), |(number, body)| (Some(number), body));
        Ok(Record { transaction, path, key, number, body })
    }

    /// The body; `None` if there is none or it was cleared.
    pub fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    /// Replaces the body.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn write(&mut self, body: &str) -> Result<(), StoreError> {
        self.put(Some(body)).map_err(|source| self.error(source))?;
        self.body = Some(body.to_owned());
        Ok(())
    }

    /// Removes the body and keeps the applied ids, so that a replay does not bring it back.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        if self.body.is_none() {
            return Ok(());
        }
        self.put(None).map_err(|source| self.error(source))?;
        self.body = None;
        Ok(())
    }

    /// Removes the body and keeps it for inspection, with the reason.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn set_aside(&mut self, reason: &str) -> Result<(), StoreError> {
        let Some(body) = self.body.take() else {
            return Ok(());
        };
        let aside = Aside { body, reason: reason.to_owned(), at: now() };
        let inserted = self.put(None).and_then(|number| insert_aside(self.transaction, number, &aside));
        inserted.map_err(|source| self.error(source))
    }

    /// Records the id of an update that was applied to the body; `true` if the id is new.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn add_applied_id(&mut self, id: &str) -> Result<bool, StoreError> {
        let number = self.number.map_or_else(|| self.put(None), Ok);
        let added = number.and_then(|number| insert_applied_id(self.transaction, number, id));
        added.map_err(|source| self.error(source))
    }

    /// The ids of all updates that were applied.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn applied_ids(&self) -> Result<HashSet<String>, StoreError> {
        applied_ids(self.transaction, self.number).map_err(|source| self.error(source))
    }

    /// Inserts the row, or replaces its body, and returns its number.
    fn put(&mut self, body: Option<&str>) -> Result<i64> {
        let number = self.transaction.query_row(
            "INSERT INTO entry (shelf, scope, id, body, updated) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET body = excluded.body, updated = excluded.updated
             RETURNING number",
            params![self.key.shelf.name(), self.key.scope.name(), self.key.id, body, now()],
            |row| row.get(0),
        )?;
        self.number = Some(number);
        Ok(number)
    }

    /// The error for what `SQLite` reported.
    fn error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::database(self.path, source)
    }
}

/// The row number and the body at `key`.
pub(super) fn row(connection: &Connection, key: RecordKey<'_>) -> Result<Option<(i64, Option<String>)>> {
    let sql = "SELECT number, body FROM entry WHERE shelf = ?1 AND scope = ?2 AND id = ?3";
    connection.query_row(sql, key.columns(), |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// The ids that were applied to the entry in row `number`, sorted; none if there is no row.
pub(super) fn applied_ids<C: FromIterator<String>>(connection: &Connection, number: Option<i64>) -> Result<C> {
    let mut statement = connection.prepare("SELECT mark FROM mark WHERE entry = ?1 ORDER BY mark")?;
    statement.query_map([number], |row| row.get(0))?.collect()
}

/// The bodies set aside of the entry in row `number`, oldest first; none if there is no row.
pub(super) fn asides(connection: &Connection, number: Option<i64>) -> Result<Vec<Aside>> {
    let mut statement = connection.prepare("SELECT body, reason, at FROM aside WHERE entry = ?1 ORDER BY number")?;
    let aside = |row: &Row<'_>| Ok(Aside { body: row.get(0)?, reason: row.get(1)?, at: row.get(2)? });
    statement.query_map([number], aside)?.collect()
}

/// Adds an applied id to the entry in row `number`; `true` if the id is new.
pub(super) fn insert_applied_id(connection: &Connection, number: i64, id: &str) -> Result<bool> {
    let sql = "INSERT OR IGNORE INTO mark (entry, mark) VALUES (?1, ?2)";
    Ok(connection.execute(sql, params![number, id])? > 0)
}

/// Adds a body set aside to the entry in row `number`.
pub(super) fn insert_aside(connection: &Connection, number: i64, aside: &Aside) -> Result<()> {
    let Aside { body, reason, at } = aside;
    let sql = "INSERT INTO aside (entry, body, reason, at) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![number, body, reason, at]).map(drop)
}

/// The time in milliseconds since 1970 (UTC); 0 if the clock is set to an earlier time.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

// Listing entries, and removing them.

/// Selects entries: all of them, unless a field is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only entries of this shelf.
    pub shelf: Option<Shelf>,
    /// Only entries of this scope.
    pub scope: Option<Scope>,
    /// Only entries that have not changed for this long.
    pub older_than: Option<Duration>,
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreEntry {
    /// The part of the program that owns it.
    pub shelf: Shelf,
    /// Whether `id` names a thread or a resource.
    pub scope: Scope,
    /// The thread or resource.
    pub id: String,
    /// Size of the body in bytes; `None` if the body was cleared.
    pub bytes: Option<u32>,
    /// Number of applied ids.
    pub applied_ids: u32,
    /// Number of bodies that were set aside.
    pub set_aside: u32,
    /// Time of the last change: ISO 8601, UTC, whole seconds.
    pub updated: String,
}

impl Store {
    /// The entries that match `filter`, ordered by shelf, scope and id.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn list(&self, filter: Filter) -> Result<Vec<StoreEntry>, StoreError> {
        self.read(|connection| list(connection, filter))
    }

    /// Removes the entry at `key` with its applied ids and the bodies set aside: `true` if there was one.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn remove(&mut self, key: RecordKey<'_>) -> Result<bool, StoreError> {
        self.transact(|transaction, path| remove(transaction, key).map_err(|source| StoreError::database(path, source)))
    }

    /// Removes every entry that [`Store::list`] lists for `filter`, and returns them.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn prune(&mut self, filter: Filter) -> Result<Vec<StoreEntry>, StoreError> {
        self.transact(|transaction, path| {
            prune(transaction, filter).map_err(|source| StoreError::database(path, source))
        })
    }
}

fn prune(connection: &Connection, filter: Filter) -> Result<Vec<StoreEntry>> {
    let entries = list(connection, filter)?;
    for entry in &entries {
        let shelf = entry.shelf;
        let scope = entry.scope;
        let id = entry.id.as_str();
        remove(connection, RecordKey { shelf, scope, id })?;
    }
    Ok(entries)
}

/// Removes one entry; foreign keys remove its applied ids and the bodies set aside.
pub(super) fn remove(connection: &Connection, key: RecordKey<'_>) -> Result<bool> {
    let sql = "DELETE FROM entry WHERE shelf = ?1 AND scope = ?2 AND id = ?3";
    Ok(connection.execute(sql, key.columns())? > 0)
}

fn list(connection: &Connection, filter: Filter) -> Result<Vec<StoreEntry>> {
    let mut statement = connection.prepare(
        "SELECT shelf, scope, id, length(CAST(body AS BLOB)) AS bytes,
                (SELECT count(*) FROM mark WHERE mark.entry = entry.number) AS applied_ids,
                (SELECT count(*) FROM aside WHERE aside.entry = entry.number) AS set_aside,
                strftime('%Y-%m-%dT%H:%M:%SZ', updated / 1000, 'unixepoch') AS updated_at
         FROM entry
         WHERE shelf = coalesce(?1, shelf) AND scope = coalesce(?2, scope) AND updated <= ?3
         ORDER BY shelf, scope DESC, id",
    )?;
    let bound = params![
        filter.shelf.map(Shelf::name),
        filter.scope.map(Scope::name),
        filter.older_than.map_or(i64::MAX, time_before_now)
    ];
    statement.query_map(bound, entry)?.collect()
}

fn entry(row: &Row<'_>) -> Result<StoreEntry> {
    Ok(StoreEntry {
        shelf: row.get("shelf")?,
        scope: row.get("scope")?,
        id: row.get("id")?,
        bytes: row.get("bytes")?,
        applied_ids: row.get("applied_ids")?,
        set_aside: row.get("set_aside")?,
        updated: row.get("updated_at")?,
    })
}

/// The time `age` ago, in milliseconds since 1970 (UTC).
fn time_before_now(age: Duration) -> i64 {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    now().saturating_sub(age)
}

impl FromSql for Shelf {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Shelf> {
        Shelf::named(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for Scope {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Scope> {
        Scope::named(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

// Exports a store as lines of JSON, and imports them. A body is written as a JSON string, so that its bytes never change.

/// What an import does with an entry that already exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clash {
    /// Imports nothing and reports the line.
    #[default]
    Refuse,
    /// Keeps the entry of the store.
    Keep,
    /// Replaces it with the entry of the import.
    Replace,
}

/// The first line of an export.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "curtail-store")]
    version: i32,
}

/// A line of an export: one entry.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine {
    shelf: String,
    scope: String,
    id: String,
    updated: i64,
    body: Option<String>,
    #[serde(rename = "marks")]
    applied_ids: Vec<String>,
    aside: Vec<Aside>,
}

impl Store {
    /// Writes a line with the version, then every entry as a line of JSON, and returns the number of entries.
    /// All entries are read in one transaction.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read or `out` cannot be written.
    pub fn export(&self, out: &mut dyn Write) -> Result<usize, StoreError> {
        let at = |source| StoreError::database(&self.path, source);
        let reading = self.connection.unchecked_transaction().map_err(at)?;
        let version = file::NEWEST;
        write_line(out, &Head { version })?;
        let numbers = row_numbers(&reading).map_err(at)?;
        for number in &numbers {
            write_line(out, &entry_line(&reading, *number).map_err(at)?)?;
        }
        out.flush().map_err(StoreError::Export)?;
        Ok(numbers.len())
    }

    /// Imports what [`Store::export`] wrote, all of it or nothing, and returns the number of entries written.
    ///
    /// # Errors
    /// [`StoreError::Import`] with the line that is malformed or already exists; [`StoreError`] if the file cannot be
    /// written.
    pub fn import(&mut self, input: &mut dyn BufRead, clash: Clash) -> Result<usize, StoreError> {
        self.transact(|transaction, path| {
            let mut lines = TransferLines { input, number: 0 };
            let head: Option<Head> = lines.next().map_err(|error| match error {
                StoreError::Import { line, .. } => {
                    let reason = "not an export of a store; name a file that `curtail store export` wrote".to_owned();
                    StoreError::Import { line, reason }
                }
                error => error,
            })?;
            check_head(head.as_ref())?;
            let mut written = 0;
            while let Some(line) = lines.next::<EntryLine>()? {
                let at = |source| StoreError::database(path, source);
                let imported = import_line(transaction, &line, clash).map_err(at)?;
                written += usize::from(imported.map_err(|reason| lines.error(reason))?);
            }
            Ok(written)
        })
    }
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_string(line).map_err(|error| StoreError::Export(error.into()))?;
    writeln!(out, "{text}").map_err(StoreError::Export)
}

/// The row numbers of all entries.
fn row_numbers(connection: &Connection) -> Result<Vec<i64>> {
    let mut statement = connection.prepare("SELECT number FROM entry ORDER BY number")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// The entry in row `number`.
fn entry_line(connection: &Connection, number: i64) -> Result<EntryLine> {
    let sql = "SELECT shelf, scope, id, updated, body FROM entry WHERE number = ?1";
    connection.query_row(sql, [number], |row| {
        Ok(EntryLine {
            shelf: row.get(0)?,
            scope: row.get(1)?,
            id: row.get(2)?,
            updated: row.get(3)?,
            body: row.get(4)?,
            applied_ids: applied_ids(connection, Some(number))?,
            aside: asides(connection, Some(number))?,
        })
    })
}

/// The most bytes of a line, which contains the body of an entry.
const LONGEST_LINE: u64 = 256 << 20;

/// The lines of an import, one at a time. Skips blank lines.
struct TransferLines<'r> {
    input: &'r mut dyn BufRead,
    number: usize,
}

impl TransferLines<'_> {
    fn next<T: for<'de> Deserialize<'de>>(&mut self) -> Result<Option<T>, StoreError> {
        loop {
            let mut text = String::new();
            self.number += 1;
            let read = (&mut *self.input).take(LONGEST_LINE + 1).read_line(&mut text);
            let read = read.map_err(|error| self.error(system_message(&error)))?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 > LONGEST_LINE {
                return Err(self.error(format!("longer than {} MB, so it is not an entry", LONGEST_LINE >> 20)));
            }
            if !text.trim().is_empty() {
                let parsed = serde_json::from_str(&text);
                return parsed.map(Some).map_err(|error| self.error(malformed(&text, &error)));
            }
        }
    }

    /// The error for the line that was read last.
    fn error(&self, reason: String) -> StoreError {
        StoreError::Import { line: self.number, reason }
    }
}

/// What is wrong with a line of an export.
fn malformed(text: &str, error: &serde_json::Error) -> String {
    match Document::parse(text) {
        Err(fault) => format!("not JSON: {}", fault.kind),
        Ok(_) => {
            let message = error.to_string();
            message.split(" at line ").next().unwrap_or(&message).to_owned()
        }
    }
}

fn check_head(head: Option<&Head>) -> Result<(), StoreError> {
    let reason = match head {
        Some(head) if head.version <= file::NEWEST => return Ok(()),
        Some(head) => format!("written by a newer curtail (version {}); upgrade curtail", head.version),
        None => "the file is empty; the first line of an export holds its version".to_owned(),
    };
    Err(StoreError::Import { line: 0, reason })
}

/// Imports one entry: `Ok(Ok(true))` if it was written, `Ok(Ok(false))` if the existing one was kept, `Ok(Err(reason))` if the
/// line cannot be imported.
fn import_line(transaction: &Transaction<'_>, line: &EntryLine, clash: Clash) -> Result<Result<bool, String>> {
    let (Some(shelf), Some(scope)) = (Shelf::named(&line.shelf), Scope::named(&line.scope)) else {
        return Ok(Err(format!(
            "unknown shelf or scope: {} {}; the shelves are memory and summary, the scopes thread and resource",
            line.shelf, line.scope
        )));
    };
    let id = line.id.as_str();
    let key = RecordKey { shelf, scope, id };
    let exists = row(transaction, key)?.is_some();
    match clash {
        Clash::Refuse if exists => {
            let shelf = shelf.name();
            let scope = scope.name();
            return Ok(Err(format!(
                "the {shelf} of {scope} {id:?} already exists; pass --on-clash keep or --on-clash replace"
            )));
        }
        Clash::Keep if exists => return Ok(Ok(false)),
        Clash::Replace => remove(transaction, key)?,
        Clash::Refuse | Clash::Keep => false,
    };
    insert(transaction, line)?;
    Ok(Ok(true))
}

fn insert(transaction: &Transaction<'_>, line: &EntryLine) -> Result<()> {
    let EntryLine { shelf, scope, id, updated, body, .. } = line;
    transaction.execute(
        "INSERT INTO entry (shelf, scope, id, updated, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![shelf, scope, id, updated, body],
    )?;
    let number = transaction.last_insert_rowid();
    line.applied_ids.iter().try_for_each(|id| insert_applied_id(transaction, number, id).map(drop))?;
    line.aside.iter().try_for_each(|aside| insert_aside(transaction, number, aside))
}
