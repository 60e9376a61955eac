//! Each kind of fact. They are plain data: `read` finds them; `text` writes them as text.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::shell::LineStatus;

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

/// Text of a message, quoted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The text on one line; a long text is cut in the middle.
    pub text: String,
    /// The message that is quoted.
    #[serde(flatten)]
    pub at: Pointer,
    /// Whether it corrects something that was said or done before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub correction: bool,
}

/// A file that the work changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its path, as written in the calls.
    pub path: String,
    /// Number of changes.
    pub times: usize,
    /// The last change.
    #[serde(flatten)]
    pub at: Pointer,
    /// Whether the last change removed the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether a commit contains the last change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub committed: bool,
    /// The number of changes that commits contain.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_commits: usize,
    /// Whether the last change was added to the next commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub staged: bool,
    /// Whether the first change wrote the whole file, as for a new one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Whether version control listed it as changed, or a command added it by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// Whether a command ran it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ran: bool,
    /// If it is a script that the work wrote: the files that it changes when it is run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Change {
    /// Whether it is a helper script: the work wrote and ran it, and neither a commit nor version control shows that it is part
    /// of the result.
    pub const fn is_script(&self) -> bool {
        self.whole && self.ran && !self.is_in_commit() && !self.named && !self.deleted
    }

    /// Whether a commit contains it, or an earlier state of it.
    pub(super) const fn is_in_commit(&self) -> bool {
        self.committed || self.in_commits > 0
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

/// Whether a word can be the abbreviated hash of a commit.
pub(super) fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
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
    /// The line of the output that says why it failed, if it names no test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where it ran.
    #[serde(flatten)]
    pub at: Pointer,
}

/// A test that failed and has not passed since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTest {
    /// Its name, as the runner prints it.
    pub name: String,
    /// The kind of runner, such as `cargo` or `pytest`.
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
    /// It is done or was cancelled.
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
    /// The call that set its progress.
    #[serde(flatten)]
    pub at: Pointer,
}

/// What a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Has an effect on files, or runs a check that is not a shell command, such as a tool `run_tests`.
    Effect(Effect),
    /// Runs a command line.
    Command(String),
    /// Replaces the to-do list.
    Todos(Vec<Todo>),
    /// Changes the items of the list with the same ids, and adds the others that have a text.
    MergeTodos(Vec<TodoChange>),
    /// Adds an item to the to-do list; its id may be in the result.
    AddTodo(Todo),
}

/// A change of an item of a to-do list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TodoChange {
    /// The id of the item.
    pub(super) key: Option<String>,
    /// Its text, unless it stays as it is.
    pub(super) text: Option<String>,
    /// How far it is, unless that stays as it is.
    pub(super) progress: Option<Progress>,
}

impl TodoChange {
    /// The item, if the change is all that is known of it: without a text, it is called by its id.
    pub(super) fn into_todo(self) -> Option<Todo> {
        let text = self.text.or_else(|| self.key.clone())?;
        Some(Todo { key: self.key, text, progress: self.progress.unwrap_or_default(), ..Todo::default() })
    }
}

/// An effect of a command, or of another call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Changes a file, or writes the `whole` file.
    Change { path: String, whole: bool },
    /// Removes a file.
    Remove(String),
    /// Removes a folder: of its files, those are gone that are known.
    RemoveBelow(String),
    /// Gives a file another path.
    Move { from: String, to: String },
    /// Commits what was added to the commit; the subject is `None` if the command does not contain it.
    Commit { subject: Option<String>, amend: bool },
    /// Makes commits from others. Only the output shows them.
    Commits,
    /// Discards uncommitted changes: of these files and folders, or of all if `None`.
    Restore(Option<Vec<String>>),
    /// Adds changes to the next commit: those of these files and folders, and those of `any` others if a pattern selects them. With a
    /// slash at its end, a place that is not known is no file that was changed.
    Add { places: Vec<String>, any: bool },
    /// Prints the files that version control lists as changed; the first operand names a file, or a commit to compare with.
    Changes(Option<String>),
    /// Like [`Effect::Changes`], but prints only their names, one on a line.
    ChangedNames(Option<String>),
    /// Writes a script that changes these files when it is run.
    Script { path: String, writes: Vec<String> },
    /// Runs a script.
    RunScript(String),
    /// Builds or tests.
    Check(CheckRun),
}

impl Effect {
    /// Whether it changes a file or the history.
    pub(super) const fn is_change(&self) -> bool {
        !matches!(self, Self::Check(_) | Self::Changes(_) | Self::ChangedNames(_) | Self::RunScript(_))
    }

    /// Writes a whole file.
    pub(super) fn write(path: String) -> Self {
        Self::Change { path, whole: true }
    }

    /// Changes a part of a file.
    pub(super) fn edit(path: String) -> Self {
        Self::Change { path, whole: false }
    }

    /// Writes a script at `path`, which `writes` these files; `None` if the script changes no files.
    pub(super) fn script(path: String, writes: Vec<String>) -> Option<Self> {
        (!writes.is_empty()).then_some(Self::Script { path, writes })
    }
}

/// A run of a build or of tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CheckRun {
    /// The command without variables, wrappers and redirections; of a program that no table lists, without what shows its output.
    pub(super) command: String,
    /// Its program and its verb, if its targets are parts of what these check without targets; those of `make` are other checks.
    pub(super) scope: Option<String>,
    /// The files, packages or tests that it is limited to; empty if it checks everything.
    pub(super) targets: Vec<String>,
    /// The flags with which it leaves tests out, each with its value, or is limited to a kind of them, such as those of a library.
    pub(super) left_out: Vec<String>,
    /// The family of runners whose lines it prints, if that is known.
    pub(super) runner: Option<&'static str>,
    /// What the exit code of its line says of it.
    pub(super) status: LineStatus,
    /// Whether it prints something only if it fails, and the result shows that.
    pub(super) is_quiet: bool,
    /// Whether it is a program of the table, which fails if what it checks does. A tool may succeed when it shows a failure.
    pub(super) is_listed: bool,
}
