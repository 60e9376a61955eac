//! What a rule reads: one transcript, its pairs, and the requirements of its format. It knows no bytes and no key names.

use std::collections::HashSet;
use std::ops::Range;

use super::Match;
use crate::dialects::Patch;
use crate::json::{Span, Value};
use crate::transcript::{
    Fault, FaultKind, Message, NonMessage, PairingRules, Pairs, Part, PartRef, ProviderRules, Role, ToolCall,
    ToolResult,
};

/// The transcript that a rule examines.
pub struct RuleContext<'c, 'a> {
    /// The messages, in order.
    pub messages: &'c [Message<'a>],
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

/// A turn and the messages that answer it, of which one has more calls or results than the other.
pub struct MiscountedRound {
    /// The messages of the turn.
    pub turn: Range<usize>,
    /// The number of its calls.
    pub calls: usize,
    /// The messages that answer it.
    pub answers: Range<usize>,
    /// The number of their results.
    pub results: usize,
}

impl<'a> RuleContext<'_, 'a> {
    /// The faults of a kind.
    pub fn faults(&self, kind: FaultKind) -> impl Iterator<Item = Fault> {
        self.faults.iter().copied().filter(move |fault| fault.kind == kind)
    }

    /// Whether the transcript is the body of a request, which names its model beside the messages.
    #[must_use]
    pub fn is_request(&self) -> bool {
        let list = self.messages.first().and_then(Message::value).and_then(Value::parent);
        list.and_then(Value::parent).is_some_and(|record| record.has("model"))
    }

    /// The patch that removes an item of the transcript, with what separates it from the next one.
    #[must_use]
    pub fn without_item(&self, item: Value<'a>) -> Option<Patch> {
        let messages = self.messages.iter().filter_map(Message::value);
        let items = || messages.clone().chain(self.non_messages.iter().map(|other| other.value)).map(Value::span);
        let Span { start, end } = item.span();
        let next = items().map(|other| other.start).filter(|other| *other >= end).min();
        let previous = items().map(|other| other.end).filter(|other| *other <= start).max();
        let span =
            next.map(|next| Span::new(start, next)).or_else(|| previous.map(|previous| Span::new(previous, end)));
        span.map(|span| Patch { span, text: String::new() })
    }

    /// Every part, in order.
    pub fn parts(&self) -> impl Iterator<Item = (PartRef, &Part<'a>)> {
        self.messages.iter().enumerate().flat_map(|(message, parts)| {
            parts.parts.iter().enumerate().map(move |(part, content)| (PartRef { message, part }, content))
        })
    }

    /// A finding about a part.
    #[must_use]
    pub fn match_at(&self, at: PartRef, message: impl Into<String>) -> Match<'a> {
        let value = at.part_in(self.messages).place().map(|place| place.element).or(self.messages[at.message].value());
        Match { message_index: Some(at.message), ..Match::new(value, message.into()) }
    }

    /// A finding about a part that conflicts with another.
    #[must_use]
    pub fn match_with(&self, at: PartRef, other: Option<PartRef>, message: String) -> Match<'a> {
        let other = other.map(|other| (other.message, self.match_at(other, String::new()).at));
        Match { other, ..self.match_at(at, message) }
    }

    /// A finding about each of `faults`. `text` makes its message of how the call or the result is named.
    pub fn match_faults(
        &self,
        faults: impl IntoIterator<Item = Fault>,
        text: impl Fn(String) -> String,
    ) -> Vec<Match<'a>> {
        let found = |fault: Fault| self.match_with(fault.at, fault.other, text(self.name_of(fault.at)));
        faults.into_iter().map(found).collect()
    }

    /// A finding about a message.
    #[must_use]
    pub fn match_message(&self, at: usize, message: impl Into<String>) -> Match<'a> {
        Match { message_index: Some(at), ..Match::new(self.messages[at].value(), message.into()) }
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
        let content = &at.part_in(self.messages).content;
        let tool = content.tool_name().map(|name| name.decode()).filter(|name| !name.is_empty());
        match (tool, content.tool_id().map(|id| id.decode())) {
            (Some(tool), Some(id)) => format!("`{tool}` (`{id}`)"),
            (Some(tool), None) => format!("`{tool}`"),
            (None, Some(id)) => format!("`{id}`"),
            (None, None) => String::from("a tool"),
        }
    }

    /// Whether a call or a result lacks the id that the format requires, so that it cannot be paired.
    #[must_use]
    pub fn lacks_id(&self, at: PartRef) -> bool {
        self.pairing_rules.lacks_id(&at.part_in(self.messages).content)
    }

    /// The round of the turn that ends with message `at`, if the numbers of its calls and results differ in a format where they
    /// must be equal. Messages of one role in a row are one turn, as for the place of a result. A round in flight may lack
    /// results.
    #[must_use]
    pub fn miscounted(&self, at: usize) -> Option<MiscountedRound> {
        let is_turn = |at: usize| self.messages.get(at).is_some_and(|message| message.role == Role::Assistant);
        if !self.provider_rules.results_together || !is_turn(at) || is_turn(at + 1) {
            return None;
        }
        let start = (0..at).rev().find(|&before| !is_turn(before)).map_or(0, |before| before + 1);
        let turn = start..at + 1;
        let next = at + 1;
        let answers = (next..self.messages.len()).take_while(|&at| !is_turn(at) && self.results_of(at) > 0).count();
        let answers = next..next + answers;
        let calls: usize = turn.clone().map(|at| self.calls_of(at)).sum();
        let results: usize = answers.clone().map(|at| self.results_of(at)).sum();
        let pending = results < calls && answers.end == self.messages.len();
        let is_wrong = calls > 0 && results > 0 && results != calls && !pending;
        is_wrong.then_some(MiscountedRound { turn, calls, answers, results })
    }

    /// How many calls of a message another message must answer.
    fn calls_of(&self, at: usize) -> usize {
        let wanted = self.messages[at].calls().filter(|(_, call)| !call.hosted);
        wanted.filter(|(part, _)| !self.is_answered_inside(PartRef { message: at, part: *part })).count()
    }

    /// How many results of a message answer calls of another message.
    fn results_of(&self, at: usize) -> usize {
        let results = self.messages[at].results().map(|(part, _)| PartRef { message: at, part });
        results.filter(|&result| !self.is_answered_inside(result) && !self.is_replaced(result)).count()
    }

    /// Whether a later result of the same call replaced this one.
    fn is_replaced(&self, result: PartRef) -> bool {
        self.pairs.counterpart(result).is_some_and(|call| self.pairs.counterpart(call) != Some(result))
    }

    fn is_answered_inside(&self, at: PartRef) -> bool {
        self.pairs.counterpart(at).is_some_and(|other| other.message == at.message)
    }

    /// The calls whose missing result another finding explains: their result comes before them or is of another kind, or two
    /// calls of one round share an id.
    #[must_use]
    pub fn explained_calls(&self) -> HashSet<PartRef> {
        // The number of messages before each one that end a round: those without calls and results.
        let ends_before = self.messages.iter().scan(0, |ends, message| {
            let before = *ends;
            *ends += usize::from(!message.has_tools());
            Some(before)
        });
        let ends_before: Vec<usize> = ends_before.collect();
        let same_round = |one: PartRef, other: PartRef| ends_before[one.message] == ends_before[other.message];
        let mut explained = HashSet::new();
        for fault in self.faults {
            match (fault.kind, fault.other) {
                (FaultKind::ResultBeforeCall | FaultKind::FamilyMismatch, Some(call)) => drop(explained.insert(call)),
                (FaultKind::DuplicateCallId, Some(call)) if same_round(call, fault.at) => {
                    explained.extend([call, fault.at]);
                }
                _ => {}
            }
        }
        explained
    }

    /// The messages of rounds with the wrong number of results, which is reported once.
    #[must_use]
    pub fn miscounted_messages(&self) -> HashSet<usize> {
        let rounds = (0..self.messages.len()).filter_map(|at| self.miscounted(at));
        rounds.flat_map(|round| round.turn.chain(round.answers)).collect()
    }

    /// All messages except instructions.
    pub fn dialogue(&self) -> impl Iterator<Item = (usize, &Message<'a>)> {
        self.messages.iter().enumerate().filter(|(_, message)| !message.role.instructs())
    }

    /// The messages of a role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = (usize, &Message<'a>)> {
        self.messages.iter().enumerate().filter(move |(_, message)| message.role == role)
    }
}
