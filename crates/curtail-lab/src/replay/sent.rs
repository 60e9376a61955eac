//! The messages that a request sends, as runs of recorded messages. Two requests are compared run by run, without their text.

use std::collections::BTreeSet;
use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::history::History;
use super::runs::{Difference, MessageRun, Runs};
use crate::links::Link;
use curtail_core::steps;

/// A run in a request.
#[derive(Debug, Clone)]
pub(super) struct PlacedRun {
    pub(super) run: MessageRun,
    /// The number of messages before it.
    pub(super) count: usize,
    /// The link of everything before it.
    before: Link,
    /// The end of its positions, if the positions of all runs up to it ascend.
    ascends: Option<usize>,
}

/// The messages that a request sends. It is updated from request to request, so that the time depends on what changes.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) runs: Vec<PlacedRun>,
    /// The link of everything outside the messages.
    outside: Link,
    /// The same messages as in `runs`. Those at the beginning that equal the previous request's keep the runs and links
    /// that they had there.
    linked: Vec<PlacedRun>,
    written: WrittenReferences,
}

/// What the messages contain that the policy wrote or changed.
#[derive(Debug, Default)]
struct WrittenReferences {
    /// The number of these messages.
    messages: usize,
    /// For each reference, the number of those that contain it.
    counts: HashMap<u64, usize>,
}

impl WrittenReferences {
    fn add(&mut self, references: &HashSet<u64>) {
        self.messages += 1;
        for &reference in references {
            *self.counts.entry(reference).or_default() += 1;
        }
    }

    fn remove(&mut self, references: &HashSet<u64>) {
        self.messages -= 1;
        for reference in references {
            if let Some(count) = self.counts.get_mut(reference) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(reference);
                }
            }
        }
    }
}

impl Sent {
    /// A request without messages, with `outside` tokens outside them.
    pub(super) fn new(outside: u64) -> Self {
        Self {
            runs: Vec::new(),
            linked: Vec::new(),
            outside: Link { tokens: outside, ..Link::default() },
            written: WrittenReferences::default(),
        }
    }

    /// Number of messages.
    pub(super) fn count(&self) -> usize {
        self.runs.last().map_or(0, |last| last.count + last.run.count())
    }

    /// The link of everything that is sent.
    pub(super) fn end(&self, history: &History<'_>) -> Link {
        self.runs.last().map_or(self.outside, |last| last.run.link(last.before, last.run.count(), history))
    }

    /// The link of the first `count` messages.
    pub(super) fn link(&self, count: usize, history: &History<'_>) -> Link {
        steps::count(1);
        let Some(nth) = self.linked.partition_point(|placed| placed.count < count).checked_sub(1) else {
            return self.outside;
        };
        let placed = &self.linked[nth];
        placed.run.link(placed.before, count - placed.count, history)
    }

    /// Updates `linked` after the first `common` messages, which equal the previous request's.
    pub(super) fn relink(&mut self, common: usize, history: &History<'_>) {
        let before = self.link(common, history);
        let kept = self.linked.partition_point(|placed| placed.count < common);
        self.linked.truncate(kept);
        if let Some(PlacedRun { run: MessageRun::Recorded(positions), count, .. }) = self.linked.last_mut() {
            positions.end = positions.end.min(positions.start + common - *count);
        }
        let first = self.runs.partition_point(|placed| placed.count + placed.run.count() <= common);
        let mut before = before;
        let mut count = common;
        for placed in &self.runs[first..] {
            let run = match &placed.run {
                MessageRun::Recorded(positions) => {
                    MessageRun::Recorded(positions.start + common.saturating_sub(placed.count)..positions.end)
                }
                written @ MessageRun::Written(..) => written.clone(),
            };
            let next = (run.link(before, run.count(), history), count + run.count());
            self.linked.push(PlacedRun { run, count, before, ascends: None });
            (before, count) = next;
        }
    }

    pub(super) fn push(&mut self, run: MessageRun, history: &History<'_>) {
        let ascends = self.runs.last().map_or(Some(0), |last| last.ascends);
        let ascends = match run.positions() {
            Some(positions) => ascends.filter(|end| *end <= positions.start).map(|_| positions.end),
            None => ascends,
        };
        if let MessageRun::Written(written, _) = &run {
            self.written.add(&written.references);
        }
        self.runs.push(PlacedRun { count: self.count(), before: self.end(history), run, ascends });
    }

    pub(super) fn remove_references(&mut self, run: &MessageRun) {
        if let MessageRun::Written(written, _) = run {
            self.written.remove(&written.references);
        }
    }

    /// The request that also sends the messages at `new`, after all others.
    pub(super) fn extended(&self, new: Range<usize>) -> Difference {
        let kept = self.runs.len().saturating_sub(1);
        let mut runs = Runs(self.runs[kept..].iter().map(|placed| placed.run.clone()).collect());
        runs.push(new);
        Difference { kept, runs }
    }

    /// The request that sends only the messages before `position`. The positions of its runs must ascend.
    pub(super) fn cut(&self, position: usize) -> Difference {
        let kept = self.runs.partition_point(|placed| placed.ascends.is_some_and(|end| end <= position));
        let mut runs = Runs::default();
        if let Some(run) = self.runs.get(kept).and_then(|placed| placed.run.recorded()) {
            runs.push(run.start..position.max(run.start));
        }
        Difference { kept, runs }
    }

    /// Whether the message at `position` is sent as it was recorded.
    pub(super) fn sends(&self, position: usize) -> bool {
        self.last_before(position + 1) == Some(position)
    }

    /// Whether one of the messages at `positions`, which ascend, is sent as it was recorded.
    pub(super) fn sends_any(&self, positions: &[usize]) -> bool {
        let mut rest = positions;
        while let Some(position) = rest.last() {
            match self.last_before(position + 1) {
                Some(last) if last == *position => return true,
                Some(last) => rest = &rest[..rest.partition_point(|position| *position <= last)],
                None => return false,
            }
        }
        false
    }

    /// The last position before `end` whose message is sent as it was recorded; by bisection if positions ascend.
    fn last_before(&self, end: usize) -> Option<usize> {
        steps::count(1);
        if self.runs.last().is_some_and(|last| last.ascends.is_some()) {
            let after = self.runs.partition_point(|placed| {
                placed.run.positions().map_or(placed.ascends.unwrap_or(0) < end, |run| run.start < end)
            });
            return self.runs[..after]
                .iter()
                .rev()
                .filter_map(|placed| placed.run.recorded())
                .find_map(|run| last_of(run, end));
        }
        self.runs.iter().filter_map(|placed| last_of(placed.run.recorded()?, end)).max()
    }

    /// Whether the policy wrote or changed a message.
    pub(super) const fn has_written(&self) -> bool {
        self.written.messages > 0
    }

    /// Whether a message that the policy wrote contains `reference`.
    pub(super) fn writes(&self, reference: u64) -> bool {
        self.written.counts.contains_key(&reference)
    }

    /// How many messages at the beginning give instructions.
    pub(super) fn instructions(&self, history: &History<'_>) -> usize {
        let mut count = 0;
        for placed in &self.runs {
            let instructing = match &placed.run {
                MessageRun::Recorded(run) => history.after_instructions[run.start].min(run.end) - run.start,
                MessageRun::Written(written, _) => usize::from(written.stats.instructs),
            };
            count += instructing;
            if instructing < placed.run.count() {
                break;
            }
        }
        count
    }

    /// The messages of `positions` that are sent after the first `skipped` messages: the position of each, and the link
    /// of everything that is sent before it.
    pub(super) fn sent_after(
        &self,
        skipped: usize,
        positions: &BTreeSet<usize>,
        history: &History<'_>,
    ) -> Vec<(usize, Link)> {
        let first = self.runs.partition_point(|placed| placed.count + placed.run.count() <= skipped);
        let mut found = Vec::new();
        for placed in self.runs[first..].iter().filter(|_| !positions.is_empty()) {
            let Some(run) = placed.run.positions() else { continue };
            let begin = run.start + skipped.saturating_sub(placed.count);
            for &position in positions.range(begin..run.end.max(begin)) {
                found.push((position, placed.run.link(placed.before, position - run.start, history)));
            }
        }
        found
    }
}

/// The last position of a run that is before `end`.
fn last_of(run: Range<usize>, end: usize) -> Option<usize> {
    (run.start < end).then(|| run.end.min(end) - 1)
}
