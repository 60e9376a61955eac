//! A fact: its kind, its words, its state, and how much it is needed.

use super::grammar::Grammar;

/// What kind of fact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A standing rule: an instruction that says always, never, must.
    Rule,
    /// What the user wants now.
    Task,
    /// The last instruction of the user.
    Instruction,
    /// What is to be done.
    Todo,
    /// A file that was changed, created, removed or read.
    File,
    /// A command that was run or is to be run.
    Command,
    /// A check, with its last outcome.
    Check,
    /// An error that is not resolved.
    Error,
    /// A decision.
    Decision,
    /// A path, a symbol, a number, a hash, a URL, a port or a version.
    Identifier,
}

impl Kind {
    /// Every kind, in the order in which they are reported.
    pub const ALL: [Self; 10] = [
        Self::Rule,
        Self::Task,
        Self::Instruction,
        Self::Todo,
        Self::File,
        Self::Command,
        Self::Check,
        Self::Error,
        Self::Decision,
        Self::Identifier,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Task => "task",
            Self::Instruction => "instruction",
            Self::Todo => "todo",
            Self::File => "file",
            Self::Command => "command",
            Self::Check => "check",
            Self::Error => "error",
            Self::Decision => "decision",
            Self::Identifier => "identifier",
        }
    }

    /// Its name for several.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Rule => "rules",
            Self::Task => "task",
            Self::Instruction => "last instruction",
            Self::Todo => "open to-dos",
            Self::File => "files",
            Self::Command => "commands",
            Self::Check => "checks",
            Self::Error => "open errors",
            Self::Decision => "decisions",
            Self::Identifier => "identifiers",
        }
    }
}

/// The state of a fact that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// A check passed.
    Passed,
    /// A check failed.
    Failed,
    /// A to-do, or an error, is open.
    Open,
    /// A to-do is done.
    Done,
    /// An error is resolved.
    Resolved,
    /// A file was changed or created.
    Changed,
    /// A file was removed.
    Removed,
    /// A file got another name.
    Renamed,
    /// A file was only read.
    Read,
}

impl State {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Open => "open",
            Self::Done => "done",
            Self::Resolved => "resolved",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Read => "read",
        }
    }
}

/// A fact of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its kind.
    pub kind: Kind,
    /// Its words, as the transcript has them.
    pub text: String,
    /// Its state, if it has one.
    pub state: Option<State>,
    /// Index of the message that says it last; `None` outside of the messages.
    pub message: Option<usize>,
    /// Whether somebody who goes on needs it.
    pub important: bool,
    /// Whether a later message overtook it, so that it cannot be lost.
    pub overtaken: bool,
    /// How much it is needed: the larger, the more.
    pub need: u32,
    /// Digests of the messages that say it.
    pub(super) sources: Vec<u64>,
    /// The targets of a check.
    pub(super) targets: Vec<String>,
    /// The languages of its words.
    pub(super) grammar: Grammar,
}

impl Fact {
    pub(super) fn new(kind: Kind, text: impl Into<String>, message: Option<usize>) -> Self {
        Self {
            kind,
            text: text.into(),
            state: None,
            message,
            important: true,
            overtaken: false,
            need: 0,
            sources: Vec::new(),
            targets: Vec::new(),
            grammar: Grammar::default(),
        }
    }

    /// Its words, with its state if it has one.
    pub fn described(&self) -> String {
        self.state.map_or_else(|| self.text.clone(), |state| format!("{}: {}", self.text, state.name()))
    }

    pub(super) fn in_state(self, state: State) -> Self {
        Self { state: Some(state), ..self }
    }

    /// With another rank among the kinds.
    pub(super) fn ranked(self, need: u32) -> Self {
        Self { need, ..self }
    }

    pub(super) fn overtaken(self) -> Self {
        Self { overtaken: true, ..self }
    }

    pub(super) fn important_if(self, important: bool) -> Self {
        Self { important, ..self }
    }
}
