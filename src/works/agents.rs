//! The logs of sub-agents beside the log of a session: `SESSION/subagents/*.jsonl` beside `SESSION.jsonl`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use curtail_core::dialects::{SUBAGENTS, SubagentNotes};
use curtail_core::system_error::system_message;

/// The log of a sub-agent.
pub(crate) struct AgentLog {
    /// Its path, as a name.
    pub(crate) name: String,
    pub(crate) text: String,
    /// What its program wrote down about it.
    pub(crate) notes: SubagentNotes,
}

impl AgentLog {
    /// The logs beside the session at `path`, in the order of their names, and what there is to say of those that cannot be read.
    pub(crate) fn beside(path: &Path) -> (Vec<Self>, Vec<String>) {
        let folder = path.with_extension("").join(SUBAGENTS);
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Default::default();
            }
            Err(error) => return (Vec::new(), vec![problem(&folder, &error, "its sub-agents are")]),
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "jsonl") && path.is_file());
        paths.sort();
        let mut logs = Vec::new();
        let mut unread = Vec::new();
        for path in paths {
            match std::fs::read_to_string(&path) {
                Ok(text) => logs.push(Self::new(&path, text)),
                Err(error) => unread.push(problem(&path, &error, "this sub-agent is")),
            }
        }
        (logs, unread)
    }

    fn new(path: &Path, text: String) -> Self {
        let notes = std::fs::read_to_string(path.with_extension("meta.json")).unwrap_or_default();
        Self { name: path.display().to_string(), text, notes: SubagentNotes::read(&notes) }
    }
}

/// Why what is at `path` cannot be read, and `whose` messages are missing on the page for it.
fn problem(path: &Path, error: &std::io::Error, whose: &str) -> String {
    format!("{}: {}; {whose} not on the page", path.display(), system_message(error))
}
