//! What of a conversation is sent, while its log is read: a compaction replaces what was sent before it, and a rollback brings
//! back what was sent earlier.

use std::iter::successors;
use std::ops::Range;

use super::Compaction;

/// The messages of a conversation so far, as a tree of stretches. The path from the last one up to the first is not rolled back.
pub(super) struct Live {
    /// In the order of the log; the first one continues itself.
    stretches: Vec<Stretch>,
}

/// Messages that follow each other in the log. All but the first stretch begin with a compaction or a rollback.
struct Stretch {
    /// Index of the item with which it begins.
    element: usize,
    /// Position of its first message.
    start: usize,
    /// Where another stretch ends that this one continues.
    before: Place,
    /// Positions of the messages up to there that were not rolled back.
    in_force: Vec<Range<usize>>,
    /// What a compaction put in place of everything before it.
    replacement: Option<Replacement>,
}

/// A place in a stretch: before the message at the position `end`.
#[derive(Clone, Copy)]
struct Place {
    stretch: usize,
    end: usize,
}

struct Replacement {
    /// The position behind its summaries, with which the stretch begins.
    summaries_end: usize,
    /// Positions of the messages that it kept.
    kept: Vec<Range<usize>>,
}

impl Default for Live {
    fn default() -> Self {
        let before = Place { stretch: 0, end: 0 };
        Self { stretches: vec![Stretch { element: 0, start: 0, before, in_force: Vec::new(), replacement: None }] }
    }
}

impl Live {
    /// Replaces everything so far by the messages at `summaries`, and by those of `kept` that were not rolled back.
    pub(super) fn compact(&mut self, element: usize, summaries: Range<usize>, kept: Vec<Range<usize>>) {
        let before = self.end(summaries.start);
        let in_force = self.in_force_at(before);
        let mut runs = Vec::new();
        for run in kept {
            let first = in_force.partition_point(|other| other.end <= run.start);
            for other in in_force[first..].iter().take_while(|other| other.start < run.end) {
                append(&mut runs, run.start.max(other.start)..run.end.min(other.end));
            }
        }
        let replacement = Some(Replacement { summaries_end: summaries.end, kept: runs });
        self.stretches.push(Stretch { element, start: summaries.start, before, in_force, replacement });
    }

    /// Adds the message at the position `at` to the summaries of the compaction before it, if there is none yet or the message
    /// `continues` the list of them.
    pub(super) fn add_summary(&mut self, at: usize, continues: bool) -> bool {
        let Some(Stretch { start, replacement: Some(last), .. }) = self.stretches.last_mut() else { return false };
        let adds = *start == at || continues && last.summaries_end == at;
        last.summaries_end += usize::from(adds);
        adds
    }

    /// Goes back to what was sent before the item `first`, which is behind the messages before `position`. `element` is the item
    /// that rolls back, at the position `at`.
    pub(super) fn roll_back(&mut self, element: usize, first: usize, position: usize, at: usize) {
        let stretch = self.stretches.partition_point(|stretch| stretch.element < first).saturating_sub(1);
        let before = self.behind_something(Place { stretch, end: position });
        let in_force = self.in_force_at(before);
        self.stretches.push(Stretch { element, start: at, before, in_force, replacement: None });
    }

    /// The same place as the end of a stretch that has something before it, so that stretches of which all was rolled back are not
    /// walked for each request.
    fn behind_something(&self, mut place: Place) -> Place {
        while let Stretch { start, before, replacement: None, .. } = &self.stretches[place.stretch]
            && place.stretch > 0
            && place.end <= *start
        {
            place = *before;
        }
        place
    }

    /// The positions before `at` that are not rolled back there, whether or not a compaction replaced them.
    pub(super) fn in_force(&self, at: usize) -> Vec<Range<usize>> {
        self.in_force_at(self.end(at))
    }

    fn in_force_at(&self, place: Place) -> Vec<Range<usize>> {
        let Stretch { start, in_force, .. } = &self.stretches[place.stretch];
        let mut runs = in_force.clone();
        append(&mut runs, *start..place.end);
        runs
    }

    /// The positions that a request at `at` sends.
    pub(super) fn sent(&self, at: usize) -> Vec<Range<usize>> {
        self.sent_at(self.end(at))
    }

    /// The position of the last compaction; 0 without one.
    pub(super) fn last_compaction(&self, at: usize) -> usize {
        self.path(self.end(at))
            .find(|(stretch, _)| stretch.replacement.is_some())
            .map_or(0, |(stretch, _)| stretch.start)
    }

    /// The compactions that were not rolled back, in order. `at` is the end of the conversation.
    pub(super) fn compactions(&self, at: usize) -> Vec<Compaction> {
        let compactions = self.path(self.end(at)).filter_map(|(stretch, _)| {
            let replacement = stretch.replacement.as_ref()?;
            let before = self.sent_at(stretch.before);
            Some(Compaction {
                before,
                after: stretch.replaced_by(replacement, usize::MAX),
                at: stretch.start,
                element: stretch.element,
            })
        });
        let mut found: Vec<Compaction> = compactions.collect();
        found.reverse();
        found
    }

    /// Where the conversation ends before the message at `at`.
    fn end(&self, at: usize) -> Place {
        Place { stretch: self.stretches.len() - 1, end: at }
    }

    /// The stretches from the one around `place` up to the first, each with the position where it ends.
    fn path(&self, place: Place) -> impl Iterator<Item = (&Stretch, usize)> {
        let places = successors(Some(place), |at| (at.stretch > 0).then(|| self.stretches[at.stretch].before));
        places.map(|at| (&self.stretches[at.stretch], at.end))
    }

    /// The positions that are sent at `place`.
    fn sent_at(&self, place: Place) -> Vec<Range<usize>> {
        let mut stretches = Vec::new();
        for (stretch, end) in self.path(place) {
            stretches.push((stretch, end));
            if stretch.replacement.is_some() {
                break;
            }
        }
        let mut sent = Vec::new();
        for (stretch, end) in stretches.into_iter().rev() {
            match &stretch.replacement {
                None => append(&mut sent, stretch.start..end),
                Some(replacement) => {
                    sent = stretch.replaced_by(replacement, end);
                    append(&mut sent, replacement.summaries_end..end);
                }
            }
        }
        sent
    }
}

impl Stretch {
    /// Positions of the summaries and of the messages that a compaction put in place of what was before it.
    fn replaced_by(&self, replacement: &Replacement, end: usize) -> Vec<Range<usize>> {
        let mut positions = Vec::with_capacity(replacement.kept.len() + 1);
        append(&mut positions, self.start..replacement.summaries_end.min(end));
        replacement.kept.iter().cloned().for_each(|run| append(&mut positions, run));
        positions
    }
}

/// Appends positions to `runs`.
fn append(runs: &mut Vec<Range<usize>>, new: Range<usize>) {
    match runs.last_mut() {
        _ if new.is_empty() => {}
        Some(run) if run.end == new.start => run.end = new.end,
        _ => runs.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::Live;

    #[test]
    fn what_a_session_goes_back_to_is_in_force_again_and_was_not_before() {
        let mut live = Live::default();
        live.roll_back(3, 1, 1, 3);
        assert_eq!((live.in_force(4), live.sent(4)), (vec![0..1, 3..4], vec![0..1, 3..4]));
        live.roll_back(5, 3, 3, 5);
        assert_eq!((live.in_force(6), live.sent(6)), (vec![0..3, 5..6], vec![0..3, 5..6]));
        live.compact(6, 6..7, vec![2..3, 4..6]);
        assert_eq!((live.in_force(8), live.sent(8)), (vec![0..3, 5..8], vec![6..7, 2..3, 5..6, 7..8]));
    }
}
