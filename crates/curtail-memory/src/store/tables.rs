//! The tables of a store.

use rusqlite::{Connection, Result};

/// The application id in the header of every store: the bytes `curt`.
pub(super) const APPLICATION_ID: i32 = 0x6375_7274;

/// The version that this program writes, and the newest that it reads.
pub(super) const NEWEST: i32 = 1;
/// The oldest version.
pub(super) const OLDEST: i32 = 1;

/// The tables of version 1: `entry` has the body of each key, `mark` the ids that were applied to an entry, and `aside` its bodies
/// that were set aside, each with the reason. Times are in milliseconds since 1970 (UTC).
const TABLES: &str = "
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
";

/// Makes an empty database a store.
pub(super) fn create(connection: &Connection) -> Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", NEWEST)
}
