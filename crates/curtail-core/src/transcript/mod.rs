//! What every dialect becomes: messages with a role and parts, their pairs, segments and turns.
//!
//! A transcript is its bytes: slots with the separators before them. This layer contains no key of any wire format and
//! changes nothing.

mod block;
mod boundary;
mod draft;
mod faults;
pub mod media;
mod message;
mod outline;
mod pairing;
mod part;
mod placement;
mod provider_rules;
mod segment;
mod subject;
mod tool;
mod unread;

pub use block::{blocks_in_text, is_own_block, marked, own_blocks};
pub use boundary::{behind_boundary, first_prompt, front, main_thread, reach, supersede};
pub use draft::{Draft, DraftId, DraftPart, Links};
pub use faults::{Fault, FaultKind, last_round};
pub use message::{Anchor, Binding, CallRules, Closes, Message, MessageKind, Origin, ReplyKey, Role, Source, Standing};
pub use outline::{Outline, OutlineItem, OutlineKind, OutlineMessage, OutlineOrigin, OutlinePart, beginning};
pub use pairing::{Mismatch, Pairs, PartRef};
pub use part::{Content, Leader, Part, PartOrigin, PartPlace, RarePlaces, Rewrite, Substitution};
pub use placement::Placement;
pub use provider_rules::{ContextPlace, IdFormat, ProviderRules, Turns, checks_prefix};
pub use segment::{bind_split_replies, in_flight, joints, segments, turn_starts, turns};
pub use subject::Subject;
pub use tool::{ArgumentFault, Family, ToolCall, ToolResult, without_arguments};
pub use unread::Unread;

use crate::json::{Span, Text, Value};

/// What separates the elements of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A value per line.
    Lines,
    /// The elements of a JSON list.
    List,
}

/// A transcript that was read: its messages, and the layout of the text around them.
#[derive(Debug)]
pub struct Transcript<'a> {
    /// Where everything is in the text; edits do not change it.
    pub layout: Layout<'a>,
    /// The messages, in order.
    pub messages: Vec<Message<'a>>,
}

impl Transcript<'_> {
    /// Removes the messages that the model no longer reads. What remains can be read, but not written.
    pub fn keep_live(&mut self) {
        self.messages.retain(|message| message.standing.is_read());
    }
}

impl Layout<'_> {
    /// Whether each element is written if the messages for which `kept` is true are.
    #[must_use]
    pub fn stays(&self, kept: &[bool]) -> Vec<bool> {
        let stays = |slot: &Slot| match slot.what {
            SlotKind::Message(index) | SlotKind::With(index) => Some(kept[index]),
            SlotKind::Pinned => Some(true),
            SlotKind::Frame { .. } => None,
        };
        self.slots.iter().filter_map(stays).collect()
    }
}

/// Where the items of a transcript are in its text. Every byte of `span` belongs to a slot or to the separator before one.
#[derive(Debug)]
pub struct Layout<'a> {
    /// The text that every span points into.
    pub source: &'a str,
    /// The byte range of the transcript.
    pub span: Span,
    /// The byte range of the record that contains the transcript, or of the transcript itself if it is not in a record.
    pub record: Span,
    /// Messages, metadata and frames, in the order of the text.
    pub slots: Vec<Slot>,
    /// The value of the first message. Drafts copy its envelope if they have no anchor.
    pub template: Option<Value<'a>>,
    /// Items that are not messages; each is kept with the message before it.
    pub non_messages: Vec<NonMessage<'a>>,
    /// The values of all slots except frames, in order, including dropped ones: links between records are resolved in them.
    pub elements: Vec<Value<'a>>,
    /// Instructions and tool definitions outside the list of messages: counted, never cut.
    pub preamble: Vec<Text<'a>>,
    /// The rules of the wire format for calls and results.
    pub pairing_rules: PairingRules,
    /// Where blocks of context are written.
    pub context: ContextPlace,
    /// Reads again what depends on the neighbors of a message, after an edit gave it others. `None` if nothing does.
    pub reread: Option<Reread>,
    /// The answers after the messages, in a row to train on: counted, never cut.
    pub answers: Answers<'a>,
}

/// Makes messages what a reader of the edited transcript would make of them.
pub type Reread = for<'a, 'm> fn(&'m mut [Message<'a>]);

/// The answers of a row, which stay whole.
#[derive(Debug, Clone, Default)]
pub struct Answers<'a> {
    /// The messages of each.
    pub branches: Vec<Vec<Value<'a>>>,
    /// The list of the second answer, if it begins with the same messages as the list that is cut.
    pub mirror: Option<Value<'a>>,
}

/// A byte range of a transcript, and the separator before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The separator before the slot, including white space.
    pub separator: Span,
    /// The bytes of the slot itself.
    pub span: Span,
    /// What the bytes are.
    pub what: SlotKind,
}

/// What a [`Slot`] contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotKind {
    /// The message with this index.
    Message(usize),
    /// Metadata that is kept or dropped with the message that has this index.
    With(usize),
    /// An element that is always kept, such as a session header.
    Pinned,
    /// Bytes around the elements, such as brackets and an envelope: always written.
    Frame {
        /// What separates the elements after it.
        style: Style,
        /// Whether a row begins after it; the first element of a row has no separator.
        fresh: bool,
    },
}

/// An item that is not a message.
#[derive(Debug, Clone)]
pub struct NonMessage<'a> {
    /// The item.
    pub value: Value<'a>,
    /// Why the dialect does not recognize it; `None` for known metadata.
    pub unknown: Option<Unknown>,
    /// How many messages precede it.
    pub after: usize,
    /// What a model may read of it although the dialect does not: it is counted as an estimate.
    pub unread: Option<Text<'a>>,
}

impl NonMessage<'_> {
    /// Whether the item names neither a role nor a type.
    #[must_use]
    pub fn lacks_role(&self) -> bool {
        self.unknown.as_ref().is_some_and(|unknown| !matches!(unknown, Unknown::Named(_)))
    }
}

/// Why a dialect does not recognize an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The item has this role or type, which the dialect does not define.
    Named(String),
    /// The item has no role.
    NoRole,
    /// The item has no type.
    NoType,
    /// The item is an envelope without a message.
    NoMessage,
    /// The item is a list, but not the pair of texts that the dialect keeps in lists.
    NoTexts,
    /// The item belongs to one of several conversations, but neither a name nor an id says to which.
    NoId,
}

impl Unknown {
    /// The role `name`, which the dialect does not define; an empty name is no role.
    #[must_use]
    pub fn role(name: String) -> Self {
        if name.is_empty() { Self::NoRole } else { Self::Named(name) }
    }

    /// The type `name`, which the dialect does not define; an empty name is no type.
    #[must_use]
    pub fn kind(name: String) -> Self {
        if name.is_empty() { Self::NoType } else { Self::Named(name) }
    }
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Named(name) => name,
            Self::NoRole => "no role",
            Self::NoType => "no type",
            Self::NoMessage => "no message",
            Self::NoTexts => "no pair of texts",
            Self::NoId => "no id",
        })
    }
}

/// The rules of a wire format for calls and results. Pairing, repair and checks apply them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairingRules {
    /// Where results must be.
    pub results: ResultPlace,
    /// Whether a call id may be used only once in a transcript, even after its call was answered.
    pub unique_ids: bool,
    /// Whether calls and results carry ids.
    pub ids: bool,
    /// Whether the format has a developer role.
    pub developer: bool,
}

impl PairingRules {
    /// These rules of a provider, for a transcript in a format that has the rules `format`.
    #[must_use]
    pub const fn over(self, format: Self) -> Self {
        use ResultPlace::{Anywhere, NextMessage, NextMessageFirst, RightAfter, RightAfterTurn};
        let results = match (format.results, self.results) {
            // A format with messages joins items in a row into one message.
            (Anywhere, RightAfter) => RightAfterTurn,
            (NextMessage | NextMessageFirst, RightAfter) => NextMessage,
            (_, required) => required,
        };
        // Whether there are ids depends on the transcript and not on the provider.
        Self { results, ids: format.ids, ..self }
    }

    /// Whether a call or a result lacks the id that the format requires, so that it cannot be paired.
    #[must_use]
    pub fn lacks_id(self, content: &Content<'_>) -> bool {
        let (id, family, hosted) = match (content.call(), content.result()) {
            (Some(call), _) => (&call.id, call.family, call.hosted),
            (_, Some(result)) => (&result.id, result.family, result.same_message),
            _ => return false,
        };
        // Tool searches may lack an id; positional calls never have one.
        let needs_id = self.ids && !hosted && !matches!(family, Family::Positional | Family::ToolSearch);
        needs_id && id.as_ref().is_none_or(|id| id.len_bound() == 0)
    }
}

/// Where a wire format requires the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultPlace {
    /// Anywhere after the call.
    Anywhere,
    /// In the messages right after the call, before any other role.
    RightAfter,
    /// As [`ResultPlace::RightAfter`], with consecutive items of the assistant as one message.
    RightAfterTurn,
    /// In the next message, before any other content.
    NextMessageFirst,
    /// In the next message.
    NextMessage,
    /// In the message of the call.
    SameMessage,
}

// The usage that a provider reported for a request, as logs record it.

/// The tokens of one request, in the provider's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// All tokens of the input, cached ones included.
    pub input: u64,
    /// Input tokens that were read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens that were written to the provider's cache.
    pub cache_write: u64,
    /// Those of [`cache_write`](Self::cache_write) that the cache keeps for longer than usual, at a higher price.
    pub cache_write_long: u64,
    /// Tokens of the reply.
    pub output: u64,
}
