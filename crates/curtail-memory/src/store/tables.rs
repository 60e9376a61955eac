//! The tables, and the steps that upgrade from one version to the next. A released step never changes; new steps are appended.

use rusqlite::{Connection, Result};

/// The application id in the header of every store: the bytes `curt`.
pub(super) const APPLICATION_ID: i32 = 0x6375_7274;

/// `STEPS[n]` upgrades version n to n + 1. The table `mark` holds the applied ids of an entry.
const STEPS: [&str; 1] = ["
    CREATE TABLE entry (
        number INTEGER PRIMARY KEY,
        shelf TEXT NOT NULL,
        scope TEXT NOT NULL,
        id TEXT NOT NULL,
        body TEXT,
        updated INTEGER NOT NULL,
        UNIQUE (shelf, scope, id)
    ) STRICT;
    CREATE TABLE mark (
        entry INTEGER NOT NULL REFERENCES entry (number) ON DELETE CASCADE,
        mark TEXT NOT NULL,
        PRIMARY KEY (entry, mark)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE aside (
        number INTEGER PRIMARY KEY,
        entry INTEGER NOT NULL REFERENCES entry (number) ON DELETE CASCADE,
        body TEXT NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX aside_of_entry ON aside (entry);
"];

/// The version that this program writes, and the newest that it reads.
pub(super) const NEWEST: i32 = 1;
const _: () = assert!(STEPS.len() == NEWEST as usize);

/// The version of an open file.
pub(super) fn version(connection: &Connection) -> Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Runs the missing steps. The caller holds the write lock.
pub(super) fn migrate(connection: &Connection) -> Result<()> {
    let from = usize::try_from(version(connection)?).unwrap_or_default();
    for step in STEPS.iter().skip(from) {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "user_version", NEWEST)
}
