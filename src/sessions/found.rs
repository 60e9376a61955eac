//! Finds the sessions on this machine: files in the folders of agents, and sessions in the databases of agents. Of a transcript,
//! at most the first record is read: where nothing else tells a session from what another one started.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::sessions::stored::{StoredSession, databases, paths, session_of_file, sessions_of_database};
use curtail_core::dialects::{AGENTS, Agent, SUBAGENT_LOG, SUBAGENTS, agent_named};
use curtail_core::json::Document;

/// How many levels of folders are searched.
const DEPTH: usize = 8;

/// The most bytes of a first record, which may contain the instructions and the tools.
const FIRST_RECORD: u64 = 1024 * 1024;

/// A session of an agent.
#[derive(Debug, Clone)]
pub(crate) struct KeptSession {
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

impl KeptSession {
    /// A session of `agent` in its store at `path`.
    const fn of_store(agent: &'static Agent, path: PathBuf, stored: StoredSession) -> Self {
        Self { agent, path, modified: stored.modified, size: None, stored: Some(stored) }
    }

    /// Its id in its store.
    fn id(&self) -> Option<&str> {
        self.stored.as_ref().map(|stored| stored.id.as_str())
    }

    /// The command that writes it to standard output, if it is not a file.
    pub(crate) fn export(&self) -> Option<String> {
        Some(format!("{} {}", self.agent.export?, self.stored.as_ref()?.id))
    }
}

/// The sessions of a machine, the newest first, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct FoundSessions {
    pub(crate) sessions: Vec<KeptSession>,
    pub(crate) failed: Vec<String>,
}

/// The sessions of `agents`, or of all agents if there are none.
pub(crate) fn find_sessions(agents: &[&'static Agent]) -> FoundSessions {
    let mut found = FoundSessions::default();
    for agent in AGENTS.iter().filter(|agent| agents.is_empty() || agents.contains(agent)) {
        let Some(folder) = folder_of(agent) else { continue };
        if agent.export.is_some() {
            find_stored(agent, &folder, agent.database.and_then(std::env::var_os), &mut found);
            continue;
        }
        for below in agent.folders {
            search(agent, &folder.join(below), DEPTH, agent.within.is_empty(), &mut found.sessions);
        }
    }
    found.sessions.sort_by(|one, other| {
        let newest = other.modified.cmp(&one.modified);
        newest.then_with(|| one.path.cmp(&other.path)).then_with(|| one.id().cmp(&other.id()))
    });
    found
}

/// The folder of an agent: below the home of the user, or where an environment variable moves it.
pub(crate) fn folder_of(agent: &Agent) -> Option<PathBuf> {
    let moved = agent.variables.iter().find_map(|(name, below)| {
        let folder = std::env::var_os(name).filter(|folder| !folder.is_empty())?;
        Some(PathBuf::from(folder).join(below))
    });
    moved.or_else(|| Some(std::env::home_dir()?.join(agent.home)))
}

/// The session that `reference` names, such as `last` or `claude:2`, without its `@`.
///
/// # Errors
/// There is no such agent or session.
fn session_named(reference: &str) -> Result<KeptSession, String> {
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
    let FoundSessions { mut sessions, failed } = find_sessions(agent.as_slice());
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

/// The path that `given` names: a file, or a session such as `@last`. A file with such a name comes first.
///
/// # Errors
/// There is no such session.
pub(crate) fn named_path(given: &OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(given);
    match given.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(reference) if !path.exists() => Ok(session_named(reference)?.path),
        _ => Ok(path),
    }
}

/// Adds the sessions of `agent` in `folder`, or only in the database that is `named`.
fn find_stored(agent: &'static Agent, folder: &Path, named: Option<OsString>, found: &mut FoundSessions) {
    let databases = databases(folder, named);
    for path in &databases {
        for session in sessions_of_database(path).unwrap_or_else(|error| vec![Err(error)]) {
            match session {
                Ok(stored) => found.sessions.push(KeptSession::of_store(agent, path.clone(), stored)),
                Err(error) => found.failed.push(format!("{}: {error}", path.display())),
            }
        }
    }
    // A version with a database copies the files into it when it starts first, and does not delete them.
    if databases.is_empty() {
        for below in agent.folders {
            let folders = paths(&folder.join(below)).into_iter().flat_map(|project| paths(&project));
            let sessions = folders
                .filter_map(|path| session_of_file(&path).map(|stored| KeptSession::of_store(agent, path, stored)));
            found.sessions.extend(sessions);
        }
    }
}

/// Adds the sessions of `agent` in `folder` and in `depth` levels below it; files of `folder` itself only if it `has_sessions`.
/// Links are not followed, and what cannot be read is skipped.
fn search(agent: &'static Agent, folder: &Path, depth: usize, has_sessions: bool, sessions: &mut Vec<KeptSession>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let Some(name) = name.to_str() else { continue };
        if kind.is_dir() {
            // What a subagent did is part of the session that started it.
            if depth > 0 && name != SUBAGENTS {
                search(agent, &entry.path(), depth - 1, has_sessions || name == agent.within, sessions);
            }
        } else if kind.is_file() && has_sessions && is_session(agent, name) && !is_shortened(folder, name) {
            let Ok(metadata) = entry.metadata() else { continue };
            if is_started(agent, &entry.path()) {
                continue;
            }
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let size = Some(metadata.len());
            sessions.push(KeptSession { agent, path: entry.path(), modified, size, stored: None });
        }
    }
}

fn is_session(agent: &Agent, name: &str) -> bool {
    let (start, ends) = agent.names;
    name.starts_with(start) && ends.iter().any(|end| name.ends_with(end)) && !name.starts_with(SUBAGENT_LOG)
}

/// Whether another session started the one at `path`, of which it is a part.
fn is_started(agent: &Agent, path: &Path) -> bool {
    let Some(mark) = agent.started else { return false };
    let marked = mark.file.map_or_else(|| path.to_owned(), |name| path.with_file_name(name));
    // Opening a pipe would wait for whoever writes to it.
    if !marked.is_file() {
        return false;
    }
    let Ok(file) = File::open(marked) else { return false };
    let mut input = BufReader::new(file).take(FIRST_RECORD);
    let mut text = String::new();
    let read = if mark.file.is_some() { input.read_to_string(&mut text) } else { input.read_line(&mut text) };
    let Some(document) = read.ok().and_then(|_| Document::parse(&text).ok()) else { return false };
    let found = mark.path.iter().fold(document.roots().next(), |value, name| value?.some(name));
    found.is_some_and(|found| {
        mark.begins.is_empty() || found.text().is_some_and(|text| text.decode().starts_with(mark.begins))
    })
}

/// Whether the full log of the session is beside it: Antigravity writes one log with long texts shortened, and one in full.
fn is_shortened(folder: &Path, name: &str) -> bool {
    name == "transcript.jsonl" && folder.join("transcript_full.jsonl").is_file()
}
