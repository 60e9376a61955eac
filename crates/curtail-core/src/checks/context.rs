//! What a rule reads: one transcript, its pairs, and the requirements of its format.

use std::borrow::Cow;

use super::Match;
use crate::dialects::Patch;
use crate::json::{Text, Value, quote};
use crate::transcript::{
    Fault, FaultKind, Message, NonMessage, PairingRules, Pairs, Part, PartRef, ProviderRules, Role, ToolCall,
    ToolResult, main_thread,
};

/// The transcript that a rule examines.
pub struct RuleContext<'c, 'a> {
    /// The messages, in order.
    pub messages: &'c [Message<'a>],
    /// The object whose member the list of messages is, if they are in one; of an empty list, the record that contains it.
    pub record: Option<Value<'a>>,
    /// Items that are not messages.
    pub non_messages: &'c [NonMessage<'a>],
    /// Which result answers which call.
    pub pairs: &'c Pairs,
    /// What is wrong with the pairs.
    pub faults: &'c [Fault],
    /// How the format, or the profile in its place, requires pairs.
    pub pairing_rules: PairingRules,
    /// Further constraints of the provider.
    pub provider_rules: ProviderRules,
    /// Whether the provider stores earlier items, so that a result may answer a call outside the transcript.
    pub stateful: bool,
    /// Whether a provider has refused the transcript.
    pub is_refused: bool,
    /// The most that the provider accepts of what it counted, if its answer says so.
    pub refused_above: Option<usize>,
}

impl<'a> RuleContext<'_, 'a> {
    /// The faults of a kind.
    pub fn faults(&self, kind: FaultKind) -> impl Iterator<Item = Fault> {
        self.faults.iter().copied().filter(move |fault| fault.kind == kind)
    }

    /// Whether the transcript is the body of a request, which names its model beside the messages.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.record.is_some_and(|record| record.has("model"))
    }

    /// Whether the provider stored messages before these, which the transcript does not have.
    #[must_use]
    pub const fn is_continued(&self) -> bool {
        self.stateful && self.provider_rules.server_state
    }

    /// Every part, in order.
    pub fn parts(&self) -> impl Iterator<Item = (PartRef, &Part<'a>)> {
        PartRef::each(self.messages)
    }

    /// The element that a part is, or is in.
    #[must_use]
    pub fn element(&self, at: PartRef) -> Option<Value<'a>> {
        at.part_in(self.messages).place().map(|place| place.element)
    }

    /// A finding about a part.
    #[must_use]
    pub fn match_at(&self, at: PartRef, message: impl Into<String>) -> Match<'a> {
        let value = self.element(at).or(self.messages[at.message].value());
        Match { message_index: Some(at.message), ..Match::new(value, message.into()) }
    }

    /// A finding about a part that conflicts with another.
    #[must_use]
    pub fn match_with(&self, at: PartRef, other: Option<PartRef>, message: String) -> Match<'a> {
        let other = other.and_then(|other| Some((other.message, self.match_at(other, String::new()).at?)));
        Match { other, ..self.match_at(at, message) }
    }

    /// A finding about each of `faults`. `text` makes its message of how the call or the result is named.
    pub fn match_faults(
        &self,
        faults: impl IntoIterator<Item = Fault>,
        text: impl Fn(String) -> String,
    ) -> Vec<Match<'a>> {
        let faults = faults.into_iter();
        faults.map(|fault| self.match_with(fault.at, fault.other, text(self.name_of(fault.at)))).collect()
    }

    /// A finding about a message.
    #[must_use]
    pub fn match_message(&self, at: usize, message: impl Into<String>) -> Match<'a> {
        Match { message_index: Some(at), ..Match::new(self.messages[at].value(), message.into()) }
    }

    /// The member in which an item has an id of its own, beside that of a call.
    #[must_use]
    pub fn own_id(&self, at: usize) -> Option<Value<'a>> {
        let item = self.messages[at].value()?;
        item.get("payload").unwrap_or(item).get("id")
    }

    /// The patch that lets the user say a message; `None` if no member has its role.
    #[must_use]
    pub fn said_by_user(&self, at: usize) -> Option<Patch> {
        let role = self.messages[at].value()?.get("role")?;
        Some(Patch { span: role.span(), text: quote(Role::User.name()) })
    }

    /// A finding about the transcript as a whole.
    #[must_use]
    pub fn match_all(&self, message: impl Into<String>) -> Match<'a> {
        Match::new(self.messages.first().and_then(Message::value), message.into())
    }

    /// Every tool call with its part reference.
    pub fn calls(&self) -> impl Iterator<Item = (PartRef, &ToolCall<'a>)> {
        self.pairs.calls().iter().filter_map(|&at| at.part_in(self.messages).content.call().map(|call| (at, call)))
    }

    /// Every tool result with its part reference.
    pub fn results(&self) -> impl Iterator<Item = (PartRef, &ToolResult<'a>)> {
        self.pairs
            .results()
            .iter()
            .filter_map(|&at| at.part_in(self.messages).content.result().map(|result| (at, result)))
    }

    /// How a message names a call or a result: by its tool and its id.
    #[must_use]
    pub fn name_of(&self, at: PartRef) -> String {
        let id = at.part_in(self.messages).content.tool_id();
        match (self.tool_name(at), id.map(Text::decode)) {
            (Some(tool), Some(id)) => format!("`{tool}` (`{id}`)"),
            (Some(tool), None) => format!("`{tool}`"),
            (None, Some(id)) => format!("`{id}`"),
            (None, None) => String::from("a tool"),
        }
    }

    /// The tool that a call or a result names.
    pub(super) fn tool_name(&self, at: PartRef) -> Option<Cow<'_, str>> {
        at.part_in(self.messages).content.tool_name().map(Text::decode).filter(|name| !name.is_empty())
    }

    /// Whether a call or a result lacks the id that the format requires, so that it cannot be paired.
    #[must_use]
    pub fn lacks_id(&self, at: PartRef) -> bool {
        self.pairing_rules.lacks_id(&at.part_in(self.messages).content)
    }

    /// The messages that a model reads.
    pub fn read_messages(&self) -> impl Iterator<Item = (usize, &Message<'a>)> {
        self.messages.iter().enumerate().filter(|(_, message)| message.standing.is_read())
    }

    /// The values that messages were read from, each with the index of its message.
    pub(super) fn items(&self) -> impl Iterator<Item = (usize, Value<'a>)> {
        self.messages.iter().enumerate().filter_map(|(at, message)| Some((at, message.value()?)))
    }

    /// What was said in the main conversation, without instructions and turns that were rolled back.
    pub fn dialogue(&self) -> impl Iterator<Item = (usize, &Message<'a>)> {
        let main = main_thread(self.messages);
        let messages = self.messages.iter().enumerate();
        messages.filter(move |(_, message)| message.counts_in(main) && !message.role.instructs())
    }

    /// The messages of a role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = (usize, &Message<'a>)> {
        self.messages.iter().enumerate().filter(move |(_, message)| message.role == role)
    }
}
