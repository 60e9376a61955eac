//! Everything about a transcript that is drawn: its messages with their tokens, pairs, turns and findings, the context at each
//! request, and the effect of a policy.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::iter::Peekable;
use std::ops::Range;
use std::slice;

use super::effect::{Drafted, Effect, Fate, Policy, Recorded, State, positions};
use super::keys::Exposure;
use super::outside::{OutsideText, Preamble, outside_places, outside_texts};
use super::requests::{Cost, LoggedUsages, Provided, Request, requests};
use super::sides::{Side, Starters, sides};
use super::spending::Spending;
use super::story::{Story, StorySources};
use super::visible::{Moment, line};
use curtail_core::checks::{Finding, Inspection, LineIndex, Verdicts};
use curtail_core::dialects::{ChangeKind, Dialect};
use curtail_core::json::Span;
use curtail_core::processors::{Counting, ProcessorError, View};
use curtail_core::transcript::{
    Content, Layout, Message, Pairs, Part, PartRef, Role, Transcript, turn_starts, writer_named,
};
use curtail_facts::failed;
use curtail_lab::replay::Prices;
use curtail_lab::sessions;

/// Where a transcript is in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name: the file, and its line or number if the file has several transcripts.
    pub name: String,
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
    /// The time of the first item that has one.
    pub(super) began: Option<Moment>,
    /// The time of the last item that has one.
    pub(super) ended: Option<Moment>,
    /// The name of the tokenizer.
    pub tokenizer: String,
    /// The messages, as they were read.
    pub messages: Vec<Message<'a>>,
    /// Tokens of every message, and of each of its parts.
    pub(super) costs: Vec<Cost>,
    /// Tokens outside the messages: instructions, tool definitions and replies, and what a request adds to them.
    pub outside: usize,
    /// What is outside the messages and before them.
    pub(super) preamble: Preamble<'a>,
    /// The texts of a reply outside the messages.
    pub(super) replies: Vec<OutsideText<'a>>,
    pub(super) pairs: Pairs,
    /// The messages that begin turns.
    pub(super) turns: Vec<usize>,
    pub(super) findings: Vec<Finding>,
    pub(super) requests: Vec<Request>,
    /// The provider's counts that the log contains.
    pub(super) provided: Vec<Provided>,
    /// When each message was written.
    pub(super) moments: Vec<Option<Moment>>,
    /// Whether each message is a demonstration or the summary of a compaction: a program wrote it, although its role is user.
    pub(super) by_program: Vec<bool>,
    /// Whether each message answers an action that the model wrote as text: a tool wrote it, although its role is user.
    by_tool: Vec<bool>,
    pub(super) story: Story,
    pub(super) effect: Option<Effect<'a>>,
    pub(super) spending: Option<Spending>,
    /// US dollars for a token of input that no cache has, if the price of the model is known.
    pub(super) input_price: Option<f64>,
    /// The results that say that their tool failed.
    pub(super) failures: HashSet<PartRef>,
    /// Conversations of sub-agents inside the log.
    pub(super) sides: Vec<Side>,
    /// Conversations of sub-agents in files of their own.
    pub(super) attached: Vec<Attached<'a>>,
    /// What tells the calls that started them, collected when the first one is attached.
    starters: Option<Starters>,
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

/// What a page should not show to others.
#[derive(Debug, Default)]
pub(super) struct Exposed {
    /// What each string looks like a key of, and the message that has it first.
    pub(super) keys: Vec<(&'static str, Option<usize>)>,
    /// Home folders, each with the number of paths below it.
    pub(super) homes: BTreeMap<String, usize>,
}

impl Exposed {
    /// Those of `exposure` that are in `messages` or outside of them on the page. A log has more than its page shows.
    fn new(exposure: &Exposure, layout: &Layout<'_>, messages: &[Message<'_>]) -> Self {
        let places = shown_places(layout, messages);
        let mut exposed = Self::default();
        let mut seen = HashSet::new();
        let mut around = PlacesAround::new(&places);
        for key in &exposure.keys {
            let open = around.go_to(key.place.start);
            if !open.is_empty() && seen.insert(layout.source.get(key.place.clone())) {
                exposed.keys.push((key.kind, open.iter().rev().find_map(|place| place.message)));
            }
        }
        let mut around = PlacesAround::new(&places);
        for home in exposure.homes.iter().filter(|home| !around.go_to(home.start).is_empty()) {
            *exposed.homes.entry(layout.source[home.clone()].to_owned()).or_default() += 1;
        }
        exposed
    }
}

/// The places around a byte, which goes on through the log. They are inside each other, as a message can be inside another one.
struct PlacesAround<'p> {
    rest: Peekable<slice::Iter<'p, ShownPlace>>,
    open: Vec<&'p ShownPlace>,
}

impl<'p> PlacesAround<'p> {
    fn new(places: &'p [ShownPlace]) -> Self {
        Self { rest: places.iter().peekable(), open: Vec::new() }
    }

    fn go_to(&mut self, byte: usize) -> &[&'p ShownPlace] {
        while let Some(place) = self.rest.next_if(|place| place.bytes.start <= byte) {
            self.close_ended(place.bytes.start);
            self.open.push(place);
        }
        self.close_ended(byte);
        &self.open
    }

    fn close_ended(&mut self, byte: usize) {
        while self.open.pop_if(|place| place.bytes.end <= byte).is_some() {}
    }
}

/// Bytes of a log that are on its page.
struct ShownPlace {
    bytes: Range<usize>,
    /// The message that they are read as; `None` outside the messages.
    message: Option<usize>,
}

/// The bytes of `messages`, and of what is outside of them, in order.
fn shown_places(layout: &Layout<'_>, messages: &[Message<'_>]) -> Vec<ShownPlace> {
    let outside = outside_places(layout).map(|bytes| ShownPlace { bytes, message: None });
    let inside = messages.iter().enumerate().flat_map(|(at, message)| {
        // Some formats keep results elsewhere in the log.
        let parts = message.parts.iter().filter_map(|part| Some(part.place()?.element));
        let values = message.value().into_iter().chain(parts);
        values.map(move |value| ShownPlace { bytes: range(value.span()), message: Some(at) })
    });
    let mut places: Vec<ShownPlace> = inside.chain(outside).collect();
    // What is inside another place comes after it. Of several messages in one value, the first one is named.
    places.sort_by_key(|place| (place.bytes.start, Reverse(place.bytes.end)));
    places.dedup_by(|other, first| other.bytes == first.bytes);
    places
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

impl<'a> Conversation<'a> {
    /// Counts, checks and, if there is a policy, cuts `transcript`, which was read from `text`.
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
        let outside = counting.outside(&View::of_layout(&layout, &messages));
        let requests = requests(&sessions, &costs, |at| messages[at].standing.is_read(), outside);
        let mut times = layout.elements.iter().filter_map(|item| Moment::new(dialect.time(*item)?));
        let began = times.next();
        let ended = times.next_back().or_else(|| began.clone());
        let model = layout.elements.iter().find_map(|item| dialect.model(*item));
        let model = model.map(|model| model.decode().into_owned());
        let moments = moments(dialect, &messages);
        let pairs = Pairs::from_messages(&messages);
        let by_program = by_program(dialect, &layout, &messages);
        let by_tool = by_tool(&messages);
        let failures = failures(&messages, &pairs);
        let spending = Spending::new(&layout.elements, &messages, &usages, sources.prices);
        let story = Story::new(&StorySources {
            dialect,
            items: &layout.elements,
            messages: &messages,
            replies: &layout.replies,
            costs: &costs,
            by_program: &by_program,
            by_tool: &by_tool,
            pairs: &pairs,
            moments: &moments,
            failures: &failures,
            spending: spending.as_ref(),
        });
        let input_price = model.as_deref().and_then(|model| Some(sources.prices?.model(model)?.input / 1e6));
        let exposed = Exposed::new(sources.exposure, &layout, &messages);
        let sides = sides(&messages, &pairs);
        let recorded = Recorded {
            layout: &layout,
            messages: &messages,
            costs: &costs,
            requests: &requests,
            counting,
            outside,
            positions: positions(&messages),
        };
        let effect = policy.map(|policy| recorded.effect(policy)).transpose()?;
        Ok(Self {
            dialect: dialect.name(),
            model,
            began,
            ended,
            tokenizer: counting.tokenizer.name().to_owned(),
            pairs,
            provided: usages.provided,
            moments,
            by_program,
            by_tool,
            story,
            input_price,
            spending,
            failures,
            sides,
            attached: Vec::new(),
            starters: None,
            exposed,
            turns: turn_starts(&messages),
            costs,
            outside,
            preamble: Preamble::new(layout.preamble, layout.source),
            replies: outside_texts(layout.replies, layout.source),
            findings,
            requests,
            effect,
            messages,
            place,
        })
    }

    /// Adds the conversation of a sub-agent from a file of its own. `call` is the id of the call that started it, and
    /// `description` what it is about, if its program tells.
    pub fn attach(&mut self, conversation: Self, call: Option<&str>, description: Option<String>) {
        let starters = self.starters.get_or_insert_with(|| Starters::new(&self.messages, &self.pairs));
        let begun = conversation.moments.first().and_then(Option::as_ref).map(|moment| moment.seconds);
        let call = conversation.messages.first().and_then(|first| starters.call_of(first, call)).or_else(|| {
            starters.last_named(self.messages.len(), |call| {
                let called = self.moments[call.message].as_ref().map(|moment| moment.seconds);
                called.zip(begun).is_none_or(|(called, begun)| called <= begun)
            })
        });
        starters.take(call);
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
        self.outside + self.costs.iter().map(|cost| cost.tokens).sum::<usize>()
    }

    /// Tokens that the model still reads: those of messages that were neither replaced by a boundary nor rolled back.
    pub(super) fn live_tokens(&self) -> usize {
        let read = self.messages.iter().zip(&self.costs).filter(|(message, _)| message.standing.is_read());
        self.outside + read.map(|(_, cost)| cost.tokens).sum::<usize>()
    }

    /// How many messages the log itself removed from the context.
    pub(super) fn unread(&self) -> usize {
        self.messages.iter().filter(|message| !message.standing.is_read()).count()
    }

    /// Who wrote message `index`, which is also the name of its color: a person, the model, a tool or a program.
    pub(super) fn writer(&self, index: usize) -> &'static str {
        match writer(&self.messages[index]) {
            "person" if self.by_program[index] => "program",
            "person" if self.by_tool[index] => "tool",
            writer => writer,
        }
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

/// Who wrote a message: a person, the model, a tool or a program.
pub(super) fn writer(message: &Message<'_>) -> &'static str {
    writer_named(message.writer())
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

/// Whether each message answers an action that the model wrote as text, as in logs of SWE-agent.
fn by_tool(messages: &[Message<'_>]) -> Vec<bool> {
    let follow = messages
        .windows(2)
        .map(|pair| pair[0].role == Role::Assistant && has_action(&pair[0]) && !has_action(&pair[1]));
    std::iter::once(false).chain(follow).take(messages.len()).collect()
}

fn has_action(message: &Message<'_>) -> bool {
    message.value().is_some_and(|value| value.get_text("action").is_some())
}

/// Whether each message is a demonstration of SWE-agent or the summary of a compaction.
fn by_program(dialect: &'static dyn Dialect, layout: &Layout<'_>, messages: &[Message<'_>]) -> Vec<bool> {
    let changes = dialect.log().history(&layout.elements).into_iter();
    let compactions = changes.filter(|change| matches!(change.kind, ChangeKind::Compaction { .. }));
    let compactions: HashSet<u32> = compactions.map(|change| layout.elements[change.at].span().start).collect();
    let written = messages.iter().map(|message| {
        let Some(value) = message.value() else { return false };
        let is_demo = value.get("is_demo").is_some_and(|flag| flag.raw() == "true");
        is_demo || compactions.contains(&value.span().start)
    });
    written.collect()
}

fn moments(dialect: &'static dyn Dialect, messages: &[Message<'_>]) -> Vec<Option<Moment>> {
    messages.iter().map(|message| Moment::new(dialect.time(message.value()?)?)).collect()
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
    use super::{Exposed, Exposure};
    use curtail_core::dialects::{Framing, Reading};

    #[test]
    fn a_key_is_in_the_first_message_of_its_value() {
        let log = r#"[{"role":"user","content":"Look."},{"role":"user","content":"ghp_Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2WbY"}]"#;
        let reading = Reading::new(Framing::Document, Some("openai"), None).unwrap();
        let document = reading.parse(log).unwrap();
        let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
        let [first, second] = &transcript.messages[..] else { panic!("{:?}", transcript.messages) };
        let messages = [first, second, second].map(Clone::clone);
        let exposed = Exposed::new(&Exposure::of_text(log), &transcript.layout, &messages);
        assert_eq!(exposed.keys, [("GitHub token", Some(1))]);
    }

    /// What of `log` is named on a page of its last `count` messages.
    fn exposed_on_page(log: &str, count: usize) -> Exposed {
        let reading = Reading::new(Framing::Document, Some("openai"), None).unwrap();
        let document = reading.parse(log).unwrap();
        let (_, transcript) = &reading.transcripts(&document).unwrap()[0];
        let messages = &transcript.messages[transcript.messages.len() - count..];
        Exposed::new(&Exposure::of_text(log), &transcript.layout, messages)
    }

    /// A key that is in several places is counted once, and named where the page has it.
    #[test]
    fn only_keys_on_the_page_are_named() {
        let [one, other, third] = [1, 2, 3].map(|nth| format!("ghp_Zk3vQ9xLr7Tn2WbY5uHdZk3vQ9xLr7Tn2Wb{nth}"));
        let log = format!(
            r#"{{"note":"{third}","messages":[{{"role":"user","content":"{one} {other}"}},{{"role":"user","content":"{one}"}}],"tools":[{{"name":"{other}"}}]}}"#
        );
        let kind = "GitHub token";
        assert_eq!(exposed_on_page(&log, 2).keys, [(kind, Some(0)), (kind, Some(0))]);
        assert_eq!(exposed_on_page(&log, 1).keys, [(kind, Some(0)), (kind, None)]);
    }

    #[test]
    fn only_home_folders_on_the_page_are_counted() {
        let log = r#"{"note":"/home/eve/a","messages":[{"role":"user","content":"/home/ada/a /home/ada/b"},{"role":"user","content":"/home/ada/a /Users/bob/a"}]}"#;
        for (count, homes) in [(2, vec![("/Users/bob", 1), ("/home/ada", 3)]), (0, Vec::new())] {
            let exposed = exposed_on_page(log, count).homes;
            assert_eq!(exposed.iter().map(|(home, paths)| (home.as_str(), *paths)).collect::<Vec<_>>(), homes);
        }
    }
}
