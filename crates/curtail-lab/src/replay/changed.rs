//! The next request: a policy says how it differs from the previous one ([`Difference`]), [`Sent`] becomes it, and [`Changed`]
//! says what that did.

use std::ops::Range;

use super::history::History;
use super::runs::{Difference, MessageRun, Runs};
use super::sent::{PlacedRun, Sent};
use curtail_core::steps;

/// The changes from one request to the next.
#[derive(Debug)]
pub(super) struct Changed {
    /// The number of messages of the previous request.
    pub(super) count: usize,
    /// The number of messages at the beginning that are the same.
    pub(super) common: usize,
    /// The runs of the previous request from index `kept` on.
    pub(super) removed: Vec<PlacedRun>,
    /// The number of runs at the beginning that are the same.
    pub(super) kept: usize,
}

impl Sent {
    /// Updates it to the next request.
    pub(super) fn change(&mut self, difference: Difference, history: &History<'_>) -> Changed {
        let Difference { mut kept, runs: Runs(runs) } = difference;
        let same = runs.iter().zip(self.runs.iter().skip(kept)).take_while(|(run, placed)| **run == placed.run);
        let same = same.count();
        kept += same;
        steps::count(1 + runs.len());
        let before = self.runs.get(kept).map_or_else(|| self.count(), |placed| placed.count);
        let count = self.count();
        let removed: Vec<PlacedRun> = self.runs.drain(kept..).collect();
        for placed in &removed {
            self.remove_references(&placed.run);
        }
        for run in runs.into_iter().skip(same) {
            self.push(run, history);
        }
        let common = before + common(&removed, &self.runs[kept..], history);
        self.relink(common, history);
        Changed { count, common, removed, kept }
    }
}

impl Changed {
    /// The positions whose messages the previous request sent as they were recorded, and `sent` does not.
    pub(super) fn dropped(&self, sent: &Sent) -> Vec<usize> {
        let mut runs: Vec<Range<usize>> =
            sent.runs[self.kept..].iter().filter_map(|placed| placed.run.recorded()).collect();
        runs.sort_unstable_by_key(|run| run.start);
        let mut dropped = Vec::new();
        for run in self.removed.iter().filter_map(|placed| placed.run.recorded()) {
            let mut at = run.start;
            while at < run.end {
                let after = runs.partition_point(|other| other.start <= at);
                let next = runs.get(after).map_or(run.end, |other| other.start.min(run.end));
                match after.checked_sub(1).map(|nth| runs[nth].end).filter(|end| *end > at) {
                    Some(end) => at = end,
                    None => {
                        dropped.extend(at..next);
                        at = next;
                    }
                }
            }
        }
        dropped
    }
}

/// How many messages at the beginning of `one` and `two` are the same.
///
/// For the runs `0..5, 9..12` and `0..3, 3..5, 9..20`, the steps are 3, 2 and 3 messages: 8 in common. No digest is compared,
/// because both cursors are at the same recorded message each time.
fn common(one: &[PlacedRun], two: &[PlacedRun], history: &History<'_>) -> usize {
    let [mut one, mut two] = [one, two].map(|runs| Cursor::begin(runs.iter().map(|placed| &placed.run)));
    let mut common = 0;
    while let (Some((run, nth)), Some((other, nth_other))) = (one.peek(), two.peek()) {
        steps::count(1);
        let step = match (run, other) {
            (MessageRun::Recorded(run), MessageRun::Recorded(other)) => {
                let most = (run.len() - nth).min(other.len() - nth_other);
                history.links.common_length(run.start + nth, other.start + nth_other, most)
            }
            _ => usize::from(run.stats(nth, history).digest == other.stats(nth_other, history).digest),
        };
        if step == 0 {
            break;
        }
        one.advance(step);
        two.advance(step);
        common += step;
    }
    common
}

/// A place in a request.
struct Cursor<'s, I> {
    runs: I,
    run: Option<&'s MessageRun>,
    nth: usize,
}

impl<'s, I: Iterator<Item = &'s MessageRun>> Cursor<'s, I> {
    fn begin(mut runs: I) -> Self {
        let run = runs.next();
        Self { runs, run, nth: 0 }
    }

    fn peek(&self) -> Option<(&'s MessageRun, usize)> {
        self.run.map(|run| (run, self.nth))
    }

    /// Advances by `step` messages, at most to the end of the run.
    fn advance(&mut self, step: usize) {
        self.nth += step;
        while self.run.is_some_and(|run| run.count() <= self.nth) {
            (self.run, self.nth) = (self.runs.next(), 0);
        }
    }
}
