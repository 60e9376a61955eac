//! What the Agent Development Kit (ADK) sends of the events of a session: a compaction replaces the events of some time, and a
//! rewind takes back an invocation and all after it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use foldhash::HashMap;

use super::{HistoryChange, blocks};
use crate::json::{Text, Value};

/// Whether the event is a piece of a reply that a later event repeats whole.
pub(super) fn is_piece(event: Value<'_>) -> bool {
    event.has("author") && event.is_true("partial")
}

/// The content that stands for the events of a compaction, if the event is one.
pub(super) fn summary(event: Value<'_>) -> Option<Value<'_>> {
    blocks::either(compaction(event)?, "compactedContent", "compacted_content")
}

/// The compaction in an event: among its actions, or the event itself, as the version in JavaScript has it.
fn compaction(event: Value<'_>) -> Option<Value<'_>> {
    if !event.has("author") {
        return None;
    }
    let in_actions = event.some("actions").and_then(|actions| actions.some("compaction"));
    in_actions.or_else(|| event.is_true("isCompacted").then_some(event))
}

/// The compactions and rewinds among `items`.
pub(super) fn history(items: &[Value<'_>]) -> Vec<HistoryChange> {
    let events = read_events(items);
    let invocations = invocations(&events);
    let change = |at: usize| {
        let rewound = rewound_from(at, &events, &invocations).map(|first| HistoryChange::rollback(at, first));
        rewound.or_else(|| events[at].is_compaction.then(|| HistoryChange::compaction(at, sent_before(at, &events))))
    };
    (0..events.len()).filter_map(change).collect()
}

/// The indices of the events before the compaction `at` that a model still reads after it, as ranges.
fn sent_before(at: usize, events: &[Event<'_>]) -> Vec<Range<usize>> {
    let fates = fates(&events[..=at]);
    let mut sent: Vec<Range<usize>> = Vec::new();
    for at in (0..at).filter(|at| fates[*at] == Fate::Sent) {
        match sent.last_mut().filter(|range| range.end == at) {
            Some(range) => range.end += 1,
            None => sent.push(at..at + 1),
        }
    }
    sent
}

/// What an event says of the history.
pub(super) struct Event<'a> {
    time: Option<Moment>,
    invocation: Option<Cow<'a, str>>,
    /// The invocation before which it goes back, if it is a rewind.
    rewinds_to: Option<Cow<'a, str>>,
    is_compaction: bool,
    /// The first and the last time that it replaces, if it is a compaction that names both.
    replaces: Option<(Moment, Moment)>,
}

impl Event<'_> {
    /// Whether it is a compaction that says which events it replaces.
    pub(super) const fn replaces_events(&self) -> bool {
        self.replaces.is_some()
    }
}

pub(super) fn read_events<'a>(items: &[Value<'a>]) -> Vec<Event<'a>> {
    let read = |item: &Value<'a>| {
        let compaction = compaction(*item).filter(|_| summary(*item).is_some() && !is_piece(*item));
        let invocation = blocks::either(*item, "invocationId", "invocation_id").and_then(Value::text);
        Event {
            time: Moment::of(item.some("timestamp").or_else(|| item.some("time"))),
            invocation: invocation.map(Text::into_decoded),
            rewinds_to: rewound_to(*item).map(Text::into_decoded),
            is_compaction: compaction.is_some(),
            replaces: compaction.and_then(replaced_times),
        }
    };
    items.iter().map(read).collect()
}

/// The invocation before which a rewind goes back, if the event is one.
fn rewound_to(event: Value<'_>) -> Option<Text<'_>> {
    let actions = event.some("actions").filter(|_| event.has("author"))?;
    blocks::either(actions, "rewindBeforeInvocationId", "rewind_before_invocation_id")?.text()
}

/// The first and the last time that a compaction replaces, if they can be compared.
fn replaced_times(compaction: Value<'_>) -> Option<(Moment, Moment)> {
    let start =
        blocks::either(compaction, "startTimestamp", "start_timestamp").or_else(|| compaction.some("startTime"));
    let end = blocks::either(compaction, "endTimestamp", "end_timestamp").or_else(|| compaction.some("endTime"));
    let (start, end) = (Moment::of(start)?, Moment::of(end)?);
    start.partial_cmp(&end).is_some().then_some((start, end))
}

/// A time, in what a program counts it or as it writes it. One of each kind cannot be compared.
#[derive(Debug, Clone, PartialEq)]
enum Moment {
    Number(f64),
    Text(String),
}

impl Moment {
    fn of(value: Option<Value<'_>>) -> Option<Self> {
        let value = value?;
        match value.text() {
            // Fractions of a second may be missing.
            Some(text) => Some(Self::Text(text.decode().trim_end_matches('Z').to_owned())),
            None => value.raw().parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Number),
        }
    }

    /// The order to sort by: numbers are before texts.
    fn order(&self, other: &Self) -> Ordering {
        let kinds = || matches!(self, Self::Text(_)).cmp(&matches!(other, Self::Text(_)));
        self.partial_cmp(other).unwrap_or_else(kinds)
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.partial_cmp(other),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// A model reads it.
    Sent,
    /// A compaction replaced it.
    Replaced,
    /// A rewind took it back, or it is one.
    RolledBack,
}

/// What became of each of `events`, once the last of them was written.
pub(super) fn fates(events: &[Event<'_>]) -> Vec<Fate> {
    let mut fates = vec![Fate::Sent; events.len()];
    for (event, first) in rewinds(events) {
        fates[first..=event].fill(Fate::RolledBack);
    }
    let compactions = compactions(events, &fates);
    if compactions.is_empty() {
        return fates;
    }
    for (event, fate) in events.iter().zip(&mut fates).filter(|(_, fate)| **fate == Fate::Sent) {
        if event.is_compaction || event.time.as_ref().is_some_and(|time| is_replaced(&compactions, time)) {
            *fate = Fate::Replaced;
        }
    }
    compactions.iter().for_each(|compaction| fates[compaction.event] = Fate::Sent);
    fates
}

/// The rewinds among `events`: the index of each, and of the first event that it takes back. A rewind that a later one takes back
/// is none.
pub(super) fn rewinds(events: &[Event<'_>]) -> Vec<(usize, usize)> {
    let invocations = invocations(events);
    let mut found = Vec::new();
    let mut end = events.len();
    while let Some(at) = end.checked_sub(1) {
        end = at;
        if let Some(first) = rewound_from(at, events, &invocations) {
            end = first;
            found.push((at, first));
        }
    }
    found.reverse();
    found
}

/// Index of the first event of each invocation; empty if no event is a rewind.
fn invocations<'e>(events: &'e [Event<'_>]) -> HashMap<&'e str, usize> {
    let mut first = HashMap::default();
    if events.iter().any(|event| event.rewinds_to.is_some()) {
        for (at, event) in events.iter().enumerate() {
            event.invocation.as_deref().map(|invocation| first.entry(invocation).or_insert(at));
        }
    }
    first
}

/// Index of the first event that the event `at` takes back, if it is a rewind: itself if it names no event before it.
fn rewound_from(at: usize, events: &[Event<'_>], invocations: &HashMap<&str, usize>) -> Option<usize> {
    let target = events[at].rewinds_to.as_deref()?;
    Some(invocations.get(target).copied().filter(|first| *first < at).unwrap_or(at))
}

/// A compaction, and the times that it replaces.
struct Compaction<'e> {
    /// Index of the event.
    event: usize,
    start: &'e Moment,
    end: &'e Moment,
}

/// The compactions among the events that are sent which no other one contains, by the time at which they begin.
fn compactions<'e>(events: &'e [Event<'_>], fates: &[Fate]) -> Vec<Compaction<'e>> {
    let sent = events.iter().enumerate().filter(|(at, _)| fates[*at] == Fate::Sent);
    let mut found: Vec<Compaction<'e>> = sent
        .filter_map(|(event, Event { replaces, .. })| {
            replaces.as_ref().map(|(start, end)| Compaction { event, start, end })
        })
        .collect();
    found.sort_by(|one, other| {
        let longest = other.end.order(one.end).then(other.event.cmp(&one.event));
        one.start.order(other.start).then(longest)
    });
    let mut end: Option<&Moment> = None;
    found.retain(|compaction| {
        let reaches_on = end.is_none_or(|end| compaction.end.order(end).is_gt());
        if reaches_on {
            end = Some(compaction.end);
        }
        reaches_on
    });
    found
}

/// Whether one of these compactions, which end the later the later they begin, replaces an event of this time.
fn is_replaced(compactions: &[Compaction<'_>], time: &Moment) -> bool {
    let begun = compactions.partition_point(|compaction| compaction.start.order(time).is_le());
    begun.checked_sub(1).is_some_and(|last| time <= compactions[last].end)
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn times_of_two_kinds_are_not_compared() {
        let number = Moment::Number(2.0);
        let text = Moment::Text(String::from("2026-01-01T00:00:00"));
        assert!(number < Moment::Number(3.0) && text < Moment::Text(String::from("2026-01-01T00:00:00.5")));
        assert_eq!((number.partial_cmp(&text), text.partial_cmp(&number)), (None, None));
    }
}
