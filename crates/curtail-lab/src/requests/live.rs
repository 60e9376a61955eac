//! What of a conversation is sent, while its log is read: a compaction replaces what was sent before it, and a rollback brings
//! back what was sent earlier.

use std::iter::successors;
use std::ops::Range;

use foldhash::HashMap;

use super::Compaction;

/// The messages of a conversation so far, as a tree of stretches. The path from the last one up to the first is not rolled back.
pub(super) struct Live {
    /// In the order of the log; the first one continues itself.
    stretches: Vec<Stretch>,
    /// For the position of each message that was rolled back, the position from which on it was no longer sent.
    pub(super) rolled_back: HashMap<usize, usize>,
}

/// Messages that follow each other in the log. All but the first stretch begin with a compaction or a rollback.
struct Stretch {
    /// Index of the item with which it begins.
    element: usize,
    /// Position of its first message.
    start: usize,
    /// Where another stretch ends that this one continues.
    before: Place,
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
        let first = Stretch { element: 0, start: 0, before: Place { stretch: 0, end: 0 }, replacement: None };
        Self { stretches: vec![first], rolled_back: HashMap::default() }
    }
}

impl Live {
    /// Replaces everything so far by the messages at `summaries`, and by those of `kept` that were not rolled back.
    pub(super) fn compact(&mut self, element: usize, summaries: Range<usize>, kept: Vec<Range<usize>>) {
        let mut runs = Vec::new();
        for run in kept.into_iter().map(|run| run.start..run.end.min(summaries.start)) {
            if self.rolled_back.is_empty() {
                append(&mut runs, run);
            } else {
                let sent = run.filter(|position| !self.rolled_back.contains_key(position));
                sent.for_each(|position| append(&mut runs, position..position + 1));
            }
        }
        self.stretches.push(Stretch {
            element,
            start: summaries.start,
            before: self.end(summaries.start),
            replacement: Some(Replacement { summaries_end: summaries.end, kept: runs }),
        });
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
        self.mark_rolled_back(before, at);
        self.stretches.push(Stretch { element, start: at, before, replacement: None });
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

    /// Marks the messages from `target` to `at`, or to where the path to `at` leaves the one to `target`. Those from there to
    /// `target` are sent again.
    fn mark_rolled_back(&mut self, target: Place, at: usize) {
        let mut old = self.end(at);
        let mut new = target;
        while old.stretch != new.stretch {
            let Stretch { start, before, .. } = self.stretches[old.stretch.max(new.stretch)];
            // The later stretch is not on the other path: each continues an earlier one.
            if old.stretch > new.stretch {
                self.rolled_back.extend((start..old.end).map(|position| (position, at)));
                old = before;
            } else {
                self.send_again(start..new.end);
                new = before;
            }
        }
        self.rolled_back.extend((new.end..old.end).map(|position| (position, at)));
        self.send_again(old.end..new.end);
    }

    fn send_again(&mut self, positions: Range<usize>) {
        for position in positions {
            self.rolled_back.remove(&position);
        }
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
        let compaction = |(stretch, _): (&Stretch, usize)| {
            let replacement = stretch.replacement.as_ref()?;
            let before = self.sent_at(stretch.before);
            Some(Compaction {
                before,
                after: stretch.replaced_by(replacement, usize::MAX),
                at: stretch.start,
                element: stretch.element,
            })
        };
        let mut found: Vec<Compaction> = self.path(self.end(at)).filter_map(compaction).collect();
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
