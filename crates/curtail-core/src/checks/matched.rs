//! What a rule returns: the value that is wrong, what is wrong with it, and how it is mended.

use crate::dialects::Patch;
use crate::json::{Span, Value};

/// What a rule detected, as values of the transcript.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    /// The value that is wrong; without one, the finding is at the start of the transcript.
    pub at: Option<Value<'a>>,
    /// Index of the message that the value belongs to, from 0.
    pub message_index: Option<usize>,
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// The counterpart of the call or result, or the message in conflict: the index of its message, and the value.
    pub other: Option<(usize, Value<'a>)>,
    /// Whether the finding is at most a warning, whatever the rule's level.
    pub only_warns: bool,
    /// Which of the rule's constraints is violated, if it has several.
    pub what: &'static str,
    /// How it is mended in the part alone; without it, a person has to.
    pub mending: Option<Mending<'a>>,
}

/// How a fault is mended in the part alone.
#[derive(Debug, Clone)]
pub struct Mending<'a> {
    /// What is done.
    pub mend: Mend<'a>,
    /// Whether the transcript says the same afterwards.
    pub is_safe: bool,
}

/// What is done to mend a fault.
#[derive(Debug, Clone)]
pub enum Mend<'a> {
    /// These parts and messages are dropped, with what depends on them.
    Cut(Vec<Value<'a>>),
    /// All of this is done, or nothing. Nothing is to do if an earlier finding says what.
    Edit {
        /// Items, elements and members that are removed.
        removed: Vec<Value<'a>>,
        /// Bytes that are replaced.
        written: Vec<Patch>,
    },
}

impl<'a> Match<'a> {
    /// A finding at a value.
    #[must_use]
    pub const fn new(at: Option<Value<'a>>, message: String) -> Self {
        Self { at, message_index: None, message, other: None, only_warns: false, what: "", mending: None }
    }

    /// The same, of the constraint `what`.
    #[must_use]
    pub fn of(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// The same, mended by dropping the part or the message at its place.
    #[must_use]
    pub fn cut(self) -> Self {
        let values = self.at.into_iter().collect();
        self.cutting(values)
    }

    /// The same, mended by dropping these parts and messages.
    #[must_use]
    pub fn cutting(self, values: Vec<Value<'a>>) -> Self {
        self.mended(Mend::Cut(values))
    }

    /// The same, mended by removing elements or members; without one, a person has to mend it.
    #[must_use]
    pub fn removing(self, values: Vec<Value<'a>>) -> Self {
        self.editing(values, Vec::new())
    }

    /// The same, mended by replacing bytes; without a replacement, a person has to mend it.
    #[must_use]
    pub fn writing(self, patches: impl IntoIterator<Item = Patch>) -> Self {
        self.editing(Vec::new(), patches.into_iter().collect())
    }

    /// The same, mended by removing elements or members and replacing bytes; without either, a person has to mend it.
    #[must_use]
    pub fn editing(self, removed: Vec<Value<'a>>, written: Vec<Patch>) -> Self {
        let is_mended = !removed.is_empty() || !written.is_empty();
        if is_mended { self.mended(Mend::Edit { removed, written }) } else { self }
    }

    /// The same, mended with an earlier finding.
    #[must_use]
    pub fn mended_with_earlier(self) -> Self {
        self.mended(Mend::Edit { removed: Vec::new(), written: Vec::new() })
    }

    fn mended(self, mend: Mend<'a>) -> Self {
        Self { mending: Some(Mending { mend, is_safe: true }), ..self }
    }

    /// The same, after whose mend the transcript says something else.
    #[must_use]
    pub fn unsafely(self) -> Self {
        Self { mending: self.mending.map(|mending| Mending { is_safe: false, ..mending }), ..self }
    }

    /// The same, which at most warns if `is_mild`.
    #[must_use]
    pub fn warning_if(self, is_mild: bool) -> Self {
        Self { only_warns: self.only_warns || is_mild, ..self }
    }
}

/// The patch that writes `member` in front of the members of an object.
pub(super) fn member_first(object: Value<'_>, member: &str) -> Patch {
    let start = object.span().start + 1;
    let comma = if object.members().next().is_some() { "," } else { "" };
    Patch { span: Span::new(start, start), text: format!("{member}{comma}") }
}
