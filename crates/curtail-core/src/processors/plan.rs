//! A plan: one decision per message, in order, with a reason for everything that is dropped or changed.

use std::borrow::Cow;

use foldhash::HashSet;

use crate::transcript::{Draft, DraftPart, Message, PartRef, Role, Substitution};

/// Why a message or a part is dropped, changed or inserted; reads after "dropped: ".
pub type Reason = Cow<'static, str>;

/// The decision about one message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Decision {
    /// Keep the message byte for byte.
    #[default]
    Keep,
    /// Drop the message.
    Drop(Reason),
    /// Keep the message with these changes.
    Change(Vec<Change>, Reason),
    /// Write another message in its place.
    Replace(Box<Draft>, Reason),
}

impl Decision {
    /// Whether this part is cut out of a message that is kept.
    pub(crate) fn cuts(&self, part: usize) -> bool {
        self.changes().contains(&Change::Cut(part))
    }

    /// The changes to a message that is kept.
    pub(super) fn changes(&self) -> &[Change] {
        if let Self::Change(changes, _) = self { changes } else { &[] }
    }
}

/// A change to a message that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Drop the part with this index.
    Cut(usize),
    /// Replace the text of the part with this index.
    Rewrite(usize, String),
    /// Write a result into the call with this index, for formats that store a result inside its call.
    Answer(usize, String),
    /// Write these in place of some bytes of the part with this index.
    Substitute(usize, Vec<Substitution>),
    /// Insert results or blocks before the first part.
    Prepend(Vec<Prepend>),
    /// Insert results after the last part, for formats with a call and its result in one message.
    Append(Vec<Prepend>),
}

/// A result or a block that is inserted into a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepend {
    /// A part of another message, which loses it.
    Moved(PartRef),
    /// A new part.
    Draft(DraftPart),
    /// A new text that is a block: later runs recognize it.
    Block(String),
}

/// A message that is inserted between two others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insert {
    /// Index of the message that follows it; the number of messages to append at the end.
    pub before: usize,
    /// The inserted message.
    pub insertion: Insertion,
    /// Why it is inserted.
    pub reason: Reason,
}

/// The message that an [`Insert`] adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insertion {
    /// A new message about the message with this index, in whose conversation it is.
    Note(usize, Draft),
    /// A new message that contains these blocks.
    Blocks(Role, Vec<Prepend>),
    /// The message with this index, moved here; its old place is dropped.
    Moved(usize),
    /// A new message that contains these results.
    Results(Vec<Prepend>),
}

/// Everything that a processor decided about a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// One decision per message, in order.
    pub decisions: Vec<Decision>,
    /// Inserted messages, ordered by [`Insert::before`].
    pub inserts: Vec<Insert>,
    /// Observations about messages that do not change, ordered by message.
    pub remarks: Vec<Remark>,
    /// Notes for the user; each reads after "curtail: ".
    pub notes: Vec<String>,
}

/// An observation about a message that does not change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Index of the message.
    pub message: usize,
    /// The outcome in one word, such as `applied`.
    pub action: &'static str,
    /// What was observed, and why it had this outcome.
    pub reason: Reason,
}

impl Remark {
    /// The remark that the message with this index is kept although it was to be dropped or changed.
    #[must_use]
    pub const fn kept(message: usize, reason: Reason) -> Self {
        Self { message, action: "kept", reason }
    }
}

impl Plan {
    /// A plan that keeps `count` messages byte for byte.
    #[must_use]
    pub fn keep(count: usize) -> Self {
        Self { decisions: vec![Decision::Keep; count], inserts: Vec::new(), remarks: Vec::new(), notes: Vec::new() }
    }

    /// The number of messages and parts that the plan adds.
    #[must_use]
    pub fn added(&self) -> usize {
        let changes = self.decisions.iter().flat_map(Decision::changes);
        let prepended = changes.filter(|change| matches!(change, Change::Prepend(_) | Change::Append(_)));
        self.inserts.len() + prepended.count()
    }

    /// Whether the message is not dropped.
    pub(super) fn keeps(&self, at: usize) -> bool {
        !matches!(self.decisions[at], Decision::Drop(_))
    }

    /// Whether the message is not dropped, and not what a person asked in it beside instructions.
    pub(super) fn asks_with(&self, at: usize, messages: &[Message<'_>]) -> bool {
        let Decision::Change(changes, _) = &self.decisions[at] else { return self.keeps(at) };
        let mut asked = messages[at].parts.iter().enumerate().filter(|(_, part)| !part.instructs());
        asked.any(|(nth, _)| !changes.contains(&Change::Cut(nth)))
    }

    /// The parts that are cut out of messages that are kept.
    pub(super) fn cuts(&self) -> HashSet<PartRef> {
        let numbered = self.decisions.iter().enumerate();
        let changes = numbered.flat_map(|(at, decision)| decision.changes().iter().map(move |change| (at, change)));
        let cuts = changes.filter_map(|(message, change)| match change {
            Change::Cut(part) => Some(PartRef { message, part: *part }),
            _ => None,
        });
        cuts.collect()
    }

    /// Adds `changes` to those of the message `at`, unless it is dropped or replaced.
    pub fn change(&mut self, at: usize, changes: impl IntoIterator<Item = Change>, reason: Reason) {
        match &mut self.decisions[at] {
            Decision::Change(others, _) => others.extend(changes),
            decision @ Decision::Keep => *decision = Decision::Change(changes.into_iter().collect(), reason),
            Decision::Drop(_) | Decision::Replace(..) => {}
        }
    }

    /// Whether the plan changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.inserts.is_empty() && self.decisions.iter().all(|decision| *decision == Decision::Keep)
    }
}
