//! The last N items, with at least one user/assistant exchange, after Noetic's `historyWindow`.

use std::ops::Range;

use super::planning::DropSet;
use super::stepped_window::SteppedWindow;
use super::{Growth, Keep, Plan, Processor, ProcessorError, Reason, Traits, View, WindowUnit};
use crate::transcript::{Content, Message, Mismatch, Pairs, Part, PartRef, Role, in_flight, main_thread, turn_starts};

/// Keeps the last `size` units before the in-flight round, the round itself, and the messages that `keep` names.
///
/// If the last units contain no user message with text or no assistant message with text, the window grows backwards until it
/// contains both. A role that has no text anywhere is ignored.
///
/// ```
/// use curtail_core::processors::{HistoryWindow, WindowUnit};
///
/// let window = HistoryWindow { size: 6, unit: WindowUnit::Turns, ..HistoryWindow::default() };
/// assert!(window.keep.system, "system messages are kept by default");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HistoryWindow {
    /// Number of units to keep, 1 or more; 40 by default.
    pub size: usize,
    /// What one unit is.
    pub unit: WindowUnit,
    /// The largest window, as a multiple of `size`; messages beyond it are not searched for an exchange. `None`: no limit.
    pub max_expansion: Option<usize>,
    /// Whether `size` includes the in-flight round.
    pub cap_in_flight: bool,
    /// Messages that are kept in addition.
    pub keep: Keep,
    /// Units that are dropped at a time: so the earlier requests of a conversation are prefixes of the later ones until the next
    /// step, and stay in the provider's cache.
    pub step: usize,
}

impl Default for HistoryWindow {
    fn default() -> Self {
        let (unit, keep) = (WindowUnit::default(), Keep::default());
        Self { size: 40, unit, max_expansion: None, cap_in_flight: false, keep, step: 1 }
    }
}

impl Processor for HistoryWindow {
    fn name(&self) -> &'static str {
        "window"
    }

    fn traits(&self) -> Traits {
        let traits = self.keep.traits(self.step);
        Traits { growth: Growth { keeps_rounds: !self.cap_in_flight, ..traits.growth }, ..traits }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let flight = self.flight(view.messages, &pairs);
        let drops = if self.step > 1 { self.stepped(view, &pairs, flight) } else { self.last(view, &pairs, flight) };
        let reached = self.reached(view, flight, &drops);
        let mut plan = drops.into_plan();
        plan.notes.extend(self.note(view, flight));
        plan.notes.extend(reached);
        plan.notes.extend(self.keep.without_task(view, &plan));
        Ok(plan)
    }
}

/// Whether a message is the user's or the assistant's side of an exchange. A thought with blank text alone is neither: the
/// message is dropped with the thought.
fn speaks_as(message: &Message<'_>, role: Role) -> bool {
    let is_thought = || message.parts.iter().any(Part::is_prefix_bound);
    let is_blank = |part: &Part<'_>| match &part.content {
        Content::Text(text) => text.is_blank(),
        content => !content.speaks(),
    };
    message.speaks_as(role) && !(is_thought() && message.parts.iter().all(is_blank))
}

/// Whether a message would stay without its calls and results if every message before `flight` were dropped: it has text, and
/// the counterparts of all its calls and results are there.
fn outlives_its_tools(message: &Message<'_>, at: usize, pairs: &Pairs, flight: usize) -> bool {
    let mut tools = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
    // A duplicate result is dropped with the call that it names.
    let is_separated = |part| {
        let part = PartRef { message: at, part };
        let counterpart = pairs.counterpart(part).or_else(|| pairs.mismatch(part).map(Mismatch::call));
        counterpart.is_some_and(|counterpart| counterpart.message < flight)
    };
    message.has_tools()
        && message.parts.iter().any(|part| !part.content.is_tool() && part.is_worth_keeping())
        && tools.all(|(part, _)| is_separated(part))
}

impl HistoryWindow {
    /// Index of the first message of the in-flight round, which is added to the window. A message that is left with its text
    /// alone when the messages before the round are dropped is not in flight: the round begins after it.
    fn flight(&self, messages: &[Message<'_>], pairs: &Pairs) -> usize {
        if self.cap_in_flight {
            return messages.len();
        }
        let first = in_flight(messages);
        let next = |flight, (at, message)| if outlives_its_tools(message, at, pairs, flight) { at + 1 } else { flight };
        messages.iter().enumerate().skip(first).fold(first, next)
    }

    /// What is outside the last units before `flight`, which contain at least one exchange.
    ///
    /// The oldest units are dropped one after another, until `size` are left or the next one contains the last user or the last
    /// assistant message with text:
    ///
    /// ```text
    /// size 2:  0 user "weather?"   1 assistant "rain"   2 user "map!"   3 assistant (call)   4 tool   | 5 assistant (in flight)
    ///          dropped             ^ the only assistant message with text: the window begins here
    /// ```
    fn last<'v, 'a>(&self, view: &View<'v, 'a>, pairs: &'v Pairs, flight: usize) -> DropSet<'v, 'a> {
        let units = self.unit.runs(&view.messages[..flight]);
        let start = |unit: usize| units.get(unit).map_or(flight, |unit| unit.start);
        let last = units.len().saturating_sub(self.size);
        // Beyond this unit, no exchange is looked for.
        let farthest =
            self.max_expansion.map_or(0, |times| units.len().saturating_sub(self.size.saturating_mul(times)));
        let mut window = ShrinkingWindow::new(self, view, pairs, &units, flight);
        window.begin_at(start(farthest));
        // A role that has no text anywhere is ignored.
        let roles = [Role::User, Role::Assistant].map(|role| window.speaks(role).then_some(role));
        for unit in farthest + 1..=self.last_with_turn(view, &units, farthest, last) {
            window.begin_at(start(unit));
            if !roles.into_iter().flatten().all(|role| window.speaks(role)) {
                // One unit too many is dropped by now.
                let mut window = ShrinkingWindow::new(self, view, pairs, &units, flight);
                window.begin_at(start(unit - 1));
                return window.drops;
            }
        }
        window.drops
    }

    /// The last of `units` at which the window may begin: `last`, or an earlier one if the window has to start on a message of a
    /// person and the newest of these is there. Units before `farthest` are not searched.
    fn last_with_turn(&self, view: &View<'_, '_>, units: &[Range<usize>], farthest: usize, last: usize) -> usize {
        if !self.keep.start_on_user {
            return last;
        }
        let end = units.last().map_or(0, |unit| unit.end);
        let newest = turn_starts(view.messages).into_iter().rfind(|&turn| turn < end);
        let unit = newest.and_then(|turn| units[farthest..].iter().rposition(|unit| unit.contains(&turn)));
        unit.map_or(last, |unit| last.min(farthest + unit))
    }

    /// What is dropped in steps before the in-flight round.
    fn stepped<'v, 'a>(&self, view: &View<'v, 'a>, pairs: &'v Pairs, flight: usize) -> DropSet<'v, 'a> {
        let runs = self.unit.runs(&view.messages[..flight]);
        let stepped = SteppedWindow::new(self, view, pairs, runs, speaks_as);
        let task = self.keep.task(view.messages);
        let mut drops = DropSet::none(view, pairs);
        let (last, step) = (self.unit.last(self.size), self.step);
        let reason = Reason::Owned(format!("outside {last}, in steps of {step}"));
        for (at, message) in view.messages.iter().enumerate().take(stepped.start()).skip(stepped.head) {
            self.keep.drop_outside(&mut drops, at, message, &reason, task);
        }
        drops
    }

    /// The note that the window reached back far for an exchange.
    fn reached(&self, view: &View<'_, '_>, flight: usize, drops: &DropSet<'_, '_>) -> Option<String> {
        let runs = self.unit.runs(&view.messages[..flight]);
        if self.max_expansion.is_some() || runs.len() <= self.size.saturating_mul(2) {
            return None;
        }
        let (head, task) = (self.keep.head(view.messages, &runs), self.keep.task(view.messages));
        let preserves = |run: &Range<usize>| self.keep.preserves_all(view.messages, run, task);
        let kept = runs
            .iter()
            .filter(|run| run.start >= head && !preserves(run) && (run.start..run.end).any(|at| !drops.is_gone(at)));
        let (count, unit) = (kept.count(), self.unit.plural());
        (count > self.size.saturating_mul(2)).then(|| {
            let size = self.size;
            format!("the window reached back for an exchange and keeps {count} {unit}, more than twice {size}; --max-expansion limits it")
        })
    }

    fn note(&self, view: &View<'_, '_>, flight: usize) -> Option<String> {
        let units = self.unit.runs(&view.messages[flight..]).len();
        (units > self.size).then(|| {
            let unit = self.unit.plural();
            format!(
                "the in-flight round alone has {units} {unit}, more than {}; pass --cap-in-flight to include it in the limit",
                self.size
            )
        })
    }
}

/// The message before `end`, with the reasoning right before it that led to it.
fn reply_before(messages: &[Message<'_>], end: usize) -> Range<usize> {
    let last = end.saturating_sub(1);
    let reasoning = messages[..last].iter().rev().take_while(|message| message.is_bound());
    last - reasoning.count()..end
}

/// A window that begins later and later. What it dropped stays dropped, so no message is visited twice.
struct ShrinkingWindow<'w, 'v, 'a> {
    keep: Keep,
    view: &'w View<'v, 'a>,
    drops: DropSet<'v, 'a>,
    reason: Reason,
    /// Index of the message that is kept as the task.
    task: Option<usize>,
    /// The main conversation, whose exchange is looked for.
    main: u32,
    /// Index of the first message of the window.
    first: usize,
    /// Indices of the messages of a person before the in-flight round, if the window has to start on one.
    turns: Vec<usize>,
    /// Index of the first message about which nothing is decided yet.
    next: usize,
    /// For each role: the newest message with text, and the reasoning that led to it.
    newest: [Range<usize>; 2],
}

impl<'w, 'v, 'a> ShrinkingWindow<'w, 'v, 'a> {
    /// All of the messages before `flight`.
    fn new(
        window: &HistoryWindow,
        view: &'w View<'v, 'a>,
        pairs: &'v Pairs,
        units: &[Range<usize>],
        flight: usize,
    ) -> Self {
        let (keep, drops) = (window.keep, DropSet::none(view, pairs));
        let reason = Reason::Owned(format!("outside {}", window.unit.last(window.size)));
        let (task, next) = (keep.task(view.messages), keep.head(view.messages, units));
        let mut turns = if keep.start_on_user { turn_starts(view.messages) } else { Vec::new() };
        turns.retain(|&turn| turn < flight);
        let newest = [reply_before(view.messages, flight), reply_before(view.messages, flight)];
        let main = main_thread(view.messages);
        Self { keep, view, drops, reason, task, main, first: keep.front(&turns, 0), turns, next, newest }
    }

    /// Drops what is before `start`, with all that depends on it.
    fn begin_at(&mut self, start: usize) {
        if start > self.first {
            self.first = self.keep.front(&self.turns, start);
        }
        for at in self.next..self.first {
            self.keep.drop_outside(&mut self.drops, at, &self.view.messages[at], &self.reason, self.task);
        }
        self.next = self.next.max(self.first);
    }

    /// Whether the window contains a message of `role` with text that is kept, and its reasoning.
    fn speaks(&mut self, role: Role) -> bool {
        let nth = usize::from(role == Role::Assistant);
        let mut end = self.newest[nth].end;
        while end > self.first && !self.still_speaks(end - 1, role) {
            end -= 1;
        }
        if end < self.newest[nth].end {
            self.newest[nth] = reply_before(self.view.messages, end);
        }
        end > self.first && self.newest[nth].start >= self.first
    }

    fn still_speaks(&self, at: usize, role: Role) -> bool {
        let message = &self.view.messages[at];
        let mut spoken = message.parts.iter().enumerate().filter(|(_, part)| part.content.speaks());
        message.thread == self.main
            && speaks_as(message, role)
            && spoken.any(|(part, _)| !self.drops.is_part_gone(PartRef { message: at, part }))
    }
}
