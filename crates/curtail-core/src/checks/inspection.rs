//! Runs all rules on one transcript: which of them, at what level, and by the requirements of which provider.

use std::collections::HashSet;
use std::ops::Range;

use super::{ALL, Detector, Finding, Level, LineIndex, Match, Rule, Verdicts};
use crate::counting::REFUSED;
use crate::dialects::{Dialect, ReadError};
use crate::json::{Span, Value};
use crate::pipeline::calibrated;
use crate::processors::{Counting, View};
use crate::transcript::{
    Fault, FaultKind, Message, NonMessage, PairingRules, Pairs, Part, PartRef, ProviderRules, ResultPlace, Role,
    ToolCall, ToolResult, Transcript, Turns,
};

/// How transcripts are examined. By default, by the requirements of their own format.
///
/// ```
/// use curtail_core::checks::{Inspection, Levels};
/// use curtail_core::dialects::{Framing, Reading};
///
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"role\":\"tool\",\"tool_call_id\":\"call-1\",\"content\":\"05:12\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
/// );
/// let reading = Reading::new(Framing::Lines, None, None)?;
/// let verdicts = Levels::default().for_path("chat.jsonl");
/// let examination = Inspection::default().examine(&reading, &verdicts, chat)?;
/// assert_eq!(examination.findings[0].rule.name, "orphan-result");
/// assert_eq!(examination.findings[0].at.line, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Inspection {
    /// The provider whose requirements apply instead of those of the transcript's own format.
    pub profile: Option<Profile>,
    /// Whether the provider stores earlier items, so that results may answer calls outside the transcript.
    pub stateful: bool,
    /// Whether only what the model still reads is examined.
    pub live: bool,
    /// The tokens that a transcript may have; without them, the rules that need a budget do not run.
    pub budget: Option<Budget>,
}

/// The tokens that a transcript may have.
#[derive(Clone)]
pub struct Budget {
    /// Their number.
    pub max_tokens: usize,
    /// How they are counted.
    pub counting: Counting,
}

/// The tokens of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Tokens outside the messages.
    pub outside: usize,
    /// Tokens of each message.
    pub messages: Vec<usize>,
    /// All tokens; not their sum where a chat template renders the transcript.
    pub total: usize,
}

impl Budget {
    /// The same budget, counted by the usage in `transcript` if it has to be.
    pub(super) fn calibrated(&self, dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Result<Self, ReadError> {
        Ok(Self { counting: calibrated(&self.counting, dialect, transcript)?, ..*self })
    }

    pub(super) fn counts(&self, transcript: &Transcript<'_>) -> Result<TokenCounts, ReadError> {
        let view = View::of_layout(&transcript.layout, &transcript.messages);
        let messages = view.messages.iter().map(|message| self.counting.message(message)).collect();
        let offset = transcript.layout.span.start as usize;
        let total =
            self.counting.total(&view).map_err(|error| ReadError { offset, what: format!("{REFUSED}: {error}") })?;
        Ok(TokenCounts { outside: self.counting.outside(&view), messages, total })
    }
}

/// What a provider requires of the transcripts that it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// How it requires pairs.
    pub pairing_rules: PairingRules,
    /// Its further constraints.
    pub provider_rules: ProviderRules,
}

/// What a rule detected, with the level that applies.
#[derive(Debug, Clone)]
pub struct Detection<'a> {
    rule: &'static Rule,
    level: Level,
    answer: Option<&'static str>,
    found: Match<'a>,
}

impl Inspection {
    /// What the rules detect in `transcript`, whose own format has `provider_rules`, in the order of its text. `budget` has its
    /// tokens and how many it may have.
    pub(super) fn detect<'a>(
        &self,
        transcript: &Transcript<'a>,
        provider_rules: ProviderRules,
        verdicts: &Verdicts,
        budget: Option<(&TokenCounts, usize)>,
    ) -> Vec<Detection<'a>> {
        let format = Profile { pairing_rules: transcript.layout.pairing_rules, provider_rules };
        let Profile { pairing_rules, provider_rules } = self.profile.map_or(format, |profile| profile.over(format));
        let pairs = Pairs::from_messages(&transcript.messages);
        let faults = Fault::find_all(&transcript.messages, &pairs, pairing_rules);
        let context = RuleContext {
            messages: &transcript.messages,
            non_messages: &transcript.layout.non_messages,
            pairs: &pairs,
            faults: &faults,
            pairing_rules,
            provider_rules,
            stateful: self.stateful,
        };
        let mut detections: Vec<Detection<'a>> = Vec::new();
        for (rule, level) in ALL.iter().zip(verdicts.levels()).filter(|(_, level)| *level > Level::Allow) {
            let matches = match (rule.detector, budget) {
                (Detector::Transcript(detect), _) => detect(&context),
                (Detector::Budget(detect), Some((tokens, limit))) => detect(&context, tokens, limit),
                _ => continue,
            };
            let answer = rule.answer_of(provider_rules.provider);
            let detection = |found: Match<'a>| Detection {
                rule,
                level: if found.only_warns { level.min(Level::Warn) } else { level },
                answer,
                found,
            };
            detections.extend(matches.into_iter().map(detection));
        }
        // The sort is stable: findings at the same place stay in the order of the rules.
        detections.sort_by_key(Detection::start);
        detections
    }
}

impl Profile {
    /// The requirements of the provider that accepts `dialect`.
    #[must_use]
    pub fn of_dialect(dialect: &dyn Dialect) -> Self {
        Self { pairing_rules: dialect.pairing_rules(), provider_rules: dialect.provider_rules() }
    }

    /// The same requirements for a transcript whose format has the requirements `format`.
    #[must_use]
    pub fn over(self, format: Self) -> Self {
        use ResultPlace::{Anywhere, NextMessage, NextMessageFirst, SameMessage};
        let inside = matches!(format.pairing_rules.results, NextMessage | NextMessageFirst);
        let pairing_rules = self.pairing_rules.over(format.pairing_rules);
        // Where signatures are depends on the transcript and not on the provider.
        let provider_rules = ProviderRules {
            log: format.provider_rules.log,
            signatures: format.provider_rules.signatures,
            call_signatures: format.provider_rules.call_signatures,
            results_together: self.provider_rules.results_together && inside,
            turns: if matches!(format.pairing_rules.results, Anywhere | SameMessage) {
                Turns::Free
            } else {
                self.provider_rules.turns
            },
            ..self.provider_rules
        };
        Self { pairing_rules, provider_rules }
    }
}

impl Detection<'_> {
    fn start(&self) -> u32 {
        self.found.at.map_or(0, |value| value.span().start)
    }

    /// The finding, with its place in the text that `lines` indexes; a detection without a value is placed at `start`.
    #[must_use]
    pub fn locate(self, lines: &LineIndex<'_>, start: u32) -> Finding {
        let Match { at, message_index, message, other, .. } = self.found;
        let place = match at {
            Some(value) => lines.place_of(value, message_index),
            None => lines.place(Span::new(start, start), None, message_index),
        };
        let other = other.and_then(|(index, value)| value.map(|value| lines.place_of(value, Some(index))));
        let shown = at.map(|value| lines.place_of(content_of(value), None)).filter(|shown| shown.line == place.line);
        let excerpt = lines.excerpt(shown.as_ref().unwrap_or(&place));
        let help = self.rule.help.into();
        Finding { rule: self.rule, level: self.level, message, help, answer: self.answer, at: place, other, excerpt }
    }
}

/// The part of a value that says what it is: of a record in a log, the member beside which all others are few bytes, such as its
/// time and its id.
fn content_of(item: Value<'_>) -> Value<'_> {
    let mut content = item;
    while item.parent().is_none()
        && content.raw().len() > SHORT
        && let Some(largest) = content.members().map(|member| member.value).max_by_key(|value| value.raw().len())
        && largest.is_object()
        && largest.raw().len() > content.raw().len() / 2
    {
        content = largest;
    }
    content
}

/// The length in bytes of an item that an excerpt shows whole.
const SHORT: usize = 72;

// What a rule reads: one transcript, its pairs, and the requirements of its format. It knows no bytes and no key names.

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
