//! Splits a transcript into windows that each fit a token budget: pinned messages and context, then messages of their own.
//!
//! Every message is among the own messages of exactly one window, so every target is one exactly once.

use std::collections::BTreeMap;
use std::ops::Range;

use super::counting::Rendering;
use super::shorten::shorten;
use super::units::Awaiting;
use super::{Change, Counting, Pins, Plan, ProcessorError, Reason, View, WindowUnit, apply_plan};
use crate::counting::token_count;
use crate::transcript::{Message, Pairs, Part, PartRef, Role, Standing, first_prompt, reach, whole_segments};

/// Splits transcripts into windows.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::processors::{Counting, Split, View};
/// use curtail_tokens::tokenizers;
///
/// let chat = r#"{"role": "user", "content": "One?"}
/// {"role": "assistant", "content": "Two."}
/// {"role": "user", "content": "Three?"}
/// {"role": "assistant", "content": "Four."}"#;
/// let reading = Reading::new(Framing::Lines, None, None)?;
/// let document = reading.parse(chat)?;
/// let (_, transcript) = &reading.transcripts(&document)?[0];
/// let split = Split::new(5, Counting::new(tokenizers::tokenizer_by_name("o200k_base")?));
/// let view = View::of_layout(&transcript.layout, &transcript.messages);
/// let own: Vec<_> = split.windows(&view)?.into_iter().map(|window| window.own).collect();
/// assert_eq!(own, [0..2, 2..4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Split {
    /// The most tokens of a window; `usize::MAX` for no limit.
    pub max_tokens: usize,
    /// How tokens are counted.
    pub counting: Counting,
    /// Which messages before its own a window repeats.
    pub overlap: Overlap,
    /// Which messages every window repeats.
    pub pins: Pins,
    /// Whether a window ends where the log was compacted. The next one begins with what the model read from there on.
    pub at_boundaries: bool,
    /// Which messages are targets.
    pub targets: TargetRule,
    /// What to do with a segment that fits into no window.
    pub on_overflow: SplitOverflow,
}

/// What a window repeats of the messages before its own: whole units, as many as fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The most units.
    pub count: usize,
    /// What is counted. Messages are repeated in whole segments.
    pub unit: WindowUnit,
}

impl Overlap {
    /// Nothing is repeated.
    pub const NONE: Self = Self { count: 0, unit: WindowUnit::Segments };
    /// Everything that fits, in whole turns.
    pub const ALL: Self = Self { count: usize::MAX, unit: WindowUnit::Turns };
}

/// Which assistant messages of a window are its targets, apart from those that the dataset excludes from training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetRule {
    /// All among its own messages.
    #[default]
    All,
    /// The same, but no window owns assistant messages of two turns: targets are only in its last turn.
    LastTurn,
}

/// What to do with a segment that does not fit together with the messages that every window repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitOverflow {
    /// Fail with an error.
    #[default]
    Error,
    /// Give it a window of its own, with texts shortened in the middle.
    Truncate,
    /// Give it a window of its own that exceeds the budget, with a warning.
    Keep,
}

/// One window of a transcript. Numbers are indices into the messages that were split.
#[derive(Debug, Clone, Default)]
pub struct SplitWindow {
    /// Messages that it repeats because of their kind: instructions, the first user message, a boundary.
    pub pinned: Vec<usize>,
    /// Messages of which it repeats only the instructions beside other parts.
    pub instructions: Vec<usize>,
    /// Messages that it repeats as context: the overlap, and the user message that begins the turn.
    pub context: Vec<usize>,
    /// The messages that belong to this window alone.
    pub own: Range<usize>,
    /// Tokens of all its messages before [`changes`](Self::changes), and outside them.
    pub tokens: usize,
    /// Shorter texts of parts.
    pub changes: Vec<(PartRef, String)>,
    /// Why it exceeds the budget or was shortened.
    pub note: Option<String>,
}

impl SplitWindow {
    /// The messages that it repeats, in no order.
    fn repeated(&self) -> impl Iterator<Item = usize> {
        self.pinned.iter().chain(&self.instructions).chain(&self.context).copied()
    }

    /// All messages of the window, in order.
    #[must_use]
    pub fn messages(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.repeated().collect();
        all.sort_unstable();
        all.extend(self.own.clone());
        all
    }
}

impl Split {
    /// Windows of `max_tokens` as `counting` counts them, with system messages pinned and without overlap.
    #[must_use]
    pub fn new(max_tokens: usize, counting: Counting) -> Self {
        Self {
            max_tokens,
            counting,
            overlap: Overlap::NONE,
            pins: Pins { system: true, ..Pins::default() },
            at_boundaries: false,
            targets: TargetRule::default(),
            on_overflow: SplitOverflow::default(),
        }
    }

    /// The windows of `view`, in order. Their own messages are all messages of the view.
    ///
    /// # Errors
    /// The pinned messages alone exceed the budget, or a segment does and [`SplitOverflow::Error`] is set.
    pub fn windows(&self, view: &View<'_, '_>) -> Result<Vec<SplitWindow>, ProcessorError> {
        Filler::new(self, view)?.windows()
    }

    /// The window of a segment that exceeds the budget together with the messages that it must repeat.
    fn overflow(&self, view: &View<'_, '_>, mut window: SplitWindow) -> Result<SplitWindow, ProcessorError> {
        let first = window.own.start;
        let last = window.own.end - 1;
        let budget = token_count(self.max_tokens);
        let reason = match first == last {
            true => format!("message {first} does not fit into {budget}"),
            false => format!("messages {first} to {last} belong together and do not fit into {budget}"),
        };
        match self.on_overflow {
            SplitOverflow::Error => Err(ProcessorError::WindowTooSmall { what: reason }),
            SplitOverflow::Keep => {
                window.note = Some(format!("{reason}; kept in a window of their own (--on-overflow keep)"));
                Ok(window)
            }
            SplitOverflow::Truncate => match self.shortened(view, &window) {
                Some(changes) => {
                    window.note = Some(format!("{reason}; shortened"));
                    Ok(SplitWindow { changes, ..window })
                }
                None => {
                    Err(ProcessorError::WindowTooSmall { what: format!("{reason}, even with their texts shortened") })
                }
            },
        }
    }

    /// The changes that make `window` fit. Texts of the assistant are shortened only if shortening all others is not enough.
    fn shortened(&self, view: &View<'_, '_>, window: &SplitWindow) -> Option<Vec<(PartRef, String)>> {
        let all = window.messages();
        let fixed = |message: &Message<'_>| message.role.instructs() || message.is_boundary();
        let spoken = |message: &Message<'_>| fixed(message) || message.role == Role::Assistant;
        let is_reduced = |at: &usize| window.instructions.contains(at);
        let tokens = |at: &usize| match is_reduced(at) {
            true => self.counting.instructions(&view.messages[*at]),
            false => self.counting.message(&view.messages[*at]),
        };
        let attempt = |keeps: &dyn Fn(&Message<'_>) -> bool| {
            let (kept, others): (Vec<usize>, Vec<usize>) =
                all.iter().partition(|&at| is_reduced(at) || keeps(&view.messages[*at]));
            let used = self.counting.outside(view) + kept.iter().map(tokens).sum::<usize>();
            let mut room = self.max_tokens.checked_sub(used)?;
            loop {
                let changes = shorten(view.messages, &others, |_| false, room, &self.counting)?;
                match self.excess(view, &all, &changes) {
                    Some(0) => return Some(changes),
                    // A template adds to the texts: try again with less.
                    excess => room = room.checked_sub(excess?)?,
                }
            }
        };
        attempt(&spoken).or_else(|| attempt(&fixed))
    }

    /// By how many tokens the messages `all` exceed the budget with `changes`, as a template renders them; `None` if it
    /// refuses them.
    fn excess(&self, view: &View<'_, '_>, all: &[usize], changes: &[(PartRef, String)]) -> Option<usize> {
        if self.counting.template.is_none() {
            return Some(0);
        }
        let plan = rewriting(all, changes, &Reason::default());
        let messages = apply_plan(all.iter().map(|&at| view.messages[at].clone()).collect(), &plan);
        let tokens = self.counting.total(&View { messages: &messages, ..*view }).ok()?;
        Some(tokens.saturating_sub(self.max_tokens))
    }
}

/// The plan for the messages `all` that writes these texts into parts of them.
pub(crate) fn rewriting(all: &[usize], texts: &[(PartRef, String)], reason: &Reason) -> Plan {
    let mut plan = Plan::keep(all.len());
    for (at, text) in texts {
        if let Some(nth) = all.iter().position(|index| *index == at.message) {
            plan.change(nth, [Change::Rewrite(at.part, text.clone())], reason.clone());
        }
    }
    plan
}

// The messages before a window's own that it repeats.

/// The messages before a window's own, and their tokens.
#[derive(Debug, Default)]
struct Context {
    window: SplitWindow,
    /// Tokens of everything that the window repeats, and of what is outside the messages.
    tokens: usize,
}

impl Filler<'_, '_, '_> {
    /// The largest context of a window whose own messages begin at segment `at`, such that `needed` more tokens fit; the
    /// smallest context if none does.
    fn context(&self, at: usize, needed: usize) -> Context {
        let start = self.segments[at].start;
        let floor = self.floor(start);
        for from in self.overlaps(at, floor) {
            if self.between(from, start) > self.split.max_tokens {
                continue;
            }
            let context = self.context_from(from, start, floor);
            if context.tokens.saturating_add(needed) <= self.split.max_tokens {
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
        let boundaries = self.boundaries.partition_point(|&boundary| boundary <= start);
        boundaries.checked_sub(1).map_or(0, |last| self.segment_start(self.boundaries[last]))
    }

    /// Where the overlap can begin, the largest one first and without overlap last.
    fn overlaps(&self, at: usize, floor: usize) -> Vec<usize> {
        let start = self.segments[at].start;
        let overlap = self.split.overlap;
        let whole = self.segments[..at].iter().map(|segment| segment.start);
        let mut starts: Vec<usize> = match overlap.unit {
            WindowUnit::Turns => {
                let before = self.turns.partition_point(|&turn| turn < start);
                let turns = &self.turns[before.saturating_sub(overlap.count)..before];
                turns.iter().map(|&turn| self.segment_start(turn)).collect()
            }
            WindowUnit::Segments => whole.skip(at.saturating_sub(overlap.count)).collect(),
            WindowUnit::Items | WindowUnit::Messages => whole.filter(|&from| start - from <= overlap.count).collect(),
        };
        starts.retain(|&from| from >= floor && from < start);
        starts.dedup();
        starts.push(start);
        starts
    }

    /// The context of a window whose overlap begins at `from` and whose own messages begin at `start`.
    fn context_from(&self, from: usize, start: usize, floor: usize) -> Context {
        let messages = self.view.messages;
        let mut pinned: Vec<usize> = Vec::new();
        if self.split.pins.system {
            pinned.extend(self.instructions.iter().copied().take_while(|&at| at < from));
        }
        let first_user = self.first_user.filter(|&at| self.split.pins.first_user && at >= floor && at < from);
        pinned.extend(first_user);
        pinned.extend(self.awaiting.iter().copied().take_while(|&at| at < from).filter(|at| Some(*at) != first_user));
        if start == floor && start > 0 {
            pinned.extend((0..start).filter(|&at| messages[at].standing == Standing::Preserved && at < from));
        }
        let mut opener = self.turn_opener(from, start, floor).filter(|at| !pinned.contains(at));
        let beside = self.beside.range(..from).map(|(at, _)| *at).filter(|_| self.split.pins.system);
        let mut instructions: Vec<usize> = beside.filter(|at| !pinned.contains(at) && opener != Some(*at)).collect();
        for &boundary in self.boundaries.iter().rev().filter(|&&boundary| boundary < from) {
            let end = reach(messages, boundary);
            let within = |at: &usize| *at > boundary && *at < end;
            if end > from || pinned.iter().chain(&instructions).chain(opener.as_ref()).any(within) {
                pinned.push(boundary);
                // A user message that the boundary replaces no longer begins a turn.
                let replaced = messages[boundary].role != Role::Assistant && !messages[boundary].has_tools();
                if let Some(at) = opener.take_if(|at| *at <= boundary && replaced) {
                    instructions.extend(self.beside.get(&at).filter(|_| self.split.pins.system).map(|_| at));
                }
            }
        }
        pinned.sort_unstable();
        pinned.dedup();
        instructions.retain(|at| !pinned.contains(at));
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
        let begins = |at: &usize| Message::begins_turn(&messages[*at]) && messages[*at].thread == first.thread;
        self.turns[..before].iter().rev().copied().take_while(|&at| at >= floor).find(begins)
    }
}

// Fills windows greedily: each takes as many whole segments as fit.

/// A transcript that is split, with the data for its windows.
struct Filler<'s, 'v, 'a> {
    split: &'s Split,
    view: &'s View<'v, 'a>,
    /// Tokens of every message.
    tokens: Vec<usize>,
    /// Tokens of all messages before each message, and of all.
    sums: Vec<usize>,
    /// Tokens outside the messages.
    outside: usize,
    segments: Vec<Range<usize>>,
    /// Where turns begin.
    turns: Vec<usize>,
    /// System and developer messages.
    instructions: Vec<usize>,
    /// Messages with instructions beside other parts, and the tokens of these instructions.
    beside: BTreeMap<usize, usize>,
    boundaries: Vec<usize>,
    /// Messages with calls that can still be answered, which every later window repeats.
    awaiting: Vec<usize>,
    first_user: Option<usize>,
    /// Renders windows, if a chat template counts.
    rendering: Option<Rendering<'s>>,
    /// Segments that always begin a window.
    stops: Vec<usize>,
}

impl<'s, 'v, 'a> Filler<'s, 'v, 'a> {
    fn new(split: &'s Split, view: &'s View<'v, 'a>) -> Result<Self, ProcessorError> {
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
        let mut awaiting: Vec<usize> = Awaiting::new(messages, &pairs).messages.into_iter().collect();
        awaiting.sort_unstable();
        let all = |is: fn(&Message<'a>) -> bool| -> Vec<usize> {
            (0..messages.len()).filter(|&at| is(&messages[at])).collect()
        };
        let mut filler = Self {
            split,
            view,
            tokens,
            sums,
            outside: split.counting.outside(view),
            segments: whole_segments(messages, &pairs),
            awaiting,
            turns: (0..messages.len()).filter(|&at| at == 0 || messages[at].begins_turn()).collect(),
            instructions: all(|message| message.role.instructs()),
            beside: all(|message| !message.role.instructs() && message.parts.iter().any(Part::instructs))
                .into_iter()
                .map(|at| (at, split.counting.instructions(&messages[at])))
                .collect(),
            boundaries: all(Message::is_boundary),
            first_user: first_prompt(messages),
            rendering,
            stops: Vec::new(),
        };
        filler.stops = filler.stops();
        Ok(filler)
    }

    /// The windows, in order.
    fn windows(&self) -> Result<Vec<SplitWindow>, ProcessorError> {
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
    fn window(&self, at: usize) -> Result<(SplitWindow, usize), ProcessorError> {
        let next = self.stops.partition_point(|&stop| stop <= at);
        let limit = self.stops.get(next).copied().unwrap_or(self.segments.len());
        let start = self.segments[at].start;
        // An overlap must leave room for a target.
        let target = (at..limit).find(|&segment| self.has_target(segment)).unwrap_or(at);
        let mut context = self.context(at, self.between(start, self.segments[target].end));
        let room = |used: usize| self.split.max_tokens.checked_sub(used);
        let pinned = self.pinned_tokens(&context.window);
        if room(self.outside + pinned).is_none() {
            let needed = self.outside + pinned;
            let budget = self.split.max_tokens;
            return Err(ProcessorError::PinsTooLarge { needed, budget });
        }
        let fits = |end: usize| room(context.tokens).is_some_and(|room| self.between(start, end) <= room);
        let fitting = (at..limit).take_while(|&segment| fits(self.segments[segment].end)).count();
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
    fn end(&self, at: usize, target: usize, limit: usize, fitting: usize) -> (usize, bool) {
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
        self.context(segment, needed).tokens.saturating_add(needed) <= self.split.max_tokens
    }

    /// `end`, moved back after the last segment from `at` on that has a target, because the messages after it lead to the
    /// next one.
    fn last_target(&self, at: usize, end: usize) -> usize {
        (at..end).rev().find(|&segment| self.has_target(segment)).map_or(end, |segment| segment + 1)
    }

    fn has_target(&self, segment: usize) -> bool {
        self.view.messages[self.segments[segment].clone()].iter().any(Message::is_target)
    }

    /// Tokens of the messages that a window repeats because of their kind.
    fn pinned_tokens(&self, window: &SplitWindow) -> usize {
        let pinned = window.pinned.iter().map(|&at| self.tokens[at]);
        pinned.chain(window.instructions.iter().map(|at| self.beside[at])).sum()
    }

    /// Tokens of the messages from `start` up to `end`.
    fn between(&self, start: usize, end: usize) -> usize {
        self.sums[end] - self.sums[start]
    }

    /// Where the segment of a message begins.
    fn segment_start(&self, message: usize) -> usize {
        self.segments[self.segment_of(message)].start
    }

    fn segment_of(&self, message: usize) -> usize {
        self.segments.partition_point(|segment| segment.end <= message)
    }

    fn stops(&self) -> Vec<usize> {
        let mut stops = Vec::new();
        if self.split.at_boundaries {
            stops.extend(self.boundaries.iter().map(|&boundary| self.segment_of(boundary)));
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
        let last = (0..self.segments.len()).rev().find(|&segment| self.has_target(segment)).unwrap_or(0);
        let mut stops = Vec::new();
        let mut from = 0;
        for turn in self.turns.iter().map(|&turn| self.segment_of(turn)) {
            if turn <= last && (from..turn).any(|segment| self.has_target(segment)) {
                stops.push(turn);
                from = turn;
            }
        }
        stops
    }
}

// Ends a window where it fits as a template renders it. The total of a template is not the sum of its messages, so sums only
// propose an end.

impl Filler<'_, '_, '_> {
    /// The window that sums propose, as it fits when it is rendered, with the segment after it. Messages that lead to a
    /// target get a window without it if the target fits only without them.
    fn rendered(
        &self,
        rendering: &Rendering<'_>,
        at: usize,
        target: usize,
        limit: usize,
        proposed: &SplitWindow,
        end: usize,
    ) -> Result<(SplitWindow, usize), ProcessorError> {
        if let Some(fitting) = self.fit_rendered(rendering, at, target, limit, proposed.clone(), end) {
            return Ok(fitting);
        }
        let alone = SplitWindow { own: self.segments[target].clone(), ..self.context(target, usize::MAX).window };
        if at == target || self.tokens_if_fits(rendering, &alone).is_none() {
            return Ok((self.rendered_overflow(rendering, self.until(proposed, at, target + 1))?, target + 1));
        }
        let smallest = self.context(at, usize::MAX).window;
        for end in (at + 1..=target).rev() {
            let window = self.until(&smallest, at, end);
            if let Some(tokens) = self.tokens_if_fits(rendering, &window) {
                return Ok((SplitWindow { tokens, ..window }, end));
            }
        }
        Ok((self.rendered_overflow(rendering, self.until(&smallest, at, at + 1))?, at + 1))
    }

    /// A window that does not fit, with the tokens that it renders to. Where the template refuses it, its note says so, and its
    /// tokens are their sum.
    fn rendered_overflow(&self, rendering: &Rendering<'_>, window: SplitWindow) -> Result<SplitWindow, ProcessorError> {
        let sum = || self.outside + window.messages().into_iter().map(|at| self.tokens[at]).sum::<usize>();
        let rendered = rendering.tokens(window.messages().into_iter());
        let tokens = rendered.as_ref().map_or_else(|_| sum(), |tokens| *tokens);
        let mut window = self.split.overflow(self.view, SplitWindow { tokens, ..window })?;
        if let (Err(refusal), Some(note)) = (rendered, &mut window.note) {
            note.push_str(&format!("; its tokens are estimated: {refusal}"));
        }
        Ok(window)
    }

    /// `window` with the own messages from segment `at` up to segment `end`.
    fn until(&self, window: &SplitWindow, at: usize, end: usize) -> SplitWindow {
        SplitWindow { own: self.segments[at].start..self.segments[end - 1].end, ..window.clone() }
    }

    /// Tokens of a window as it is rendered, if it fits.
    fn tokens_if_fits(&self, rendering: &Rendering<'_>, window: &SplitWindow) -> Option<usize> {
        rendering.tokens_within(self.split.max_tokens, window.messages().into_iter())
    }

    /// The window whose own messages begin at segment `at` and fit as they are rendered, with the segment after it. Sums
    /// propose that it ends at `end`; it contains the segment `target`. `None` if not even that fits.
    fn fit_rendered(
        &self,
        rendering: &Rendering<'_>,
        at: usize,
        target: usize,
        limit: usize,
        proposed: SplitWindow,
        end: usize,
    ) -> Option<(SplitWindow, usize)> {
        let fitting = |window: &SplitWindow, end: usize| self.tokens_if_fits(rendering, &self.until(window, at, end));
        let mut window = proposed;
        let mut end = end.max(target + 1);
        let mut tokens = fitting(&window, end);
        while end > target + 1 && tokens.is_none() {
            end = self.last_target(at, end - 1).max(target + 1);
            tokens = fitting(&window, end);
        }
        if tokens.is_none() {
            // Without overlap, before it is too long for any window.
            window = self.context(at, usize::MAX).window;
            tokens = fitting(&window, end);
        }
        let mut tokens = tokens?;
        while end < limit {
            let further = (end..limit).find(|&segment| self.has_target(segment)).map_or(limit, |segment| segment + 1);
            let Some(more) = fitting(&window, further) else { break };
            (end, tokens) = (further, more);
        }
        Some((SplitWindow { tokens, ..self.until(&window, at, end) }, end))
    }
}
