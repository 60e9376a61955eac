//! Fills windows greedily: each takes as many whole segments as fit.

use std::ops::Range;

use super::rendering::Rendering;
use super::repeatable::Repeatable;
use super::split::{Split, SplitWindow, TargetRule};
use super::{ProcessorError, View};
use crate::transcript::{Message, Pairs, whole_segments};

impl Split {
    /// The windows of `view`, in order. Their own messages are all messages of the view.
    ///
    /// # Errors
    /// The pinned messages alone exceed the budget, or a segment does and [`SplitOverflow::Error`](super::SplitOverflow::Error) is
    /// set.
    pub fn windows(&self, view: &View<'_, '_>) -> Result<Vec<SplitWindow>, ProcessorError> {
        Filler::new(self, view)?.windows()
    }
}

/// A transcript that is split, with the data for its windows.
pub(super) struct Filler<'s, 'v, 'a> {
    pub(super) split: &'s Split,
    pub(super) view: &'s View<'v, 'a>,
    /// Tokens of every message.
    pub(super) tokens: Vec<usize>,
    /// Tokens of all messages before each message, and of all.
    sums: Vec<usize>,
    /// Tokens outside the messages.
    pub(super) outside: usize,
    pub(super) segments: Vec<Range<usize>>,
    /// Where turns begin.
    pub(super) turns: Vec<usize>,
    pub(super) repeatable: Repeatable,
    /// Renders windows, if a chat template counts.
    pub(super) rendering: Option<Rendering<'s>>,
    /// Segments with a target.
    targets: Vec<usize>,
    /// Segments that always begin a window.
    stops: Vec<usize>,
}

impl<'s, 'v, 'a> Filler<'s, 'v, 'a> {
    pub(super) fn new(split: &'s Split, view: &'s View<'v, 'a>) -> Result<Self, ProcessorError> {
        let messages = view.messages;
        let mut tokens: Vec<usize> = messages.iter().map(|message| split.counting.message(message)).collect();
        let rendering = Rendering::of_view(&split.counting, view);
        if let Some(rendering) = rendering.as_ref().filter(|_| !messages.is_empty()) {
            let sum = split.counting.outside(view) + tokens.iter().sum::<usize>();
            let surplus = rendering.surplus(rendering.whole()?, sum);
            tokens.iter_mut().for_each(|count| *count += surplus);
        }
        let mut sums = vec![0; messages.len() + 1];
        for (at, tokens) in tokens.iter().enumerate() {
            sums[at + 1] = sums[at] + tokens;
        }
        let pairs = Pairs::from_messages(messages);
        let segments = whole_segments(messages, &pairs);
        let mut targets: Vec<usize> = (0..segments.len()).collect();
        targets.retain(|&nth| messages[segments[nth].clone()].iter().any(Message::is_target));
        let mut filler = Self {
            split,
            view,
            tokens,
            sums,
            outside: split.counting.outside(view),
            segments,
            turns: (0..messages.len()).filter(|&at| at == 0 || messages[at].begins_turn()).collect(),
            repeatable: Repeatable::of(messages, &pairs, &split.counting),
            rendering,
            targets,
            stops: Vec::new(),
        };
        filler.stops = filler.stops();
        Ok(filler)
    }

    /// The windows, in order.
    pub(super) fn windows(&self) -> Result<Vec<SplitWindow>, ProcessorError> {
        let mut windows = Vec::new();
        let mut at = 0;
        while at < self.segments.len() {
            let (window, end) = self.window(at)?;
            windows.push(window);
            at = end;
        }
        Ok(windows)
    }

    /// The window whose own messages begin at segment `at`, and the segment after it. With a budget of 100 and nothing pinned:
    ///
    /// ```text
    /// segment   0 user   1 assistant   2 user   3 call and result   4 assistant
    /// tokens      20         30          10            50               20
    /// ```
    ///
    /// Segments 0 to 2 fit, and 3 does not. Segment 2 has no target and leads to 3, so the first window ends after 1. The second
    /// one has 2, 3 and 4.
    pub(super) fn window(&self, at: usize) -> Result<(SplitWindow, usize), ProcessorError> {
        let next = self.stops.partition_point(|&stop| stop <= at);
        let limit = self.stops.get(next).copied().unwrap_or(self.segments.len());
        let start = self.segments[at].start;
        // An overlap must leave room for a target.
        let target = self.first_target(at, limit).unwrap_or(at);
        let mut context = self.context(at, self.between(start, self.segments[target].end));
        let needed = self.outside + self.pinned_tokens(&context.window);
        let budget = self.split.max_tokens;
        if needed > budget {
            return Err(ProcessorError::PinsTooLarge { needed, budget });
        }
        let ends = self.segments[at..limit].iter().map(|segment| self.between(start, segment.end));
        let fitting = ends.take_while(|tokens| context.has_room(*tokens, budget)).count();
        let (end, overflows) = self.end(at, target, limit, fitting);
        context.window.own = start..self.segments[end - 1].end;
        context.window.tokens = context.tokens + self.between(start, context.window.own.end);
        if let Some(rendering) = &self.rendering {
            return self.rendered(rendering, at, target, limit, &context.window, end);
        }
        let window = if overflows { self.split.overflow(self.view, context.window)? } else { context.window };
        Ok((window, end))
    }

    /// Where a window ends that begins at segment `at`, if `fitting` segments of those before `limit` fit, and whether it
    /// exceeds the budget. `target` is its first segment with a target.
    pub(super) fn end(&self, at: usize, target: usize, limit: usize, fitting: usize) -> (usize, bool) {
        if at + fitting == limit {
            return (limit, false);
        }
        // The messages that lead to a target stay with it, unless the target fits only without them.
        match at + fitting > target {
            true => (self.last_target(at, at + fitting), false),
            false if self.fits_alone(target) => (at + fitting.max(1), fitting == 0),
            false => (target + 1, true),
        }
    }

    /// Whether a segment fits into a window that begins with it.
    fn fits_alone(&self, segment: usize) -> bool {
        let range = &self.segments[segment];
        let needed = self.between(range.start, range.end);
        self.context(segment, needed).has_room(needed, self.split.max_tokens)
    }

    /// `end`, moved back after the last segment from `at` on that has a target, because the messages after it lead to the
    /// next one.
    pub(super) fn last_target(&self, at: usize, end: usize) -> usize {
        let before = &self.targets[..self.targets.partition_point(|&target| target < end)];
        before.last().filter(|target| **target >= at).map_or(end, |target| target + 1)
    }

    /// The first segment with a target from `at` on and before `end`.
    pub(super) fn first_target(&self, at: usize, end: usize) -> Option<usize> {
        let next = self.targets.partition_point(|&target| target < at);
        self.targets.get(next).copied().filter(|target| *target < end)
    }

    /// Tokens of the messages that a window repeats because of their kind.
    pub(super) fn pinned_tokens(&self, window: &SplitWindow) -> usize {
        let pinned = window.pinned.iter().map(|&at| self.tokens[at]);
        pinned.chain(window.instructions.iter().map(|at| self.repeatable.beside[at])).sum()
    }

    /// Tokens of the messages from `start` up to `end`.
    pub(super) fn between(&self, start: usize, end: usize) -> usize {
        self.sums[end] - self.sums[start]
    }

    /// Where the segment of a message begins.
    pub(super) fn segment_start(&self, message: usize) -> usize {
        self.segments[self.segment_of(message)].start
    }

    fn segment_of(&self, message: usize) -> usize {
        self.segments.partition_point(|segment| segment.end <= message)
    }

    fn stops(&self) -> Vec<usize> {
        let mut stops = Vec::new();
        if self.split.at_boundaries {
            stops.extend(self.repeatable.boundaries.iter().map(|(boundary, _)| self.segment_of(*boundary)));
        }
        if self.split.targets == TargetRule::LastTurn {
            stops.extend(self.turn_stops());
        }
        stops.sort_unstable();
        stops.dedup();
        stops
    }

    /// The segments that begin a turn, if there are targets before and after it.
    fn turn_stops(&self) -> Vec<usize> {
        let last = self.targets.last().copied().unwrap_or(0);
        let mut stops = Vec::new();
        let mut from = 0;
        for turn in self.turns.iter().map(|&turn| self.segment_of(turn)) {
            if turn <= last && self.first_target(from, turn).is_some() {
                stops.push(turn);
                from = turn;
            }
        }
        stops
    }
}
