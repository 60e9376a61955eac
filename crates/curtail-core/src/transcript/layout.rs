//! Where everything of a transcript is in its text: slots with the separators before them, which cover every byte.

use std::sync::OnceLock;

use super::{ContextPlace, Message, NonMessage, PairingRules, RecordLinks};
use crate::json::{Span, Text, Value};

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

/// Where the items of a transcript are in its text. Every byte of `span` belongs to a slot or to the separator before one.
#[derive(Debug)]
pub struct Layout<'a> {
    /// The text that every span points into.
    pub source: &'a str,
    /// The byte range of the transcript.
    pub span: Span,
    /// The byte range of the record that contains the transcript, or of the transcript itself if it is not in a record.
    pub record: Span,
    /// That record.
    pub record_value: Option<Value<'a>>,
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
    /// The reply outside the list of messages, or the longest of the answers after them: counted, never cut.
    pub replies: Vec<Text<'a>>,
    /// What its format says of its messages.
    pub rules: FormatRules,
    /// The answers after the messages, in a row to train on: counted, never cut.
    pub answers: Answers<'a>,
    /// What the links of a log say, once they are read: a split asks for each window.
    pub(crate) links: OnceLock<RecordLinks>,
    /// Whether an element counts or names others, once it is known: a split asks for each window.
    pub(crate) references: OnceLock<bool>,
}

impl<'a> Layout<'a> {
    /// The texts outside the list of messages.
    pub fn outside(&self) -> impl Iterator<Item = &Text<'a>> {
        self.preamble.iter().chain(&self.replies)
    }

    /// Each element, with its slot.
    pub fn slotted_elements(&self) -> impl Iterator<Item = (&Slot, Value<'a>)> {
        let slots = self.slots.iter().filter(|slot| !matches!(slot.kind, SlotKind::Frame { .. }));
        slots.zip(self.elements.iter().copied())
    }

    /// Whether an element counts or names others, so that a cut can make it wrong, as `refers` says of each.
    pub(crate) fn has_references(&self, refers: impl Fn(Value<'a>) -> bool) -> bool {
        *self.references.get_or_init(|| self.elements.iter().any(|element| refers(*element)))
    }

    /// The object that contains the list of messages.
    #[must_use]
    pub fn holder(&self) -> Option<Value<'a>> {
        let element = self.elements.first()?;
        std::iter::successors(element.parent(), |value| value.parent()).find(|parent| parent.is_object())
    }

    /// Which messages of the transcript are among `messages`, by index.
    #[must_use]
    pub fn kept(&self, messages: &[Message<'_>]) -> Vec<bool> {
        let count = self.slots.iter().filter(|slot| matches!(slot.kind, SlotKind::Message(_))).count();
        let mut kept = vec![false; count];
        for index in messages.iter().filter_map(Message::source_index) {
            kept[index] = true;
        }
        kept
    }

    /// Whether each element is written if the messages for which `kept` is true are.
    #[must_use]
    pub fn stays(&self, kept: &[bool]) -> Vec<bool> {
        let stays = self.slots.iter().filter_map(|slot| match slot.kind {
            SlotKind::Message(index) | SlotKind::With(index) => Some(kept[index]),
            SlotKind::Pinned => Some(true),
            SlotKind::Frame { .. } => None,
        });
        stays.collect()
    }
}

/// What the format of a transcript says of its messages, as far as a cut goes by it.
#[derive(Debug, Clone, Copy)]
pub struct FormatRules {
    /// Where it places results, and whether calls have ids.
    pub pairing: PairingRules,
    /// Where blocks of context are written.
    pub context: ContextPlace,
    /// Reads again what depends on the neighbors of a message, after an edit gave it others. `None` if nothing does.
    pub reread: Option<Reread>,
    /// Finds messages that an edit brought next to calls which they do not answer. `None` if no edit can.
    pub strangers: Option<Strangers>,
}

/// Makes messages what a reader of the edited transcript would make of them.
pub type Reread = for<'a, 'm> fn(&'m mut [Message<'a>]);

/// The indices of messages that a reader of the edited transcript would take for results of calls which they did not answer before.
pub type Strangers = for<'a, 'm> fn(&'m [Message<'a>]) -> Vec<usize>;

/// The answers of a row, which stay whole.
#[derive(Debug, Clone, Default)]
pub struct Answers<'a> {
    /// The messages of each.
    pub branches: Vec<Vec<Value<'a>>>,
    /// The lists behind the one that is cut that begin with the same messages, in order.
    pub mirrors: Vec<Value<'a>>,
}

/// A byte range of a transcript, and the separator before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The separator before the slot, including white space.
    pub separator: Span,
    /// The bytes of the slot itself.
    pub span: Span,
    /// What the bytes are.
    pub kind: SlotKind,
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

/// What separates the elements of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A value per line.
    Lines,
    /// The elements of a JSON list.
    List,
}
