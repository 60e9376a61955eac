//! The requests of a session: one before each reply of the model, as the provider received it.
//!
//! A log may write one reply as several messages, and interleave the conversations of sub-agents with the main one.
//! Each conversation is a session of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use foldhash::HashMap;

use curtail_core::calendar::days_since_1970;
use curtail_core::dialects::{Dialect, record_model};
use curtail_core::json::Value;
use curtail_core::transcript::{Message, Role, Transcript, Usage};

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
    let usages = dialect.usages(elements);
    let precedes_reply = usage_precedes_reply(transcript, &messages, &usages);
    let model = record_model(dialect, &transcript.layout).map(|name| name.decode().into_owned());
    let mut reader = Reader { precedes_reply, model, ..Reader::new(dialect) };
    let mut rollbacks = dialect.rollbacks(elements).into_iter().peekable();
    for (nth, (&item, usage)) in elements.iter().zip(usages).enumerate() {
        let kept = reader.kept(item, &elements[..nth], &messages);
        match messages.get(&item.span().start) {
            Some(&at) => reader.message(item, usage, at, &transcript.messages[at], &kept),
            None => reader.metadata(item, usage, &kept),
        }
        if let Some((_, first)) = rollbacks.next_if(|(event, _)| *event == nth) {
            reader.roll_back(&elements[first..nth], &messages);
        }
    }
    reader.sessions.into_values().map(|builder| builder.session).collect()
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
}

impl SessionBuilder {
    /// Replaces everything so far by `summaries` and the messages that the compaction `kept`.
    fn compact(&mut self, summaries: Range<usize>, kept: &[usize]) {
        let mut live = Live { from: summaries.start, tail: summaries.end, runs: vec![summaries] };
        for position in kept.iter().filter_map(|index| self.session.messages.binary_search(index).ok()) {
            append(&mut live.runs, position);
        }
        self.replaced.push(std::mem::replace(&mut self.live, live));
    }

    /// Replaces everything so far by the message at `at`, or adds it to the list that the previous message began.
    fn summary(&mut self, at: usize, replaces: bool, kept: &[usize]) {
        let continues = replaces && self.replacing || self.live.from == at && !self.live.runs.is_empty();
        match self.live.runs.first_mut().filter(|_| continues) {
            Some(first) => (first.end, self.live.tail) = (at + 1, at + 1),
            None => self.compact(at..at + 1, kept),
        }
    }

    /// Whether nothing is left of the summary that the last compaction wrote.
    fn summary_is_rolled_back(&self) -> bool {
        let summary = self.live.runs.first().filter(|run| !run.is_empty());
        summary.is_some_and(|run| run.clone().all(|position| self.session.rolled_back.contains_key(&position)))
    }

    /// The positions that a request at `at` sends.
    fn sent(&self, at: usize) -> Vec<Range<usize>> {
        let runs = self.live.runs.iter().cloned().chain(std::iter::once(self.live.tail..at));
        if self.session.rolled_back.is_empty() {
            return runs.filter(|run| !run.is_empty()).collect();
        }
        let mut sent: Vec<Range<usize>> = Vec::new();
        for position in runs.flatten().filter(|position| !self.session.rolled_back.contains_key(position)) {
            append(&mut sent, position);
        }
        sent
    }
}

/// Appends a position to `runs`.
fn append(runs: &mut Vec<Range<usize>>, position: usize) {
    match runs.last_mut().filter(|run| run.end == position) {
        Some(run) => run.end += 1,
        None => runs.push(position..position + 1),
    }
}

impl<'d> Reader<'d> {
    fn new(dialect: &'d dyn Dialect) -> Self {
        Self { dialect, precedes_reply: false, sessions: BTreeMap::new(), next: None, last: None, model: None }
    }

    /// The indices of the messages that `item` kept, if it is a compaction.
    fn kept(&self, item: Value<'_>, before: &[Value<'_>], messages: &HashMap<u32, usize>) -> Vec<usize> {
        if !self.dialect.replaces_past(item) {
            return Vec::new();
        }
        let kept = self.dialect.kept_by(item, before);
        kept.into_iter().filter_map(|nth| messages.get(&before[nth].span().start)).copied().collect()
    }

    fn message(&mut self, item: Value<'_>, usage: Option<Usage>, index: usize, message: &Message<'_>, kept: &[usize]) {
        let builder = self.sessions.entry(message.thread).or_default();
        builder.session.thread = message.thread;
        let at = builder.session.messages.len();
        let replaces = self.dialect.is_replacement(item);
        let is_boundary = replaces || message.is_boundary() || self.dialect.replaces_past(item);
        let is_reply = message.role == Role::Assistant && !replaces;
        builder.session.messages.push(index);
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
        let id = self.dialect.reply_id(item).map(|id| id.decode().into_owned());
        let known = match &id {
            Some(id) => builder.by_id.get(id).copied(),
            None => builder.open,
        };
        let nth = known.unwrap_or_else(|| {
            let time = self.dialect.time(item);
            builder.session.requests.push(Request {
                at,
                live_from: builder.live.from,
                sent: builder.sent(at),
                provider: self.dialect.provider(item),
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

    fn metadata(&mut self, item: Value<'_>, usage: Option<Usage>, kept: &[usize]) {
        if let Some(model) = self.dialect.model(item) {
            self.model = Some(model.decode().into_owned());
        }
        let main = self.sessions.entry(0).or_default();
        let at = main.session.messages.len();
        if self.dialect.replaces_past(item) {
            main.compact(at..at, kept);
        }
        self.assign_usage(usage);
    }

    /// Rolls back `items`: from here on, their messages are no longer sent.
    fn roll_back(&mut self, items: &[Value<'_>], messages: &HashMap<u32, usize>) {
        let main = self.sessions.entry(0).or_default();
        let at = main.session.messages.len();
        for index in items.iter().filter_map(|item| messages.get(&item.span().start)) {
            if let Ok(position) = main.session.messages.binary_search(index) {
                main.session.rolled_back.entry(position).or_insert(at);
            }
        }
        // A compaction that is rolled back replaces nothing.
        while main.summary_is_rolled_back()
            && let Some(before) = main.replaced.pop()
        {
            main.live = before;
        }
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
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19).unwrap_or(0));
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
