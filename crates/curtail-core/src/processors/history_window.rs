//! The last N items, with at least one user/assistant exchange, after Noetic's `historyWindow`.

use std::ops::Range;

use super::planning::DropSet;
use super::stepped_window::SteppedWindow;
use super::{Growth, Keep, Plan, Processor, ProcessorError, Reason, Traits, View, WindowUnit};
use crate::transcript::{Content, Message, Pairs, Part, PartRef, Role, in_flight};

/// Keeps the last `size` units before the in-flight round, the round itself, and the messages that `keep` names.
///
/// If the last units contain no speaking user message or no speaking assistant message, the window grows backwards until it
/// contains both. Roles that never speak are ignored.
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
        let messages = view.messages;
        let pairs = Pairs::from_messages(messages);
        let (flight, drops) = if self.step > 1 { self.stepped(view, &pairs) } else { self.flight(view, &pairs) };
        let reached = self.reached(view, flight, &drops);
        let mut plan = drops.into_plan();
        plan.notes.extend(self.note(view, flight));
        plan.notes.extend(reached);
        plan.notes.extend(self.keep.without_task(view, &plan));
        Ok(plan)
    }
}

/// Whether a message is kept without any of its calls and results.
fn loses_tools(drops: &DropSet<'_, '_>, at: usize, message: &Message<'_>) -> bool {
    let mut tools = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
    !drops.is_gone(at)
        && message.has_tools()
        && tools.all(|(part, _)| drops.is_part_gone(PartRef { message: at, part }))
}

/// Index of the first message of the last `units` before the in-flight round.
fn start_of_last(runs: &[Range<usize>], units: usize, flight: usize) -> usize {
    runs.len().checked_sub(units).map_or(0, |nth| runs.get(nth).map_or(flight, |run| run.start))
}

/// Whether a message is half of an exchange. A thought with nothing but blank text is not: without the thought, it is dropped.
fn speaks_as(message: &Message<'_>, role: Role) -> bool {
    let is_thought = || message.parts.iter().any(Part::is_prefix_bound);
    let is_blank = |part: &Part<'_>| match &part.content {
        Content::Text(text) => text.is_blank(),
        content => !content.speaks(),
    };
    message.speaks_as(role) && !(is_thought() && message.parts.iter().all(is_blank))
}

/// Whether a message is half of an exchange, and is kept with what it says.
fn still_speaks(view: &View<'_, '_>, drops: &DropSet<'_, '_>, at: usize, role: Role) -> bool {
    let parts = || view.messages[at].parts.iter().enumerate();
    let mut spoken = parts().filter(|(_, part)| part.content.speaks());
    speaks_as(&view.messages[at], role) && spoken.any(|(part, _)| !drops.is_part_gone(PartRef { message: at, part }))
}

impl HistoryWindow {
    /// Index of the first message of the in-flight round, and what is dropped before it.
    ///
    /// A message that loses its calls and results, but not its text, is not in flight. If the round begins later, more is
    /// dropped, so such messages are looked for again, at first from the beginning of the round on. A transcript in which
    /// every drop makes the next message one is bisected: the round begins where the last such message is directly before it.
    fn flight<'v, 'a>(&self, view: &View<'v, 'a>, pairs: &'v Pairs) -> (usize, DropSet<'v, 'a>) {
        const STEPS: usize = 8;
        let messages = view.messages;
        let first = if self.cap_in_flight { messages.len() } else { in_flight(messages) };
        let (mut low, mut high, mut flight) = (first, messages.len(), first);
        for step in 0.. {
            let drops = self.drops(view, pairs, flight);
            let lost = (first..messages.len()).rfind(|&at| loses_tools(&drops, at, &messages[at]));
            let after = lost.map_or(first, |at| at + 1);
            if after == flight || low >= high || step < STEPS && after < flight {
                return (flight, drops);
            }
            (low, high) = if after > flight { (after, high) } else { (low, after) };
            flight = if step < STEPS { low } else { low.midpoint(high) };
        }
        (flight, self.drops(view, pairs, flight))
    }

    /// Index of the first message of the in-flight round, and what is dropped before it in steps.
    fn stepped<'v, 'a>(&self, view: &View<'v, 'a>, pairs: &'v Pairs) -> (usize, DropSet<'v, 'a>) {
        let flight = if self.cap_in_flight { view.messages.len() } else { in_flight(view.messages) };
        let runs = self.unit.runs(&view.messages[..flight]);
        let stepped = SteppedWindow::new(self, view, pairs, runs, speaks_as);
        let task = self.keep.task(view.messages);
        let mut drops = DropSet::none(view, pairs);
        let (size, unit, step) = (self.size, self.unit.plural(), self.step);
        let reason = Reason::Owned(format!("outside the last {size} {unit}, in steps of {step}"));
        for (at, message) in view.messages.iter().enumerate().take(stepped.start()).skip(stepped.head) {
            self.keep.drop_outside(&mut drops, at, message, &reason, task);
        }
        (flight, drops)
    }

    /// What is dropped if the in-flight round begins at `flight`.
    fn drops<'v, 'a>(&self, view: &View<'v, 'a>, pairs: &'v Pairs, flight: usize) -> DropSet<'v, 'a> {
        let runs = self.unit.runs(&view.messages[..flight]);
        let bound = self.bound(&runs, flight);
        let mut window = self.start(view, &runs, bound..flight)..flight;
        let mut drops = self.outside(view, pairs, &runs, window.start);
        for role in [Role::User, Role::Assistant] {
            let speaks = view.messages[bound..flight].iter().any(|message| speaks_as(message, role));
            if !speaks || window.clone().rev().any(|at| still_speaks(view, &drops, at, role)) {
                continue;
            }
            // What the walk reached is dropped with something before the window, so the window has to reach back to that.
            let first = runs.partition_point(|run| run.start < bound);
            let earlier = &runs[first..runs.partition_point(|run| run.end <= window.start).max(first)];
            if let Some(start) = self.latest_start(view, pairs, &runs, earlier, flight, role) {
                window.start = start;
                drops = self.outside(view, pairs, &runs, window.start);
            }
        }
        drops
    }

    /// Where the window begins at the latest, at one of the `earlier` units, if `role` has to speak in it: the units are dropped
    /// one after another, in one pass, until the last message that speaks is dropped with one of them.
    fn latest_start<'v>(
        &self,
        view: &View<'v, '_>,
        pairs: &'v Pairs,
        runs: &[Range<usize>],
        earlier: &[Range<usize>],
        flight: usize,
        role: Role,
    ) -> Option<usize> {
        let task = self.keep.task(view.messages);
        let mut drops = DropSet::none(view, pairs);
        let (mut dropped, mut spoken) = (self.keep.head(view.messages, runs), flight);
        let mut latest = None;
        for unit in earlier {
            let front = self.keep.front(view, unit.start);
            for at in dropped..front {
                self.keep.drop_outside(&mut drops, at, &view.messages[at], &Reason::Borrowed(""), task);
            }
            dropped = dropped.max(front);
            // What was dropped stays dropped, so no message is looked at twice.
            while spoken > unit.start && !still_speaks(view, &drops, spoken - 1, role) {
                spoken -= 1;
            }
            if spoken <= unit.start {
                break;
            }
            latest = Some(unit.start);
        }
        latest
    }

    /// What is dropped if the window begins at `start`.
    fn outside<'v, 'a>(
        &self,
        view: &View<'v, 'a>,
        pairs: &'v Pairs,
        runs: &[Range<usize>],
        start: usize,
    ) -> DropSet<'v, 'a> {
        let start = self.keep.front(view, start);
        let head = self.keep.head(view.messages, runs);
        let task = self.keep.task(view.messages);
        let mut drops = DropSet::none(view, pairs);
        let reason = Reason::Owned(format!("outside the last {} {}", self.size, self.unit.plural()));
        for (at, message) in view.messages.iter().enumerate().take(start).skip(head) {
            self.keep.drop_outside(&mut drops, at, message, &reason, task);
        }
        drops
    }

    /// Index of the first message that can be in the window.
    fn bound(&self, runs: &[Range<usize>], flight: usize) -> usize {
        self.max_expansion.map_or(0, |times| start_of_last(runs, self.size.saturating_mul(times), flight))
    }

    /// Index of the first message in the window, among the messages before the in-flight round. With `size` 2:
    ///
    /// ```text
    /// 0 user "weather?"   1 assistant "rain"   2 user "map!"   3 assistant (call)   4 tool   | 5 assistant (in flight)
    ///                                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^ the last 2 items do not speak
    /// the newest speaking user is 2, the newest speaking assistant is 1: the window starts at 1
    /// ```
    fn start(&self, view: &View<'_, '_>, runs: &[Range<usize>], within: Range<usize>) -> usize {
        let Range { start: bound, end: flight } = within;
        let mut start = start_of_last(runs, self.size, flight);
        for role in [Role::User, Role::Assistant] {
            // A role that speaks nowhere within the bound is ignored.
            let speaks = |role: Role| move |at: &usize| speaks_as(&view.messages[*at], role);
            let mut newest = (bound..flight).rfind(speaks(role));
            if self.keep.start_on_user {
                // Messages before the window's first user message are dropped, so the window has to reach back to one.
                newest = newest.and_then(|newest| (bound..=newest).rfind(|&at| view.messages[at].begins_turn()));
            }
            // Reasoning right before a message that calls tools has to be kept with it.
            let with_reasoning = newest.map(|newest| {
                let before = (0..newest).rev().take_while(|&at| view.messages[at].is_bound()).last();
                before.unwrap_or(newest)
            });
            start = with_reasoning.map_or(start, |newest| start.min(newest));
        }
        // A window that would start inside a unit starts at the unit's first message.
        runs.iter().find(|run| run.contains(&start)).map_or(start, |run| run.start)
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
            format!("the window reached back for an exchange and keeps {count} {unit}, more than twice {size}; --max-expansion bounds it")
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
