//! A part of a message: its content, and its place in the bytes.

use std::borrow::Cow;

use super::message::Role;
use super::tool_parts::{ToolCall, ToolResult};
use crate::json::{Span, Text, Value, quote};
use crate::steps;

/// A part of a message.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// Its content.
    pub content: Content<'a>,
    /// Where it came from.
    pub origin: PartOrigin<'a>,
}

impl<'a> Part<'a> {
    /// A part that was read at `place`.
    #[must_use]
    pub const fn from_source(content: Content<'a>, place: PartPlace<'a>) -> Self {
        Self { content, origin: PartOrigin::Source(place) }
    }

    /// Adds `value` to the copies of the part.
    pub fn add_copy(&mut self, value: Value<'a>) {
        if let PartOrigin::Source(place) = &mut self.origin {
            place.copies.push(value);
        }
    }

    /// The same part, bound to everything before it if `bound`.
    #[must_use]
    pub fn bound_to_prefix(mut self, bound: bool) -> Self {
        if let PartOrigin::Source(place) = &mut self.origin {
            place.prefix_bound = bound;
        }
        self
    }

    /// The same part of an exchange, which `speaker` says.
    #[must_use]
    pub const fn said_by(mut self, speaker: Role) -> Self {
        if let PartOrigin::Source(place) = &mut self.origin {
            place.speaker = Some(speaker);
        }
        self
    }

    /// The same part, as an element of a list with whose last element `owner` is removed.
    #[must_use]
    pub fn in_list_of(mut self, owner: Value<'a>) -> Self {
        if let PartOrigin::Source(place) = &mut self.origin {
            place.shell = true;
            place.further_mut().list_owner = Some(owner);
        }
        self
    }

    /// The same part, which a model reads at `offset`, wherever its bytes are.
    #[must_use]
    pub const fn read_at(mut self, offset: u32) -> Self {
        if let PartOrigin::Source(place) = &mut self.origin {
            place.read_at = Some(offset);
        }
        self
    }

    /// Whether it contains instructions of the application, although its message is one of the user.
    #[must_use]
    pub fn instructs(&self) -> bool {
        self.place().is_some_and(|place| place.instructs)
    }

    /// Whether a message is kept for this part. Providers reject messages with only reasoning, blank text or unknown parts.
    #[must_use]
    pub fn is_worth_keeping(&self) -> bool {
        match &self.content {
            _ if self.instructs() => true,
            Content::Text(text) => !text.is_blank(),
            Content::Reasoning(_) | Content::Unknown(_) | Content::Other => false,
            _ => true,
        }
    }

    /// Whether the provider rejects it after a changed message.
    #[must_use]
    pub fn is_prefix_bound(&self) -> bool {
        self.place().is_some_and(|place| place.prefix_bound)
    }

    /// Where the part is in the bytes of its message; `None` for a draft.
    #[must_use]
    pub const fn place(&self) -> Option<&PartPlace<'a>> {
        match &self.origin {
            PartOrigin::Source(place) | PartOrigin::Rewritten(place) | PartOrigin::Moved(place) => Some(place),
            PartOrigin::Draft(_) | PartOrigin::Block(_) => None,
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
    /// What it is, in a word: `text`, `tool-call`, `tool-result`, `reasoning`, `media`, `unknown` or `other`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::ToolCall(_) => "tool-call",
            Self::ToolResult(_) => "tool-result",
            Self::Reasoning(_) => "reasoning",
            Self::Media(_) => "media",
            Self::Unknown(_) => "unknown",
            Self::Other => "other",
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub const fn text(&self) -> Option<&Text<'a>> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The text of reasoning, if it is some.
    #[must_use]
    pub const fn reasoning(&self) -> Option<&Text<'a>> {
        if let Self::Reasoning(text) = self { Some(text) } else { None }
    }

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

    /// The id that a tool call and its result share.
    #[must_use]
    pub fn tool_id(&self) -> Option<&Text<'a>> {
        self.call().map_or_else(|| self.result()?.id.as_ref(), |call| call.id.as_ref())
    }

    /// The tool's name in a tool call, or in a tool result that repeats it.
    #[must_use]
    pub fn tool_name(&self) -> Option<&Text<'a>> {
        self.call().map_or_else(|| self.result()?.name.as_ref(), |call| Some(&call.name))
    }

    /// Whether it is a tool call or a tool result.
    #[must_use]
    pub fn is_tool(&self) -> bool {
        steps::count(1);
        matches!(self, Self::ToolCall(_) | Self::ToolResult(_))
    }

    /// Whether it is text or media, as opposed to tool calls, results and reasoning.
    #[must_use]
    pub fn has_text(&self) -> bool {
        steps::count(1);
        match self {
            Self::Text(text) => text.len_bound() > 0,
            Self::Media(_) => true,
            _ => false,
        }
    }
}

/// Where a part comes from.
#[derive(Debug, Clone)]
pub enum PartOrigin<'a> {
    /// It was read, and is unchanged.
    Source(PartPlace<'a>),
    /// It was read, and an edit made [substitutions](PartPlace::substitutions) in it.
    Rewritten(PartPlace<'a>),
    /// An edit moved it here from another message.
    Moved(PartPlace<'a>),
    /// An edit wrote it.
    Draft(Box<super::DraftPart>),
    /// An edit wrote it as a block with this text, which later runs recognize.
    Block(String),
}

/// The bytes of a part, and what is removed with them.
#[derive(Debug, Clone)]
pub struct PartPlace<'a> {
    /// The element of a list, or the value of a member, that is removed when the part is cut.
    pub element: Value<'a>,
    /// The bytes that are removed when the part is cut, for a part of a text in `element`; `None` if the whole element is.
    pub piece: Option<Span>,
    /// Whether the list or object around `element` is removed with its last element, such as `"tool_calls": […]`.
    pub shell: bool,
    /// Copies of the part elsewhere in the message. They are removed when the part is cut or its text is rewritten.
    pub copies: Vec<Value<'a>>,
    /// Where the text of the part can be rewritten. For an open call: where its result is written, in formats with both in
    /// one element.
    pub rewrite: Option<Rewrite>,
    /// Where a model reads the part among the others of its message, as an offset in the text; `None` if that is where
    /// `element` is.
    pub read_at: Option<u32>,
    /// Whether the provider rejects the part after a changed message: its signature covers everything before it.
    pub prefix_bound: bool,
    /// Whether it contains instructions of the application, in a message of the user.
    pub instructs: bool,
    /// Who says it, in an exchange, which has two speakers and one role.
    pub speaker: Option<Role>,
    /// What only few parts have.
    pub further: Option<Box<FurtherPlaces<'a>>>,
}

impl<'a> PartPlace<'a> {
    /// The place of a part that is one element.
    #[must_use]
    pub const fn element(element: Value<'a>) -> Self {
        Self {
            element,
            piece: None,
            shell: false,
            copies: Vec::new(),
            rewrite: None,
            read_at: None,
            prefix_bound: false,
            instructs: false,
            speaker: None,
            further: None,
        }
    }

    /// The same, in a list or object that is removed with its last element.
    #[must_use]
    pub fn in_shell(element: Value<'a>) -> Self {
        Self { shell: true, ..Self::element(element) }
    }

    /// The same, with its text at `value`.
    #[must_use]
    pub fn with_text(mut self, value: Option<Value<'a>>) -> Self {
        self.rewrite = value.map(Rewrite::of_text);
        self
    }

    /// The same, with its text at `value`, where it is written between the two of `around`.
    #[must_use]
    pub fn with_text_in(mut self, value: Value<'a>, around: &'static [&'static str; 2]) -> Self {
        self.rewrite = Some(Rewrite { span: value.span(), around });
        self
    }

    /// What is removed once the list or object around `element` is empty.
    #[must_use]
    pub fn shell_of(&self, element: Value<'a>) -> Option<Value<'a>> {
        let owner = self.further.as_ref().and_then(|further| further.list_owner);
        if self.shell { owner.or_else(|| element.parent()) } else { None }
    }

    /// Texts in its element that are counted as an estimate.
    #[must_use]
    pub fn estimated(&self) -> &[Estimated<'a>] {
        self.further.as_ref().map_or(&[], |further| further.estimated.as_slice())
    }

    /// Whether it is reasoning of a kind that no provider signs.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        self.further.as_ref().is_some_and(|further| further.unsigned)
    }

    /// Where its outcome is said, if `element` has more than this part.
    #[must_use]
    pub fn outcome(&self) -> Option<Value<'a>> {
        self.further.as_ref()?.outcome
    }

    /// The call that leads this one, if there is one.
    #[must_use]
    pub fn leader(&self) -> Option<Leader<'a>> {
        self.further.as_ref()?.leader
    }

    /// Lets another call lead this one.
    pub fn set_leader(&mut self, leader: Option<Leader<'a>>) {
        if leader.is_some() {
            self.further_mut().leader = leader;
        }
    }

    /// Its further places, to add to them.
    pub fn further_mut(&mut self) -> &mut FurtherPlaces<'a> {
        self.further.get_or_insert_default()
    }

    /// Lets `text` replace the text of the part and its repeats, instead of all that was substituted before.
    pub fn rewrite(&mut self, text: &str) {
        let json = quote(text);
        // Inside a string there are quotes already.
        let json = if self.piece.is_some() { &json[1..json.len() - 1] } else { &json };
        let places = self.rewrite.iter().chain(self.further.iter().flat_map(|further| &further.repeats));
        let substitutions = places.map(|Rewrite { span, around: [before, after] }| Substitution {
            span: *span,
            json: format!("{before}{json}{after}"),
            text: String::new(),
            at: 0,
        });
        let substitutions = substitutions.collect();
        self.further_mut().substitutions = substitutions;
    }

    /// What is written in place of some of its bytes, ordered by place.
    #[must_use]
    pub fn substitutions(&self) -> &[Substitution] {
        self.further.as_ref().map_or(&[], |further| further.substitutions.as_slice())
    }

    /// The JSON of the element, with its substitutions.
    #[must_use]
    pub fn raw(&self) -> Cow<'a, str> {
        if self.substitutions().is_empty() {
            return Cow::Borrowed(self.element.raw());
        }
        let source = self.element.source();
        let span = self.element.span();
        let mut json = String::new();
        let mut at = span.start;
        let substitutions = self.substitutions().iter();
        for one in substitutions.filter(|one| one.span.start >= span.start && one.span.end <= span.end) {
            json.push_str(&source[at as usize..one.span.start as usize]);
            json.push_str(&one.json);
            at = one.span.end;
        }
        json.push_str(&source[at as usize..span.end as usize]);
        Cow::Owned(json)
    }
}

/// Where and how the text of a part is rewritten: as a JSON string between two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewrite {
    /// The bytes that are replaced.
    pub span: Span,
    /// JSON before and after the string.
    pub around: &'static [&'static str; 2],
}

impl Rewrite {
    /// The text of a part is `value`.
    #[must_use]
    pub fn of_text(value: Value<'_>) -> Self {
        Self { span: value.span(), around: &["", ""] }
    }

    /// The number of bytes that are written for a JSON string of `string` bytes.
    #[must_use]
    pub const fn spelled(self, string: usize) -> usize {
        self.around[0].len() + string + self.around[1].len()
    }
}

/// Further places of a part, which only few parts have.
#[derive(Debug, Clone, Default)]
pub struct FurtherPlaces<'a> {
    /// For a call: another one with which it is kept or dropped.
    pub leader: Option<Leader<'a>>,
    /// For reasoning: whether no provider signs it, so that none demands a signature.
    pub unsigned: bool,
    /// For an element of a list: what is removed with its last element, in place of the list.
    pub list_owner: Option<Value<'a>>,
    /// Copies of the part in other messages. They are removed when the part is cut.
    pub copies_cut: Vec<Value<'a>>,
    /// Where other messages contain the same text, which is rewritten in the same way.
    pub repeats: Vec<Rewrite>,
    /// For a result that is cut with more than itself: where it says whether the tool failed.
    pub outcome: Option<Value<'a>>,
    /// What its element says and a part of another message says for the model: nothing that is left unread.
    pub superseded: Option<Value<'a>>,
    /// What is written in place of some bytes of the part.
    pub substitutions: Vec<Substitution>,
    /// Texts in its element that are counted as an estimate.
    pub estimated: Vec<Estimated<'a>>,
}

/// A text in a message that is no part, and is counted as an estimate.
#[derive(Debug, Clone, Copy)]
pub struct Estimated<'a> {
    /// The string.
    pub value: Value<'a>,
    /// Whether only the provider can read it, as encrypted reasoning; any other one is in a member that its format does not define.
    pub sealed: bool,
}

/// An earlier call that leads others, by its id: they are kept or dropped together.
#[derive(Debug, Clone, Copy)]
pub enum Leader<'a> {
    /// It makes the others while it runs.
    Program(Value<'a>),
    /// It is the first of a reply that a log writes as one message per call: its message contains the signed thoughts.
    Thinking(Value<'a>),
}

/// JSON that is written in place of some bytes of a part: of its text, a medium, or the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// The bytes that are replaced.
    pub span: Span,
    /// The JSON in their place.
    pub json: String,
    /// The text of a medium or of arguments; empty for a text of the part.
    pub text: String,
    /// In a result: how many of its texts are before it.
    pub at: usize,
}
