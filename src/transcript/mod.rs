//! What every dialect becomes: messages with a role and parts, their pairs, segments and turns.
//!
//! A transcript is its bytes: slots with the separators that stood before them. This layer knows no key of any wire format
//! and cuts nothing.

mod draft;
mod faults;
mod message;
mod outline;
mod pairing;
mod provider_rules;
mod segment;

pub use draft::{Draft, DraftPart};
pub use faults::{Fault, FaultKind, last_round};
pub use message::{
    ArgumentFault, Binding, Content, Family, Message, Origin, Part, PartOrigin, PartPlace, Rewrite, Role, ToolCall, ToolResult,
};
pub use outline::{Outline, OutlineItem, OutlineKind, OutlineMessage, OutlineOrigin, OutlinePart};
pub use pairing::{Mismatch, Pairs, PartRef};
pub use provider_rules::{IdFormat, ProviderRules, Turns};
pub use segment::{bind_pieces, in_flight, segments, turns};

use crate::json::{Span, Text, Value};

/// How the elements of a transcript are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A value per line.
    Lines,
    /// The elements of a JSON list.
    List,
}

/// A transcript as it lies in a text: every byte of `span` belongs to a slot or to the separator before one.
#[derive(Debug)]
pub struct Transcript<'a> {
    /// The text that every span points into.
    pub source: &'a str,
    /// What of the text the transcript takes up.
    pub span: Span,
    /// Messages and what must stay between them, in the order of the text.
    pub slots: Vec<Slot>,
    /// The messages, in order.
    pub messages: Vec<Message<'a>>,
    /// How the first message is spelt, for what is written in its likeness when no message is left.
    pub template: Option<Value<'a>>,
    /// Items that are no message: kept with the message before them.
    pub non_messages: Vec<NonMessage<'a>>,
    /// The values of all slots but the seams, in order: links are mended in them when messages are long gone.
    pub elements: Vec<Value<'a>>,
    /// Instructions and tool definitions that stand outside the list: counted, never cut.
    pub preamble: Vec<Text<'a>>,
    /// How the wire format wants its messages.
    pub pairing_rules: PairingRules,
}

/// Some bytes of a transcript, and the separator that stood before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The separator before the slot, white space included.
    pub separator: Span,
    /// The slot itself.
    pub span: Span,
    /// What the slot is.
    pub what: SlotKind,
}

/// What a [`Slot`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotKind {
    /// The message with this index.
    Message(usize),
    /// Metadata that stays or goes with the message that has this index.
    With(usize),
    /// An element that always stays, such as a session header.
    Pinned,
    /// Bytes around the elements: always written.
    Frame {
        /// How the elements after it are kept apart.
        style: Style,
        /// Whether a row begins after it, whose first element has no separator.
        fresh: bool,
    },
}

/// An item that is no message.
#[derive(Debug, Clone)]
pub struct NonMessage<'a> {
    /// The item.
    pub value: Value<'a>,
    /// Its role or type if the dialect does not know it, or nothing for known metadata.
    pub unknown: Option<String>,
    /// How many messages stand before it.
    pub after: usize,
}

impl NonMessage<'_> {
    /// Whether the item says neither who speaks nor what it is. Dialects call that `no role`, `neither this nor that`.
    #[must_use]
    pub fn lacks_role(&self) -> bool {
        self.unknown.as_deref().is_some_and(|what| what.starts_with("no ") || what.starts_with("neither "))
    }
}

/// Facts of a wire format that pairing, repair and rules need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairingRules {
    /// Where results must stand.
    pub results: ResultPlace,
    /// Whether a call id may not come back later in the transcript, even after its call was answered.
    pub unique_ids: bool,
    /// Whether calls and results carry ids.
    pub ids: bool,
    /// Whether the format has a developer role.
    pub developer: bool,
}

/// Where a wire format wants the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultPlace {
    /// Anywhere after the call.
    Anywhere,
    /// In the messages right after the call, before any other role.
    RightAfter,
    /// As [`ResultPlace::RightAfter`], where the assistant's items in a row count as one message.
    RightAfterTurn,
    /// In the next message, before any other content.
    NextMessageFirst,
    /// In the next message.
    NextMessage,
}
