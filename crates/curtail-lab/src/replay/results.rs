//! Stages that clear or shorten results, which go on from the previous request.

use super::applied::Applied;
use super::runs::{Difference, Runs};
use super::sent::Sent;
use super::written::WrittenMessages;
use crate::requests::Request;
use curtail_core::processors::{ClearResults, ProcessorError, StaleResults};
use curtail_core::steps;

/// The results that are not cleared yet: a policy clears a result once enough others follow it.
pub(super) struct Results {
    /// How many of the last results are never cleared.
    last: usize,
    /// Positions of messages with results that are not all cleared, and the number of their results.
    open: Vec<(usize, usize)>,
    /// Index in [`History::originals`] of the first message that no request has sent.
    next: usize,
}

impl Results {
    /// `None` if `clear` looks at more than the number of results that follow a result.
    pub(super) fn new(clear: &ClearResults) -> Option<Self> {
        let StaleResults::AllButLast(last) = clear.stale else { return None };
        clear.is_plain().then_some(Self { last, open: Vec::new(), next: 0 })
    }

    pub(super) fn difference(
        &mut self,
        request: &Request,
        sent: &Sent,
        applied: &Applied<'_, '_>,
        written: &mut WrittenMessages,
    ) -> Result<Difference, ProcessorError> {
        let Applied { history, counting, .. } = applied;
        let end = history.originals.partition_point(|&at| at < request.at);
        let new = &history.originals[self.next.min(end)..end];
        let known = self.open.len();
        let results = new.iter().map(|&at| (at, history.messages[at].results().count()));
        self.open.extend(results.filter(|(_, count)| *count > 0));
        let mut at = self.next;
        self.next = end;
        let mut difference = sent.extended(0..0);
        if self.open.len() > known {
            let messages = self.open.iter().map(|&(at, _)| history.messages[at].clone()).collect();
            let first = self.open[0].0;
            difference = sent.cut(first);
            at = history.originals.partition_point(|&position| position < first).min(at);
            for message in applied.run(messages)? {
                let Some(position) = history.position(&message) else { continue };
                let before = history.originals.partition_point(|&other| other < position);
                push_all(&mut difference.runs, &history.originals[at..before]);
                written.push(&mut difference.runs, history, counting, &message);
                at = before + 1;
            }
        }
        push_all(&mut difference.runs, &history.originals[at..end]);
        self.close();
        Ok(difference)
    }

    /// Forgets the messages whose results are all cleared.
    fn close(&mut self) {
        let mut behind = 0;
        let mut open = self.open.len();
        while open > 0 && behind < self.last {
            open -= 1;
            behind += self.open[open].1;
        }
        self.open.drain(..open);
    }
}

/// Appends the messages at `positions`, as they were recorded.
pub(super) fn push_all(runs: &mut Runs, positions: &[usize]) {
    let mut rest = positions;
    while let Some(&first) = rest.first() {
        // Positions ascend, so a run without a gap is found by bisection.
        let count = longest(rest.len(), |count| rest[count - 1] - first == count - 1);
        runs.push(first..first + count);
        rest = &rest[count..];
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
