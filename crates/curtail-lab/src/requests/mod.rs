//! The requests of a session: one before each reply of the model, as the provider received it.
//!
//! A log may write one reply as several messages, and interleave the conversations of sub-agents with the main one.
//! Each conversation is a session of its own.

mod live;
mod reader;

use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::HashMap;
use foldhash::quality::FixedState;

use curtail_core::dialects::{ChangeKind, Dialect, record_model};
use curtail_core::json::Value;
use curtail_core::transcript::{Role, Transcript, Usage};

use reader::{Element, Reader};

/// A conversation of a transcript, and the requests that were made in it.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The conversation inside the log; 0 is the main one.
    pub thread: u32,
    /// The indices of its messages in the transcript, in order. A *position* is an index into this list.
    pub messages: Vec<usize>,
    /// For each message, whether it replaces everything before it, such as the summary of a compaction.
    pub summaries: Vec<bool>,
    /// The requests, in order.
    pub requests: Vec<Request>,
    /// The number of replies that the program wrote itself because the provider answered with an error. They belong to
    /// no request.
    pub rejected: usize,
    /// The compactions that were not rolled back, in order.
    pub compactions: Vec<Compaction>,
}

/// A compaction of a session: what the model read before it, and what it reads in place of that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compaction {
    /// Positions of the messages that a request before it would have sent.
    pub before: Vec<Range<usize>>,
    /// Positions of its summaries and of the messages that it kept.
    pub after: Vec<Range<usize>>,
    /// Position of its first summary, or of the message after it if it has none.
    pub at: usize,
    /// Index of its item in the log.
    pub element: usize,
}

impl Session {
    /// Seconds from the previous request to the one with this index, if the log has the times.
    pub(crate) fn seconds_before(&self, nth: usize) -> Option<f64> {
        let before = &self.requests[nth.checked_sub(1)?];
        Some(self.requests[nth].seconds? - before.seconds?)
    }

    /// Whether another model answered the request with this index than the previous one. If the provider read something
    /// from its cache, the model did not change: it has another name, or it answered before.
    pub(crate) fn changes_model(&self, nth: usize) -> bool {
        let request = &self.requests[nth];
        let before = nth.checked_sub(1).and_then(|before| self.requests[before].model.as_ref());
        let is_other = before.zip(request.model.as_ref()).is_some_and(|(before, model)| before != model);
        is_other && request.usage.is_none_or(|usage| usage.cache_read == 0)
    }
}

/// One request to the provider.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Digests of the ids that the provider gave the reply; none if the log has none.
    pub ids: Vec<u64>,
    /// Position of the first message of the reply.
    pub at: usize,
    /// Position of the last compaction before it; 0 without one.
    pub live_from: usize,
    /// Positions of the messages that were sent, in order.
    pub sent: Vec<Range<usize>>,
    /// Positions of the messages before it that were not rolled back when it was made, whether or not a compaction replaced them.
    pub in_force: Vec<Range<usize>>,
    /// The provider that it was sent to, if the log says so.
    pub provider: Option<&'static str>,
    /// Positions of the messages of the reply.
    pub reply: Vec<usize>,
    /// When the reply was written, in seconds since 1970.
    pub seconds: Option<f64>,
    /// The same time in the format of the log.
    pub time: Option<String>,
    /// The provider's token counts, if the log has them.
    pub usage: Option<Usage>,
    /// The model that replied, if the log names it.
    pub model: Option<String>,
}

impl Request {
    /// Whether a message before it was rolled back when it was made.
    pub(crate) fn follows_rollback(&self) -> bool {
        self.in_force.iter().map(ExactSizeIterator::len).sum::<usize>() < self.at
    }

    /// Whether the message at `position` is before it and was rolled back when it was made.
    pub fn is_rolled_back(&self, position: usize) -> bool {
        position < self.at && !is_within(&(position..position + 1), &self.in_force)
    }
}

/// Whether one of `runs`, which are in order and apart, contains all of `positions`.
pub(crate) fn is_within(positions: &Range<usize>, runs: &[Range<usize>]) -> bool {
    let after = runs.partition_point(|run| run.start <= positions.start);
    after.checked_sub(1).is_some_and(|at| positions.end <= runs[at].end)
}

/// The conversations of `transcript`, the main one first.
pub fn sessions(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Vec<Session> {
    let messages: HashMap<u32, usize> =
        transcript.messages.iter().enumerate().filter_map(|(at, one)| Some((one.value()?.span().start, at))).collect();
    let elements = &transcript.layout.elements;
    let usages = dialect.log().usages(elements);
    let precedes_reply = usage_precedes_reply(transcript, &messages, &usages);
    let model = record_model(dialect, &transcript.layout).map(|name| name.decode().into_owned());
    let mut reader = Reader::new(dialect, model, precedes_reply);
    let indices = message_indices(elements, &messages);
    let mut changes = dialect.log().history(elements).into_iter().peekable();
    for (nth, (&item, usage)) in elements.iter().zip(usages).enumerate() {
        let mut element = Element { nth, item, usage, kept: None };
        while let Some(change) = changes.next_if(|change| change.at == nth) {
            match change.kind {
                ChangeKind::Rollback { first } => {
                    // In a damaged log, a record can follow one that comes later: nothing precedes it then.
                    let first = first.min(nth);
                    reader.roll_back(nth, first, indices[first]);
                }
                ChangeKind::Compaction { kept } => {
                    let kept = kept.into_iter().map(|run| indices[run.start]..indices[run.end]);
                    element.kept = Some(kept.collect());
                }
            }
        }
        match messages.get(&item.span().start) {
            Some(&index) => reader.message(&element, index, &transcript.messages[index]),
            None => reader.metadata(&element),
        }
    }
    reader.finish()
}

/// For each element, and the end, the index of the first message that is not before it.
fn message_indices(elements: &[Value<'_>], messages: &HashMap<u32, usize>) -> Vec<usize> {
    let mut indices = vec![messages.len(); elements.len() + 1];
    for (nth, element) in elements.iter().enumerate().rev() {
        indices[nth] = messages.get(&element.span().start).copied().unwrap_or(indices[nth + 1]);
    }
    indices
}

/// Whether the log has the usage of a request before the reply, and not after it.
fn usage_precedes_reply(transcript: &Transcript<'_>, messages: &HashMap<u32, usize>, usages: &[Option<Usage>]) -> bool {
    let mut items = transcript.layout.elements.iter().zip(usages);
    let precedes = items.find_map(|(item, usage)| match messages.get(&item.span().start) {
        Some(&at) => (transcript.messages[at].role == Role::Assistant).then_some(false),
        None => usage.is_some_and(|usage| usage.input > 0).then_some(true),
    });
    precedes.unwrap_or(false)
}

/// The digest of some texts, by which requests are compared.
pub(super) fn hash(texts: &[&str]) -> u64 {
    FixedState::default().hash_one(texts)
}
