//! The sessions of this machine: files in the folders of agents, by name and time, and what agents keep in stores of their
//! own. No transcript is opened here.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::store::{self, Kept};
use curtail_core::dialects::{AGENTS, Agent, agent_named};

/// Folders inside one another that are searched.
const DEPTH: usize = 8;

/// A session of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) agent: &'static Agent,
    /// The transcript, or where a store keeps it.
    pub(crate) path: PathBuf,
    /// When something was last written to it.
    pub(crate) modified: SystemTime,
    /// In bytes; `None` in a store.
    pub(crate) size: Option<u64>,
    /// What a store says about it; `None` if it is a file.
    pub(crate) kept: Option<Kept>,
}

impl Session {
    /// The command that writes it to standard output, if it is not a file.
    pub(crate) fn export(&self) -> Option<String> {
        Some(format!("{} {}", self.agent.export?, self.kept.as_ref()?.id))
    }
}

/// The sessions of a machine, the newest first, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct Found {
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
    pub(crate) fn sessions(&self, agents: &[&'static Agent]) -> Found {
        let mut found = Found::default();
        for agent in AGENTS.iter().filter(|agent| agents.is_empty() || agents.contains(agent)) {
            let Some(folder) = self.folder(agent) else { continue };
            if agent.export.is_some() {
                let (sessions, failed) = store::sessions(agent, &folder, (self.variable)("OPENCODE_DB"));
                found.sessions.extend(sessions);
                found.failed.extend(failed);
                continue;
            }
            for below in agent.folders {
                search(agent, &folder.join(below), (DEPTH, agent.within.is_empty()), &mut found.sessions);
            }
        }
        found.sessions.sort_by(|one, other| {
            let place = |session: &Session| session.kept.as_ref().map(|kept| kept.id.clone());
            let newest = other.modified.cmp(&one.modified);
            newest.then_with(|| one.path.cmp(&other.path)).then_with(|| place(one).cmp(&place(other)))
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
        let number = number.ok_or("a number from 1 on follows the colon, such as @claude:2 for the second newest")?;
        let agent = agent_named(word);
        if agent.is_none() && word != "last" {
            let words: Vec<&str> = AGENTS.iter().map(|agent| agent.words[0]).collect();
            return Err(format!(
                "there is no agent `{word}`; sessions are named @last or by agent: @{} (a file: ./@{reference})",
                words.join(", @")
            ));
        }
        let Found { mut sessions, failed } = self.sessions(agent.as_slice());
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
                "{} keeps this session in a store of its own; `{export} > FILE` writes it to a file",
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

/// Adds the sessions of `agent` in `folder`, whose `depth` is left; `found` if its files are sessions. Links are not followed,
/// and what cannot be read is passed over.
fn search(agent: &'static Agent, folder: &Path, (depth, found): (usize, bool), sessions: &mut Vec<Session>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let Some(name) = name.to_str() else { continue };
        if kind.is_dir() {
            // What an agent of an agent did is part of the session that started it.
            if depth > 0 && name != "subagents" {
                search(agent, &entry.path(), (depth - 1, found || name == agent.within), sessions);
            }
        } else if kind.is_file() && found && is_session(agent, name) && !is_shortened(folder, name) {
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let size = Some(metadata.len());
            sessions.push(Session { agent, path: entry.path(), modified, size, kept: None });
        }
    }
}

fn is_session(agent: &Agent, name: &str) -> bool {
    let (start, ends) = agent.names;
    name.starts_with(start) && ends.iter().any(|end| name.ends_with(end)) && !name.starts_with("agent-")
}

/// Whether the same session is beside it in full: Antigravity writes a log with long texts cut, and one with all of them.
fn is_shortened(folder: &Path, name: &str) -> bool {
    name == "transcript.jsonl" && folder.join("transcript_full.jsonl").is_file()
}
