//! What Claude Code keeps of a sub-agent beside the log of its session: a log of its own, and notes on it.

use crate::json::Document;

/// The folder of these logs and notes in the folder of their session.
pub const SUBAGENTS: &str = "subagents";

/// How the names of these logs begin, which older versions wrote beside those of sessions.
pub const SUBAGENT_LOG: &str = "agent-";

/// The notes on a sub-agent, which are beside its log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubagentNotes {
    /// The id of the call that started it.
    pub call: Option<String>,
    /// What it is about.
    pub description: Option<String>,
}

impl SubagentNotes {
    /// The notes in `text`, which is JSON; none in any other.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let document = Document::parse(text).ok();
        let Some(notes) = document.as_ref().and_then(|document| document.roots().next()) else {
            return Self::default();
        };
        let member = |key: &str| Some(notes.get_text(key)?.decode().into_owned());
        Self { call: member("toolUseId"), description: member("description").or_else(|| member("agentType")) }
    }
}
