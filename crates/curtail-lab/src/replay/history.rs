//! The messages of a session, with what is computed once for all policies: digests, token counts, pairs and references.

use std::ops::Range;

use foldhash::HashMap;

use crate::links::{Link, Links, MessageStats};
use crate::requests::Session;
use curtail_core::dialects::Dialect;
use curtail_core::processors::{Counting, View};
use curtail_core::steps;
use curtail_core::transcript::{Message, Pairs, Part, Role, Standing, Transcript, segments};
use curtail_facts::references::Index;

/// The history of a session. A *position* is an index into its messages.
pub(super) struct History<'a> {
    /// The messages, in order, as the model read them when they were new.
    pub(super) messages: Vec<Message<'a>>,
    /// Digest, tokens and blocks of each message.
    pub(super) stats: Vec<MessageStats>,
    /// Digests and sums of the messages before each position.
    pub(super) links: Links,
    /// For each position, the first one from it on whose message gives no instructions.
    pub(super) after_instructions: Vec<usize>,
    /// The position of each message that belongs to the session, by its index in the transcript.
    by_index: HashMap<usize, usize>,
    /// Our count of the instructions outside the messages.
    pub(super) outside: u64,
    /// The references of every message.
    pub(super) index: Index,
    /// Positions where a segment of the original messages begins: no pair is open there.
    pub(super) joints: Vec<usize>,
    /// For each position whose message may continue an in-flight round, the positions of the calls that it answers.
    pub(super) answers: Vec<Option<Vec<usize>>>,
    /// Positions of messages that contain instructions: a policy may keep those, whatever it drops around them.
    pub(super) instructions: Vec<usize>,
    /// Positions of the original messages: all but summaries and others that replace earlier messages.
    pub(super) originals: Vec<usize>,
    /// Positions of messages with results that belong to no call.
    unpaired: Vec<usize>,
    /// Whether no message affects how others are treated: none replaces earlier ones, is dropped with another, or keeps the
    /// question that led to it while its call waits, and only messages whose role gives instructions contain any.
    pub(super) plain: bool,
    /// For each position, whether its message has no text of a user or an assistant, nor has any message whose calls it
    /// answers.
    pub(super) silent: Vec<bool>,
    /// For each position, what was said last before it.
    pub(super) last_texts: Vec<LastTexts>,
}

/// The positions of the last messages of some kinds.
#[derive(Clone, Copy, Default)]
pub(super) struct LastTexts {
    /// The last one with text of a user.
    user: Option<usize>,
    /// The last one with text of an assistant.
    assistant: Option<usize>,
    /// The last one that begins a turn.
    pub(super) prompt: Option<usize>,
    /// The last one that begins a turn while no pair is open.
    pub(super) opening: Option<usize>,
}

impl LastTexts {
    /// Whether one of them is before `position`.
    pub(super) fn is_any_before(&self, position: usize) -> bool {
        let Self { user, assistant, prompt, opening } = *self;
        [user, assistant, prompt, opening].into_iter().flatten().any(|last| last < position)
    }
}

impl<'a> History<'a> {
    /// The history of `session` in `transcript`; `live` if policies see the compactions of the log.
    pub(super) fn new(
        dialect: &dyn Dialect,
        transcript: &Transcript<'a>,
        session: &Session,
        counting: &Counting,
        live: bool,
    ) -> Self {
        let messages: Vec<Message<'a>> =
            session.messages.iter().map(|&at| as_new(&transcript.messages[at], live)).collect();
        let view = View::of_layout(&transcript.layout, &messages);
        let outside = counting.outside(&view) as u64;
        let mut index = Index::default();
        let mut stats = Vec::with_capacity(messages.len());
        for (at, message) in messages.iter().enumerate() {
            index.add(at, message);
            let mut tokens = counting.message(message) as u64;
            // The transcript no longer contains the message list of a compaction that a later one superseded.
            for replacement in message.value().into_iter().flat_map(|item| dialect.log().replacement(item)) {
                tokens += counting.message(&replacement) as u64;
                index.add(at, &replacement);
            }
            stats.push(MessageStats::from_message(message, tokens));
        }
        let originals: Vec<usize> = (0..messages.len()).filter(|&at| !session.summaries[at]).collect();
        let original_messages: Vec<Message<'_>> = originals.iter().map(|&at| messages[at].clone()).collect();
        let pairs = Pairs::from_messages(&original_messages);
        let segments = segments(&original_messages, &pairs).into_iter();
        let joints: Vec<usize> = segments.map(|segment| originals[segment.start]).collect();
        let answers = answers(&messages, &originals, &pairs);
        Self {
            silent: silent(&messages, &answers),
            unpaired: unpaired(&originals, &pairs),
            plain: original_messages.iter().all(is_plain),
            links: Links::new(&stats),
            after_instructions: after_instructions(&messages),
            answers,
            instructions: (0..messages.len()).filter(|&at| instructs(&messages[at])).collect(),
            last_texts: last_texts(&messages, session, &joints),
            joints,
            by_index: session.messages.iter().enumerate().map(|(position, &at)| (at, position)).collect(),
            originals,
            messages,
            stats,
            outside,
            index,
        }
    }

    /// Copies of the messages at `positions`.
    pub(super) fn messages_at(&self, positions: &[usize]) -> Vec<Message<'a>> {
        steps::count(positions.len());
        positions.iter().map(|&at| self.messages[at].clone()).collect()
    }

    /// The positions of original messages in `range`.
    pub(super) fn originals_in(&self, range: Range<usize>) -> &[usize] {
        let start = self.originals.partition_point(|&at| at < range.start);
        let end = self.originals.partition_point(|&at| at < range.end);
        &self.originals[start..end]
    }

    /// The positions of original messages before `end` that contain instructions.
    pub(super) fn instructions_before(&self, end: usize) -> impl Iterator<Item = usize> {
        let before = self.instructions.partition_point(|&at| at < end);
        self.instructions[..before].iter().copied().filter(|at| self.originals.binary_search(at).is_ok())
    }

    /// The positions of original messages before `end`: those from `from` on, and instructions.
    pub(super) fn positions(&self, from: usize, end: usize) -> Vec<usize> {
        self.instructions_before(from).chain(self.originals_in(from..end).iter().copied()).collect()
    }

    /// Whether the message before `end` may be part of a round that is in flight.
    pub(super) fn ends_in_round(&self, end: usize) -> bool {
        let last = end.checked_sub(1);
        last.is_some_and(|last| self.answers[last].is_some() && self.messages[last].has_tools())
    }

    /// Our count of the messages at `positions`.
    pub(super) fn tokens(&self, positions: Range<usize>) -> u64 {
        if positions.is_empty() { 0 } else { self.links.link(Link::default(), positions).tokens }
    }

    /// Whether all results at `positions` belong to calls. How a cut treats other results depends on the messages
    /// before it.
    pub(super) fn is_paired(&self, positions: Range<usize>) -> bool {
        let next = self.unpaired.partition_point(|&at| at < positions.start);
        self.unpaired.get(next).is_none_or(|at| *at >= positions.end)
    }

    /// Whether a message is dropped with another one, or keeps another one.
    pub(super) fn has_dependent(&self) -> bool {
        self.messages.iter().any(|message| message.dropped_with.is_some() || waits(message))
    }

    /// The position of a message that a policy kept.
    pub(super) fn position(&self, message: &Message<'_>) -> Option<usize> {
        message.source_index().and_then(|at| self.by_index.get(&at)).copied()
    }
}

/// A message as it was before anything superseded it or rolled it back.
fn as_new<'a>(message: &Message<'a>, live: bool) -> Message<'a> {
    let mut message = message.clone();
    message.standing = Standing::Live;
    if !live {
        message.clear_boundary();
    }
    message
}

/// The positions of the calls that each message answers; `None` for messages that may end a round, or that are paired
/// with a later call. `pairs` are those of the messages at `originals`.
fn answers(messages: &[Message<'_>], originals: &[usize], pairs: &Pairs) -> Vec<Option<Vec<usize>>> {
    let mut answers = vec![None; messages.len()];
    for &at in originals {
        let message = &messages[at];
        let continues = (message.has_tools() || message.is_bound()) && !message.begins_turn();
        answers[at] = continues.then(Vec::new);
    }
    for call in pairs.calls() {
        if pairs.counterpart(*call).is_some_and(|result| result.message < call.message) {
            answers[originals[call.message]] = None;
        }
    }
    for result in pairs.results() {
        let answered = &mut answers[originals[result.message]];
        let Some(call) = pairs.counterpart(*result).filter(|call| call.message <= result.message) else {
            *answered = None;
            continue;
        };
        if let Some(calls) = answered {
            calls.push(originals[call.message]);
        }
    }
    answers
}

fn unpaired(originals: &[usize], pairs: &Pairs) -> Vec<usize> {
    let unpaired = pairs.results().iter().filter(|result| pairs.counterpart(**result).is_none());
    let mut unpaired: Vec<usize> = unpaired.map(|result| originals[result.message]).collect();
    unpaired.dedup();
    unpaired
}

/// Whether a message contains instructions, alone or next to other parts.
pub(super) fn instructs(message: &Message<'_>) -> bool {
    message.role.instructs() || message.parts.iter().any(Part::instructs)
}

/// Whether a call of it waits for its answer, and keeps the question that led to it.
fn waits(message: &Message<'_>) -> bool {
    message.calls().any(|(_, call)| call.waits)
}

fn is_plain(message: &Message<'_>) -> bool {
    let affects = message.is_in_compaction() || message.is_boundary() || message.dropped_with.is_some();
    !affects && !waits(message) && (message.role.instructs() || !instructs(message))
}

fn after_instructions(messages: &[Message<'_>]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..=messages.len()).collect();
    for at in (0..messages.len()).rev().filter(|&at| messages[at].role.instructs()) {
        first[at] = first[at + 1];
    }
    first
}

fn silent(messages: &[Message<'_>], answers: &[Option<Vec<usize>>]) -> Vec<bool> {
    let texts = messages.iter().map(|message| [Role::User, Role::Assistant].map(|role| message.has_text_as(role)));
    let texts: Vec<bool> = texts.map(|[asked, answered]| asked || answered).collect();
    let silent = texts.iter().zip(answers).map(|(has_text, answered)| {
        !has_text && answered.as_ref().is_some_and(|calls| calls.iter().all(|&call| !texts[call]))
    });
    silent.collect()
}

fn last_texts(messages: &[Message<'_>], session: &Session, joints: &[usize]) -> Vec<LastTexts> {
    let mut last = LastTexts::default();
    let mut before = vec![last];
    for (at, message) in messages.iter().enumerate() {
        if !session.summaries[at] {
            let begins = message.begins_turn();
            last = LastTexts {
                user: message.has_text_as(Role::User).then_some(at).or(last.user),
                assistant: message.has_text_as(Role::Assistant).then_some(at).or(last.assistant),
                prompt: begins.then_some(at).or(last.prompt),
                opening: (begins && joints.binary_search(&at).is_ok()).then_some(at).or(last.opening),
            };
        }
        before.push(last);
    }
    before
}
