//! Messages that follow each other in a request, and how the next request differs in them.

use std::ops::Range;
use std::rc::Rc;

use foldhash::HashSet;

use super::history::History;
use crate::links::{Link, MessageStats};
use curtail_core::processors::Counting;
use curtail_core::steps;
use curtail_core::transcript::Message;
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
    pub(super) const fn count(&self) -> usize {
        match self {
            Self::Recorded(positions) => positions.end - positions.start,
            Self::Written(..) => 1,
        }
    }

    /// The positions of its messages, if they have any.
    pub(super) const fn positions(&self) -> Option<Range<usize>> {
        match self {
            Self::Recorded(positions) => Some(positions.start..positions.end),
            Self::Written(_, Some(position)) => Some(*position..*position + 1),
            Self::Written(_, None) => None,
        }
    }

    pub(super) fn recorded(&self) -> Option<Range<usize>> {
        self.positions().filter(|_| matches!(self, Self::Recorded(_)))
    }

    pub(super) fn stats(&self, nth: usize, history: &History<'_>) -> MessageStats {
        match self {
            Self::Recorded(positions) => history.stats[positions.start + nth],
            Self::Written(written, _) => written.stats,
        }
    }

    /// The link of the first `count` of its messages after `link`.
    pub(super) fn link(&self, link: Link, count: usize, history: &History<'_>) -> Link {
        match self {
            _ if count == 0 => link,
            Self::Recorded(positions) => history.links.link(link, positions.start..positions.start + count),
            Self::Written(written, _) => link.then(written.stats),
        }
    }
}

/// Messages in the order in which they are sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs(pub(super) Vec<MessageRun>);

impl Runs {
    /// Appends the messages at `positions`, as they were recorded.
    pub(super) fn push(&mut self, positions: Range<usize>) {
        match self.0.last_mut() {
            _ if positions.is_empty() => {}
            Some(MessageRun::Recorded(run)) if run.end == positions.start => run.end = positions.end,
            _ => self.0.push(MessageRun::Recorded(positions)),
        }
    }

    /// Appends the messages at `positions`, which ascend, as they were recorded.
    pub(super) fn push_all(&mut self, positions: &[usize]) {
        let mut rest = positions;
        while let Some(&first) = rest.first() {
            // A run without a gap is found by bisection.
            let count = longest(rest.len(), |count| rest[count - 1] - first == count - 1);
            self.push(first..first + count);
            rest = &rest[count..];
        }
    }
}

/// The largest number from 1 to `most` for which `holds` is true. It must be true for 1, and stay false once it is
/// false.
fn longest(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let mut low = 1;
    let mut high = most;
    while low < high {
        steps::count(1);
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// How a request differs from the previous one.
#[derive(Debug, Clone, Default)]
pub(super) struct Difference {
    /// The number of runs at the beginning that are kept.
    pub(super) kept: usize,
    /// The runs that are sent after them.
    pub(super) runs: Runs,
}

impl From<Runs> for Difference {
    /// A request that shares nothing with the previous one.
    fn from(runs: Runs) -> Self {
        Self { kept: 0, runs }
    }
}

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
    pub(super) fn from_message(message: &Message<'_>, counting: &Counting) -> Self {
        let mut found = HashSet::default();
        references::each_in(message, &mut |reference| {
            found.insert(references::digest(reference));
        });
        let stats = MessageStats::from_message(message, counting.message(message) as u64);
        Self { stats, references: Rc::new(found) }
    }
}
