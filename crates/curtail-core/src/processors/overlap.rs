//! The messages before a window's own that it repeats.

use super::filling::Filler;
use super::repeatable::Repeatable;
use super::split::{Overlap, SplitWindow};
use super::units::WindowUnit;
use crate::transcript::{Role, Standing};

/// The messages before a window's own, and their tokens.
#[derive(Debug, Default)]
pub(super) struct Context {
    pub(super) window: SplitWindow,
    /// Tokens of everything that the window repeats, and of what is outside the messages.
    pub(super) tokens: usize,
}

impl Context {
    /// Whether `needed` more tokens fit into `budget`.
    pub(super) const fn has_room(&self, needed: usize, budget: usize) -> bool {
        self.tokens.saturating_add(needed) <= budget
    }
}

impl Filler<'_, '_, '_> {
    /// The largest context of a window whose own messages begin at segment `at`, such that `needed` more tokens fit; the
    /// smallest context if none does.
    pub(super) fn context(&self, at: usize, needed: usize) -> Context {
        let start = self.segments[at].start;
        let floor = self.floor(start);
        for from in self.overlaps(at, floor) {
            let context = self.context_from(from, start, floor);
            if context.has_room(needed, self.split.max_tokens) {
                return context;
            }
        }
        self.context_from(start, start, floor)
    }

    /// The first message that the model reads before a window beginning at `start`.
    fn floor(&self, start: usize) -> usize {
        if !self.split.at_boundaries {
            return 0;
        }
        let boundaries = &self.repeatable.boundaries;
        let before = boundaries.partition_point(|(boundary, _)| *boundary <= start);
        before.checked_sub(1).map_or(0, |last| self.segment_start(boundaries[last].0))
    }

    /// Where an overlap that is no larger than a window can begin, the largest one first and without overlap last.
    fn overlaps(&self, at: usize, floor: usize) -> Vec<usize> {
        let start = self.segments[at].start;
        let before = &self.segments[..at];
        let far = before.partition_point(|segment| {
            segment.start < floor || self.between(segment.start, start) > self.split.max_tokens
        });
        let Overlap { count, unit } = self.split.overlap;
        let first = match unit {
            WindowUnit::Turns => return self.turns_between(self.segments[far].start, start),
            WindowUnit::Segments => at.saturating_sub(count),
            WindowUnit::Items | WindowUnit::Messages => before.partition_point(|segment| start - segment.start > count),
        };
        self.segments[far.max(first)..=at].iter().map(|segment| segment.start).collect()
    }

    /// The same for an overlap of turns, none of which begins before `from`.
    fn turns_between(&self, from: usize, start: usize) -> Vec<usize> {
        let before = self.turns.partition_point(|&turn| turn < start);
        let turns = &self.turns[before.saturating_sub(self.split.overlap.count)..before];
        let far = turns.partition_point(|&turn| turn < from);
        let mut starts: Vec<usize> = turns[far..].iter().map(|&turn| self.segment_start(turn)).collect();
        starts.push(start);
        starts.dedup();
        starts
    }

    /// The context of a window whose overlap begins at `from` and whose own messages begin at `start`.
    fn context_from(&self, from: usize, start: usize, floor: usize) -> Context {
        let messages = self.view.messages;
        let Repeatable { instructions, beside, boundaries, awaiting, first_user } = &self.repeatable;
        let mut pinned: Vec<usize> = Vec::new();
        if self.split.pins.system {
            pinned.extend(instructions.iter().copied().take_while(|&at| at < from));
        }
        pinned.extend(first_user.filter(|&at| self.split.pins.first_user && at >= floor && at < from));
        pinned.extend(awaiting.iter().copied().take_while(|&at| at < from));
        if start == floor && start > 0 {
            pinned.extend((0..from).filter(|&at| messages[at].standing == Standing::Preserved));
        }
        pinned.sort_unstable();
        pinned.dedup();
        let mut opener = self.turn_opener(from, start, floor).filter(|at| pinned.binary_search(at).is_err());
        let instructing = beside.range(..from).map(|(at, _)| *at).filter(|_| self.split.pins.system);
        let mut instructions: Vec<usize> =
            instructing.filter(|at| pinned.binary_search(at).is_err() && opener != Some(*at)).collect();
        for &(boundary, end) in boundaries.iter().rev().filter(|(boundary, _)| *boundary < from) {
            let mut repeated = pinned.iter().chain(&instructions).chain(opener.as_ref());
            if end > from || repeated.any(|at| *at > boundary && *at < end) {
                pinned.push(boundary);
                // A user message that the boundary replaces no longer begins a turn.
                let replaced = messages[boundary].role != Role::Assistant && !messages[boundary].has_tools();
                if let Some(at) = opener.take_if(|at| *at <= boundary && replaced) {
                    instructions.extend(beside.get(&at).filter(|_| self.split.pins.system).map(|_| at));
                }
            }
        }
        pinned.sort_unstable();
        pinned.dedup();
        instructions.retain(|at| pinned.binary_search(at).is_err());
        let context: Vec<usize> = opener.into_iter().chain(from..start).collect();
        let window = SplitWindow { pinned, instructions, context, ..SplitWindow::default() };
        let repeated = self.pinned_tokens(&window) + opener.map_or(0, |at| self.tokens[at]);
        let tokens = self.outside.saturating_add(repeated).saturating_add(self.between(from, start));
        Context { window, tokens }
    }

    /// The user message that begins the turn which the messages from `from` on continue.
    fn turn_opener(&self, from: usize, start: usize, floor: usize) -> Option<usize> {
        let messages = self.view.messages;
        let first = messages[from..=start].iter().find(|message| !message.role.instructs()).unwrap_or(&messages[start]);
        if first.begins_turn() {
            return None;
        }
        let before = self.turns.partition_point(|&turn| turn < from);
        let mut turns = self.turns[..before].iter().rev().copied().take_while(|&at| at >= floor);
        turns.find(|&at| messages[at].begins_turn() && messages[at].thread == first.thread)
    }
}
