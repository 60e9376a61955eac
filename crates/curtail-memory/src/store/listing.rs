//! Listing entries, and removing them.

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, Result, Row, params};

use super::entries::now;
use super::{RecordKey, Scope, Shelf, Store, StoreError};

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
        remove(connection, RecordKey { shelf: entry.shelf, scope: entry.scope, id: &entry.id })?;
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
