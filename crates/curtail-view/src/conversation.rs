//! Everything about a transcript that is drawn: its messages with their tokens, pairs, turns and findings, the context at each
//! request, and the effect of a policy.

use std::collections::HashSet;

use super::effect::{Drafted, Effect, Fate, Policy, Recorded, State, positions};
use super::exposed::Exposed;
use super::keys::Exposure;
use super::outside::Outside;
use super::requests::{Cost, LoggedUsages, Provided, Request, requests};
use super::sides::SubAgents;
use super::spending::Spending;
use super::story::{Story, StorySources};
use super::times::Times;
use super::visible::line;
use super::writers::Writers;
use curtail_core::checks::{Finding, Inspection, LineIndex, Verdicts};
use curtail_core::dialects::Dialect;
use curtail_core::processors::{Counting, ProcessorError};
use curtail_core::transcript::{Content, Message, Pairs, Part, PartRef, Transcript, turn_starts, writer_named};
use curtail_facts::failed;
use curtail_lab::replay::Prices;
use curtail_lab::sessions;

/// Where a transcript is in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name: the file, and its line or number if the file has several transcripts.
    pub name: String,
    /// That line and number in the name of its own page, as in `12-3`; empty if the file has no other transcript.
    pub within: String,
    /// Number of the first line of the text that it was read from, from 1.
    pub line: usize,
    /// Bytes of the file before that text.
    pub offset: usize,
    /// Distinguishes the anchors of this transcript from those of others on the page; empty if there is one.
    pub anchor: String,
}

/// The settings for drawing transcripts.
pub struct Sources<'s> {
    /// Counts tokens.
    pub counting: &'s Counting,
    /// Which findings are reported.
    pub verdicts: &'s Verdicts,
    /// The lines of the text that the transcripts were read from.
    pub lines: &'s LineIndex<'s>,
    /// The policy, if its effect is shown.
    pub policy: Option<&'s Policy>,
    /// What models cost, if that is known.
    pub prices: Option<&'s Prices>,
    /// What the text that the transcripts were read from should not show to others.
    pub exposure: &'s Exposure,
}

/// A transcript with everything that is drawn of it.
pub struct Conversation<'a> {
    /// Where it is.
    pub place: Place,
    /// The name of its dialect.
    pub dialect: &'static str,
    /// The model that its log names first.
    pub model: Option<String>,
    pub(super) times: Times,
    /// The name of the tokenizer.
    pub tokenizer: String,
    /// The messages, as they were read.
    pub messages: Vec<Message<'a>>,
    /// Tokens of every message, and of each of its parts.
    pub(super) costs: Vec<Cost>,
    pub(super) outside: Outside<'a>,
    pub(super) pairs: Pairs,
    /// The messages that begin turns.
    pub(super) turns: Vec<usize>,
    pub(super) findings: Vec<Finding>,
    pub(super) requests: Vec<Request>,
    /// The provider's counts that the log contains.
    pub(super) provided: Vec<Provided>,
    writers: Writers,
    pub(super) story: Story,
    pub(super) effect: Option<Effect<'a>>,
    pub(super) spending: Option<Spending>,
    /// US dollars for a token of input that no cache has, if the price of the model is known.
    pub(super) input_price: Option<f64>,
    /// The results that say that their tool failed.
    pub(super) failures: HashSet<PartRef>,
    pub(super) agents: SubAgents,
    /// Conversations of sub-agents in files of their own.
    pub(super) attached: Vec<Attached<'a>>,
    /// What should not be shown to others.
    pub(super) exposed: Exposed,
}

/// A conversation of a sub-agent in a file of its own.
pub(super) struct Attached<'a> {
    pub(super) conversation: Conversation<'a>,
    /// The call that started it, if the log tells.
    pub(super) call: Option<PartRef>,
    /// What it is about, in the words of its program.
    pub(super) description: Option<String>,
}

impl<'a> Conversation<'a> {
    /// Counts, checks and, if there is a policy, cuts `transcript`.
    ///
    /// # Errors
    /// The policy cannot decide.
    pub fn from_transcript(
        place: Place,
        dialect: &'static dyn Dialect,
        mut transcript: Transcript<'a>,
        sources: &Sources<'_>,
    ) -> Result<Self, ProcessorError> {
        let Sources { counting, policy, .. } = *sources;
        let findings = findings(dialect, &mut transcript, sources, &place);
        let sessions = sessions(dialect, &transcript);
        let usages = LoggedUsages::new(&sessions);
        let Transcript { layout, messages } = transcript;
        let costs: Vec<Cost> = messages.iter().map(|message| Cost::from_message(message, counting)).collect();
        let outside = Outside::new(&layout, &messages, counting);
        let requests = requests(&sessions, &costs, |at| messages[at].standing.is_read(), outside.tokens);
        let model = layout.elements.iter().find_map(|item| dialect.model(*item));
        let model = model.map(|model| model.decode().into_owned());
        let times = Times::new(dialect, &layout.elements, &messages);
        let pairs = Pairs::from_messages(&messages);
        let writers = Writers::new(dialect, &layout, &messages);
        let failures = failures(&messages, &pairs);
        let spending = Spending::new(&layout.elements, &messages, &usages, sources.prices);
        let story = Story::new(&StorySources {
            dialect,
            items: &layout.elements,
            messages: &messages,
            replies: &layout.replies,
            costs: &costs,
            writers: &writers,
            pairs: &pairs,
            moments: &times.messages,
            failures: &failures,
            spending: spending.as_ref(),
        });
        let input_price = model.as_deref().and_then(|model| Some(sources.prices?.model(model)?.input / 1e6));
        let recorded = Recorded {
            layout: &layout,
            messages: &messages,
            costs: &costs,
            sessions: &sessions,
            requests: &requests,
            counting,
            outside: outside.tokens,
            positions: positions(&messages),
        };
        let effect = policy.map(|policy| recorded.effect(policy)).transpose()?;
        Ok(Self {
            dialect: dialect.name(),
            tokenizer: counting.tokenizer.name().to_owned(),
            turns: turn_starts(&messages),
            agents: SubAgents::new(&messages, &pairs),
            attached: Vec::new(),
            exposed: Exposed::new(sources.exposure, &layout, &messages),
            provided: usages.provided,
            place,
            model,
            times,
            messages,
            costs,
            outside,
            pairs,
            findings,
            requests,
            writers,
            story,
            effect,
            spending,
            input_price,
            failures,
        })
    }

    /// Adds the conversation of a sub-agent from a file of its own. `call` is the id of the call that started it, and
    /// `description` what it is about, if its program tells.
    pub fn attach(&mut self, conversation: Self, call: Option<&str>, description: Option<String>) {
        let first = conversation.messages.first();
        let begun = conversation.times.messages.first().and_then(Option::as_ref);
        let call = self.agents.starter(&self.messages, &self.pairs, first, call, |call| {
            self.times.messages[call.message]
                .as_ref()
                .zip(begun)
                .is_none_or(|(called, begun)| called.seconds <= begun.seconds)
        });
        self.attached.push(Attached { conversation, call, description });
    }

    /// Whether the result of a call says that its tool failed.
    pub(super) fn is_failed(&self, call: PartRef) -> bool {
        self.pairs.counterpart(call).is_some_and(|result| self.failures.contains(&result))
    }

    /// The number of calls whose result says that the tool failed.
    pub(super) fn failed_calls(&self) -> usize {
        self.pairs.calls().iter().filter(|call| self.is_failed(**call)).count()
    }

    /// Tokens of all messages and of what is outside them.
    pub fn tokens(&self) -> usize {
        self.outside.tokens + self.costs.iter().map(|cost| cost.tokens).sum::<usize>()
    }

    /// Tokens that the model still reads: those of messages that were neither replaced by a boundary nor rolled back.
    pub(super) fn live_tokens(&self) -> usize {
        let read = self.messages.iter().zip(&self.costs).filter(|(message, _)| message.standing.is_read());
        self.outside.tokens + read.map(|(_, cost)| cost.tokens).sum::<usize>()
    }

    /// How many messages the log itself removed from the context.
    pub(super) fn unread(&self) -> usize {
        self.messages.iter().filter(|message| !message.standing.is_read()).count()
    }

    /// Who wrote message `index`, which is also the name of its color: a person, the model, a tool or a program.
    pub(super) fn writer(&self, index: usize) -> &'static str {
        self.writers.of(index, &self.messages[index])
    }

    /// Who says a part of an exchange, if it is text or media.
    pub(super) fn speaker(&self, at: PartRef) -> Option<&'static str> {
        let message = &self.messages[at.message];
        let part = self.part(at);
        let is_said = message.is_exchange() && part.content.has_text();
        is_said.then(|| writer_named(message.speaker(part).name()))
    }

    /// The messages with which what the model reads begins anew, in order: it no longer reads what is before them.
    pub(super) fn boundaries(&self) -> impl Iterator<Item = usize> {
        (1..self.messages.len()).filter(|at| self.is_boundary(*at))
    }

    /// Whether the model reads message `at` in place of those before it.
    pub(super) fn is_boundary(&self, at: usize) -> bool {
        at > 0 && self.messages[at].begins_context()
    }

    /// The id of the element of message `index`.
    pub(super) fn anchor(&self, index: usize) -> String {
        format!("{}m{index}", self.place.anchor)
    }

    /// What a policy does to message `at`, if there is one.
    pub(super) fn fate(&self, at: usize) -> Option<&Fate> {
        self.effect.as_ref().map(|effect| &effect.fates[at])
    }

    /// Whether message `at` is kept; without a policy, it is.
    pub(super) fn state(&self, at: usize) -> State {
        self.fate(at).map_or(State::Kept, |fate| fate.state)
    }

    /// Whether a policy drops message `at`.
    pub(super) fn is_dropped(&self, at: usize) -> bool {
        self.state(at) == State::Dropped
    }

    /// The messages that a policy wrote before message `at`; after the last message, if there is none at `at`.
    pub(super) fn drafts(&self, at: usize) -> &[Drafted<'a>] {
        let drafts = self.effect.as_ref().map_or(&[][..], |effect| &effect.drafts);
        let from = drafts.partition_point(|draft| draft.before < at);
        &drafts[from..drafts.partition_point(|draft| draft.before <= at)]
    }

    /// The part at a place.
    pub(super) fn part(&self, at: PartRef) -> &Part<'a> {
        &self.messages[at.message].parts[at.part]
    }

    /// The name of the tool that a call or result belongs to; `?` if nothing names it.
    pub(super) fn tool(&self, at: PartRef) -> String {
        self.pairs.tool_name(&self.messages, at).map_or_else(|| String::from("?"), |name| name.decode().into_owned())
    }

    /// The beginning of a message, on one line.
    pub(super) fn beginning(&self, at: usize) -> String {
        let words = self.messages[at].parts.iter().enumerate().find_map(|(nth, part)| match &part.content {
            Content::Text(text) | Content::Reasoning(text) if !text.is_blank() => Some(text.decode().into_owned()),
            Content::ToolCall(call) => Some(format!("{} {}", call.name.decode(), call.arguments.decode())),
            Content::ToolResult(result) => {
                let name = self.tool(PartRef { message: at, part: nth });
                let text = result.content.first().map(|text| text.decode().into_owned()).unwrap_or_default();
                Some(format!("{name}: {text}"))
            }
            Content::Media(_) => Some(String::from("image or file")),
            _ => None,
        });
        line(&words.unwrap_or_default(), 72)
    }
}

/// The results that say that their tool failed.
fn failures(messages: &[Message<'_>], pairs: &Pairs) -> HashSet<PartRef> {
    let results = pairs.results().iter().copied();
    let failures = results.filter(|result| {
        let call = pairs.counterpart(*result).and_then(|call| call.part_in(messages).content.call());
        failed(call, result.part_in(messages))
    });
    failures.collect()
}

fn findings(
    dialect: &'static dyn Dialect,
    transcript: &mut Transcript<'_>,
    sources: &Sources<'_>,
    place: &Place,
) -> Vec<Finding> {
    // Without a budget, nothing is counted, and nothing can fail.
    let detections = Inspection::default().detections(dialect, transcript, sources.verdicts);
    let located = detections
        .into_iter()
        .flatten()
        .map(|detection| detection.locate(sources.lines, transcript.layout.span.start).in_dialect(dialect));
    located.map(|finding| finding.moved(place.line - 1, place.offset.cast_signed())).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use curtail_core::checks::{Levels, LineIndex};
    use curtail_core::counting::Approximate;
    use curtail_core::dialects::{Framing, Reading};
    use curtail_core::pipeline::Chain;
    use curtail_core::processors::Counting;

    use super::{Conversation, Place, Policy, Sources};
    use crate::keys::Exposure;

    /// Also behind boundaries and rollbacks, and beside sub-agents.
    #[test]
    fn a_policy_that_changes_nothing_sends_what_was_recorded() {
        for (dialect, fixture, framing) in [
            ("claude-code", "compaction.jsonl", Framing::Lines),
            ("claude-code", "sidechain.jsonl", Framing::Lines),
            ("claude-code", "rewind.jsonl", Framing::Lines),
            ("codex", "compacted.jsonl", Framing::Lines),
            ("codex", "rolled-back.jsonl", Framing::Lines),
            ("pi", "branches.jsonl", Framing::Lines),
            ("kimi", "undone.jsonl", Framing::Lines),
            ("opencode", "compacted.json", Framing::Document),
        ] {
            let path = format!("{}/../../fixtures/dialects/{dialect}/{fixture}", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            let reading = Reading::new(framing, Some(dialect), None).unwrap();
            let document = reading.parse(&text).unwrap();
            let (dialect, transcript) = reading.transcripts(&document).unwrap().remove(0);
            let sources = Sources {
                counting: &Counting::new(Arc::new(Approximate::default())),
                verdicts: &Levels::default().for_path(&path),
                lines: &LineIndex::new(&text),
                policy: Some(&Policy { chain: Chain::default(), label: String::new() }),
                prices: None,
                exposure: &Exposure::default(),
            };
            let place = Place { name: path.clone(), within: String::new(), line: 1, offset: 0, anchor: String::new() };
            let drawn = Conversation::from_transcript(place, dialect, transcript, &sources).unwrap();
            assert!(!drawn.requests.is_empty(), "{path}");
            assert_eq!(drawn.effect.unwrap().requests, drawn.requests, "{path}");
        }
    }
}
