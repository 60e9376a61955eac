//! What is in a store, and taking out what nobody needs any more. It shows sizes, never bodies.

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, Row, params};

use super::{RecordKey, Scope, Shelf, Store, StoreError, record};

/// Which entries: all, unless a field says less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of this shelf.
    pub shelf: Option<Shelf>,
    /// Only of this scope.
    pub scope: Option<Scope>,
    /// Only what has not changed for so long.
    pub older_than: Option<Duration>,
}

/// One entry, as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreEntry {
    /// Whose it is.
    pub shelf: Shelf,
    /// What the id names.
    pub scope: Scope,
    /// The thread or resource.
    pub id: String,
    /// Size of the body in bytes; `None` where it was cleared.
    pub bytes: Option<u32>,
    /// How many marks it has.
    pub marks: u32,
    /// How many bodies were set aside.
    pub set_aside: u32,
    /// Time of the last change: ISO 8601, UTC, whole seconds.
    pub updated: String,
}

impl Store {
    /// The entries that `filter` lets through, by shelf, scope and id.
    ///
    /// # Errors
    /// [`StoreError`] where the file cannot be read.
    pub fn list(&self, filter: Filter) -> Result<Vec<StoreEntry>, StoreError> {
        list(&self.connection, filter).map_err(|source| StoreError::database(&self.path, source))
    }

    /// Takes out the entry at `key` with its marks and what was set aside: `true` if there was one.
    ///
    /// # Errors
    /// [`StoreError`] where the file cannot be written.
    pub fn remove(&mut self, key: RecordKey<'_>) -> Result<bool, StoreError> {
        self.transact(|transaction, path| remove(transaction, key).map_err(|source| StoreError::database(path, source)))
    }

    /// Takes out every entry that [`Store::list`] would show for `filter`, and says which.
    ///
    /// # Errors
    /// [`StoreError`] where the file cannot be written.
    pub fn prune(&mut self, filter: Filter) -> Result<Vec<StoreEntry>, StoreError> {
        self.transact(|transaction, path| {
            prune(transaction, filter).map_err(|source| StoreError::database(path, source))
        })
    }
}

fn prune(connection: &Connection, filter: Filter) -> rusqlite::Result<Vec<StoreEntry>> {
    let entries = list(connection, filter)?;
    for entry in &entries {
        let (shelf, scope, id) = (entry.shelf, entry.scope, entry.id.as_str());
        remove(connection, RecordKey { shelf, scope, id })?;
    }
    Ok(entries)
}

/// Takes out one entry; marks and set-aside bodies go with it by foreign key.
pub(super) fn remove(connection: &Connection, key: RecordKey<'_>) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM entry WHERE shelf = ?1 AND scope = ?2 AND id = ?3";
    let at = params![key.shelf.name(), key.scope.name(), key.id];
    Ok(connection.execute(sql, at)? > 0)
}

fn list(connection: &Connection, filter: Filter) -> rusqlite::Result<Vec<StoreEntry>> {
    let mut statement = connection.prepare(
        "SELECT shelf, scope, id, length(CAST(body AS BLOB)) AS bytes,
                (SELECT count(*) FROM mark WHERE mark.entry = entry.number) AS marks,
                (SELECT count(*) FROM aside WHERE aside.entry = entry.number) AS set_aside,
                strftime('%Y-%m-%dT%H:%M:%SZ', updated / 1000, 'unixepoch') AS updated_at
         FROM entry
         WHERE shelf = coalesce(?1, shelf) AND scope = coalesce(?2, scope) AND updated <= ?3
         ORDER BY shelf, scope DESC, id",
    )?;
    let bound = params![
        filter.shelf.map(Shelf::name),
        filter.scope.map(Scope::name),
        filter.older_than.map_or(i64::MAX, before)
    ];
    let rows = statement.query_map(bound, entry)?;
    rows.collect()
}

fn entry(row: &Row<'_>) -> rusqlite::Result<StoreEntry> {
    Ok(StoreEntry {
        shelf: row.get("shelf")?,
        scope: row.get("scope")?,
        id: row.get("id")?,
        bytes: row.get("bytes")?,
        marks: row.get("marks")?,
        set_aside: row.get("set_aside")?,
        updated: row.get("updated_at")?,
    })
}

fn before(age: Duration) -> i64 {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    record::now().saturating_sub(age)
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
