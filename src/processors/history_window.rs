//! The last N items, at least one exchange, and no orphan, after Noetic's `historyWindow`.

use std::ops::Range;

use super::planning::DropSet;
use super::{Keep, Plan, Processor, Reason, View, WindowUnit};
use crate::transcript::{Pairs, Role, in_flight};

/// Keeps the last `size` units before the round in flight, that round, and what `keep` says.
///
/// Where the last units hold no speaking user message, or no speaking assistant message, the window walks back until both
/// are in; a role that occurs nowhere asks for nothing.
#[derive(Debug, Clone, Copy)]
pub struct HistoryWindow {
    /// How many units, 1 or more.
    pub size: usize,
    /// What is counted.
    pub unit: WindowUnit,
    /// The window may grow to this many times `size`, and does not grow for what lies beyond; `None` for no bound.
    pub max_expansion: Option<usize>,
    /// Whether the round in flight counts like the rest.
    pub cap_in_flight: bool,
    /// What is kept besides.
    pub keep: Keep,
}

impl Processor for HistoryWindow {
    fn name(&self) -> &'static str {
        "window"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let messages = view.messages;
        let flight = if self.cap_in_flight { messages.len() } else { in_flight(messages) };
        let runs = self.unit.runs(&messages[..flight]);
        let start = self.keep.front(view, self.start(view, &runs, flight));
        let head = self.keep.head(&runs);
        let pairs = Pairs::find(messages);
        let mut drops = DropSet::none(view, &pairs);
        let reason = Reason::Owned(format!("outside the last {} {}", self.size, self.unit.plural()));
        for (at, message) in messages.iter().enumerate().take(start).skip(head) {
            if !self.keep.preserves(message) {
                drops.drop_message(at, reason.clone());
            }
        }
        let mut plan = drops.into_plan();
        plan.notes.extend(self.note(view, flight));
        Ok(plan)
    }
}

impl HistoryWindow {
    /// Where the window begins among the messages before the round in flight.
    fn start(&self, view: &View<'_, '_>, runs: &[Range<usize>], flight: usize) -> usize {
        let begin =
            |units: usize| runs.len().checked_sub(units).map_or(0, |nth| runs.get(nth).map_or(flight, |run| run.start));
        let bound = self.max_expansion.map_or(0, |times| begin(self.size.saturating_mul(times)));
        let mut start = begin(self.size);
        for role in [Role::User, Role::Assistant] {
            // A role that occurs nowhere, or only beyond the bound, asks for nothing.
            let speaks = |role: Role| move |at: &usize| view.messages[*at].speaks_as(role);
            let mut newest = (bound..flight).rfind(speaks(role));
            if self.keep.start_on_user {
                // What stands before the window's first user message goes: the walk back must reach one.
                newest = newest.and_then(|newest| (bound..=newest).rfind(speaks(Role::User)));
            }
            // Without the reasoning that must accompany it, a message that also calls would be lost.
            let bound_from = newest.map(|newest| {
                let before = (0..newest).rev().take_while(|&at| view.messages[at].is_bound()).last();
                before.unwrap_or(newest)
            });
            start = bound_from.map_or(start, |newest| start.min(newest));
        }
        // A unit is never cut: what begins inside one begins with it.
        runs.iter().find(|run| run.contains(&start)).map_or(start, |run| run.start)
    }

    fn note(&self, view: &View<'_, '_>, flight: usize) -> Option<String> {
        let units = self.unit.runs(&view.messages[flight..]).len();
        (units > self.size).then(|| {
            let unit = self.unit.plural();
            format!(
                "the round in flight alone holds {units} {unit}, more than {}; --cap-in-flight counts it like the rest",
                self.size
            )
        })
    }
}
