//! The last N units, with at least one user/assistant exchange, after Noetic's `historyWindow`.

use super::past_units::PastUnits;
use super::shrinking_window::ShrinkingWindow;
use super::stepped_window::SteppedWindow;
use super::{DropSet, Keep, Plan, Processor, ProcessorError, Reason, Traits, View, WindowUnit};
use crate::transcript::{Message, Mismatch, Pairs, PartRef, Role, Standing, in_flight, settled, turn_starts};

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
        let unit = WindowUnit::default();
        let keep = Keep::default();
        Self { size: 40, unit, max_expansion: None, cap_in_flight: false, keep, step: 1 }
    }
}

impl Processor for HistoryWindow {
    fn name(&self) -> &'static str {
        "window"
    }

    fn traits(&self) -> Traits {
        Traits::in_steps(self.step, Standing::ROLLED_BACK)
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let flight = self.flight(view.messages, &pairs);
        let units = self.unit.runs(&view.messages[..flight]);
        Ok(self.keep.with_question(view.messages, &pairs, |preserved| {
            self.plan(&PastUnits { view, pairs: &pairs, preserved, flight, units: units.clone() })
        }))
    }
}

impl HistoryWindow {
    fn plan(&self, past: &PastUnits<'_, '_>) -> Plan {
        let drops = if self.step > 1 { self.stepped(past) } else { self.last(past) };
        let reached = self.reached(past, &drops);
        let mut plan = drops.into_plan();
        plan.notes.extend(self.note(past.view, past.flight));
        plan.notes.extend(reached);
        plan.notes.extend(past.preserved.without_task(&plan));
        plan
    }

    /// Index of the first message of the in-flight round, which is added to the window. A message that is left with its text
    /// alone when the messages before the round are dropped is not in flight: the round begins after it.
    fn flight(&self, messages: &[Message<'_>], pairs: &Pairs) -> usize {
        if self.cap_in_flight {
            return messages.len();
        }
        // A step may not be undone when the reply goes on in whose middle a log ends.
        let first = if self.step > 1 { settled(messages) } else { in_flight(messages) };
        messages.iter().enumerate().skip(first).fold(first, |flight, (at, message)| {
            if outlives_its_tools(message, at, pairs, flight) { at + 1 } else { flight }
        })
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
    fn last<'v, 'a>(&self, past: &PastUnits<'v, 'a>) -> DropSet<'v, 'a> {
        let units = &past.units;
        let last = units.len().saturating_sub(self.size);
        // Beyond this unit, no exchange is looked for.
        let farthest =
            self.max_expansion.map_or(0, |times| units.len().saturating_sub(self.size.saturating_mul(times)));
        let reason = Reason::Owned(format!("outside {}", self.unit.last(self.size)));
        let mut window = ShrinkingWindow::new(past, reason.clone());
        window.begin_at(past.start(farthest));
        // A role that has no text anywhere is ignored.
        let roles = [Role::User, Role::Assistant].map(|role| window.has_text(role).then_some(role));
        for unit in farthest + 1..=self.last_with_turn(past, farthest, last) {
            window.begin_at(past.start(unit));
            if !roles.into_iter().flatten().all(|role| window.has_text(role)) {
                // One unit too many is dropped by now.
                let mut window = ShrinkingWindow::new(past, reason);
                window.begin_at(past.start(unit - 1));
                return window.drops;
            }
        }
        window.drops
    }

    /// The last of the units at which the window may begin: `last`, or an earlier one if the window has to start on a message of a
    /// person and the newest of these is there. Units before `farthest` are not searched.
    fn last_with_turn(&self, PastUnits { view, units, .. }: &PastUnits<'_, '_>, farthest: usize, last: usize) -> usize {
        if !self.keep.start_on_user {
            return last;
        }
        let end = units.last().map_or(0, |unit| unit.end);
        let newest = turn_starts(view.messages).into_iter().rfind(|&turn| turn < end);
        let unit = newest.and_then(|turn| units[farthest..].iter().rposition(|unit| unit.contains(&turn)));
        unit.map_or(last, |unit| last.min(farthest + unit))
    }

    /// What is dropped in steps before the in-flight round.
    fn stepped<'v, 'a>(&self, past: &PastUnits<'v, 'a>) -> DropSet<'v, 'a> {
        let Self { size, step, max_expansion, .. } = *self;
        let stepped = SteppedWindow::new(past, size, step, max_expansion.map(|times| size.saturating_mul(times)));
        let mut drops = DropSet::none(past.view, past.pairs);
        let reason = Reason::Owned(format!("outside {}, in steps of {step}", self.unit.last(size)));
        past.preserved.drop_others(&mut drops, stepped.head..stepped.start(), &reason);
        drops
    }

    /// The note that the window reached back far for an exchange.
    fn reached(
        &self,
        PastUnits { preserved, units, .. }: &PastUnits<'_, '_>,
        drops: &DropSet<'_, '_>,
    ) -> Option<String> {
        if self.max_expansion.is_some() || units.len() <= self.size.saturating_mul(2) {
            return None;
        }
        let head = preserved.head(units);
        let others = units.iter().filter(|unit| unit.start >= head && !preserved.contains_all(unit));
        let count = others.filter(|unit| (*unit).clone().any(|at| !drops.is_gone(at))).count();
        let unit = self.unit.plural();
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

/// Whether a message would stay without its calls and results if every message before `flight` were dropped: it has text, and
/// the counterparts of all its calls and results are there.
fn outlives_its_tools(message: &Message<'_>, at: usize, pairs: &Pairs, flight: usize) -> bool {
    let mut tools = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
    message.has_tools()
        && message.parts.iter().any(|part| !part.content.is_tool() && part.is_worth_keeping())
        && tools.all(|(part, _)| {
            let part = PartRef { message: at, part };
            // A duplicate result is dropped with the call that it names.
            let counterpart = pairs.counterpart(part).or_else(|| pairs.mismatch(part).map(Mismatch::call));
            counterpart.is_some_and(|counterpart| counterpart.message < flight)
        })
}
