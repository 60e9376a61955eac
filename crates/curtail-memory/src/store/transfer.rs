//! Exports a store as lines of JSON, and imports them. A body is written as a JSON string, so that its bytes never change.

use std::io::{BufRead, Read as _, Write};

use rusqlite::{Connection, Result, Transaction, params};
use serde::{Deserialize, Serialize};

use super::entries::{Aside, applied_ids, asides, insert_applied_id, insert_aside, row};
use super::listing::remove;
use super::{RecordKey, Scope, Shelf, Store, StoreError, tables};
use curtail_core::json::Document;
use curtail_core::system_error::system_message;

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
        let reading = self.connection.unchecked_transaction().map_err(|source| self.error(source))?;
        write_line(out, &Head { version: tables::NEWEST })?;
        let numbers = row_numbers(&reading).map_err(|source| self.error(source))?;
        for number in &numbers {
            write_line(out, &entry_line(&reading, *number).map_err(|source| self.error(source))?)?;
        }
        out.flush().map_err(StoreError::Export)?;
        Ok(numbers.len())
    }

    /// Imports an export, all of it or nothing, and returns the number of entries written.
    ///
    /// # Errors
    /// [`StoreError::Import`] with the line of an entry that already exists; [`StoreError`] if the file cannot be written.
    pub fn import(&mut self, export: &Export, clash: Clash) -> Result<usize, StoreError> {
        self.transact(|transaction, path| {
            let mut written = 0;
            for entry in &export.0 {
                let imported =
                    import_entry(transaction, entry, clash).map_err(|source| StoreError::database(path, source))?;
                written += usize::from(imported.map_err(|reason| StoreError::Import { line: entry.number, reason })?);
            }
            Ok(written)
        })
    }
}

/// The entries of an export. It is read before a store is opened, so that what is no export makes no store, and a slow pipe blocks no
/// other process.
pub struct Export(Vec<Entry>);

/// An entry of an export that can be in a store.
struct Entry {
    /// The number of its line.
    number: usize,
    shelf: Shelf,
    scope: Scope,
    line: EntryLine,
}

impl Export {
    /// Reads what [`Store::export`] wrote.
    ///
    /// # Errors
    /// [`StoreError::Import`] with the line that is malformed, or whose entry cannot be in a store.
    pub fn read(input: &mut dyn BufRead) -> Result<Self, StoreError> {
        let mut lines = TransferLines { input, number: 0 };
        let head: Option<Head> = lines.next().map_err(|error| match error {
            StoreError::Import { line, .. } => {
                let reason = "not an export of a store; name a file that `curtail store export` wrote".to_owned();
                StoreError::Import { line, reason }
            }
            error => error,
        })?;
        check_head(head.as_ref())?;
        let mut entries = Vec::new();
        while let Some(line) = lines.next()? {
            entries.push(entry_of(line, lines.number).map_err(|reason| lines.error(reason))?);
        }
        Ok(Self(entries))
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

/// The times that a listing can show: up to the year 9999, in milliseconds since 1970.
const TIMES: std::ops::Range<i64> = 0..253_402_300_800_000;

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
            // Some programs put a byte order mark before a text.
            let text = text.trim_start_matches('\u{feff}');
            if !text.trim().is_empty() {
                let parsed = serde_json::from_str(text);
                return parsed.map(Some).map_err(|error| self.error(malformed(text, &error)));
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
        Some(head) if (tables::OLDEST..=tables::NEWEST).contains(&head.version) => return Ok(()),
        Some(head) if head.version < tables::OLDEST => {
            format!("no version of an export: {}; name a file that `curtail store export` wrote", head.version)
        }
        Some(head) => format!("written by a newer curtail (version {}); upgrade curtail", head.version),
        None => "the file is empty; the first line of an export holds its version".to_owned(),
    };
    Err(StoreError::Import { line: 0, reason })
}

/// The entry of a line, or why it cannot be in a store.
fn entry_of(line: EntryLine, number: usize) -> Result<Entry, String> {
    let (Some(shelf), Some(scope)) = (Shelf::named(&line.shelf), Scope::named(&line.scope)) else {
        return Err(format!(
            "unknown shelf or scope: {} {}; the shelves are memory and summary, the scopes thread and resource",
            line.shelf, line.scope
        ));
    };
    if !TIMES.contains(&line.updated) {
        return Err(format!("`updated` is not a time in milliseconds since 1970: {}", line.updated));
    }
    Ok(Entry { number, shelf, scope, line })
}

/// Imports one entry: `Ok(Ok(true))` if it was written, `Ok(Ok(false))` if the existing one was kept, `Ok(Err(reason))` if it cannot
/// be imported.
fn import_entry(transaction: &Transaction<'_>, entry: &Entry, clash: Clash) -> Result<Result<bool, String>> {
    let Entry { shelf, scope, line, .. } = entry;
    let key = RecordKey { shelf: *shelf, scope: *scope, id: &line.id };
    let exists = row(transaction, key)?.is_some();
    match clash {
        Clash::Refuse if exists => {
            return Ok(Err(format!(
                "the {} of {} {:?} already exists; pass --on-clash keep or --on-clash replace",
                line.shelf, line.scope, line.id
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
    line.applied_ids.iter().try_for_each(|id| insert_applied_id(transaction, number, id))?;
    line.aside.iter().try_for_each(|aside| insert_aside(transaction, number, aside))
}
