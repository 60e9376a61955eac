//! One entry within a transaction: its body, the ids of the updates that were applied to it, and the bodies that were set
//! aside.

use std::collections::HashSet;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Result, Transaction, params};

use super::{RecordKey, StoreError};

/// A body that was set aside: it could not be used and is kept for inspection.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    #[must_use]
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
        let insert = |record: &mut Self| {
            let number = record.put(None)?;
            record.transaction.execute(
                "INSERT INTO aside (entry, body, reason, at) VALUES (?1, ?2, ?3, ?4)",
                params![number, body, reason, now()],
            )
        };
        insert(self).map_err(|source| self.error(source))?;
        Ok(())
    }

    /// Records the id of an update that was applied to the body; `true` if the id is new.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be written.
    pub fn add_applied_id(&mut self, id: &str) -> Result<bool, StoreError> {
        let insert = |record: &mut Self| {
            let number = record.number()?;
            let sql = "INSERT OR IGNORE INTO mark (entry, mark) VALUES (?1, ?2)";
            record.transaction.execute(sql, params![number, id])
        };
        let added = insert(self).map_err(|source| self.error(source))?;
        Ok(added > 0)
    }

    /// The ids of all updates that were applied.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read.
    pub fn applied_ids(&self) -> Result<HashSet<String>, StoreError> {
        let list = || {
            let mut statement = self.transaction.prepare("SELECT mark FROM mark WHERE entry = ?1")?;
            let rows = statement.query_map([self.number], |row| row.get(0))?;
            rows.collect::<Result<HashSet<String>>>()
        };
        list().map_err(|source| self.error(source))
    }

    /// The entry's row number; inserts the row if there is none.
    fn number(&mut self) -> Result<i64> {
        match self.number {
            Some(number) => Ok(number),
            None => self.put(None),
        }
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

/// The body at `key`.
pub(super) fn body(connection: &Connection, key: RecordKey<'_>) -> Result<Option<String>> {
    Ok(row(connection, key)?.and_then(|(_, body)| body))
}

fn row(connection: &Connection, key: RecordKey<'_>) -> Result<Option<(i64, Option<String>)>> {
    let sql = "SELECT number, body FROM entry WHERE shelf = ?1 AND scope = ?2 AND id = ?3";
    let at = params![key.shelf.name(), key.scope.name(), key.id];
    connection.query_row(sql, at, |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// The bodies set aside at `key`, oldest first.
pub(super) fn asides(connection: &Connection, key: RecordKey<'_>) -> Result<Vec<Aside>> {
    let mut statement = connection.prepare(
        "SELECT aside.body, aside.reason, aside.at FROM aside JOIN entry ON entry.number = aside.entry
         WHERE shelf = ?1 AND scope = ?2 AND id = ?3 ORDER BY aside.number",
    )?;
    let at = params![key.shelf.name(), key.scope.name(), key.id];
    let rows = statement.query_map(at, |row| {
        let (body, reason, at) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Aside { body, reason, at })
    })?;
    rows.collect()
}

/// The time in milliseconds since 1970 (UTC); 0 if the clock is set to an earlier time.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
