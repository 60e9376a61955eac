//! A rolling memory in the store: messages are appended, and only new messages are summarized.
//!
//! An input is taken (`taking`), what is due is summarized (`advancing`), and what is no longer needed is dropped (`dropping`).

mod advancing;
mod dropping;
mod showing;
mod stored_text;
mod taking;
mod thread_error;
mod threads;

use serde::{Deserialize, Serialize};

use super::lines::{StoredLine, is_line_break, line_break};
use super::{RollingState, RollingSummary};
use curtail_core::dialects::Reading;
pub use showing::Shown;
pub use thread_error::ThreadError;
pub use threads::{append, current};

/// The version of the stored form of a thread.
const VERSION: u32 = 2;

/// The stored part of a conversation: the window, system messages and summaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    version: u32,
    /// What counts as an interaction: `message` or `exchange`.
    unit: String,
    dialect: Option<String>,
    /// Number of messages appended so far, of all roles.
    taken: usize,
    /// The number of the first interaction in `items`.
    first: usize,
    memory: RollingState,
    items: Vec<StoredLine>,
    /// The text before the first line: white space, perhaps with a byte order mark.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    open: String,
    /// The white space after the last line: a line break, and perhaps more.
    #[serde(default = "line_break", skip_serializing_if = "is_line_break")]
    close: String,
    /// Number of messages that are no longer in `items`.
    dropped: usize,
    /// How often the thread has started over.
    epoch: u32,
    /// Number of lines of metadata after the last message.
    trailing: usize,
}

/// The version of a stored thread, whatever else is in it.
#[derive(Deserialize)]
struct StoredVersion {
    version: u32,
}

/// Messages to append.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'t> {
    /// The text of one transcript.
    pub text: &'t str,
    /// How to read it.
    pub reading: &'t Reading,
    /// The number of its first message in the thread, from 1; `None` if it follows the last message, or with `rewind`, if the text
    /// is the whole conversation.
    pub from: Option<usize>,
    /// The time of messages without a timestamp.
    pub now: &'t str,
    /// Whether the thread starts over with the input if their histories differ.
    pub rewind: bool,
}

impl Thread {
    /// The thread with `taken` appended, and the marks of the new messages. `known` returns whether a mark is already stored.
    ///
    /// # Errors
    /// The messages cannot be read, do not fit the thread, or cannot be summarized.
    pub fn after(
        thread: Option<Self>,
        summary: &RollingSummary,
        taken: Taken<'_>,
        known: &dyn Fn(&str) -> bool,
    ) -> Result<(Self, Vec<String>), ThreadError> {
        let mut thread = thread.unwrap_or_default();
        if thread.taken == 0 {
            summary.counted.name().clone_into(&mut thread.unit);
        }
        if thread.unit != summary.counted.name() {
            return Err(ThreadError::Unit { kept: thread.unit, asked: summary.counted.name() });
        }
        // The whole conversation is compared with the thread message by message: where messages have no ids, nothing else shows
        // what the thread already has.
        let is_whole = taken.rewind && taken.from.is_none_or(|from| from == 1);
        let from = if is_whole { Some(1) } else { taken.from };
        let fresh = match thread.add(summary, Taken { from, rewind: is_whole, ..taken }, known) {
            Err(ThreadError::Changed(_) | ThreadError::RolledBack) if is_whole => {
                let unit = std::mem::take(&mut thread.unit);
                thread = Self { unit, epoch: thread.epoch + 1, ..Self::default() };
                thread.add(summary, Taken { from, rewind: false, ..taken }, known)?
            }
            fresh => fresh?,
        };
        Ok((thread, fresh))
    }

    /// Appends the new lines, makes the summaries that are due, and returns the marks of the new messages.
    fn add(
        &mut self,
        summary: &RollingSummary,
        taken: Taken<'_>,
        known: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, ThreadError> {
        let before = self.taken.saturating_sub(self.dropped);
        let fresh = self.take(taken, known)?;
        self.advance(summary, before)?;
        Ok(fresh)
    }

    /// Number of messages appended so far.
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// The number of kept summaries, and the number of interactions so far.
    pub fn outline(&self) -> (usize, usize) {
        (self.memory.summaries.len(), self.memory.seen)
    }

    /// The thread that was stored as `body`.
    fn parse(body: &str) -> Result<Self, ThreadError> {
        // Another version has other members.
        let StoredVersion { version } =
            serde_json::from_str(body).map_err(|error| ThreadError::Stored(error.to_string()))?;
        if version != VERSION {
            return Err(ThreadError::Version(version));
        }
        serde_json::from_str(body).map_err(|error| ThreadError::Stored(error.to_string()))
    }

    fn write(&self) -> String {
        // Strings and numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Default for Thread {
    /// An empty thread, whose unit is set when messages are appended.
    fn default() -> Self {
        Self {
            version: VERSION,
            unit: String::new(),
            dialect: None,
            taken: 0,
            first: 1,
            memory: RollingState::default(),
            items: Vec::new(),
            open: String::new(),
            close: line_break(),
            dropped: 0,
            epoch: 0,
            trailing: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Thread, ThreadError};

    #[test]
    fn a_thread_of_a_newer_version_is_not_called_damaged() {
        let newer = Thread::parse(r#"{"version":3,"unit":"message","more":{}}"#);
        assert!(matches!(newer, Err(ThreadError::Version(3))), "{newer:?}");
        assert!(matches!(Thread::parse(r#"{"version":2,"more":{}}"#), Err(ThreadError::Stored(_))));
    }
}
