//! Tool calls in the form that people know: commands, edits, to-do lists, and what is read or searched.

mod arguments;
mod drawing;
mod looks;
mod recognition;

use std::cell::OnceCell;

use super::diffs::Diff;
use super::visible::line;
use curtail_core::json::Value;
use curtail_facts::{Todo, changes_nothing};

pub(crate) use arguments::{arguments, other_arguments};
pub(crate) use looks::Look;

/// Longer arguments, in bytes, are not parsed, and shown unchanged.
const MAX_ARGUMENTS: usize = 1_000_000;

/// What a call does. `drawn` are the arguments that need not be shown beside the form that people know.
pub(crate) enum CallKind {
    /// It runs a command.
    Shell { command: String, folder: Option<String>, drawn: Vec<String> },
    /// It changes files.
    Edit { path: String, edits: Vec<Edit>, drawn: Vec<String> },
    /// It writes a plan or a list, which may say more than its items.
    List { items: Vec<Todo>, drawn: Vec<String> },
    /// It writes a text for people.
    Prose { text: String, drawn: Vec<String> },
    /// It asks a person one question, or a list of them.
    Ask { questions: Vec<Question>, drawn: Vec<String> },
    /// It reads or searches something.
    Lookup { look: Look, target: String },
    /// Something else.
    Other,
}

/// A change of a file, which is compared when it is drawn.
pub(crate) struct Edit {
    old: String,
    /// The text that replaces it; `None` if the first is a patch.
    new: Option<String>,
    /// The item of a list that it is; empty if it is the only edit of its call.
    item: String,
    /// The members of this item that need not be shown beside the diff.
    drawn: Vec<String>,
    diff: OnceCell<Diff>,
}

impl Edit {
    const fn new(old: String, new: Option<String>) -> Self {
        Self { old, new, item: String::new(), drawn: Vec::new(), diff: OnceCell::new() }
    }

    fn diff(&self) -> &Diff {
        self.diff.get_or_init(|| match &self.new {
            Some(new) => Diff::between(&self.old, new),
            None => Diff::from_patch(&self.old),
        })
    }
}

/// A question to a person, with the answers that it offers.
pub(crate) struct Question {
    text: String,
    answers: Vec<Answer>,
}

/// An answer that a question offers.
struct Answer {
    label: String,
    description: String,
}

impl CallKind {
    /// The class for the style of the call.
    pub(crate) const fn class(&self) -> &'static str {
        match self {
            Self::Shell { .. } => "shell",
            Self::Edit { .. } => "edit",
            Self::List { .. } => "todo",
            Self::Prose { .. } => "plan",
            Self::Ask { .. } => "ask",
            Self::Lookup { .. } => "look",
            Self::Other => "other",
        }
    }

    /// Whether it is shown without being unfolded.
    pub(crate) const fn is_open(&self) -> bool {
        !matches!(self, Self::Lookup { .. } | Self::Other)
    }

    /// Whether its result adds little to the call, so that it is folded.
    pub(crate) const fn folds_result(&self) -> bool {
        matches!(self, Self::Edit { .. } | Self::List { .. } | Self::Prose { .. } | Self::Ask { .. })
    }

    /// What it looks at, if it changes nothing: a short name of it.
    pub(crate) fn look(&self) -> Option<(Look, String)> {
        match self {
            Self::Lookup { look, target } => Some((*look, line(looks::short_name(target), 40))),
            Self::Shell { command, .. } if changes_nothing(command) => Some((Look::Command, line(command, 40))),
            _ => None,
        }
    }
}

/// The first of the members `names` of `object` that is a text.
pub(crate) fn member_text(object: Value<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| Some(object.some(name)?.text()?.decode().into_owned()))
}
