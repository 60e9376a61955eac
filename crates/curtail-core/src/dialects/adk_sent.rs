//! Which events the Agent Development Kit (ADK) sends after some of a session: those that no compaction replaced. Each event is
//! added in logarithmic time, and what was added last can be taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::adk_events::{Act, Event, Moment};
use super::index_runs::IndexRuns;
use crate::steps;

/// The events that a model reads.
pub(super) struct Sent<'e> {
    events: &'e [Event<'e>],
    sent: IndexRuns,
    /// Those of them that a compaction can replace, by their time.
    by_time: BTreeSet<(&'e Moment, usize)>,
    /// The compactions among them that say what they replace, by the time at which they begin: the time at which each ends, and
    /// its index. None contains another, so they end the later the later they begin.
    compactions: BTreeMap<&'e Moment, (&'e Moment, usize)>,
    /// The other compactions, which any of those replaces.
    vague: BTreeSet<usize>,
    /// The events that began or ceased to be sent, in order.
    changes: Vec<usize>,
}

impl<'e> Sent<'e> {
    /// None of `events`.
    pub(super) fn none_of(events: &'e [Event<'e>]) -> Self {
        Self {
            events,
            sent: IndexRuns::default(),
            by_time: BTreeSet::new(),
            compactions: BTreeMap::new(),
            vague: BTreeSet::new(),
            changes: Vec::new(),
        }
    }

    /// Adds an event that follows those before. A rewind adds nothing.
    pub(super) fn add(&mut self, at: usize) {
        steps::count(1);
        let Event { act, time, .. } = &self.events[at];
        let is_replaced = match (act, time) {
            (Act::Rewinds(_), _) => true,
            (Act::Compacts(Some((start, end))), _) => {
                self.begun(start).is_some_and(|(begin, stop)| end <= stop && (begin, stop) != (start, end))
            }
            (Act::Compacts(None), _) => !self.compactions.is_empty(),
            (Act::Adds, time) => {
                time.as_ref().is_some_and(|time| self.begun(time).is_some_and(|(_, stop)| time <= stop))
            }
        };
        if is_replaced {
            return;
        }
        if let Act::Compacts(Some((start, end))) = act {
            self.replace(start, end);
        }
        self.change(at);
    }

    /// When the compaction begins and ends that begins last at or before a time: it is the one that ends last.
    fn begun(&self, time: &'e Moment) -> Option<(&'e Moment, &'e Moment)> {
        self.compactions.range::<&Moment, _>(..=time).next_back().map(|(begin, (stop, _))| (*begin, *stop))
    }

    /// Takes out what a compaction replaces.
    fn replace(&mut self, start: &'e Moment, end: &'e Moment) {
        let contained = self.compactions.range::<&Moment, _>(start..).map(|(_, compaction)| *compaction);
        let contained = contained.take_while(|(stop, _)| *stop <= end).map(|(_, at)| at);
        let events = self.by_time.range((start, 0)..).take_while(|(time, _)| *time <= end).map(|(_, at)| *at);
        let replaced: Vec<usize> = contained.chain(events).chain(self.vague.iter().copied()).collect();
        for at in replaced {
            self.change(at);
        }
    }

    /// Sends an event that was not sent, or the other way round.
    fn change(&mut self, at: usize) {
        self.toggle(at);
        self.changes.push(at);
    }

    fn toggle(&mut self, at: usize) {
        let is_sent = self.sent.toggle(at);
        let event = &self.events[at];
        match (&event.act, &event.time) {
            (Act::Compacts(Some((start, end))), _) => {
                if is_sent {
                    self.compactions.insert(start, (end, at));
                } else {
                    self.compactions.remove(start);
                }
            }
            (Act::Compacts(None), _) => put(&mut self.vague, at, is_sent),
            (Act::Adds, Some(time)) => put(&mut self.by_time, (time, at), is_sent),
            (Act::Adds, None) | (Act::Rewinds(_), _) => {}
        }
    }

    /// The number of changes so far, to go back to.
    pub(super) const fn changes(&self) -> usize {
        self.changes.len()
    }

    /// Takes back all but the first `count` changes.
    pub(super) fn go_back(&mut self, count: usize) {
        for at in self.changes.split_off(count).into_iter().rev() {
            self.toggle(at);
        }
    }

    /// The events before `end` that are sent, as ranges.
    pub(super) fn before(&self, end: usize) -> Vec<Range<usize>> {
        let runs: Vec<Range<usize>> = self.sent.before(end).collect();
        steps::count(runs.len());
        runs
    }
}

/// Puts an item into a set, or takes it out.
fn put<T: Ord>(set: &mut BTreeSet<T>, item: T, is_in: bool) {
    if is_in {
        set.insert(item);
    } else {
        set.remove(&item);
    }
}

#[cfg(test)]
mod tests {
    use super::{Act, Event, Moment, Sent};

    fn at(time: Moment) -> Event<'static> {
        Event { time: Some(time), invocation: None, act: Act::Adds }
    }

    fn compaction(times: Option<(f64, f64)>) -> Event<'static> {
        let times = times.map(|(start, end)| (Moment::number(start), Moment::number(end)));
        Event { time: None, invocation: None, act: Act::Compacts(times) }
    }

    #[test]
    fn a_compaction_replaces_what_has_its_times_before_and_after_it_until_it_is_rolled_back() {
        let events = [
            at(Moment::number(1.0)),
            at(Moment::Text(String::from("2026-01-01T00:00:00"))),
            at(Moment::number(4.0)),
            compaction(None),
            compaction(Some((0.0, 2.0))),
            at(Moment::number(1.5)),
            compaction(None),
            compaction(Some((0.0, 3.0))),
            compaction(Some((0.5, 2.0))),
        ];
        let mut sent = Sent::none_of(&events);
        let mut changes = Vec::new();
        for at in 0..events.len() {
            changes.push(sent.changes());
            sent.add(at);
        }
        assert_eq!(indices(&sent), [1, 2, 7], "a compaction inside another one is replaced");
        sent.go_back(changes[7]);
        assert_eq!(indices(&sent), [1, 2, 4], "a compaction without times is in force only alone");
        sent.go_back(changes[4]);
        assert_eq!(indices(&sent), [0, 1, 2, 3]);
    }

    fn indices(sent: &Sent<'_>) -> Vec<usize> {
        sent.before(usize::MAX).into_iter().flatten().collect()
    }
}
