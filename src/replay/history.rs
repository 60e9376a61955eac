//! The messages of a session, with a digest and a count that are computed once.

use std::ops::Range;
use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use super::prefixes::{Fact, Sent, digest, is_intact};
use super::references::{self, Index};
use crate::calibration::Session;
use crate::dialects::Dialect;
use crate::processors::{Counting, View};
use crate::transcript::{Layout, Message, Pairs, Role, Standing, Transcript, segments};

/// The history of a session.
pub(super) struct History<'a> {
    /// The messages, in order, as the model read them when they were new.
    pub(super) messages: Vec<Message<'a>>,
    facts: Vec<Fact>,
    /// Our count of the tokens before each position.
    sums: Vec<u64>,
    /// The position of each message of the transcript that belongs to the session.
    positions: HashMap<usize, usize>,
    /// Our count of the instructions outside the messages.
    pub(super) outside: u64,
    /// The references of every message.
    pub(super) index: Index,
    /// Positions where no pair is open, without summaries and other messages that replace earlier ones.
    pub(super) joints: Vec<usize>,
    /// For each position whose message may continue an in-flight round, the positions of the calls that it answers.
    pub(super) answers: Vec<Option<Vec<usize>>>,
    /// Positions of instructions.
    pub(super) instructions: Vec<usize>,
    /// For each position, the last one before it that speaks as user, begins a turn, and speaks as assistant.
    pub(super) spoke: Vec<[Option<usize>; 3]>,
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
            session.messages.iter().map(|&at| recent(&transcript.messages[at], live)).collect();
        let view = View::new(&messages, &transcript.layout.preamble, transcript.layout.pairing_rules);
        let outside = counting.outside(&view) as u64;
        let mut index = Index::default();
        let (mut facts, mut sums) = (Vec::with_capacity(messages.len()), vec![0]);
        for (at, message) in messages.iter().enumerate() {
            index.add(at, message);
            let mut tokens = counting.message(message) as u64;
            // The list inside a compaction that a later one superseded is no part of the transcript any more.
            for replacement in message.value().into_iter().flat_map(|item| dialect.replacement(item)) {
                tokens += counting.message(&replacement) as u64;
                index.add(at, &replacement);
            }
            facts.push(Fact::from_message(message, tokens));
            sums.push(sums[at] + tokens);
        }
        let positions: Vec<usize> = (0..messages.len()).filter(|&at| !session.summaries[at]).collect();
        let said: Vec<Message<'_>> = positions.iter().map(|&at| messages[at].clone()).collect();
        let pairs = Pairs::from_messages(&said);
        Self {
            joints: segments(&said, &pairs).into_iter().map(|segment| positions[segment.start]).collect(),
            answers: answers(&messages, &positions, &pairs),
            instructions: (0..messages.len()).filter(|&at| messages[at].role.instructs()).collect(),
            spoke: spoke(&messages, session),
            positions: session.messages.iter().enumerate().map(|(position, &at)| (at, position)).collect(),
            messages,
            facts,
            sums,
            outside,
            index,
        }
    }

    /// Digest, count and size of the message at `position`.
    pub(super) fn fact(&self, position: usize) -> Fact {
        self.facts[position]
    }

    /// Our count of the messages at `positions`.
    pub(super) fn tokens(&self, positions: Range<usize>) -> u64 {
        if positions.is_empty() { 0 } else { self.sums[positions.end] - self.sums[positions.start] }
    }

    /// The position of a message that a policy kept.
    pub(super) fn position(&self, message: &Message<'_>) -> Option<usize> {
        message.source_index().and_then(|at| self.positions.get(&at)).copied()
    }
}

/// A message before anything superseded it or took it back.
fn recent<'a>(message: &Message<'a>, live: bool) -> Message<'a> {
    Message { standing: Standing::Live, boundary: message.boundary && live, ..message.clone() }
}

/// The calls that each message answers; `None` for messages that may end a round, or that are paired with a later call.
fn answers(messages: &[Message<'_>], positions: &[usize], pairs: &Pairs) -> Vec<Option<Vec<usize>>> {
    let mut answers = vec![None; messages.len()];
    for &at in positions {
        let message = &messages[at];
        let continues = (message.has_tools() || message.is_bound()) && !message.begins_turn();
        answers[at] = continues.then(Vec::new);
    }
    for call in pairs.calls() {
        if pairs.other_half(*call).is_some_and(|result| result.message < call.message) {
            answers[positions[call.message]] = None;
        }
    }
    for result in pairs.results() {
        let own = &mut answers[positions[result.message]];
        match pairs.other_half(*result).filter(|call| call.message <= result.message) {
            Some(call) => own.iter_mut().for_each(|calls| calls.push(positions[call.message])),
            None => *own = None,
        }
    }
    answers
}

fn spoke(messages: &[Message<'_>], session: &Session) -> Vec<[Option<usize>; 3]> {
    let mut last = [None; 3];
    let mut spoke = vec![last];
    for (at, message) in messages.iter().enumerate() {
        let speaks = [message.speaks_as(Role::User), message.begins_turn(), message.speaks_as(Role::Assistant)];
        for (last, _) in last.iter_mut().zip(speaks).filter(|(_, speaks)| *speaks && !session.summaries[at]) {
            *last = Some(at);
        }
        spoke.push(last);
    }
    spoke
}

/// A text that a policy wrote or changed: what is known of it, and its references.
#[derive(Debug, Clone)]
struct Written {
    fact: Fact,
    references: Rc<HashSet<u64>>,
}

/// The messages that policies wrote or changed, each counted once.
#[derive(Default)]
pub(super) struct WrittenMessages(HashMap<u64, Written>);

impl WrittenMessages {
    /// The request with `messages`, and the references in messages that a policy wrote or changed.
    pub(super) fn sent(
        &mut self,
        history: &History<'_>,
        counting: &Counting,
        messages: &[Message<'_>],
    ) -> (Sent, Vec<Rc<HashSet<u64>>>) {
        let (mut sent, mut references) = (Sent::default(), Vec::new());
        for message in messages {
            let position = history.position(message);
            if let Some(position) = position.filter(|_| is_intact(message)) {
                sent.push(position, history.fact(position));
                continue;
            }
            let written = self.0.entry(digest(message)).or_insert_with(|| Written::from_message(message, counting));
            references.push(Rc::clone(&written.references));
            sent.push_written(written.fact, position);
        }
        (sent, references)
    }
}

impl Written {
    fn from_message(message: &Message<'_>, counting: &Counting) -> Self {
        let mut found = HashSet::default();
        references::each_in(message, &mut |reference| {
            found.insert(references::digest(reference));
        });
        Self { fact: Fact::from_message(message, counting.message(message) as u64), references: Rc::new(found) }
    }
}

/// A layout with the instructions and rules of `layout` and no slots: a chain needs nothing else.
pub(super) fn without_slots<'a>(layout: &Layout<'a>) -> Layout<'a> {
    Layout {
        source: layout.source,
        span: layout.span,
        record: layout.record,
        slots: Vec::new(),
        template: layout.template,
        non_messages: Vec::new(),
        elements: Vec::new(),
        preamble: layout.preamble.clone(),
        pairing_rules: layout.pairing_rules,
        context: layout.context,
        reread: layout.reread,
    }
}
