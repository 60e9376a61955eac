//! Groups messages into interactions, the unit of a rolling memory, and collects what a summarizer reads of them.
//!
//! Messages are read in order and never ahead, so a transcript that arrives in parts has the same interactions as a whole
//! one.

use std::collections::HashSet;
use std::ops::Range;

use super::{InteractionRange, RollingSummary, RollingView};
use crate::summarizers::{Budget, Speaker, Utterance, clip};
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Pairs, PartRef, Role, ToolResult, own_blocks};
use curtail_facts::{Facts, is_typed};

/// What one interaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counted {
    /// A message of the user or the assistant with text or media.
    #[default]
    Message,
    /// A user message with text or media, and everything that answers it.
    Exchange,
}

impl Counted {
    /// The name that `--unit` accepts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Exchange => "exchange",
        }
    }
}

/// One interaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// The index of its first message. Messages with only tool calls or results belong to the next interaction.
    pub start: usize,
    /// The index after the message that completes it: a message with text or media, or the last result of its calls; for an
    /// exchange, the first answer that calls no tools.
    pub arrived: usize,
    /// The indices of its messages with text or media.
    pub utterances: Vec<usize>,
}

/// The interactions of `messages`, without the messages for which `skip` is true, such as earlier summaries. Messages of a
/// subagent form no interaction; they belong to the one during which they appear.
///
/// ```text
/// 0 user   1 assistant "Let me look", calls a   2 result of a   3 assistant calls b   4 result of b   5 assistant "Done"
/// Message:  [0]  [1, 2]  [3, 4, 5]         interaction 2 is complete with the result of a; 3 and 4 belong to the next text
/// Exchange: [0 ..= 5]                      it is complete with 5, the first answer without calls
/// ```
pub(super) fn interactions(
    messages: &[Message<'_>],
    counted: Counted,
    skip: &dyn Fn(usize) -> bool,
) -> Vec<Interaction> {
    let pairs = Pairs::from_messages(messages);
    let mut grouper = Grouper { counted, pairs: &pairs, complete: Vec::new(), open: None, next: 0 };
    for (at, message) in messages.iter().enumerate() {
        if !skip(at) {
            grouper.take(at, message);
        }
    }
    grouper.complete
}

/// An interaction that has begun and is not complete.
struct Open {
    start: usize,
    utterances: Vec<usize>,
    /// Calls whose results it waits for.
    waiting: HashSet<PartRef>,
}

struct Grouper<'p> {
    counted: Counted,
    pairs: &'p Pairs,
    complete: Vec<Interaction>,
    open: Option<Open>,
    /// Index of the first message of the next interaction.
    next: usize,
}

impl Grouper<'_> {
    fn take(&mut self, at: usize, message: &Message<'_>) {
        let is_main = message.thread == 0;
        let user = is_main && message.has_text_as(Role::User);
        let assistant = is_main && message.has_text_as(Role::Assistant);
        match self.counted {
            Counted::Message if user || assistant => self.begin(at, message),
            Counted::Exchange if user => self.begin(at, message),
            Counted::Exchange if assistant => self.answer(at, message),
            _ => self.add_results(at, message),
        }
    }

    /// Begins an interaction. An open one ends here, even if results are missing.
    fn begin(&mut self, at: usize, message: &Message<'_>) {
        self.close(at);
        let start = if self.counted == Counted::Exchange && !self.complete.is_empty() { at } else { self.next };
        let waiting = unanswered(at, message, self.pairs);
        let is_complete = self.counted == Counted::Message && waiting.is_empty();
        self.open = Some(Open { start, utterances: vec![at], waiting });
        if is_complete {
            self.close(at + 1);
        }
    }

    /// Adds an assistant message to an exchange. After the final answer the exchange is complete, and further messages still
    /// belong to it.
    fn answer(&mut self, at: usize, message: &Message<'_>) {
        let is_final = unanswered(at, message, self.pairs).is_empty();
        match (&mut self.open, self.complete.last_mut()) {
            (Some(open), _) => {
                open.utterances.push(at);
                if is_final {
                    self.close(at + 1);
                }
            }
            (None, Some(last)) => last.utterances.push(at),
            (None, None) => {}
        }
    }

    /// Records results; the last result that the open interaction waits for completes it.
    fn add_results(&mut self, at: usize, message: &Message<'_>) {
        let Some(open) = &mut self.open else { return };
        for (part, _) in message.results() {
            if let Some(call) = self.pairs.counterpart(PartRef { message: at, part }) {
                open.waiting.remove(&call);
            }
        }
        if self.counted == Counted::Message && open.waiting.is_empty() {
            self.close(at + 1);
        }
    }

    fn close(&mut self, arrived: usize) {
        if let Some(Open { start, utterances, .. }) = self.open.take() {
            self.next = arrived;
            self.complete.push(Interaction { start, arrived, utterances });
        }
    }
}

/// The calls of a message that have no result in the same message.
fn unanswered(at: usize, message: &Message<'_>, pairs: &Pairs) -> HashSet<PartRef> {
    message
        .calls()
        .filter(|(_, call)| !call.hosted)
        .map(|(part, _)| PartRef { message: at, part })
        .filter(|&call| pairs.counterpart(call).is_none_or(|result| result.message != at))
        .collect()
}

// The input of a summary: the messages that it covers, and the facts in front of it.

/// The input of one summary.
#[derive(Debug, Clone)]
pub struct SummaryInput<'m> {
    /// The interactions that it covers.
    pub span: InteractionRange,
    /// The facts up to the end of these interactions.
    pub facts: Facts,
    /// The facts as text; empty if there are none.
    pub head: String,
    /// The utterances to summarize, after the facts if there are any.
    pub utterances: Vec<Utterance<'m>>,
    /// The tokens that the summarizer may use besides the facts.
    pub tokens: usize,
}

impl SummaryInput<'_> {
    /// The facts, followed by `text`, which the summarizer made, within `budget`.
    pub(super) fn summary(&self, mut text: String, budget: &Budget<'_>) -> String {
        if self.head.is_empty() {
            return text;
        }
        let mut tokens = self.tokens;
        loop {
            let whole = if text.is_empty() { self.head.clone() } else { format!("{}\n{text}", self.head) };
            if text.is_empty() || budget.holds(&whole) {
                return whole;
            }
            // Two texts may have more tokens together than apart.
            tokens = tokens.saturating_sub(2);
            text = if tokens == 0 { String::new() } else { clip(&text, &Budget { tokens, ..*budget }) };
        }
    }
}

impl RollingSummary {
    /// The input of the summary of each of the ranges `due`.
    pub fn inputs<'m>(
        &self,
        messages: &'m [Message<'_>],
        rolling: &RollingView,
        due: &[InteractionRange],
    ) -> Vec<SummaryInput<'m>> {
        let count = |text: &str| self.tokenizer.count(text);
        let pairs = Pairs::from_messages(messages);
        let input = |(span, (facts, carried)): (&InteractionRange, (Facts, bool))| {
            let head = facts.text(self.tokens * self.summarizer.facts_share() / 100, carried, &count);
            let tokens = self.tokens.saturating_sub(if head.is_empty() { 0 } else { count(&head) + 1 });
            let mut utterances = utterances(messages, &pairs, self.covered(rolling, *span));
            utterances.retain(is_summarized);
            if !head.is_empty() {
                utterances.insert(0, Utterance::new(Speaker::Facts, head.clone()));
            }
            SummaryInput { span: *span, facts, head, utterances, tokens }
        };
        due.iter().zip(self.facts(messages, &pairs, rolling, due)).map(input).collect()
    }

    /// The facts up to the end of each of the ranges `due`, and whether a summary precedes the range. Messages are read up to the
    /// end of one summary after the other, even if some of these summaries are not made, so that the facts do not depend on
    /// how many messages arrived at once.
    fn facts(
        &self,
        messages: &[Message<'_>],
        pairs: &Pairs,
        rolling: &RollingView,
        due: &[InteractionRange],
    ) -> Vec<(Facts, bool)> {
        let arrived = |number| rolling.interaction(number).map_or(0, |interaction| interaction.arrived);
        let known = rolling.memory.summaries.last();
        let (mut facts, seen) =
            known.map_or_else(Default::default, |summary| (summary.facts.clone(), summary.range.span.end));
        let mut start = arrived(seen);
        facts.messages = facts.messages.max(start);
        let mut found = Vec::new();
        for (nth, number) in self.ends(rolling, seen).into_iter().enumerate() {
            let end = arrived(number).max(start);
            facts.read_range(messages, pairs, start..end);
            start = end;
            if due.iter().any(|span| span.end == number) {
                found.push((facts.clone(), known.is_some() || nth > 0));
            }
        }
        found
    }

    /// The facts and the utterances of all `messages`.
    pub fn whole<'m>(&self, messages: &'m [Message<'_>]) -> (Facts, Vec<Utterance<'m>>) {
        let pairs = Pairs::from_messages(messages);
        let mut facts = Facts::default();
        facts.read_range(messages, &pairs, 0..messages.len());
        let mut spoken = utterances(messages, &pairs, 0..messages.len());
        spoken.retain(is_summarized);
        (facts, spoken)
    }

    /// The indices of the messages to summarize for the interactions `span`: everything after the previous summary, calls and
    /// results included.
    fn covered(&self, rolling: &RollingView, span: InteractionRange) -> Range<usize> {
        let follows_summary = self.trigger.is_some() || self.rolling.due(span.start - 1).is_some();
        let before = rolling.interaction(span.start - 1).filter(|_| follows_summary);
        let start = before.map_or_else(
            || rolling.interaction(span.start).map_or(0, |interaction| interaction.start),
            |before| before.arrived,
        );
        start..rolling.interaction(span.end).map_or(start, |interaction| interaction.arrived)
    }
}

/// Whether an utterance is passed to the summarizer: it has text, or it is a result, which may be empty.
fn is_summarized(utterance: &Utterance<'_>) -> bool {
    !utterance.text.is_empty() || matches!(utterance.speaker, Speaker::Tool(_))
}

// Messages as a summarizer reads them: speakers and texts, calls and results included.

/// Text in place of an image or a file.
const MEDIA: &str = "(an image or a file)";

/// The utterances of the messages of `range`, without instructions and blocks of this program, which are kept in
/// any case, and without reasoning and turns that were taken back, which are not part of the conversation.
pub(super) fn utterances<'m>(messages: &'m [Message<'_>], pairs: &Pairs, range: Range<usize>) -> Vec<Utterance<'m>> {
    let messages_in_range = messages.iter().enumerate().take(range.end).skip(range.start);
    messages_in_range
        .filter(|(_, message)| !message.role.instructs() && !message.standing.is_rolled_back())
        .flat_map(|(at, message)| {
            (own_blocks(message)..message.parts.len()).map(move |part| PartRef { message: at, part })
        })
        .filter_map(|part| utterance(messages, pairs, part))
        .collect()
}

fn utterance<'m>(messages: &'m [Message<'_>], pairs: &Pairs, at: PartRef) -> Option<Utterance<'m>> {
    let message = &messages[at.message];
    let speaker = match message.role {
        Role::User if message.automatic || message.is_boundary() => Speaker::System,
        Role::User => Speaker::User,
        Role::Tool => Speaker::Tool(String::new()),
        _ => Speaker::Assistant,
    };
    match &message.parts[at.part].content {
        Content::Text(text) if text.is_blank() => None,
        Content::Text(text) => {
            let text = text.decode();
            let by_program = speaker == Speaker::User && !is_typed(&text);
            Some(Utterance::new(if by_program { Speaker::System } else { speaker }, text))
        }
        Content::ToolCall(call) => {
            Some(Utterance::new(Speaker::Call(call.name.decode().into_owned()), call.arguments.decode()))
        }
        Content::ToolResult(result) => Some(result_utterance(messages, pairs, at, result)),
        Content::Media(_) => Some(Utterance::new(speaker, MEDIA)),
        Content::Reasoning(_) | Content::Unknown(_) | Content::Other => None,
    }
}

/// A result, with the name of its tool, which most formats write only into the call.
fn result_utterance<'m>(
    messages: &[Message<'_>],
    pairs: &Pairs,
    at: PartRef,
    result: &'m ToolResult<'_>,
) -> Utterance<'m> {
    let call = pairs.counterpart(at).map(|call| &messages[call.message].parts[call.part].content);
    let name_in_call = call.and_then(Content::call).map(|call| &call.name);
    let name = name_in_call.or(result.name.as_ref()).map_or_else(String::new, |name| name.decode().into_owned());
    let mut texts: Vec<_> = result.content.iter().map(Text::decode).collect();
    texts.extend(std::iter::repeat_n(MEDIA.into(), result.media));
    let text = if texts.len() == 1 { texts.remove(0) } else { texts.join("\n").into() };
    Utterance::new(Speaker::Tool(name), text)
}
