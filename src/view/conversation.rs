//! Everything about a transcript that is drawn: its messages with their tokens, pairs, turns and findings, the context at each
//! request, and the effect of a policy.

use std::collections::HashMap;

use super::story::Story;
use super::visible::{Moment, line};
use curtail_core::checks::{Finding, Inspection, LineIndex, Verdicts};
use curtail_core::dialects::Dialect;
use curtail_core::explain::{Explained, explain};
use curtail_core::pipeline::{Chain, Stage};
use curtail_core::processors::{Counting, Plan, ProcessorError, View};
use curtail_core::transcript::{
    Content, Layout, Message, Origin, Pairs, Part, PartOrigin, PartRef, Role, Standing, Transcript, Usage, supersede,
    turn_starts,
};
use curtail_lab::calibration::sessions;
use curtail_lab::replay::Prices;

/// Where a transcript is in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its name: the file, and its line or number if the file has several transcripts.
    pub name: String,
    /// Number of the first line of the text that it was read from, from 1.
    pub line: usize,
    /// Bytes of the file before that text.
    pub offset: usize,
    /// Distinguishes the anchors of this transcript from those of others on the page; empty if there is one.
    pub anchor: String,
}

/// A chain whose effect is shown.
pub(crate) struct Policy {
    /// The chain.
    pub chain: Chain,
    /// The chain as the user wrote it.
    pub label: String,
}

/// The settings for drawing transcripts.
pub(crate) struct Sources<'s> {
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
}

/// A transcript with everything that is drawn of it.
pub(crate) struct Conversation<'a> {
    /// Where it is.
    pub place: Place,
    /// The name of its dialect.
    pub dialect: &'static str,
    /// The model that its log names first.
    pub model: Option<String>,
    /// The times of the first and the last item that have one, as ISO 8601.
    pub times: Option<(String, String)>,
    /// The name of the tokenizer.
    pub tokenizer: String,
    /// The messages, as they were read.
    pub messages: Vec<Message<'a>>,
    /// Tokens of every message, and of each of its parts.
    pub(super) costs: Vec<Cost>,
    /// Tokens outside the messages: instructions and tool definitions.
    pub outside: usize,
    pub(super) pairs: Pairs,
    /// The messages that begin turns.
    pub(super) turns: Vec<usize>,
    pub(super) findings: Vec<Finding>,
    pub(super) requests: Vec<Request>,
    /// The provider's counts that the log contains.
    pub(super) provided: Vec<Provided>,
    /// When each message was written.
    pub(super) moments: Vec<Option<Moment>>,
    /// Whether each message is the summary of a compaction: a program wrote it, although its role is user.
    pub(super) summaries: Vec<bool>,
    pub(super) story: Story,
    pub(super) effect: Option<Effect<'a>>,
}

/// Tokens of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Of the whole message.
    pub(super) tokens: usize,
    /// Of each part.
    pub(super) parts: Vec<usize>,
}

impl Cost {
    pub(super) fn from_message(message: &Message<'_>, counting: &Counting) -> Self {
        let parts: Vec<usize> = message.parts.iter().map(|part| counting.content(&part.content)).collect();
        let frame = counting.message_without(message, |_| true);
        Self { tokens: frame + parts.iter().sum::<usize>(), parts }
    }
}

impl<'a> Conversation<'a> {
    /// Counts, checks and, if there is a policy, cuts `transcript`, which was read from `text`.
    ///
    /// # Errors
    /// The policy cannot decide.
    pub(crate) fn from_transcript(
        place: Place,
        dialect: &'static dyn Dialect,
        mut transcript: Transcript<'a>,
        sources: &Sources<'_>,
    ) -> Result<Self, ProcessorError> {
        let Sources { counting, policy, .. } = *sources;
        let findings = findings(dialect, &mut transcript, sources, &place);
        let usages = LoggedUsages::new(dialect, &transcript);
        let Transcript { layout, messages } = transcript;
        let costs: Vec<Cost> = messages.iter().map(|message| Cost::from_message(message, counting)).collect();
        let outside = counting.outside(&View::of_layout(&layout, &messages));
        let requests = requests(&messages, &costs, outside);
        let times = times(dialect, &layout);
        let model = layout.elements.iter().find_map(|item| dialect.model(*item));
        let model = model.map(|model| model.decode().into_owned());
        let moments = moments(dialect, &messages);
        let pairs = Pairs::from_messages(&messages);
        let replaces = |message: &Message<'_>| message.value().is_some_and(|value| dialect.replaces_past(value));
        let summaries: Vec<bool> = messages.iter().map(replaces).collect();
        let story = Story::new(dialect, &layout.elements, &messages, &costs, &summaries, &pairs, &moments)
            .priced(&usages, sources.prices);
        let recorded =
            Recorded { layout: &layout, messages: &messages, costs: &costs, requests: &requests, counting, outside };
        let effect = policy.map(|policy| recorded.effect(policy)).transpose()?;
        Ok(Self {
            dialect: dialect.name(),
            model,
            times,
            tokenizer: counting.tokenizer.name().to_owned(),
            pairs,
            provided: usages.provided,
            moments,
            summaries,
            story,
            turns: turn_starts(&messages),
            costs,
            outside,
            findings,
            requests,
            effect,
            messages,
            place,
        })
    }

    /// Tokens of all messages and of what is outside them.
    pub(crate) fn tokens(&self) -> usize {
        self.outside + self.costs.iter().map(|cost| cost.tokens).sum::<usize>()
    }

    /// Tokens that the model still reads: those of messages that were neither replaced by a boundary nor rolled back.
    pub(crate) fn live_tokens(&self) -> usize {
        let read = self.messages.iter().zip(&self.costs).filter(|(message, _)| message.standing.is_read());
        self.outside + read.map(|(_, cost)| cost.tokens).sum::<usize>()
    }

    /// Who wrote message `index`, which is also the name of its color: a person, the model, a tool or a program.
    pub(super) fn writer(&self, index: usize) -> &'static str {
        match writer(&self.messages[index]) {
            "person" if self.summaries[index] => "program",
            writer => writer,
        }
    }

    /// The id of the element of message `index`.
    pub(super) fn anchor(&self, index: usize) -> String {
        format!("{}m{index}", self.place.anchor)
    }

    /// What a policy does to message `at`, if there is one.
    pub(super) fn fate(&self, at: usize) -> Option<&Fate> {
        self.effect.as_ref().map(|effect| &effect.fates[at])
    }

    /// The messages that a policy wrote before message `at`; after the last message, if there is none at `at`.
    pub(super) fn drafts(&self, at: usize) -> &[Drafted<'a>] {
        let drafts = self.effect.as_ref().map_or(&[][..], |effect| &effect.drafts);
        let from = drafts.partition_point(|draft| draft.before < at);
        &drafts[from..drafts.partition_point(|draft| draft.before <= at)]
    }

    /// The name of the tool that a call or result belongs to.
    pub(super) fn tool(&self, at: PartRef) -> String {
        tool_name(&self.messages, &self.pairs, at)
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

/// The name of the tool that a call or result belongs to; `?` if nothing names it.
pub(crate) fn tool_name(messages: &[Message<'_>], pairs: &Pairs, at: PartRef) -> String {
    let content = |at: PartRef| &messages[at.message].parts[at.part].content;
    let paired_call = || pairs.counterpart(at).and_then(|other| content(other).call());
    let result_name = content(at).result().and_then(|result| result.name.as_ref());
    let name = content(at).call().or_else(paired_call).map(|call| &call.name).or(result_name);
    name.map_or_else(|| String::from("?"), |name| name.decode().into_owned())
}

/// Who wrote a message: a person, the model, a tool or a program.
pub(super) fn writer(message: &Message<'_>) -> &'static str {
    match message.writer() {
        "user" => "person",
        "assistant" => "model",
        "tool" => "tool",
        _ => "program",
    }
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

fn times(dialect: &'static dyn Dialect, layout: &Layout<'_>) -> Option<(String, String)> {
    let first = layout.elements.iter().find_map(|item| dialect.time(*item))?;
    let last = layout.elements.iter().rev().find_map(|item| dialect.time(*item))?;
    Some((first, last))
}

// The size of the context at each request to the model: by our count, and by the provider's.

/// A request to the model: everything before one of its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Index of the first message of the reply.
    pub(super) message: usize,
    /// Tokens before it, from the last boundary on.
    pub(super) tokens: usize,
}

/// The requests of a transcript. Assistant messages in a row are one reply.
pub(super) fn requests(messages: &[Message<'_>], costs: &[Cost], outside: usize) -> Vec<Request> {
    let mut sums: HashMap<u32, (usize, Option<Role>)> = HashMap::new();
    let mut requests = Vec::new();
    for (at, (message, cost)) in messages.iter().zip(costs).enumerate() {
        let (sum, last) = sums.entry(message.thread).or_insert((outside, None));
        if message.closes_calls() {
            *sum = outside;
        }
        if message.role == Role::Assistant && *last != Some(Role::Assistant) {
            requests.push(Request { message: at, tokens: *sum });
        }
        *sum += cost.tokens;
        *last = Some(message.role);
    }
    requests
}

/// At most `most` of the requests, evenly spaced, with the first and the last.
pub(super) fn sample(requests: &[Request], most: usize) -> Vec<Request> {
    if requests.len() <= most {
        return requests.to_vec();
    }
    (0..most).map(|nth| requests[nth * (requests.len() - 1) / (most - 1)]).collect()
}

/// The provider's counts for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Provided {
    /// Index of the first message of the reply.
    pub(super) message: usize,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
}

/// The provider's counts in a log.
#[derive(Debug, Default)]
pub(super) struct LoggedUsages {
    /// In the order of the messages.
    pub(super) provided: Vec<Provided>,
    /// The number of requests, counted or not.
    pub(super) requests: usize,
}

impl LoggedUsages {
    fn new(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Self {
        let mut usages = Self::default();
        if dialect.usages(&transcript.layout.elements).iter().flatten().all(|usage| usage.input == 0) {
            return usages;
        }
        for session in sessions(dialect, transcript) {
            usages.requests += session.requests.len();
            for request in session.requests {
                let Some(usage) = request.usage.filter(|usage| usage.input > 0) else { continue };
                let message = session.messages[request.at];
                usages.provided.push(Provided { message, usage, model: request.model });
            }
        }
        usages.provided.sort_by_key(|request| request.message);
        usages
    }
}

// What a policy does to a transcript: the fate of every message, and the messages that it writes.

/// How many requests the policy is applied to for its curve.
const SAMPLES: usize = 64;

/// What a policy does.
pub(super) struct Effect<'a> {
    /// The policy as the user wrote it.
    pub(super) label: String,
    /// The fate of every message that was read.
    pub(super) fates: Vec<Fate>,
    /// The messages that the policy wrote.
    pub(super) drafts: Vec<Drafted<'a>>,
    /// Notes of the processors.
    pub(super) notes: Vec<String>,
    /// Messages after the policy.
    pub(super) messages: usize,
    /// Tokens after the policy.
    pub(super) tokens: usize,
    /// Tokens that the policy would have sent, at some of the requests.
    pub(super) requests: Vec<Request>,
}

/// The fate of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) state: State,
    /// What was done and why, for each decision about it.
    pub(super) reasons: Vec<String>,
    /// Its tokens after the policy.
    pub(super) tokens: usize,
    /// The fates of its parts.
    pub(super) parts: Vec<PartFate>,
}

/// Whether a message is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Kept,
    Changed,
    Dropped,
}

impl State {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
        }
    }
}

/// The fate of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartFate {
    Kept,
    Dropped,
    /// It has this text now.
    Rewritten(String),
}

/// A message that the policy wrote.
pub(super) struct Drafted<'a> {
    /// Index of the message that follows it.
    pub(super) before: usize,
    pub(super) message: Message<'a>,
    pub(super) tokens: usize,
}

impl Effect<'_> {
    /// Tokens after the policy that a model reads: without messages that the log itself removed from the context.
    pub(super) fn live_tokens(&self, messages: &[Message<'_>], outside: usize) -> usize {
        let read = messages.iter().zip(&self.fates).filter(|(message, _)| message.standing.is_read());
        let drafts = self.drafts.iter().map(|draft| draft.tokens);
        outside + read.map(|(_, fate)| fate.tokens).chain(drafts).sum::<usize>()
    }

    /// How many messages have this state.
    pub(super) fn count(&self, state: State) -> usize {
        self.fates.iter().filter(|fate| fate.state == state).count()
    }
}

/// A transcript as it was recorded.
struct Recorded<'r, 'a> {
    layout: &'r Layout<'a>,
    messages: &'r [Message<'a>],
    costs: &'r [Cost],
    requests: &'r [Request],
    counting: &'r Counting,
    /// Tokens outside the messages.
    outside: usize,
}

impl<'a> Recorded<'_, 'a> {
    /// Applies `policy` to the messages, and to the history before some of the requests.
    fn effect(&self, policy: &Policy) -> Result<Effect<'a>, ProcessorError> {
        let mut reasons: HashMap<usize, Vec<String>> = HashMap::new();
        let several = policy.chain.stages.len() > 1;
        let watch = |stage: &Stage, messages: &[Message<'a>], plan: &Plan| {
            for explained in explain(messages, plan) {
                let Explained { message, action, reason, .. } = &explained;
                let by = if several { format!(" by {}", stage.label()) } else { String::new() };
                let words = if several { format!("{action}{by}: {reason}") } else { explained.outcome() };
                reasons.entry(message.unwrap_or(usize::MAX)).or_default().push(words);
            }
        };
        let run = policy.chain.run(self.layout, self.messages.to_vec(), watch)?;
        let (fates, drafts) = self.fates_and_drafts(&run.messages, reasons);
        let kept = fates.iter().map(|fate| fate.tokens).chain(drafts.iter().map(|draft| draft.tokens));
        let tokens = self.outside + kept.sum::<usize>();
        let (label, notes, requests) = (policy.label.clone(), run.notes, self.curve(policy)?);
        Ok(Effect { label, fates, drafts, notes, messages: run.messages.len(), tokens, requests })
    }

    fn fates_and_drafts(
        &self,
        after: &[Message<'a>],
        mut reasons: HashMap<usize, Vec<String>>,
    ) -> (Vec<Fate>, Vec<Drafted<'a>>) {
        let Self { messages: before, costs, counting, .. } = *self;
        let dropped = |message: &Message<'_>| Fate {
            state: State::Dropped,
            reasons: Vec::new(),
            tokens: 0,
            parts: vec![PartFate::Dropped; message.parts.len()],
        };
        let mut fates: Vec<Fate> = before.iter().map(dropped).collect();
        let mut drafts = Vec::new();
        let mut follows = before.len();
        for message in after.iter().rev() {
            if let Some(index) = message.source_index() {
                fates[index] = fate(&before[index], message, costs[index].tokens, counting);
                follows = index;
            } else {
                let tokens = counting.message(message);
                drafts.push(Drafted { before: follows, message: message.clone(), tokens });
            }
        }
        drafts.reverse();
        // A draft after a message that the policy moved stays behind the drafts before it.
        let mut last = 0;
        for draft in &mut drafts {
            last = draft.before.max(last);
            draft.before = last;
        }
        for (at, fate) in fates.iter_mut().enumerate() {
            fate.reasons = reasons.remove(&at).unwrap_or_default();
        }
        (fates, drafts)
    }

    /// What the policy would have sent at some of the requests. Each time, it sees the history as recorded.
    fn curve(&self, policy: &Policy) -> Result<Vec<Request>, ProcessorError> {
        let mut curve = Vec::new();
        for Request { message, .. } in sample(self.requests, SAMPLES) {
            let run = policy.chain.run(self.layout, history_at(self.messages, message), |_, _, _| {})?;
            let tokens = run.messages.iter().map(|message| match message.source_index() {
                Some(index) if is_unchanged(message) => self.costs[index].tokens,
                _ => self.counting.message(message),
            });
            curve.push(Request { message, tokens: self.outside + tokens.sum::<usize>() });
        }
        Ok(curve)
    }
}

fn fate<'a>(before: &Message<'a>, after: &Message<'a>, tokens: usize, counting: &Counting) -> Fate {
    if is_unchanged(after) && before.parts.len() == after.parts.len() {
        let state = if matches!(after.origin, Origin::Moved(_)) { State::Changed } else { State::Kept };
        return Fate { state, reasons: Vec::new(), tokens, parts: vec![PartFate::Kept; before.parts.len()] };
    }
    let parts = before.parts.iter().map(|part| part_fate(part, after)).collect();
    Fate { state: State::Changed, reasons: Vec::new(), tokens: counting.message(after), parts }
}

fn is_unchanged(message: &Message<'_>) -> bool {
    message.cut.is_empty() && message.parts.iter().all(|part| matches!(part.origin, PartOrigin::Source(_)))
}

fn part_fate<'a>(part: &Part<'a>, after: &Message<'a>) -> PartFate {
    let kind = std::mem::discriminant(&part.content);
    let place = part.place().map(|place| place.element);
    let same = |other: &Part<'a>| {
        std::mem::discriminant(&other.content) == kind && other.place().map(|place| place.element) == place
    };
    match after.parts.iter().find(|other| same(other)) {
        None => PartFate::Dropped,
        Some(Part { content, origin: PartOrigin::Rewritten(_) }) => PartFate::Rewritten(texts(content).join("\n")),
        Some(_) => PartFate::Kept,
    }
}

/// The texts of a part that a policy wrote or changed.
pub(super) fn texts(content: &Content<'_>) -> Vec<String> {
    match content {
        Content::Text(text) | Content::Reasoning(text) => vec![text.decode().into_owned()],
        Content::ToolResult(result) => result.content.iter().map(|text| text.decode().into_owned()).collect(),
        _ => Vec::new(),
    }
}

/// The first `count` messages of `all`, as they were before later boundaries.
fn history_at<'a>(all: &[Message<'a>], count: usize) -> Vec<Message<'a>> {
    let mut messages = all[..count].to_vec();
    if all[count..].iter().any(Message::is_boundary) {
        for message in messages.iter_mut().filter(|message| !message.standing.is_rolled_back()) {
            message.standing = Standing::Live;
        }
        supersede(&mut messages);
    }
    messages
}
