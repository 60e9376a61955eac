//! What a tool call does to the work: the result of reading a call, and the input of the ledger.

use super::facts::Todo;

/// Something that a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Changes a file; `edit` is a digest of the text that it replaces and one of the text that it writes.
    Change { path: String, edit: Option<(u32, u32)> },
    /// Writes a script that changes these files when it is run.
    Script { path: String, writes: Vec<String> },
    /// Removes a file.
    Remove(String),
    /// Gives a file another path.
    Move { from: String, to: String },
    /// Runs a command line.
    Command(String),
    /// Replaces the to-do list.
    Todos(Vec<Todo>),
    /// Adds an item to the to-do list; its id may be in the result.
    AddTodo(Todo),
    /// Changes the item with this id.
    UpdateTodo(Todo),
    /// Runs a check that is no command, such as a tool `run_tests`.
    Check(String),
}
