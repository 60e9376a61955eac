//! What a ledger leaves out because later events overtook it: each run of a check and of a command, each former name of a file,
//! each state of a to-do.

use super::{Todo, Verdict};

/// The events behind a ledger, in order. Messages are numbers, as in [`Pointer`](super::Pointer).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) runs: Vec<Run>,
    pub(crate) moved: Vec<Moved>,
    pub(crate) todos: Vec<Todo>,
}

/// A run of a command line, or of a tool that checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The command of a check without what wraps it; otherwise, the line.
    pub(crate) command: String,
    /// How it ended, if it is a check.
    pub(crate) check: Option<Verdict>,
    /// The targets of a check.
    pub(crate) targets: Vec<String>,
    /// The line of its output that says why it failed.
    pub(crate) error: Option<String>,
    /// Whether it failed; `None` if that is unknown.
    pub(crate) failed: Option<bool>,
    /// The tests that failed in it.
    pub(crate) failing: Vec<String>,
    pub(crate) at: usize,
}

/// A file that got another path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) from: String,
    pub(crate) at: usize,
}
