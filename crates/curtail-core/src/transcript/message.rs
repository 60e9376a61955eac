//! A message as a borrowed view: its role, and its parts with their place in the bytes.

use super::{DraftId, Part, ToolCall, ToolResult};
use crate::json::{Text, Value};
use crate::steps;

/// The role of a message. An item without one of these roles is metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Instructions of the application.
    System,
    /// Instructions of the application, as newer OpenAI formats call them.
    Developer,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool that returns a result.
    Tool,
}

impl Role {
    /// The name of the role in most formats.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Whether the role gives instructions: these are preserved by default.
    #[doc(hidden)]
    #[must_use]
    pub const fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<'a> {
    /// It was read, and keeps its place.
    Source {
        /// Its index in the transcript that was read.
        index: usize,
        /// The value that it was read from.
        value: Value<'a>,
    },
    /// It was read, and an edit moved it to another place.
    Moved {
        /// Its index in the transcript that was read.
        index: usize,
        /// The value that it was read from.
        value: Value<'a>,
    },
    /// An edit wrote it.
    Draft {
        /// The value of the message that it replaces or was inserted next to. A dialect copies the envelope from there.
        anchor: Anchor<'a>,
        /// Its own id, once the stage that wrote it is done.
        id: Option<DraftId>,
    },
}

/// What a draft is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Anchor<'a> {
    /// The value of a message that was read; `None` if the transcript had none.
    pub value: Option<Value<'a>>,
    /// The draft of an earlier stage that is between the two, if there is one.
    pub draft: Option<DraftId>,
}

/// What binds a message to the message after it, so that neither is kept without the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Binding {
    /// Nothing.
    #[default]
    None,
    /// The format: it requires this reasoning directly before the item that the reasoning led to.
    Reasoning,
    /// The log: it wrote one reply of the provider as several messages, and this message and the next are two of them.
    SameReply,
}

/// Whether a model still reads a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// It does.
    #[default]
    Live,
    /// It does, although a boundary follows: the boundary kept it.
    Preserved,
    /// It reads the last boundary instead.
    Superseded,
    /// A later event of the log rolled the turn back, or the program does not send it: a reply that failed.
    RolledBack,
    /// The newest message of the log does not lead back to it.
    Abandoned,
}

impl Standing {
    /// Whether the model still reads the message.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Live | Self::Preserved)
    }

    /// Whether the log rolled the turn back.
    #[must_use]
    pub const fn is_rolled_back(self) -> bool {
        matches!(self, Self::RolledBack | Self::Abandoned)
    }
}

/// A message of a transcript.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The role.
    pub role: Role,
    /// The message's own id.
    pub id: Option<Text<'a>>,
    /// The parts, in order; without those that an edit cut.
    pub parts: Vec<Part<'a>>,
    /// What binds it to the message after it.
    pub binding: Binding,
    /// Whether its calls are kept or dropped together, because only the first one carries a signature.
    pub indivisible: bool,
    /// The conversation inside the log that it belongs to; calls and results pair only within one. 0 is the main one.
    pub thread: u32,
    /// Whether calls that are open before it can no longer be answered, as after a compaction.
    pub barrier: bool,
    /// Whether its calls, as long as it has any, are a barrier: the format answers only the newest message with calls.
    pub calls_close: bool,
    /// Whether a program wrote it, although its role is user: it begins no turn of a person.
    pub automatic: bool,
    /// Whether its results may answer no call: the log does not show every call.
    pub unasked: bool,
    /// Whether it contains both a question and the assistant's answer, as items of some formats do.
    pub exchange: bool,
    /// Whether it stands for everything before it, as a compaction does.
    pub boundary: bool,
    /// Whether it belongs to a list inside a compaction, which replaces everything before the compaction.
    pub replacing: bool,
    /// Whether a model still reads it.
    pub standing: Standing,
    /// Index of an earlier message, as they were read, without which it is not kept: the first of a turn that was rolled back.
    /// While a dialect reads, it is the index of an item.
    pub dropped_with: Option<usize>,
    /// Where it comes from, and whether an edit moved or wrote it.
    pub origin: Origin<'a>,
    /// Whether its value is a message as chat templates take it: a role, a content, and calls as `tool_calls`.
    pub is_chat: bool,
    /// The parts that edits cut out of it.
    pub cut: Vec<Part<'a>>,
    /// Texts that the model reads beside it, in the metadata after it: counted, kept and dropped with the message.
    pub attached: Vec<Text<'a>>,
}

impl<'a> Message<'a> {
    /// A message read from `value`, with no parts yet. Its index is set when its transcript is complete.
    #[must_use]
    pub const fn from_source(role: Role, value: Value<'a>) -> Self {
        Self::new(role, Origin::Source { index: 0, value })
    }

    /// A message that an edit writes for the place of `anchor`, with no parts yet.
    #[must_use]
    pub const fn draft(role: Role, anchor: Anchor<'a>) -> Self {
        Self::new(role, Origin::Draft { anchor, id: None })
    }

    const fn new(role: Role, origin: Origin<'a>) -> Self {
        Self {
            role,
            id: None,
            parts: Vec::new(),
            binding: Binding::None,
            indivisible: false,
            thread: 0,
            barrier: false,
            calls_close: false,
            automatic: false,
            unasked: false,
            exchange: false,
            boundary: false,
            replacing: false,
            standing: Standing::Live,
            dropped_with: None,
            origin,
            is_chat: false,
            cut: Vec::new(),
            attached: Vec::new(),
        }
    }

    /// The value that it was read from; `None` for a draft.
    #[must_use]
    pub fn value(&self) -> Option<Value<'a>> {
        steps::count(1);
        match self.origin {
            Origin::Source { value, .. } | Origin::Moved { value, .. } => Some(value),
            Origin::Draft { .. } => None,
        }
    }

    /// What a draft for the place of this message is written for: the value that the message was read from. A draft passes on
    /// its own, and its id.
    #[must_use]
    pub const fn anchor(&self) -> Anchor<'a> {
        match self.origin {
            Origin::Source { value, .. } | Origin::Moved { value, .. } => Anchor { value: Some(value), draft: None },
            Origin::Draft { anchor, id: None } => anchor,
            Origin::Draft { anchor, id } => Anchor { value: anchor.value, draft: id },
        }
    }

    /// Whether an edit wrote it.
    #[must_use]
    pub fn is_draft(&self) -> bool {
        steps::count(1);
        matches!(self.origin, Origin::Draft { .. })
    }

    /// Whether it has this role and contains text or media. Instructions beside what a user said are not said by the user.
    #[must_use]
    pub fn speaks_as(&self, role: Role) -> bool {
        steps::count(1);
        let said = |part: &Part<'_>| part.content.speaks() && (role != Role::User || !part.instructs());
        self.role == role && self.parts.iter().any(said)
    }

    /// Who wrote it, whatever role carries it: a message of results alone is a tool's, and one that a program wrote for the user
    /// is a program's.
    #[must_use]
    pub fn writer(&self) -> &'static str {
        let is_result = |part: &Part<'_>| part.content.result().is_some();
        match self.role {
            Role::User if !self.parts.is_empty() && self.parts.iter().all(is_result) => Role::Tool.name(),
            Role::User if self.automatic => "program",
            role => role.name(),
        }
    }

    /// Whether a turn begins with it: a person wrote it, and it contains text or media.
    #[must_use]
    pub fn begins_turn(&self) -> bool {
        !self.automatic && self.speaks_as(Role::User)
    }

    /// Gives it the role of the application if nothing but instructions is left in it.
    pub fn instructs_alone(&mut self) {
        if self.role == Role::User && !self.parts.is_empty() && self.parts.iter().all(Part::instructs) {
            self.role = Role::System;
        }
    }

    /// Whether it is read otherwise once what was cut of it is gone: as the application's, if [`Message::instructs_alone`] gave
    /// it that role, or as a person's, if nobody was known to have typed it because it held results.
    #[must_use]
    pub fn is_read_otherwise(&self) -> bool {
        let now = match self.role {
            Role::System => self.parts.iter().all(Part::instructs),
            Role::User => self.automatic && self.results().next().is_none(),
            _ => false,
        };
        now && !self.cut.is_empty()
    }

    /// Whether it is kept or dropped with the message after it.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        steps::count(1);
        self.binding != Binding::None
    }

    /// Whether it is nothing but reasoning, and bound to the message after it.
    #[must_use]
    pub fn is_bound_reasoning(&self) -> bool {
        let is_reasoning = |part: &Part<'_>| matches!(part.content, Content::Reasoning(_));
        self.is_bound() && !self.parts.is_empty() && self.parts.iter().all(is_reasoning)
    }

    /// Whether calls that are open before it can no longer be answered. What was rolled back closes none.
    #[must_use]
    pub fn is_barrier(&self) -> bool {
        let closes = self.barrier || self.calls_close && self.calls().next().is_some();
        closes && !self.standing.is_rolled_back()
    }

    /// Whether any part is a tool call or a tool result.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        steps::count(1);
        self.parts.iter().any(|part| part.content.is_tool())
    }

    /// The tool calls, with the index of each part.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &ToolCall<'a>)> {
        self.parts.iter().enumerate().filter_map(|(nth, part)| part.content.call().map(|call| (nth, call)))
    }

    /// The tool results, with the index of each part.
    pub fn results(&self) -> impl Iterator<Item = (usize, &ToolResult<'a>)> {
        self.parts.iter().enumerate().filter_map(|(nth, part)| part.content.result().map(|result| (nth, result)))
    }

    /// The other parts in the bytes of the part with index `part`, such as a result that is written inside its call.
    pub fn same_element(&self, part: usize) -> impl Iterator<Item = usize> {
        let whole = |part: &Part<'a>| part.place().filter(|place| place.piece.is_none()).map(|place| place.element);
        let element = whole(&self.parts[part]);
        let same = move |other: &Part<'a>| element.is_some() && whole(other) == element;
        (0..self.parts.len()).filter(move |&nth| nth != part && same(&self.parts[nth]))
    }

    /// Index of the message in the transcript that was read; `None` for a draft.
    #[must_use]
    pub fn source_index(&self) -> Option<usize> {
        steps::count(1);
        match self.origin {
            Origin::Source { index, .. } | Origin::Moved { index, .. } => Some(index),
            Origin::Draft { .. } => None,
        }
    }
}

/// What a part is.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// A text.
    Text(Text<'a>),
    /// A tool call.
    ToolCall(ToolCall<'a>),
    /// A tool result.
    ToolResult(ToolResult<'a>),
    /// Reasoning of the model; the text is empty if the provider hides it.
    Reasoning(Text<'a>),
    /// An image, a sound, a file.
    Media(Text<'a>),
    /// A part that its dialect does not know, as JSON: kept, and its tokens are estimated.
    Unknown(Text<'a>),
    /// A known part without text for the model, such as a mark: kept, not counted.
    Other,
}

impl<'a> Content<'a> {
    /// The tool call, if it is one.
    #[must_use]
    pub fn call(&self) -> Option<&ToolCall<'a>> {
        steps::count(1);
        if let Self::ToolCall(call) = self { Some(call) } else { None }
    }

    /// The tool result, if it is one.
    #[must_use]
    pub fn result(&self) -> Option<&ToolResult<'a>> {
        steps::count(1);
        if let Self::ToolResult(result) = self { Some(result) } else { None }
    }

    /// Whether it is a tool call or a tool result.
    #[must_use]
    pub fn is_tool(&self) -> bool {
        steps::count(1);
        matches!(self, Self::ToolCall(_) | Self::ToolResult(_))
    }

    /// Whether it is text or media, as opposed to tool calls, results and reasoning.
    #[must_use]
    pub fn speaks(&self) -> bool {
        steps::count(1);
        match self {
            Self::Text(text) => text.len_bound() > 0,
            Self::Media(_) => true,
            _ => false,
        }
    }
}
