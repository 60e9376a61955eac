//! What the Agent Development Kit (ADK) sends of the events of a session: a compaction replaces the events of some time, and a
//! rewind takes back an invocation and all after it.

use foldhash::HashMap;

use super::HistoryChange;
use super::adk_events::{Act, Event};
use super::adk_sent::Sent;
use crate::json::Value;

/// The compactions and rewinds among `items`.
pub(super) fn history(items: &[Value<'_>]) -> Vec<HistoryChange> {
    let events = read_events(items);
    let rewound = rewound(&events);
    let mut changes = compactions(&events, &rewound);
    let rewinds = rewound.iter().enumerate().filter_map(|(at, first)| first.map(|first| (at, first)));
    changes.extend(rewinds.map(|(at, first)| HistoryChange::rollback(at, first)));
    HistoryChange::in_order(changes)
}

pub(super) fn read_events<'a>(items: &[Value<'a>]) -> Vec<Event<'a>> {
    items.iter().map(|item| Event::of(*item)).collect()
}

/// The compactions, with what a model still reads of the events before each, in any order. After a rewind, events follow those
/// that are before it: all are visited as a tree, each of them once.
fn compactions(events: &[Event<'_>], rewound: &[Option<usize>]) -> Vec<HistoryChange> {
    let mut found = Vec::new();
    if !events.iter().any(|event| matches!(event.act, Act::Compacts(_))) {
        return found;
    }
    let following = following(rewound);
    let mut sent = Sent::none_of(events);
    let mut steps: Vec<Step> = following[0].iter().copied().map(Step::Add).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::GoBack(changes) => sent.go_back(changes),
            Step::Add(at) => {
                steps.push(Step::GoBack(sent.changes()));
                sent.add(at);
                if matches!(events[at].act, Act::Compacts(_)) {
                    found.push(HistoryChange::compaction(at, sent.before(at)));
                }
                steps.extend(following[at + 1].iter().copied().map(Step::Add));
            }
        }
    }
    found
}

/// A step through all events.
enum Step {
    /// Adds an event.
    Add(usize),
    /// Takes back all but so many changes.
    GoBack(usize),
}

/// The events that follow the beginning, and those that follow each event: the next one, and what was written after a rewind to
/// it. A rewind itself follows nothing.
fn following(rewound: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut following = vec![Vec::new(); rewound.len() + 1];
    // Before each event: the number of the list that it belongs to.
    let mut lists = vec![0];
    for (at, first) in rewound.iter().enumerate() {
        match first {
            Some(first) => lists.push(lists[*first]),
            None => {
                following[lists[at]].push(at);
                lists.push(at + 1);
            }
        }
    }
    following
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
    let mut fates = vec![Fate::Replaced; events.len()];
    for (event, first) in rewinds(events) {
        fates[first..=event].fill(Fate::RolledBack);
    }
    let mut sent = Sent::none_of(events);
    (0..events.len()).filter(|at| fates[*at] != Fate::RolledBack).for_each(|at| sent.add(at));
    for run in sent.before(events.len()) {
        fates[run].fill(Fate::Sent);
    }
    fates
}

/// The rewinds among `events`: the index of each, and of the first event that it takes back. A rewind that a later one takes back
/// is none.
pub(super) fn rewinds(events: &[Event<'_>]) -> Vec<(usize, usize)> {
    let rewound = rewound(events);
    let mut found = Vec::new();
    let mut end = events.len();
    while let Some(at) = end.checked_sub(1) {
        end = at;
        if let Some(first) = rewound[at] {
            end = first;
            found.push((at, first));
        }
    }
    found.reverse();
    found
}

/// Of each event that is a rewind, the index of the first event that it takes back: itself if it names no event before it.
fn rewound(events: &[Event<'_>]) -> Vec<Option<usize>> {
    let mut first: HashMap<&str, usize> = HashMap::default();
    let rewound = events.iter().enumerate().map(|(at, event)| {
        let rewound = match &event.act {
            Act::Rewinds(invocation) => Some(first.get(&**invocation).copied().unwrap_or(at)),
            Act::Adds | Act::Compacts(_) => None,
        };
        if let Some(invocation) = &event.invocation {
            first.entry(invocation).or_insert(at);
        }
        rewound
    });
    rewound.collect()
}
