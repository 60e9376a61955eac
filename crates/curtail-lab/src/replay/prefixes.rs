//! The messages that a request sends, as runs of recorded messages. Two requests are compared run by run, without their
//! text: a policy says how a request differs from the previous one ([`Difference`]), [`Sent`] becomes the request, and
//! [`Changed`] says what that did.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use super::history::History;
use crate::links::{Link, MessageStats, digest};
use curtail_core::processors::Counting;
use curtail_core::steps;
use curtail_core::transcript::{Message, PartOrigin};
use curtail_facts::references;

/// Messages that follow each other in a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum MessageRun {
    /// Messages of the session, as they were recorded.
    Recorded(Range<usize>),
    /// A message that the policy wrote or changed, with its position if it has one.
    Written(Written, Option<usize>),
}

impl MessageRun {
    const fn count(&self) -> usize {
        match self {
            Self::Recorded(positions) => positions.end - positions.start,
            Self::Written(..) => 1,
        }
    }

    /// The positions of its messages, if they have any.
    const fn positions(&self) -> Option<Range<usize>> {
        match self {
            Self::Recorded(positions) => Some(positions.start..positions.end),
            Self::Written(_, Some(position)) => Some(*position..*position + 1),
            Self::Written(_, None) => None,
        }
    }

    fn recorded(&self) -> Option<Range<usize>> {
        self.positions().filter(|_| matches!(self, Self::Recorded(_)))
    }

    fn stats(&self, nth: usize, history: &History<'_>) -> MessageStats {
        match self {
            Self::Recorded(positions) => history.stats[positions.start + nth],
            Self::Written(written, _) => written.stats,
        }
    }

    /// The link of the first `count` of its messages after `link`.
    fn link(&self, link: Link, count: usize, history: &History<'_>) -> Link {
        match self {
            _ if count == 0 => link,
            Self::Recorded(positions) => history.links.link(link, positions.start..positions.start + count),
            Self::Written(written, _) => link.then(written.stats),
        }
    }
}

/// Messages in the order in which they are sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs(Vec<MessageRun>);

impl Runs {
    /// Appends the messages at `positions`, as they were recorded.
    pub(super) fn push(&mut self, positions: Range<usize>) {
        match self.0.last_mut() {
            _ if positions.is_empty() => {}
            Some(MessageRun::Recorded(run)) if run.end == positions.start => run.end = positions.end,
            _ => self.0.push(MessageRun::Recorded(positions)),
        }
    }

    /// Appends a message that a policy wrote, or changed if it has a position.
    pub(super) fn push_written(&mut self, written: Written, position: Option<usize>) {
        self.0.push(MessageRun::Written(written, position));
    }
}

/// How a request differs from the previous one.
#[derive(Debug, Clone, Default)]
pub(super) struct Difference {
    /// The number of runs at the beginning that are kept.
    kept: usize,
    /// The runs that are sent after them.
    pub(super) runs: Runs,
}

impl From<Runs> for Difference {
    /// A request that shares nothing with the previous one.
    fn from(runs: Runs) -> Self {
        Self { kept: 0, runs }
    }
}

// A request, and how it becomes the next one.

/// A run in a request.
#[derive(Debug, Clone)]
struct PlacedRun {
    run: MessageRun,
    /// The number of messages before it.
    count: usize,
    /// The link of everything before it.
    before: Link,
    /// The end of its positions, if the positions of all runs up to it ascend.
    ascends: Option<usize>,
}

/// The messages that a request sends. It is updated from request to request, so that the time depends on what changes.
#[derive(Debug)]
pub(super) struct Sent {
    runs: Vec<PlacedRun>,
    /// The link of everything outside the messages.
    outside: Link,
    /// The same messages as in `runs`. Those at the beginning that equal the previous request's keep the runs and links
    /// that they had there.
    linked: Vec<PlacedRun>,
    /// The number of messages that the policy wrote or changed.
    writings: usize,
    /// For each reference, the number of messages written by the policy that contain it.
    written: HashMap<u64, usize>,
}

impl Sent {
    /// A request without messages, with `outside` tokens outside them.
    pub(super) fn new(outside: u64) -> Self {
        Self {
            runs: Vec::new(),
            linked: Vec::new(),
            outside: Link { tokens: outside, ..Link::default() },
            writings: 0,
            written: HashMap::default(),
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
    fn relink(&mut self, common: usize, history: &History<'_>) {
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

    fn push(&mut self, run: MessageRun, history: &History<'_>) {
        let ascends = match self.runs.last() {
            Some(last) => last.ascends,
            None => Some(0),
        };
        let ascends = match run.positions() {
            Some(positions) => ascends.filter(|end| *end <= positions.start).map(|_| positions.end),
            None => ascends,
        };
        if let MessageRun::Written(written, _) = &run {
            self.writings += 1;
            for &reference in written.references.iter() {
                *self.written.entry(reference).or_default() += 1;
            }
        }
        self.runs.push(PlacedRun { count: self.count(), before: self.end(history), run, ascends });
    }

    fn remove_references(&mut self, run: &MessageRun) {
        let MessageRun::Written(written, _) = run else { return };
        self.writings -= 1;
        for reference in written.references.iter() {
            if let Some(count) = self.written.get_mut(reference) {
                *count -= 1;
                if *count == 0 {
                    self.written.remove(reference);
                }
            }
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
        let last = |run: Range<usize>| (run.start < end).then(|| run.end.min(end) - 1);
        if self.runs.last().is_some_and(|last| last.ascends.is_some()) {
            let after = self.runs.partition_point(|placed| {
                placed.run.positions().map_or(placed.ascends.unwrap_or(0) < end, |run| run.start < end)
            });
            return self.runs[..after].iter().rev().filter_map(|placed| placed.run.recorded()).find_map(last);
        }
        self.runs.iter().filter_map(|placed| placed.run.recorded()).filter_map(last).max()
    }

    /// Whether the policy wrote or changed a message.
    pub(super) const fn has_written(&self) -> bool {
        self.writings > 0
    }

    /// Whether a message that the policy wrote contains `reference`.
    pub(super) fn writes(&self, reference: u64) -> bool {
        self.written.contains_key(&reference)
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

// What changed.

/// The changes from one request to the next.
#[derive(Debug)]
pub(super) struct Changed {
    /// The number of messages of the previous request.
    pub(super) count: usize,
    /// The number of messages at the beginning that are the same.
    pub(super) common: usize,
    /// The runs of the previous request from index `kept` on.
    removed: Vec<PlacedRun>,
    /// The number of runs at the beginning that are the same.
    kept: usize,
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

// The messages that a policy writes.

/// A message that a policy wrote or changed.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) stats: MessageStats,
    /// Digests of its references.
    pub(super) references: Rc<HashSet<u64>>,
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.stats == other.stats && Rc::ptr_eq(&self.references, &other.references)
    }
}

impl Written {
    fn from_message(message: &Message<'_>, counting: &Counting) -> Self {
        let mut found = HashSet::default();
        references::each_in(message, &mut |reference| {
            found.insert(references::digest(reference));
        });
        let stats = MessageStats::from_message(message, counting.message(message) as u64);
        Self { stats, references: Rc::new(found) }
    }
}

/// The messages that policies wrote or changed, each counted once.
#[derive(Default)]
pub(super) struct WrittenMessages(HashMap<u64, Written>);

impl WrittenMessages {
    /// The runs of a request that sends `messages`.
    pub(super) fn runs(&mut self, history: &History<'_>, counting: &Counting, messages: &[Message<'_>]) -> Runs {
        let mut runs = Runs::default();
        for message in messages {
            self.push(&mut runs, history, counting, message);
        }
        runs
    }

    /// Appends `message` to the `runs` of a request.
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

/// Whether no edit changed the content of `message`.
pub(super) fn is_intact(message: &Message<'_>) -> bool {
    message.source_index().is_some()
        && message.cut.is_empty()
        && message.parts.iter().all(|part| matches!(part.origin, PartOrigin::Source(_)))
}
