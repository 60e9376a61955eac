//! A set of indices, most of them side by side.

use std::collections::BTreeMap;
use std::ops::Range;

/// The indices, as runs that do not touch.
#[derive(Default)]
pub(super) struct IndexRuns {
    /// Where each run begins and ends.
    ends: BTreeMap<usize, usize>,
}

impl IndexRuns {
    /// Adds an index that is not in the set, or removes one that is; whether it is now.
    pub(super) fn toggle(&mut self, at: usize) -> bool {
        match self.ends.range(..=at).next_back() {
            Some((&start, &end)) if at < end => {
                self.ends.remove(&start);
                self.insert(start..at);
                self.insert(at + 1..end);
                false
            }
            before => {
                let start = before.filter(|(_, end)| **end == at).map_or(at, |(start, _)| *start);
                let end = self.ends.remove(&(at + 1)).unwrap_or(at + 1);
                self.insert(start..end);
                true
            }
        }
    }

    /// Whether an index is in the set.
    pub(super) fn has(&self, at: usize) -> bool {
        self.ends.range(..=at).next_back().is_some_and(|(_, end)| at < *end)
    }

    fn insert(&mut self, run: Range<usize>) {
        if !run.is_empty() {
            self.ends.insert(run.start, run.end);
        }
    }

    /// The runs before `end`, in order.
    pub(super) fn before(&self, end: usize) -> impl Iterator<Item = Range<usize>> {
        self.ends.range(..end).map(move |(start, stop)| *start..end.min(*stop))
    }
}

#[cfg(test)]
mod tests {
    use super::IndexRuns;

    #[test]
    fn runs_join_and_part() {
        let mut runs = IndexRuns::default();
        for at in [3, 1, 2, 7] {
            assert!(runs.toggle(at));
        }
        assert_eq!(runs.before(9).collect::<Vec<_>>(), [1..4, 7..8]);
        assert_eq!(runs.before(3).flatten().collect::<Vec<_>>(), [1, 2]);
        for at in [2, 7, 1] {
            assert!(!runs.toggle(at));
        }
        assert_eq!(runs.before(9).flatten().collect::<Vec<_>>(), [3]);
    }
}
