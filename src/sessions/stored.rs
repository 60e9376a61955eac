//! Sessions of an agent that keeps them in a database, or as one file for each message and part. No command takes the path of
//! such a session: the agent itself exports it to a file. Stores are only read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

/// What a store records about one of its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSession {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The folder that the agent worked in.
    pub(crate) project: String,
    /// When it was last changed.
    pub(crate) modified: SystemTime,
}

/// `opencode.db`, and a database for each channel from which versions are installed, such as `opencode-dev.db`.
pub(crate) fn databases(folder: &Path, named: Option<OsString>) -> Vec<PathBuf> {
    let named = named.filter(|name| !name.is_empty() && name != ":memory:").map(|name| vec![folder.join(name)]);
    let mut found = named.unwrap_or_else(|| paths(folder).into_iter().filter(|path| is_database(path)).collect());
    found.retain(|path| path.is_file());
    found
}

fn is_database(path: &Path) -> bool {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    path.extension().is_some_and(|end| end == "db") && (stem == "opencode" || stem.starts_with("opencode-"))
}

/// The sessions in the database at `path`, without those that other sessions started; or why one cannot be read.
pub(super) fn sessions_of_database(path: &Path) -> rusqlite::Result<Vec<rusqlite::Result<StoredSession>>> {
    let database = open(path)?;
    let mut statement =
        database.prepare("SELECT id, title, directory, time_updated FROM session WHERE parent_id IS NULL")?;
    let found = statement.query_map([], |row| {
        Ok(StoredSession {
            id: row.get(0)?,
            title: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
            project: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            modified: after_epoch(row.get(3)?),
        })
    })?;
    Ok(found.collect())
}

/// A session from the file that describes it, unless another session started it.
pub(super) fn session_of_file(path: &Path) -> Option<StoredSession> {
    let description = object_of_file(path)?;
    if description.get("parentID").is_some_and(|parent| !parent.is_null()) {
        return None;
    }
    let modified = match time_of(&description, "updated") {
        Some(updated) => after_epoch(updated),
        None => fs::metadata(path).ok()?.modified().ok()?,
    };
    let id = path.file_stem()?.to_str()?.to_owned();
    let title = text_of(&description, "title");
    Some(StoredSession { id, title, project: text_of(&description, "directory"), modified })
}

impl StoredSession {
    /// The session as its agent exports it; `path` is the store.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        let is_file = path.extension().is_some_and(|end| end == "json");
        let messages = if is_file { self.messages_of_files(path) } else { self.messages_of_database(path).ok() }?;
        Some(json!({"info": {"id": self.id, "title": self.title}, "messages": messages}).to_string())
    }

    fn messages_of_database(&self, path: &Path) -> rusqlite::Result<Vec<Value>> {
        let database = open(path)?;
        let infos = "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id";
        let mut messages = Vec::new();
        for (id, info) in rows_of(&database, infos, &self.id)? {
            let parts = rows_of(&database, "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id", &id)?;
            let parts = parts.iter().filter_map(|(part, data)| {
                let mut data = object(data)?;
                data.extend([(String::from("id"), json!(part)), (String::from("messageID"), json!(id))]);
                Some(data)
            });
            let parts: Vec<Map<String, Value>> = parts.collect();
            let Some(mut info) = object(&info) else { continue };
            info.extend([(String::from("id"), json!(id)), (String::from("sessionID"), json!(self.id))]);
            messages.push(json!({"info": info, "parts": parts}));
        }
        Ok(messages)
    }

    fn messages_of_files(&self, path: &Path) -> Option<Vec<Value>> {
        let storage = path.ancestors().nth(3)?;
        let mut messages: Vec<(Option<i64>, Value)> = Vec::new();
        for file in paths(&storage.join("message").join(&self.id)) {
            let Some(info) = object_of_file(&file) else { continue };
            let parts = paths(&storage.join("part").join(file.file_stem()?));
            let parts: Vec<Map<String, Value>> = parts.iter().filter_map(|part| object_of_file(part)).collect();
            messages.push((time_of(&info, "created"), json!({"info": info, "parts": parts})));
        }
        messages.sort_by_key(|(created, _)| *created);
        Some(messages.into_iter().map(|(_, message)| message).collect())
    }
}

/// The rows that `query` selects for `id`: each an id and an object as JSON.
fn rows_of(database: &Connection, query: &str, id: &str) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = database.prepare_cached(query)?;
    let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Opens a database to read it, and creates and deletes no file beside it. While a program has it open, a log and its index are
/// there. A log without its index, as in a copy, is read with an index in memory, which needs a system without locks.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let is_empty = fs::metadata(path).is_ok_and(|file| file.len() == 0);
    let has_log = !is_empty && is_beside(path, "-wal");
    let has_index = is_beside(path, "-shm");
    let system = match (has_log, has_index) {
        (true, true) => "",
        (true, false) if cfg!(windows) => "&vfs=win32-none",
        (true, false) => "&vfs=unix-none",
        (false, _) => "&immutable=1",
    };
    let mut name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    if cfg!(windows) {
        name = format!("/{}", name.replace('\\', "/"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(format!("file:{name}?mode=ro{system}"), flags)?;
    // SQLite deletes a log in which it finds no transaction, also a damaged one: beside an empty database when it opens it, else
    // when the last program closes it.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if has_log && !has_index {
        database.pragma_update(None, "locking_mode", "exclusive")?;
    }
    Ok(database)
}

/// Whether a file with the name of the database and this `ending` is beside it.
fn is_beside(path: &Path, ending: &str) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    Path::new(&name).exists()
}

/// The paths in a folder, sorted.
pub(crate) fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn text_of(description: &Map<String, Value>, key: &str) -> String {
    description.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A time of a session or message, in milliseconds.
fn time_of(description: &Map<String, Value>, key: &str) -> Option<i64> {
    description.get("time")?.get(key)?.as_i64()
}

fn object_of_file(path: &Path) -> Option<Map<String, Value>> {
    object(&fs::read_to_string(path).ok()?)
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn after_epoch(milliseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
}
