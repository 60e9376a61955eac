//! The messages of a session, with a digest and a count that are computed once.

use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashSet};

use super::prefixes::{Fact, Link, Links, Runs, Written, digest, is_intact};
use super::references::{self, Index};
use crate::calibration::Session;
use curtail_core::counting::Tokenizer;
use curtail_core::dialects::Dialect;
use curtail_core::processors::{Counting, View};
use curtail_core::steps;
use curtail_core::transcript::{Layout, Message, Pairs, Part, Role, Standing, Transcript, segments};

/// The history of a session.
pub(super) struct History<'a> {
    /// The messages, in order, as the model read them when they were new.
    pub(super) messages: Vec<Message<'a>>,
    facts: Vec<Fact>,
    /// The messages before each position.
    links: Links,
    /// For each position, the first one from it on that gives no instructions.
    instructing: Vec<usize>,
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
    /// Positions of messages that contain instructions: a policy may keep those, whatever it drops beside them.
    pub(super) instructions: Vec<usize>,
    /// Positions besides summaries and other messages that replace earlier ones.
    pub(super) said: Vec<usize>,
    /// Positions of messages with results that belong to no call.
    lone: Vec<usize>,
    /// Whether all messages say what they say wherever they are: none replaces others, and none that a user said contains
    /// instructions.
    pub(super) plain: bool,
    /// For each position, whether nobody speaks in its message, nor in one whose calls it answers.
    pub(super) silent: Vec<bool>,
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
        let mut facts = Vec::with_capacity(messages.len());
        for (at, message) in messages.iter().enumerate() {
            index.add(at, message);
            let mut tokens = counting.message(message) as u64;
            // The list inside a compaction that a later one superseded is no part of the transcript any more.
            for replacement in message.value().into_iter().flat_map(|item| dialect.replacement(item)) {
                tokens += counting.message(&replacement) as u64;
                index.add(at, &replacement);
            }
            facts.push(Fact::from_message(message, tokens));
        }
        let positions: Vec<usize> = (0..messages.len()).filter(|&at| !session.summaries[at]).collect();
        let said: Vec<Message<'_>> = positions.iter().map(|&at| messages[at].clone()).collect();
        let pairs = Pairs::from_messages(&said);
        let answers = answers(&messages, &positions, &pairs);
        Self {
            silent: silent(&messages, &answers),
            lone: lone(&positions, &pairs),
            plain: said.iter().all(is_plain),
            links: Links::new(&facts),
            instructing: instructing(&messages),
            joints: segments(&said, &pairs).into_iter().map(|segment| positions[segment.start]).collect(),
            answers,
            instructions: (0..messages.len()).filter(|&at| instructs(&messages[at])).collect(),
            spoke: spoke(&messages, session),
            positions: session.messages.iter().enumerate().map(|(position, &at)| (at, position)).collect(),
            said: positions,
            messages,
            facts,
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
        if positions.is_empty() { 0 } else { self.link(Link::default(), positions).tokens }
    }

    /// The link of the messages at `positions` behind `link`.
    pub(super) fn link(&self, link: Link, positions: Range<usize>) -> Link {
        self.links.link(link, positions)
    }

    /// How many of the `most` messages from `one` on are those from `two` on.
    pub(super) fn same(&self, one: usize, two: usize, most: usize) -> usize {
        self.links.same(one, two, most)
    }

    /// Whether all results at `positions` belong to calls. What a cut makes of others depends on what is before it.
    pub(super) fn is_paired(&self, positions: Range<usize>) -> bool {
        let next = self.lone.partition_point(|&at| at < positions.start);
        self.lone.get(next).is_none_or(|at| *at >= positions.end)
    }

    /// The first position from `at` on whose message gives no instructions.
    pub(super) fn instructing(&self, at: usize) -> usize {
        self.instructing[at]
    }

    /// The position of a message that a policy kept.
    pub(super) fn position(&self, message: &Message<'_>) -> Option<usize> {
        message.source_index().and_then(|at| self.positions.get(&at)).copied()
    }
}

/// A message before anything superseded it or took it back.
fn recent<'a>(message: &Message<'a>, live: bool) -> Message<'a> {
    let mut message = message.clone();
    message.standing = Standing::Live;
    if !live {
        message.clear_boundary();
    }
    message
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
        if pairs.counterpart(*call).is_some_and(|result| result.message < call.message) {
            answers[positions[call.message]] = None;
        }
    }
    for result in pairs.results() {
        let own = &mut answers[positions[result.message]];
        match pairs.counterpart(*result).filter(|call| call.message <= result.message) {
            Some(call) => own.iter_mut().for_each(|calls| calls.push(positions[call.message])),
            None => *own = None,
        }
    }
    answers
}

fn lone(positions: &[usize], pairs: &Pairs) -> Vec<usize> {
    let mut lone: Vec<usize> = pairs
        .results()
        .iter()
        .filter(|result| pairs.counterpart(**result).is_none())
        .map(|result| positions[result.message])
        .collect();
    lone.dedup();
    lone
}

/// Whether a message contains instructions, alone or beside other parts.
pub(super) fn instructs(message: &Message<'_>) -> bool {
    message.role.instructs() || message.parts.iter().any(Part::instructs)
}

fn is_plain(message: &Message<'_>) -> bool {
    !message.is_in_compaction() && !message.is_boundary() && (message.role.instructs() || !instructs(message))
}

fn instructing(messages: &[Message<'_>]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..=messages.len()).collect();
    for at in (0..messages.len()).rev().filter(|&at| messages[at].role.instructs()) {
        first[at] = first[at + 1];
    }
    first
}

fn silent(messages: &[Message<'_>], answers: &[Option<Vec<usize>>]) -> Vec<bool> {
    let speaks = |message: &Message<'_>| message.speaks_as(Role::User) || message.speaks_as(Role::Assistant);
    let spoken: Vec<bool> = messages.iter().map(speaks).collect();
    let answers_silence = |at: usize| answers[at].as_ref().is_some_and(|calls| calls.iter().all(|&call| !spoken[call]));
    (0..messages.len()).map(|at| !spoken[at] && answers_silence(at)).collect()
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

/// The messages that policies wrote or changed, each counted once.
#[derive(Default)]
pub(super) struct WrittenMessages(HashMap<u64, Written>);

impl WrittenMessages {
    /// The request with `messages`.
    pub(super) fn runs(&mut self, history: &History<'_>, counting: &Counting, messages: &[Message<'_>]) -> Runs {
        let mut runs = Runs::default();
        for message in messages {
            self.push(&mut runs, history, counting, message);
        }
        runs
    }

    /// Appends `message` to what a request sends.
    pub(super) fn push(&mut self, runs: &mut Runs, history: &History<'_>, counting: &Counting, message: &Message<'_>) {
        steps::count(1);
        let position = history.position(message);
        if let Some(position) = position.filter(|_| is_intact(message)) {
            return runs.push(position..position + 1);
        }
        let written = self.0.entry(digest(message)).or_insert_with(|| Written::from_message(message, counting));
        runs.push_written(written.clone(), position);
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
        answers: layout.answers.clone(),
    }
}

// A tokenizer that counts each text once: a policy sees the same messages at every request.

/// The parts of the memory, each with a lock of its own.
const SHARDS: usize = 32;

/// The maximum number of texts in a part; when it is reached, the part is emptied, so that memory is bounded.
const MOST: usize = 1 << 16;

/// The shortest text that is remembered, in bytes: shorter ones are counted just as fast.
const SHORTEST: usize = 24;

/// Counts with another tokenizer and remembers the counts.
pub struct Remembered {
    tokenizer: Arc<dyn Tokenizer>,
    counts: Vec<Mutex<HashMap<(u64, usize), usize>>>,
}

impl Remembered {
    /// Remembers the counts of `tokenizer`.
    #[must_use]
    pub fn new(tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self { tokenizer, counts: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl Tokenizer for Remembered {
    fn name(&self) -> &str {
        self.tokenizer.name()
    }

    fn exact(&self) -> bool {
        self.tokenizer.exact()
    }

    fn at_most_bytes(&self) -> bool {
        self.tokenizer.at_most_bytes()
    }

    fn count(&self, text: &str) -> usize {
        if text.len() < SHORTEST {
            return self.tokenizer.count(text);
        }
        let mut hasher = FixedState::default().build_hasher();
        hasher.write(text.as_bytes());
        let hash = hasher.finish();
        let key = (hash, text.len());
        let shard = &self.counts[usize::try_from(hash >> 59).unwrap_or(0) % SHARDS];
        let known = shard.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.unwrap_or_else(|| {
            let count = self.tokenizer.count(text);
            let mut counts = shard.lock().unwrap_or_else(PoisonError::into_inner);
            if counts.len() >= MOST {
                counts.clear();
            }
            counts.insert(key, count);
            count
        })
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        Some(self.count(text)).filter(|&count| count <= limit)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        self.tokenizer.head(text, tokens)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        self.tokenizer.tail(text, tokens)
    }
}
