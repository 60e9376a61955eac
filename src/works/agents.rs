//! The logs of sub-agents beside the log of a session: `SESSION/subagents/*.jsonl` beside `SESSION.jsonl`.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The folder of these logs in the folder of their session.
pub(crate) const FOLDER: &str = "subagents";

/// The log of a sub-agent.
pub(crate) struct AgentLog {
    /// Its path, as a name.
    pub(crate) name: String,
    pub(crate) text: String,
    /// The id of the call that started it, if its program wrote it down.
    pub(crate) call: Option<String>,
    /// What it is about, if its program wrote it down.
    pub(crate) description: Option<String>,
}

impl AgentLog {
    /// The logs beside the session at `path`, in the order of their names, and those that cannot be read.
    pub(crate) fn beside(path: &Path) -> (Vec<Self>, Vec<String>) {
        let Ok(folder) = std::fs::read_dir(path.with_extension("").join(FOLDER)) else {
            return Default::default();
        };
        let is_log = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "jsonl") && path.is_file();
        let mut paths: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).filter(is_log).collect();
        paths.sort();
        let mut logs = Vec::new();
        let mut unread = Vec::new();
        for path in paths {
            match std::fs::read_to_string(&path) {
                Ok(text) => logs.push(Self::new(&path, text)),
                Err(error) => unread.push(format!("{}: {error}", path.display())),
            }
        }
        (logs, unread)
    }

    fn new(path: &Path, text: String) -> Self {
        let notes = std::fs::read_to_string(path.with_extension("meta.json")).unwrap_or_default();
        let notes: Value = serde_json::from_str(&notes).unwrap_or_default();
        let member = |name: &str| notes[name].as_str().map(str::to_owned);
        let description = member("description").or_else(|| member("agentType"));
        Self { name: path.display().to_string(), text, call: member("toolUseId"), description }
    }
}
