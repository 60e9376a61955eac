//! A message as a borrowed view: its role, its parts, and what a cut must know of it. The types of its fields follow it.

use std::borrow::Cow;

use thin_vec::ThinVec;

use super::{DraftId, Estimated, Part, PartOrigin, ToolCall, ToolResult};
use crate::json::{Text, Value};
use crate::steps;

/// A message of a transcript.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The role.
    pub role: Role,
    /// The message's own id.
    pub id: Option<Text<'a>>,
    /// The parts, in order; without those that an edit cut.
    pub parts: Vec<Part<'a>>,
    /// Texts that the model reads beside it, in the metadata after it: counted, kept and dropped with the message.
    pub attached: ThinVec<Text<'a>>,
    /// Number of images and files that the model reads beside it in the same way.
    pub attached_media: usize,
    /// Texts in it, outside its parts, that are counted as an estimate.
    pub estimated: ThinVec<Estimated<'a>>,
    /// What it is to the conversation.
    pub kind: MessageKind,
    /// Whether it replaces only some of the messages around it, which a mark of their own or their time names.
    pub marks_range: bool,
    /// Whether a program wrote it, although its role is user: it begins no turn of a person.
    pub automatic: bool,
    /// Whether a dataset says that a trainer computes no loss on it.
    pub untrained: bool,
    /// The conversation inside the log that it belongs to; calls and results pair only within one. 0 is the main one.
    pub thread: u32,
    /// Whether a model still reads it.
    pub standing: Standing,
    /// How its calls and results pair, beside their ids.
    pub call_rules: CallRules,
    /// What binds it to the message after it.
    pub binding: Binding,
    /// Index of an earlier message, as they were read, without which it is not kept: the first of a turn that was rolled back.
    /// While a dialect reads, it is the index of an item.
    pub dropped_with: Option<u32>,
    /// Where it comes from, and whether an edit moved or wrote it.
    pub origin: Origin<'a>,
    /// The parts that edits cut out of it.
    pub cut: ThinVec<Part<'a>>,
}

impl<'a> Message<'a> {
    /// A message read from `value`, with no parts yet. Its index is set when its transcript is complete.
    #[must_use]
    pub const fn from_source(role: Role, value: Value<'a>) -> Self {
        Self::new(role, Origin::Source(MessageSource::new(value)))
    }

    /// The same, of a value in the form that chat templates take.
    #[must_use]
    pub const fn from_chat(role: Role, value: Value<'a>) -> Self {
        Self::new(role, Origin::Source(MessageSource { is_chat: true, ..MessageSource::new(value) }))
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
            attached: ThinVec::new(),
            attached_media: 0,
            estimated: ThinVec::new(),
            kind: MessageKind::Ordinary,
            marks_range: false,
            automatic: false,
            untrained: false,
            thread: 0,
            standing: Standing::Live,
            call_rules: CallRules {
                closes: Closes::Nothing,
                unasked: false,
                unanswered: false,
                indivisible: false,
                shared_ids: false,
            },
            binding: Binding::None,
            dropped_with: None,
            origin,
            cut: ThinVec::new(),
        }
    }

    /// Lets what a model reads begin with it: no call before it can be answered any more.
    pub const fn begin_context(&mut self) {
        self.call_rules.closes = Closes::Always;
    }

    /// Makes it a boundary: a model reads it in place of everything before it.
    pub const fn set_boundary(&mut self) {
        self.kind = MessageKind::Boundary;
        self.begin_context();
    }

    /// Makes it an ordinary message, if it is a boundary.
    pub const fn clear_boundary(&mut self) {
        if self.is_boundary() {
            self.kind = MessageKind::Ordinary;
        }
    }

    /// Marks it as rolled back, in the way that `standing` says. A compaction that is rolled back is no boundary.
    pub const fn roll_back(&mut self, standing: Standing) {
        self.standing = standing;
        self.clear_boundary();
    }

    /// Gives it the role of the application if nothing but instructions is left in it.
    pub fn instructs_alone(&mut self) {
        if self.role == Role::User && !self.parts.is_empty() && self.parts.iter().all(Part::instructs) {
            self.role = Role::System;
        }
    }

    /// Whether a trainer computes a loss on it: it is an assistant message, and the dataset does not exclude it.
    #[must_use]
    pub fn is_target(&self) -> bool {
        self.role == Role::Assistant && !self.untrained && !self.standing.is_rolled_back()
    }

    /// Whether a model reads it in place of everything before it.
    #[must_use]
    pub const fn is_boundary(&self) -> bool {
        matches!(self.kind, MessageKind::Boundary)
    }

    /// Whether it is both a question and its answer.
    #[must_use]
    pub const fn is_exchange(&self) -> bool {
        matches!(self.kind, MessageKind::Exchange)
    }

    /// Whether it is a part of what is said in the conversation `thread`: neither a sub-agent's, nor of a turn that was rolled back.
    /// Whatever is chosen from a conversation, such as its first prompt or its last results, is chosen among these.
    #[must_use]
    pub const fn counts_in(&self, thread: u32) -> bool {
        self.thread == thread && !self.standing.is_rolled_back()
    }

    /// Whether it gives instructions that are in force: those of a turn that was rolled back are not.
    #[must_use]
    pub const fn instructs(&self) -> bool {
        self.role.instructs() && !self.standing.is_rolled_back()
    }

    /// Who wrote it, whatever role carries it: a message of results alone is a tool's, and one that a program wrote for the user,
    /// or that asks a sub-agent, is a program's.
    #[must_use]
    pub fn writer(&self) -> &'static str {
        match self.role {
            Role::User if !self.parts.is_empty() && self.results().count() == self.parts.len() => Role::Tool.name(),
            Role::User if self.automatic || self.thread != 0 => "program",
            role => role.name(),
        }
    }

    /// Who says a part of it: its role, or in an exchange one of the two sides.
    #[must_use]
    pub fn speaker(&self, part: &Part<'_>) -> Role {
        self.other_speaker(part).unwrap_or(self.role)
    }

    /// Who says a part of it, if that is not its role.
    #[must_use]
    pub fn other_speaker(&self, part: &Part<'_>) -> Option<Role> {
        part.place()?.speaker.filter(|speaker| *speaker != self.role)
    }

    /// Whether it contains something that is said in this role.
    #[must_use]
    pub fn speaks_as(&self, role: Role) -> bool {
        self.role == role || self.is_exchange() && self.parts.iter().any(|part| self.speaker(part) == role)
    }

    /// Whether it contains text or media that is said in this role. Instructions beside what a user said are not said by the user.
    #[must_use]
    pub fn has_text_as(&self, role: Role) -> bool {
        steps::count(1);
        let is_said = |part: &Part<'_>| {
            part.content.has_text() && self.speaker(part) == role && (role != Role::User || !part.instructs())
        };
        (self.role == role || self.is_exchange()) && self.parts.iter().any(is_said)
    }

    /// Whether a turn begins with it: a person wrote it, and it contains text or media.
    #[must_use]
    pub fn begins_turn(&self) -> bool {
        !self.automatic && self.has_text_as(Role::User)
    }

    /// The tool calls, with the index of each part.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &ToolCall<'a>)> {
        self.parts.iter().enumerate().filter_map(|(nth, part)| part.content.call().map(|call| (nth, call)))
    }

    /// The tool results, with the index of each part.
    pub fn results(&self) -> impl Iterator<Item = (usize, &ToolResult<'a>)> {
        self.parts.iter().enumerate().filter_map(|(nth, part)| part.content.result().map(|result| (nth, result)))
    }

    /// Whether any part is a tool call or a tool result.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        steps::count(1);
        self.parts.iter().any(|part| part.content.is_tool())
    }

    /// Whether calls that are open before it can no longer be answered. What was rolled back closes none.
    #[must_use]
    pub fn closes_calls(&self) -> bool {
        self.call_rules.closes.applies(|| self.calls().next().is_some()) && !self.standing.is_rolled_back()
    }

    /// Whether what a model reads begins with it: it is a boundary, or the first message of the list inside a compaction. Calls
    /// before it may still be answered.
    #[must_use]
    pub fn begins_context(&self) -> bool {
        (self.is_boundary() || self.call_rules.closes == Closes::Always) && !self.standing.is_rolled_back()
    }

    /// Whether it is kept or dropped with the message after it.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        steps::count(1);
        self.binding != Binding::None
    }

    /// Whether it is nothing but reasoning.
    #[must_use]
    pub fn is_reasoning(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.content.reasoning().is_some())
    }

    /// Whether it is nothing but reasoning, and bound to the message after it.
    #[must_use]
    pub fn is_bound_reasoning(&self) -> bool {
        self.is_bound() && self.is_reasoning()
    }

    /// What it has in common with the other messages of its reply; `None` without an id.
    #[must_use]
    pub fn reply_key(&self) -> Option<ReplyKey<'_>> {
        let id = self.id.as_ref()?.decode();
        Some(ReplyKey { thread: self.thread, role: self.role, id })
    }

    /// Whether an edit wrote it.
    #[must_use]
    pub fn is_draft(&self) -> bool {
        steps::count(1);
        matches!(self.origin, Origin::Draft { .. })
    }

    /// Where it was read; `None` for a draft.
    #[must_use]
    pub fn source(&self) -> Option<&MessageSource<'a>> {
        steps::count(1);
        match &self.origin {
            Origin::Source(source) | Origin::Moved(source) => Some(source),
            Origin::Draft { .. } => None,
        }
    }

    /// The value that it was read from; `None` for a draft.
    #[must_use]
    pub fn value(&self) -> Option<Value<'a>> {
        self.source().map(|source| source.value)
    }

    /// Index of the message in the transcript that was read; `None` for a draft.
    #[must_use]
    pub fn source_index(&self) -> Option<usize> {
        self.source().map(|source| source.index)
    }

    /// Whether its content is what was read: no edit wrote, changed or cut anything of it. It may have been moved.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        let is_read = !matches!(self.origin, Origin::Draft { .. });
        is_read && self.cut.is_empty() && self.parts.iter().all(|part| matches!(part.origin, PartOrigin::Source(_)))
    }

    /// Whether it was read in the list inside a compaction, which replaces everything before the compaction.
    #[must_use]
    pub fn is_in_compaction(&self) -> bool {
        self.source().is_some_and(|source| source.in_compaction)
    }

    /// What a draft for the place of this message is written for: the value that the message was read from. A draft passes on
    /// its own, and its id.
    #[must_use]
    pub const fn anchor(&self) -> Anchor<'a> {
        match self.origin {
            Origin::Source(source) | Origin::Moved(source) => Anchor { value: Some(source.value), draft: None },
            Origin::Draft { anchor, id: None } => anchor,
            Origin::Draft { anchor, id } => Anchor { value: anchor.value, draft: id },
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
}

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
    #[must_use]
    pub const fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// What a message is to the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// A message of one role.
    Ordinary,
    /// Both a question and the assistant's answer, as items of some formats are.
    Exchange,
    /// A message that a model reads in place of everything before it, such as the summary of a compaction.
    Boundary,
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
    /// The program never sends it, and goes by it: with it, it asks its client, or the client answers.
    Unsent,
}

impl Standing {
    /// Those of turns that were rolled back: nothing is chosen among them, and they are dropped first.
    pub const ROLLED_BACK: &'static [Self] = &[Self::RolledBack, Self::Abandoned];

    /// Those of all messages that the model does not read.
    pub const UNREAD: &'static [Self] = &[Self::Superseded, Self::RolledBack, Self::Abandoned, Self::Unsent];

    /// Whether the model still reads the message.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Live | Self::Preserved)
    }

    /// Whether the program goes by the message, whether or not it sends it.
    #[must_use]
    pub const fn is_in_force(self) -> bool {
        self.is_read() || matches!(self, Self::Unsent)
    }

    /// Whether the log rolled the turn back, or left it for another branch.
    #[must_use]
    pub const fn is_rolled_back(self) -> bool {
        matches!(self, Self::RolledBack | Self::Abandoned)
    }
}

/// How the calls and results of a message pair, beside their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRules {
    /// When the calls that are open before it can no longer be answered.
    pub closes: Closes,
    /// Whether its results may answer no call: the log does not show every call.
    pub unasked: bool,
    /// Whether its calls may have no result: the log does not show every result.
    pub unanswered: bool,
    /// Whether its calls are kept or dropped together, because only the first one carries a signature.
    pub indivisible: bool,
    /// Whether calls of a turn may share an id or have none, so that results answer them in order.
    pub shared_ids: bool,
}

/// When the calls that are open before a message can no longer be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closes {
    /// Never.
    Nothing,
    /// As long as the message has calls: the format answers only the newest message with calls.
    AtCalls,
    /// Always, if a compaction superseded them: it is the first message behind those.
    Superseded,
    /// Always: what a model reads begins with the message, as after a compaction.
    Always,
}

impl Closes {
    /// Whether the message closes open calls, if `calls` says whether it has calls itself.
    pub fn applies(self, calls: impl FnOnce() -> bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::AtCalls => calls(),
            Self::Superseded | Self::Always => true,
        }
    }
}

/// What binds a message to the message after it, so that neither is kept without the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Nothing.
    None,
    /// The format: it requires this reasoning directly before the item that the reasoning led to.
    Reasoning,
    /// The log: it wrote one reply of the provider as several messages, and this message and the next are two of them.
    SameReply,
}

/// What the messages of one reply of the provider have in common, which a log may write as several messages.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ReplyKey<'m> {
    thread: u32,
    role: Role,
    id: Cow<'m, str>,
}

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<'a> {
    /// It was read, and keeps its place.
    Source(MessageSource<'a>),
    /// It was read, and an edit moved it to another place.
    Moved(MessageSource<'a>),
    /// An edit wrote it.
    Draft {
        /// The value of the message that it replaces or was inserted next to. A dialect copies the envelope from there.
        anchor: Anchor<'a>,
        /// Its own id, once the stage that wrote it is done.
        id: Option<DraftId>,
    },
}

/// Where a message was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSource<'a> {
    /// Its index in the transcript that was read.
    pub index: usize,
    /// The value that it was read from.
    pub value: Value<'a>,
    /// Whether the value is a message as chat templates take it: a role, a content, and calls as `tool_calls`.
    pub is_chat: bool,
    /// Whether the value is in a list inside a compaction, which replaces everything before the compaction.
    pub in_compaction: bool,
}

impl<'a> MessageSource<'a> {
    const fn new(value: Value<'a>) -> Self {
        Self { index: 0, value, is_chat: false, in_compaction: false }
    }
}

/// What a draft is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Anchor<'a> {
    /// The value of a message that was read; `None` if the transcript had none.
    pub value: Option<Value<'a>>,
    /// The draft of an earlier stage that is between the two, if there is one.
    pub draft: Option<DraftId>,
}

/// A part, by the index of its message and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartRef {
    /// Index of the message.
    pub message: usize,
    /// Index of the part in it.
    pub part: usize,
}

impl PartRef {
    /// Every part of `messages` with its reference, in order.
    pub fn each<'m, 'a>(messages: &'m [Message<'a>]) -> impl Iterator<Item = (Self, &'m Part<'a>)> {
        messages.iter().enumerate().flat_map(|(message, holder)| {
            holder.parts.iter().enumerate().map(move |(part, content)| (Self { message, part }, content))
        })
    }

    /// The part, in the messages that it refers to.
    #[must_use]
    pub fn part_in<'m, 'a>(self, messages: &'m [Message<'a>]) -> &'m Part<'a> {
        &messages[self.message].parts[self.part]
    }
}
