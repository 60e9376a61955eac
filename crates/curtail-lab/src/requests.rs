//! The requests of a session: one before each reply of the model, as the provider received it.
//!
//! A log may write one reply as several messages, and interleave the conversations of sub-agents with the main one.
//! Each conversation is a session of its own.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashSet};

use curtail_core::calendar::days_since_1970;
use curtail_core::dialects::{Dialect, record_model};
use curtail_core::json::Value;
use curtail_core::transcript::{Message, Role, Transcript, Usage};

use crate::links::digest;

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

// Copies. An agent that resumes or forks a session writes a new file with what it had before, and the file of a sub-agent can
// begin with the history of the session that started it. What was asked once was paid for once.

/// The requests of earlier files, by what identifies them.
#[derive(Debug, Default)]
pub struct SeenRequests(HashSet<u64>);

impl SeenRequests {
    /// Which of the requests with these keys, those of one session, are in an earlier session. Remembers them.
    pub fn shared<'k>(&mut self, keys: impl Iterator<Item = &'k Vec<u64>> + Clone) -> Vec<bool> {
        let shared = keys.clone().map(|keys| keys.iter().any(|key| self.0.contains(key))).collect();
        self.0.extend(keys.flatten());
        shared
    }
}

/// What identifies each request of `session` in every file that contains it.
///
/// The provider's ids of a reply identify it alone. Otherwise, one of these has to be the same:
/// - the reply, the ids that the log gives it or its calls, and its time, which most programs copy;
/// - in logs with usage, everything said so far and the usage: some programs write new ids and times into a copy;
/// - in a log that names the session that it was forked from, all usage so far.
pub(crate) fn keys(dialect: &dyn Dialect, transcript: &Transcript<'_>, session: &Session) -> Vec<Vec<u64>> {
    let lineage: Vec<u64> = match session.thread {
        0 => dialect.log().lineage(&transcript.layout.elements).iter().map(|id| hash(&[&id.decode()])).collect(),
        _ => Vec::new(),
    };
    let mut said = Said::default();
    let mut usages = 0;
    let keys = session.requests.iter().map(|request| {
        said.read_to(transcript, session, request.reply.last().map_or(request.at, |last| last + 1));
        let usage = request.usage.filter(|_| dialect.is_log());
        let own = usage.map(|usage| numbers([usage.input, usage.cache_read, usage.cache_write, usage.output]));
        usages = numbers([usages, own.unwrap_or_default()]);
        if !request.ids.is_empty() {
            return vec![request.ids.iter().fold(1, |key, id| numbers([key, *id]))];
        }
        let first = &transcript.messages[session.messages[request.at]];
        let ids = first.id.iter().chain(first.calls().filter_map(|(_, call)| call.id.as_ref()));
        let ids: Vec<u64> = ids.map(|id| hash(&[&id.decode()])).collect();
        let time = request.time.as_ref().filter(|_| !ids.is_empty());
        let said_now = digest(first);
        let dated = time.map(|time| ids.iter().fold(hash(&[time]), |key, id| numbers([key, *id, said_now])));
        let repeated = own.map(|own| numbers([2, said.digest, own]));
        let forked = lineage.iter().filter(|_| own.is_some()).map(|id| numbers([3, *id, usages]));
        dated.into_iter().chain(repeated).chain(forked).collect()
    });
    keys.collect()
}

/// A request that the provider counted.
#[derive(Debug, Clone)]
pub struct CountedRequest {
    /// What identifies it in every file that contains it.
    pub keys: Vec<u64>,
    /// The index behind its reply in the transcript.
    pub end: usize,
}

/// The requests of all conversations of `transcript` that the provider counted, the main conversation first.
pub fn counted_requests(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Vec<CountedRequest> {
    let mut counted = Vec::new();
    for session in sessions(dialect, transcript) {
        let requests = session.requests.iter().zip(keys(dialect, transcript, &session));
        for (request, keys) in requests.filter(|(request, _)| request.usage.is_some()) {
            let last = request.reply.last().copied().unwrap_or(request.at);
            counted.push(CountedRequest { keys, end: session.messages[last] + 1 });
        }
    }
    counted
}

/// A digest of the messages of a session, as far as they were read.
#[derive(Default)]
struct Said {
    digest: u64,
    /// The position of the next message.
    next: usize,
}

impl Said {
    fn read_to(&mut self, transcript: &Transcript<'_>, session: &Session, end: usize) {
        for &index in &session.messages[self.next.min(end)..end] {
            self.digest = numbers([self.digest, digest(&transcript.messages[index])]);
        }
        self.next = self.next.max(end);
    }
}

fn numbers<const N: usize>(numbers: [u64; N]) -> u64 {
    FixedState::default().hash_one(numbers)
}

fn hash(texts: &[&str]) -> u64 {
    FixedState::default().hash_one(texts)
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
            reader.roll_back(indices[first.min(nth)]);
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
    next: Option<Usage>,
    /// The usage of the last item that is not a message: logs repeat it.
    last: Option<Usage>,
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

    /// Rolls back the messages from position `first` on: requests at `at` and later no longer send them.
    fn roll_back(&mut self, first: usize, at: usize) {
        while let Some(position) = self.unrolled.pop_if(|last| *last >= first) {
            self.session.rolled_back.insert(position, at);
        }
        let mut end = at;
        // A compaction that is rolled back replaces nothing.
        while self.live.runs.first().is_some_and(|summary| !summary.is_empty() && summary.start >= first)
            && let Some(before) = self.replaced.pop()
        {
            self.session.compactions.pop();
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
    fn new(dialect: &'d dyn Dialect) -> Self {
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

    /// Rolls back the messages of the main conversation from the one with the index `first` on.
    fn roll_back(&mut self, first: usize) {
        let main = self.sessions.entry(0).or_default();
        main.roll_back(main.position_of(first), main.session.messages.len());
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

    fn reply(&mut self, item: Value<'_>, usage: Option<Usage>, thread: u32, at: usize) {
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

// Times of a log as seconds, to compare them.

/// Seconds since 1970 of a time in ISO 8601, such as `2026-02-07T04:45:48.439Z`; `None` for any other text. A time
/// without a zone is read as UTC.
pub fn seconds(time: &str) -> Option<f64> {
    let number = |range: std::ops::Range<usize>| time.get(range)?.parse::<i64>().ok();
    let year = number(0..4)?;
    let month = number(5..7)?;
    let day = number(8..10)?;
    let hour = number(11..13)?;
    let minute = number(14..16)?;
    let second = number(17..19).unwrap_or(0);
    let rest = time.get(19..).unwrap_or_default();
    let digits = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let fraction = if digits == 0 { 0.0 } else { rest[..=digits].parse::<f64>().ok()? };
    let zone = if digits == 0 { rest } else { &rest[digits + 1..] };
    let whole = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset(zone);
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^52")]
    Some(whole as f64 + fraction)
}

/// Seconds east of UTC of a zone such as `+02:00`; 0 for `Z`.
fn offset(zone: &str) -> i64 {
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let number = |range: std::ops::Range<usize>| zone.get(range).and_then(|digits| digits.parse::<i64>().ok());
    let hours = number(1..3).unwrap_or(0);
    let minutes = number(4..6).or_else(|| number(3..5)).unwrap_or(0);
    sign * (hours * 3600 + minutes * 60)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_seconds_since_1970() {
        for (time, expected) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T00:00:00.5Z", 951_782_400.5),
            ("2000-02-29T02:00:00+02:00", 951_782_400.0),
            ("2000-02-28T22:30:00.250-0130", 951_782_400.25),
            ("2000-02-29T00:00", 951_782_400.0),
        ] {
            assert_eq!(seconds(time), Some(expected), "{time}");
        }
        assert_eq!(seconds("yesterday"), None);
    }
}
