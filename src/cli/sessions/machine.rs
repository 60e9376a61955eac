//! Finds the sessions on this machine: files in the folders of agents, and sessions in the databases of agents. Finding them
//! opens no transcript.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use curtail_core::dialects::{AGENTS, Agent, agent_named};

/// How many levels of folders are searched.
const DEPTH: usize = 8;

/// A session of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) agent: &'static Agent,
    /// The transcript, or the store that contains it.
    pub(crate) path: PathBuf,
    /// When something was last written to it.
    pub(crate) modified: SystemTime,
    /// In bytes; `None` in a store.
    pub(crate) size: Option<u64>,
    /// What its store records about it; `None` if it is a file.
    pub(crate) stored: Option<StoredSession>,
}

impl Session {
    /// The command that writes it to standard output, if it is not a file.
    pub(crate) fn export(&self) -> Option<String> {
        Some(format!("{} {}", self.agent.export?, self.stored.as_ref()?.id))
    }
}

/// The sessions of a machine, the newest first, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct FoundSessions {
    pub(crate) sessions: Vec<Session>,
    pub(crate) failed: Vec<String>,
}

/// The folders of agents: below the home of the user, or where environment variables move them.
pub(crate) struct Machine {
    home: Option<PathBuf>,
    variable: fn(&str) -> Option<OsString>,
}

impl Machine {
    /// The machine of this process.
    pub(crate) fn of_process() -> Self {
        Self { home: std::env::home_dir(), variable: |name| std::env::var_os(name) }
    }

    /// The sessions of `agents`, or of all agents if there are none.
    pub(crate) fn sessions(&self, agents: &[&'static Agent]) -> FoundSessions {
        let mut found = FoundSessions::default();
        for agent in AGENTS.iter().filter(|agent| agents.is_empty() || agents.contains(agent)) {
            let Some(folder) = self.folder(agent) else { continue };
            if agent.export.is_some() {
                let (sessions, failed) = stored_sessions(agent, &folder, (self.variable)("OPENCODE_DB"));
                found.sessions.extend(sessions);
                found.failed.extend(failed);
                continue;
            }
            for below in agent.folders {
                search(agent, &folder.join(below), DEPTH, agent.within.is_empty(), &mut found.sessions);
            }
        }
        found.sessions.sort_by(|one, other| {
            let id = |session: &Session| session.stored.as_ref().map(|stored| stored.id.clone());
            let newest = other.modified.cmp(&one.modified);
            newest.then_with(|| one.path.cmp(&other.path)).then_with(|| id(one).cmp(&id(other)))
        });
        found
    }

    fn folder(&self, agent: &Agent) -> Option<PathBuf> {
        let moved = agent.variable.and_then(|(name, below)| {
            let folder = (self.variable)(name).filter(|folder| !folder.is_empty())?;
            Some(PathBuf::from(folder).join(below))
        });
        moved.or_else(|| Some(self.home.as_ref()?.join(agent.home)))
    }

    /// The session that `reference` names, such as `last` or `claude:2`, without its `@`.
    ///
    /// # Errors
    /// There is no such agent or session.
    pub(crate) fn session(&self, reference: &str) -> Result<Session, String> {
        let (word, number) = match reference.split_once(':') {
            Some((word, number)) => (word, number.parse::<usize>().ok().filter(|number| *number > 0)),
            None => (reference, Some(1)),
        };
        let number =
            number.ok_or("expected a number from 1 on after the colon, such as @claude:2 for the second newest")?;
        let agent = agent_named(word);
        if agent.is_none() && word != "last" {
            let words: Vec<&str> = AGENTS.iter().map(|agent| agent.words[0]).collect();
            return Err(format!(
                "there is no agent `{word}`; sessions are named @last or by agent: @{} (a file: ./@{reference})",
                words.join(", @")
            ));
        }
        let FoundSessions { mut sessions, failed } = self.sessions(agent.as_slice());
        let of = agent.map_or_else(String::new, |agent| format!(" of {}", agent.name));
        if sessions.len() < number {
            return Err(match sessions.len() {
                0 if agent.is_some() && !failed.is_empty() => failed.join("; "),
                0 => match agent.and_then(|agent| agent.unread) {
                    Some(unread) => format!("no session{of} was found on this machine; {unread}"),
                    None => format!("no session{of} was found on this machine; `curtail sessions` lists them"),
                },
                1 => format!("there is only 1 session{of}"),
                count => format!("there are only {count} sessions{of}"),
            });
        }
        let session = sessions.swap_remove(number - 1);
        match session.export() {
            Some(export) => Err(format!(
                "{} keeps this session in a database; `{export} > FILE` writes it to a file",
                session.agent.name
            )),
            None => Ok(session),
        }
    }
}

/// The path that `given` names: a file, or a session such as `@last`. A file with such a name comes first.
///
/// # Errors
/// There is no such session.
pub(crate) fn named_path(given: &OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(given);
    match given.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(reference) if !path.exists() => Ok(Machine::of_process().session(reference)?.path),
        _ => Ok(path),
    }
}

/// Adds the sessions of `agent` in `folder` and in `depth` levels below it; files of `folder` itself only if it `has_sessions`.
/// Links are not followed, and what cannot be read is skipped.
fn search(agent: &'static Agent, folder: &Path, depth: usize, has_sessions: bool, sessions: &mut Vec<Session>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let Some(name) = name.to_str() else { continue };
        if kind.is_dir() {
            // What a subagent did is part of the session that started it.
            if depth > 0 && name != "subagents" {
                search(agent, &entry.path(), depth - 1, has_sessions || name == agent.within, sessions);
            }
        } else if kind.is_file() && has_sessions && is_session(agent, name) && !is_shortened(folder, name) {
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let size = Some(metadata.len());
            sessions.push(Session { agent, path: entry.path(), modified, size, stored: None });
        }
    }
}

fn is_session(agent: &Agent, name: &str) -> bool {
    let (start, ends) = agent.names;
    name.starts_with(start) && ends.iter().any(|end| name.ends_with(end)) && !name.starts_with("agent-")
}

/// Whether the full log of the session is beside it: Antigravity writes one log with long texts shortened, and one in full.
fn is_shortened(folder: &Path, name: &str) -> bool {
    name == "transcript.jsonl" && folder.join("transcript_full.jsonl").is_file()
}

// Sessions of an agent that keeps them in a database, or as one file for each message and part. No command takes the path of
// such a session: the agent itself exports it to a file. Stores are only read.

/// What a store records about one of its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSession {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The folder that the agent worked in.
    pub(crate) project: String,
}

/// The sessions of `agent` in `folder`, or only in the database that is `named`; and what could not be read.
fn stored_sessions(agent: &'static Agent, folder: &Path, named: Option<OsString>) -> (Vec<Session>, Vec<String>) {
    let (mut sessions, mut failed) = (Vec::new(), Vec::new());
    let databases = databases(folder, named);
    for path in &databases {
        match sessions_of_database(agent, path) {
            Ok(found) => sessions.extend(found),
            Err(error) => failed.push(format!("{}: {error}", path.display())),
        }
    }
    // A version with a database copies the files into it when it starts first, and does not delete them.
    if databases.is_empty() {
        for below in agent.folders {
            let folders = paths(&folder.join(below)).into_iter().flat_map(|project| paths(&project));
            sessions.extend(folders.filter_map(|path| session_of_file(agent, &path)));
        }
    }
    (sessions, failed)
}

/// `opencode.db`, and a database for each channel from which versions are installed, such as `opencode-dev.db`.
fn databases(folder: &Path, named: Option<OsString>) -> Vec<PathBuf> {
    let is_database = |path: &PathBuf| {
        let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        path.extension().is_some_and(|end| end == "db") && (stem == "opencode" || stem.starts_with("opencode-"))
    };
    let named = named.filter(|name| !name.is_empty() && name != ":memory:").map(|name| vec![folder.join(name)]);
    let mut found = named.unwrap_or_else(|| paths(folder).into_iter().filter(is_database).collect());
    found.retain(|path| path.is_file());
    found
}

fn sessions_of_database(agent: &'static Agent, path: &Path) -> rusqlite::Result<Vec<Session>> {
    let database = open(path)?;
    let mut statement =
        database.prepare("SELECT id, title, directory, time_updated FROM session WHERE parent_id IS NULL")?;
    let found = statement.query_map([], |row| {
        let stored = StoredSession { id: row.get(0)?, title: row.get(1)?, project: row.get(2)? };
        let modified = after_epoch(row.get::<_, i64>(3)?);
        Ok(Session { agent, path: path.to_owned(), modified, size: None, stored: Some(stored) })
    })?;
    found.collect()
}

/// A session from the file that describes it, unless another session started it.
fn session_of_file(agent: &'static Agent, path: &Path) -> Option<Session> {
    let description = object(&fs::read_to_string(path).ok()?)?;
    if description.get("parentID").is_some_and(|parent| !parent.is_null()) {
        return None;
    }
    let text = |key: &str| description.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let stored =
        StoredSession { id: path.file_stem()?.to_str()?.to_owned(), title: text("title"), project: text("directory") };
    let updated = description.get("time").and_then(|time| time.get("updated")).and_then(Value::as_i64);
    let modified = match updated {
        Some(updated) => after_epoch(updated),
        None => fs::metadata(path).ok()?.modified().ok()?,
    };
    Some(Session { agent, path: path.to_owned(), modified, size: None, stored: Some(stored) })
}

impl StoredSession {
    /// The session as its agent exports it; `path` is the store.
    pub(super) fn text(&self, path: &Path) -> Option<String> {
        let is_file = path.extension().is_some_and(|end| end == "json");
        let messages = if is_file { self.messages_of_files(path) } else { self.messages_of_database(path).ok() }?;
        Some(json!({"info": {"id": self.id, "title": self.title}, "messages": messages}).to_string())
    }

    fn messages_of_database(&self, path: &Path) -> rusqlite::Result<Vec<Value>> {
        let database = open(path)?;
        let rows = |query: &str, id: &str| -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = database.prepare_cached(query)?;
            let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        let mut messages = Vec::new();
        for (id, info) in
            rows("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id", &self.id)?
        {
            let parts = rows("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id", &id)?;
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
        let read = |path: &Path| object(&fs::read_to_string(path).ok()?);
        let mut messages: Vec<(Option<i64>, Value)> = Vec::new();
        for file in paths(&storage.join("message").join(&self.id)) {
            let Some(info) = read(&file) else { continue };
            let parts = paths(&storage.join("part").join(file.file_stem()?));
            let parts: Vec<Map<String, Value>> = parts.iter().filter_map(|part| read(part)).collect();
            let created = info.get("time").and_then(|time| time.get("created")).and_then(Value::as_i64);
            messages.push((created, json!({"info": info, "parts": parts})));
        }
        messages.sort_by_key(|(created, _)| *created);
        Some(messages.into_iter().map(|(_, message)| message).collect())
    }
}

/// Opens a database to read it. While a program has it open, two files are beside it. Without them, it is opened as immutable,
/// so that these files are not created.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        Path::new(&name).exists()
    };
    let immutable = if beside("-wal") && beside("-shm") { "" } else { "&immutable=1" };
    let mut name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    if cfg!(windows) {
        name = format!("/{}", name.replace('\\', "/"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(format!("file:{name}?mode=ro{immutable}"), flags)
}

/// The paths in a folder, sorted.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn after_epoch(milliseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
}
