//! The entries of a store. Within a transaction, an entry is a record: its body, the ids of the updates that were applied to
//! it, and the bodies that were set aside. A listing shows sizes, never bodies.

use std::collections::HashSet;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension as _, Result, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{RecordKey, StoreError};

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
    pub(super) path: &'t Path,
    key: RecordKey<'t>,
    pub(super) number: Option<i64>,
    body: Option<String>,
}

impl<'t> Record<'t> {
    pub(super) fn load(
        transaction: &'t Transaction<'t>,
        path: &'t Path,
        key: RecordKey<'t>,
    ) -> Result<Record<'t>, StoreError> {
        let found = row(transaction, key).map_err(|source| StoreError::database(path, source))?;
        let (number, body) = found.map_or((None, None), |(number, body)| (Some(number), body));
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

    /// Records the id of an update that was applied to the body.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn add_applied_id(&mut self, id: &str) -> Result<(), StoreError> {
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
    pub(super) fn error(&self, source: rusqlite::Error) -> StoreError {
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

/// Whether `id` was applied to the entry at `key`.
pub(super) fn has_applied_id(connection: &Connection, key: RecordKey<'_>, id: &str) -> Result<bool> {
    let [shelf, scope, owner] = key.columns();
    let mut statement = connection.prepare_cached(
        "SELECT 1 FROM mark WHERE mark = ?4
         AND entry = (SELECT number FROM entry WHERE shelf = ?1 AND scope = ?2 AND id = ?3)",
    )?;
    statement.exists([shelf, scope, owner, id])
}

/// The bodies set aside of the entry in row `number`, oldest first; none if there is no row.
pub(super) fn asides(connection: &Connection, number: Option<i64>) -> Result<Vec<Aside>> {
    let mut statement = connection.prepare("SELECT body, reason, at FROM aside WHERE entry = ?1 ORDER BY number")?;
    let asides =
        statement.query_map([number], |row| Ok(Aside { body: row.get(0)?, reason: row.get(1)?, at: row.get(2)? }))?;
    asides.collect()
}

/// Adds an applied id to the entry in row `number`, once.
pub(super) fn insert_applied_id(connection: &Connection, number: i64, id: &str) -> Result<()> {
    let sql = "INSERT OR IGNORE INTO mark (entry, mark) VALUES (?1, ?2)";
    connection.execute(sql, params![number, id]).map(drop)
}

/// Adds a body set aside to the entry in row `number`.
pub(super) fn insert_aside(connection: &Connection, number: i64, aside: &Aside) -> Result<()> {
    let Aside { body, reason, at } = aside;
    let sql = "INSERT INTO aside (entry, body, reason, at) VALUES (?1, ?2, ?3, ?4)";
    connection.execute(sql, params![number, body, reason, at]).map(drop)
}

/// The time in milliseconds since 1970 (UTC); 0 if the clock is set to an earlier time.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
