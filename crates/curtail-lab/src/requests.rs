//! The requests of a session: one before each reply of the model, as the provider received it.
//!
//! A log may write one reply as several messages, and interleave the conversations of sub-agents with the main one.
//! Each conversation is a session of its own.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::HashMap;
use foldhash::quality::FixedState;

use curtail_core::dialects::{Dialect, record_model};
use curtail_core::json::Value;
use curtail_core::transcript::{Message, Role, Transcript, Usage};

use super::times::seconds;

/// A conversation of a transcript, and the requests that were made in it.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// The conversation inside the log; 0 is the main one.
    pub thread: u32,
    /// The indices of its messages in the transcript, in order. A *position* is an index into this list.
    pub messages: Vec<usize>,
    /// For each message, whether it replaces everything before it, such as the summary of a compaction.
    pub summaries: Vec<bool>,
    /// For the position of each message that was rolled back, the position from which on it was no longer sent.
    pub rolled_back: HashMap<usize, usize>,
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
    /// Whether a request at `at` no longer sends the message at `position`, because that was rolled back.
    pub fn is_rolled_back(&self, position: usize, at: usize) -> bool {
        self.rolled_back.get(&position).is_some_and(|end| *end <= at)
    }

    /// Seconds from the previous request to the one with this index, if the log has the times.
    pub fn seconds_before(&self, nth: usize) -> Option<f64> {
        let before = &self.requests[nth.checked_sub(1)?];
        Some(self.requests[nth].seconds? - before.seconds?)
    }

    /// Whether another model answered the request with this index than the previous one. If the provider read something
    /// from its cache, the model did not change: it has another name, or it answered before.
    pub fn changes_model(&self, nth: usize) -> bool {
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

/// The conversations of `transcript`, the main one first.
pub fn sessions(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Vec<Session> {
    let messages: HashMap<u32, usize> =
        transcript.messages.iter().enumerate().filter_map(|(at, one)| Some((one.value()?.span().start, at))).collect();
    let elements = &transcript.layout.elements;
    let usages = dialect.log().usages(elements);
    let precedes_reply = usage_precedes_reply(transcript, &messages, &usages);
    let model = record_model(dialect, &transcript.layout).map(|name| name.decode().into_owned());
    let mut reader = Reader { precedes_reply, model, ..Reader::new(dialect) };
    let indices = message_indices(elements, &messages);
    let mut rollbacks = dialect.log().rollbacks(elements).into_iter().peekable();
    let mut kept_by = kept_by(dialect, elements, &indices).into_iter().peekable();
    for (nth, (&item, usage)) in elements.iter().zip(usages).enumerate() {
        // A message that begins a branch is not rolled back with what is before it.
        if let Some((_, first)) = rollbacks.next_if(|(event, _)| *event == nth) {
            // In a damaged log, a record can follow one that comes later: nothing precedes it then.
            let first = first.min(nth);
            reader.roll_back(first, indices[first]);
        }
        let kept = kept_by.next_if(|(at, _)| *at == nth).map(|(_, kept)| kept).unwrap_or_default();
        reader.element = nth;
        match messages.get(&item.span().start) {
            Some(&at) => reader.message(item, usage, at, &transcript.messages[at], &kept),
            None => reader.metadata(item, usage, &kept),
        }
    }
    reader.sessions.into_values().map(|builder| builder.session).collect()
}

/// For each element, and the end, the index of the first message that is not before it.
fn message_indices(elements: &[Value<'_>], messages: &HashMap<u32, usize>) -> Vec<usize> {
    let mut indices = vec![messages.len(); elements.len() + 1];
    for (nth, element) in elements.iter().enumerate().rev() {
        indices[nth] = messages.get(&element.span().start).copied().unwrap_or(indices[nth + 1]);
    }
    indices
}

/// The compactions of a log by their index, each with the indices of the messages before it that the model still reads.
fn kept_by(dialect: &dyn Dialect, elements: &[Value<'_>], indices: &[usize]) -> Vec<(usize, Vec<Range<usize>>)> {
    let compactions: Vec<usize> =
        (0..elements.len()).filter(|&nth| dialect.log().replaces_past(elements[nth])).collect();
    let kept = dialect.log().kept_by(&compactions, elements);
    let of_messages =
        |kept: Vec<Range<usize>>| kept.into_iter().map(|run| indices[run.start]..indices[run.end]).collect();
    compactions.into_iter().zip(kept).map(|(at, kept)| (at, of_messages(kept))).collect()
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

struct Reader<'d> {
    dialect: &'d dyn Dialect,
    /// Whether usage precedes its reply.
    precedes_reply: bool,
    sessions: BTreeMap<u32, SessionBuilder>,
    /// Usage for the next reply.
    pub(super) next: Option<Usage>,
    /// The usage of the last item that is not a message: logs repeat it.
    pub(super) last: Option<Usage>,
    /// The model that the last item named.
    model: Option<String>,
    /// Index of the item that is read.
    element: usize,
}

/// What a request sends of the messages so far.
#[derive(Default)]
struct Live {
    /// Position of the last compaction.
    from: usize,
    /// Positions before `tail` that are still sent.
    runs: Vec<Range<usize>>,
    /// The position from which on every message is sent.
    tail: usize,
}

#[derive(Default)]
struct SessionBuilder {
    session: Session,
    live: Live,
    /// What was sent before each compaction.
    replaced: Vec<Live>,
    /// Whether the previous message was part of a list that replaces everything before it.
    replacing: bool,
    by_id: HashMap<String, usize>,
    /// The request whose reply may continue in the next message.
    open: Option<usize>,
    /// The positions of messages that were not rolled back, in order.
    unrolled: Vec<usize>,
    /// Index of the item that is read.
    element: usize,
}

impl SessionBuilder {
    /// Replaces everything so far by `summaries` and the messages that the compaction `kept`, as ranges of their indices.
    fn compact(&mut self, summaries: Range<usize>, kept: &[Range<usize>]) {
        let mut live = Live { from: summaries.start, tail: summaries.end, runs: vec![summaries.clone()] };
        for indices in kept {
            let [start, end] = [indices.start, indices.end].map(|index| self.position_of(index).min(summaries.start));
            append(&mut live.runs, start..end);
        }
        let before = self.sent(summaries.start);
        self.session.compactions.push(Compaction {
            before,
            after: live.runs.clone(),
            at: summaries.start,
            element: self.element,
        });
        self.replaced.push(std::mem::replace(&mut self.live, live));
    }

    /// The position of the first message of the session whose index is not below `index`.
    fn position_of(&self, index: usize) -> usize {
        self.session.messages.partition_point(|&at| at < index)
    }

    /// Replaces everything so far by the message at `at`, or adds it to the list that the previous message began.
    fn summary(&mut self, at: usize, replaces: bool, kept: &[Range<usize>]) {
        let continues = replaces && self.replacing || self.live.from == at && !self.live.runs.is_empty();
        match self.live.runs.first_mut().filter(|_| continues) {
            Some(first) => {
                (first.end, self.live.tail) = (at + 1, at + 1);
                if let Some(compaction) = self.session.compactions.last_mut() {
                    compaction.after.clone_from(&self.live.runs);
                }
            }
            None => self.compact(at..at + 1, kept),
        }
    }

    /// The positions that a request at `at` sends.
    fn sent(&self, at: usize) -> Vec<Range<usize>> {
        let mut sent = Vec::with_capacity(self.live.runs.len() + 1);
        self.live.runs.iter().cloned().for_each(|run| append(&mut sent, run));
        append(&mut sent, self.live.tail..at);
        sent
    }

    /// Rolls back the messages from position `first` on, which is that of the item `element`: requests at `at` and later no longer
    /// send them.
    fn roll_back(&mut self, element: usize, first: usize, at: usize) {
        while let Some(position) = self.unrolled.pop_if(|last| *last >= first) {
            self.session.rolled_back.insert(position, at);
        }
        let mut end = at;
        // A compaction that is rolled back replaces nothing.
        while self.session.compactions.pop_if(|compaction| compaction.element >= element).is_some()
            && let Some(before) = self.replaced.pop()
        {
            end = self.live.from;
            self.live = before;
        }
        let mut runs = Vec::with_capacity(self.live.runs.len() + 1);
        let before = |run: Range<usize>| run.start..run.end.min(first.max(run.start));
        self.live.runs.drain(..).for_each(|run| append(&mut runs, before(run)));
        append(&mut runs, before(self.live.tail..end));
        self.live.runs = runs;
        self.live.tail = at;
    }
}

/// Appends positions to `runs`.
fn append(runs: &mut Vec<Range<usize>>, new: Range<usize>) {
    match runs.last_mut() {
        _ if new.is_empty() => {}
        Some(run) if run.end == new.start => run.end = new.end,
        _ => runs.push(new),
    }
}

impl<'d> Reader<'d> {
    pub(super) fn new(dialect: &'d dyn Dialect) -> Self {
        Self {
            dialect,
            precedes_reply: false,
            sessions: BTreeMap::new(),
            next: None,
            last: None,
            model: None,
            element: 0,
        }
    }

    /// Rolls back the main conversation from the item `element` on, and so from the message with the index `first` on.
    fn roll_back(&mut self, element: usize, first: usize) {
        let main = self.sessions.entry(0).or_default();
        main.roll_back(element, main.position_of(first), main.session.messages.len());
    }

    fn message(
        &mut self,
        item: Value<'_>,
        usage: Option<Usage>,
        index: usize,
        message: &Message<'_>,
        kept: &[Range<usize>],
    ) {
        let builder = self.sessions.entry(message.thread).or_default();
        builder.session.thread = message.thread;
        builder.element = self.element;
        let at = builder.session.messages.len();
        let replaces = self.dialect.log().is_replacement(item);
        let is_boundary = replaces || message.is_boundary() || self.dialect.log().replaces_past(item);
        let is_reply = message.role == Role::Assistant && !replaces;
        builder.session.messages.push(index);
        builder.unrolled.push(at);
        // A reply that also compacts may contain other parts than the summary.
        builder.session.summaries.push(is_boundary && !(is_reply && message.parts.len() > 1));
        if is_boundary && !is_reply {
            builder.summary(at, replaces, kept);
        }
        builder.replacing = replaces;
        if !is_reply {
            builder.open = None;
            return;
        }
        if let Some(model) = self.dialect.model(item) {
            self.model = Some(model.decode().into_owned());
        }
        self.reply(item, usage, message.thread, at);
        if is_boundary && let Some(builder) = self.sessions.get_mut(&message.thread) {
            // The request of this reply still sent what the reply replaces.
            builder.compact(at..at + 1, kept);
        }
    }

    pub(super) fn reply(&mut self, item: Value<'_>, usage: Option<Usage>, thread: u32, at: usize) {
        let Some(builder) = self.sessions.get_mut(&thread) else { return };
        if usage.is_some_and(|usage| usage.input == 0) {
            // The program wrote the message itself, for example as an error: nothing was sent.
            builder.open = None;
            builder.session.rejected += 1;
            return;
        }
        let id = self.dialect.log().reply_id(item).map(|id| id.decode().into_owned());
        let known = match &id {
            Some(id) => builder.by_id.get(id).copied(),
            None => builder.open,
        };
        let nth = known.unwrap_or_else(|| {
            let time = self.dialect.time(item);
            builder.session.requests.push(Request {
                at,
                ids: self.dialect.log().provider_ids(item).iter().map(|id| hash(&[&id.decode()])).collect(),
                live_from: builder.live.from,
                sent: builder.sent(at),
                provider: self.dialect.log().provider(item),
                seconds: time.as_deref().and_then(seconds),
                time,
                usage: self.next.take(),
                model: self.model.clone(),
                reply: Vec::new(),
            });
            builder.session.requests.len() - 1
        });
        if let Some(id) = id {
            builder.by_id.insert(id, nth);
        }
        builder.open = Some(nth);
        let request = &mut builder.session.requests[nth];
        request.reply.push(at);
        request.usage = usage.or(request.usage);
    }

    fn metadata(&mut self, item: Value<'_>, usage: Option<Usage>, kept: &[Range<usize>]) {
        if let Some(model) = self.dialect.model(item) {
            self.model = Some(model.decode().into_owned());
        }
        let main = self.sessions.entry(0).or_default();
        let at = main.session.messages.len();
        main.element = self.element;
        if self.dialect.log().replaces_past(item) {
            main.compact(at..at, kept);
        }
        self.assign_usage(usage);
    }

    /// Assigns the usage of an item that is not a message to the next or the last reply.
    fn assign_usage(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage.filter(|usage| usage.input > 0) else { return };
        if self.last.replace(usage) == Some(usage) {
            return;
        }
        let main = self.sessions.entry(0).or_default();
        main.open = None;
        if self.precedes_reply {
            self.next = Some(usage);
        } else if let Some(request) = main.session.requests.last_mut() {
            request.usage = request.usage.or(Some(usage));
        }
    }
}

pub(super) fn hash(texts: &[&str]) -> u64 {
    FixedState::default().hash_one(texts)
}
