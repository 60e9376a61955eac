//! What a ledger contains: facts, each with a pointer to the message that it comes from.
//! They are data: other files find them and write them as text.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The message that a fact comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// The number of the message in its transcript, from 0, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// The message's own id, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl From<usize> for Pointer {
    fn from(message: usize) -> Self {
        Self { message: Some(message), id: None }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.map_or(Ok(()), |message| write!(f, "[m{message}]"))
    }
}

/// Something that somebody said, in their own words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The words, on one line; long ones are cut in the middle.
    pub text: String,
    /// Where they were said.
    #[serde(flatten)]
    pub at: Pointer,
    /// Whether they correct what was said or done before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub correction: bool,
}

/// A file that the work changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its path, as the calls spell it.
    pub path: String,
    /// Number of changes.
    pub times: usize,
    /// The last change.
    #[serde(flatten)]
    pub at: Pointer,
    /// Whether the last change removed the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deleted: bool,
    /// Whether a commit followed the last change.
    #[serde(default, skip_serializing_if = "is_false")]
    pub committed: bool,
    /// Whether the first change wrote the whole file, as for a new one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub whole: bool,
    /// Whether version control named it, or was given it by name.
    #[serde(default, skip_serializing_if = "is_false")]
    pub named: bool,
    /// Whether a command ran it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ran: bool,
    /// The files that it changes when it is run, where it is a script that the work wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Digests of the texts that each edit replaced and wrote, by which the inverse edit is recognized.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<(u32, u32)>,
}

impl Change {
    /// Whether it is a script that the work wrote and ran, and that nothing shows to be part of the work's outcome.
    #[must_use]
    pub const fn is_script(&self) -> bool {
        self.whole && self.ran && !self.committed && !self.named && !self.deleted
    }
}

/// A commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its abbreviated hash, if the output showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The first line of its message.
    pub subject: String,
    /// Where it was made.
    #[serde(flatten)]
    pub at: Pointer,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything passed.
    Passed,
    /// Something failed.
    Failed,
    /// The output does not say.
    #[default]
    Unknown,
}

impl Verdict {
    /// The verdict as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// The last run of a build or of tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The command, or the name of the tool.
    pub command: String,
    /// How it ended.
    pub verdict: Verdict,
    /// The line of the output that says why it failed, where no test is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where it ran.
    #[serde(flatten)]
    pub at: Pointer,
}

/// A test that failed and has not passed since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its name, as the runner spells it.
    pub name: String,
    /// The program that ran it.
    pub runner: String,
    /// The command in which it failed last.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The last run in which it failed.
    #[serde(flatten)]
    pub at: Pointer,
}

/// How far an item of a to-do list is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It has not begun.
    #[default]
    Pending,
    /// It has begun.
    InProgress,
    /// It is done, or was given up.
    Done,
}

/// An item of a to-do list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// Its id, where the tool gives it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub progress: Progress,
    /// Where this state was written.
    #[serde(flatten)]
    pub at: Pointer,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}
