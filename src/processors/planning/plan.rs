//! What a processor decides: total, in order, and with a reason wherever something leaves or changes.

use std::borrow::Cow;

use crate::json::Text;
use crate::transcript::{Draft, DraftPart, Message, PairingRules, PartRef};

/// What a processor sees of a transcript.
#[derive(Debug, Clone, Copy)]
pub struct View<'v, 'a> {
    /// The messages, in order.
    pub messages: &'v [Message<'a>],
    /// Instructions and tool definitions outside the list.
    pub preamble: &'v [Text<'a>],
    /// How the wire wants its messages.
    pub pairing_rules: PairingRules,
}

/// Why something leaves or changes; reads after "dropped: ".
pub type Reason = Cow<'static, str>;

/// What becomes of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Decision {
    /// It stays as it is.
    #[default]
    Keep,
    /// It goes.
    Drop(Reason),
    /// It stays, with changes.
    Change(Vec<Change>, Reason),
    /// Another stands in its place.
    Replace(Draft, Reason),
}

/// A change to a message that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The part with this index goes.
    Cut(usize),
    /// The text of the part with this index is spelt anew.
    Rewrite(usize, String),
    /// The call with this index, which holds its result in its own bytes, is answered there.
    Answer(usize, String),
    /// Results come in front of what it holds.
    Prepend(Vec<Prepend>),
}

/// A result that is put into a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepend {
    /// A part of another message, which cuts it.
    Moved(PartRef),
    /// One that we write.
    Draft(DraftPart),
}

/// A message that is put between others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insert {
    /// Index of the message that it stands before; the number of messages for the end.
    pub before: usize,
    /// What is put there.
    pub what: Insertion,
    /// Why.
    pub reason: Reason,
}

/// What an [`Insert`] puts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insertion {
    /// A message that we write.
    Draft(Draft),
    /// The message with this index, which is dropped where it stood.
    Moved(usize),
    /// A message of results taken from others.
    Results(Vec<Prepend>),
}

/// Everything that a processor decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// A decision for every message, in order.
    pub decisions: Vec<Decision>,
    /// What is put between messages, ordered by place.
    pub inserts: Vec<Insert>,
    /// What was seen in messages that stay as they are, ordered by message.
    pub remarks: Vec<Remark>,
    /// What the user should know; each reads after "curtail: ".
    pub notes: Vec<String>,
}

/// What a processor saw in a message and leaves there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Index of the message.
    pub message: usize,
    /// What came of it, in a word such as `applied`.
    pub action: &'static str,
    /// What it was, and why that came of it.
    pub reason: Reason,
}

impl Plan {
    /// A plan that keeps `count` messages as they are.
    #[must_use]
    pub fn keep(count: usize) -> Self {
        Self { decisions: vec![Decision::Keep; count], inserts: Vec::new(), remarks: Vec::new(), notes: Vec::new() }
    }

    /// How many messages and parts it puts in.
    #[must_use]
    pub fn added(&self) -> usize {
        let prepended = self.decisions.iter().map(|decision| match decision {
            Decision::Change(changes, _) => {
                changes.iter().filter(|change| matches!(change, Change::Prepend(_))).count()
            }
            _ => 0,
        });
        self.inserts.len() + prepended.sum::<usize>()
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.inserts.is_empty() && self.decisions.iter().all(|decision| *decision == Decision::Keep)
    }
}
