//! The last N units, with at least one user/assistant exchange, after Noetic's `historyWindow`.

use std::ops::Range;

use super::units::Preserved;
use super::{DropSet, Keep, Plan, Processor, ProcessorError, Question, Reason, Traits, View, WindowUnit};
use crate::transcript::{
    Content, Message, Mismatch, Pairs, Part, PartRef, Role, Standing, first_prompt, in_flight, joints, main_thread,
    settled, turn_starts,
};

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
        traits(self.step)
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let flight = self.flight(view.messages, &pairs);
        let units = self.unit.runs(&view.messages[..flight]);
        let past = |preserved| PastUnits { view, pairs: &pairs, preserved, flight, units: units.clone() };
        Ok(self.keep.with_question(view.messages, &pairs, |preserved| self.plan(&past(preserved))))
    }
}

/// The traits of a window that moves by `step` units.
pub(super) fn traits(step: usize) -> Traits {
    Traits {
        // A pair that was broken before leaves a cut that a step may now begin at. Each pass drops something, so they end.
        passes: if step > 1 { usize::MAX } else { 1 },
        drops_first: Standing::TAKEN_BACK,
        ..Traits::default()
    }
}

/// Whether a message is the user's or the assistant's side of an exchange. A thought with blank text alone is neither: the
/// message is dropped with the thought.
fn has_text_as(message: &Message<'_>, role: Role) -> bool {
    let is_thought = || message.parts.iter().any(Part::is_prefix_bound);
    let is_blank = |part: &Part<'_>| match &part.content {
        Content::Text(text) => text.is_blank(),
        content => !content.has_text(),
    };
    message.has_text_as(role) && !(is_thought() && message.parts.iter().all(is_blank))
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

/// A transcript, and its units before the in-flight round.
struct PastUnits<'v, 'a> {
    view: &'v View<'v, 'a>,
    pairs: &'v Pairs,
    preserved: Preserved<'v, 'a>,
    /// Index of the first message of the in-flight round.
    flight: usize,
    units: Vec<Range<usize>>,
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
    fn last<'v, 'a>(&self, past: &PastUnits<'v, 'a>) -> DropSet<'v, 'a> {
        let units = &past.units;
        let start = |unit: usize| units.get(unit).map_or(past.flight, |unit| unit.start);
        let last = units.len().saturating_sub(self.size);
        // Beyond this unit, no exchange is looked for.
        let farthest =
            self.max_expansion.map_or(0, |times| units.len().saturating_sub(self.size.saturating_mul(times)));
        let mut window = ShrinkingWindow::new(self, past);
        window.begin_at(start(farthest));
        // A role that has no text anywhere is ignored.
        let roles = [Role::User, Role::Assistant].map(|role| window.has_text(role).then_some(role));
        for unit in farthest + 1..=self.last_with_turn(past, farthest, last) {
            window.begin_at(start(unit));
            if !roles.into_iter().flatten().all(|role| window.has_text(role)) {
                // One unit too many is dropped by now.
                let mut window = ShrinkingWindow::new(self, past);
                window.begin_at(start(unit - 1));
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
        let stepped = SteppedWindow::new(self, past);
        let mut drops = DropSet::none(past.view, past.pairs);
        let last = self.unit.last(self.size);
        let step = self.step;
        let reason = Reason::Owned(format!("outside {last}, in steps of {step}"));
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
        let is_kept = |unit: &&Range<usize>| (unit.start..unit.end).any(|at| !drops.is_gone(at));
        let kept = units.iter().filter(|unit| unit.start >= head && !preserved.contains_all(unit)).filter(is_kept);
        let count = kept.count();
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

/// The message before `end`, with the reasoning right before it that led to it.
fn reply_before(messages: &[Message<'_>], end: usize) -> Range<usize> {
    let last = end.saturating_sub(1);
    let reasoning = messages[..last].iter().rev().take_while(|message| message.is_bound());
    last - reasoning.count()..end
}

/// A window that begins later and later. What it dropped stays dropped, so no message is visited twice.
struct ShrinkingWindow<'h, 'v, 'a> {
    past: &'h PastUnits<'v, 'a>,
    drops: DropSet<'v, 'a>,
    reason: Reason,
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

impl<'h, 'v, 'a> ShrinkingWindow<'h, 'v, 'a> {
    /// All of the messages before the in-flight round.
    fn new(window: &HistoryWindow, past: &'h PastUnits<'v, 'a>) -> Self {
        let messages = past.view.messages;
        let flight = past.flight;
        let reason = Reason::Owned(format!("outside {}", window.unit.last(window.size)));
        let mut turns = if window.keep.start_on_user { turn_starts(messages) } else { Vec::new() };
        turns.retain(|&turn| turn < flight);
        Self {
            past,
            drops: DropSet::none(past.view, past.pairs),
            reason,
            main: main_thread(messages),
            first: window.keep.front(&turns, 0),
            turns,
            next: past.preserved.head(&past.units),
            newest: [reply_before(messages, flight), reply_before(messages, flight)],
        }
    }

    /// Drops what is before `start`, with all that depends on it.
    fn begin_at(&mut self, start: usize) {
        let preserved = &self.past.preserved;
        if start > self.first {
            self.first = preserved.keep.front(&self.turns, start);
        }
        preserved.drop_others(&mut self.drops, self.next..self.first, &self.reason);
        self.next = self.next.max(self.first);
    }

    /// Whether the window contains a message of `role` with text that is kept, and its reasoning.
    fn has_text(&mut self, role: Role) -> bool {
        let nth = usize::from(role == Role::Assistant);
        let mut end = self.newest[nth].end;
        while end > self.first && !self.still_has_text(end - 1, role) {
            end -= 1;
        }
        if end < self.newest[nth].end {
            self.newest[nth] = reply_before(self.past.view.messages, end);
        }
        end > self.first && self.newest[nth].start >= self.first
    }

    fn still_has_text(&self, at: usize, role: Role) -> bool {
        let message = &self.past.view.messages[at];
        let mut spoken = message.parts.iter().enumerate().filter(|(_, part)| part.content.has_text());
        message.thread == self.main
            && has_text_as(message, role)
            && spoken.any(|(part, _)| !self.drops.is_part_gone(PartRef { message: at, part }))
    }
}

/// The units of a transcript before its in-flight round, without those that are kept in any case.
struct SteppedWindow<'w> {
    window: &'w HistoryWindow,
    /// Index of the message after the first units, which are kept.
    head: usize,
    units: Vec<Range<usize>>,
    /// Index of the message after the last of them.
    end: usize,
    /// Indices of the units before which no pair is open.
    joints: Vec<usize>,
    /// Those of them at which a window can begin.
    places: Vec<usize>,
    /// Indices of the units with text of a user, and of those with text of an assistant.
    spoken: [Vec<usize>; 2],
}

impl<'w> SteppedWindow<'w> {
    fn new(window: &'w HistoryWindow, past: &PastUnits<'_, '_>) -> Self {
        let messages = past.view.messages;
        let keep = window.keep;
        let preserved = &past.preserved;
        let closed = joints(messages, past.pairs);
        let instructs = |at: usize| keep.system && messages[at].parts.iter().all(Part::instructs);
        let is_kept = |at: usize| preserved.contains(at) || messages[at].is_boundary() || instructs(at);
        // The first units are kept with the counterparts of their calls and results.
        let head = match preserved.head(&past.units) {
            0 => 0,
            head => closed.iter().copied().find(|at| *at >= head).unwrap_or(messages.len()),
        };
        let mut units = past.units.clone();
        units.retain(|unit| unit.start >= head && !unit.clone().all(is_kept));
        let is_joint = |nth: &usize| closed.binary_search(&units[*nth].start).is_ok();
        let joints: Vec<usize> = (0..units.len()).filter(is_joint).collect();
        let turns = if keep.start_on_user { turn_starts(messages) } else { Vec::new() };
        let is_place = |nth: &usize| !keep.start_on_user || turns.binary_search(&units[*nth].start).is_ok();
        let places = joints.iter().copied().filter(is_place).collect();
        let main = main_thread(messages);
        // Any text of the user is an exchange, but only a person's can be a question.
        let asks = keep.question != Question::Never && first_prompt(messages).is_some();
        let spoken = [Role::User, Role::Assistant].map(|role| {
            let message_has_text = |at: usize| {
                let is_question = || !asks || role != Role::User || messages[at].begins_turn();
                messages[at].thread == main && has_text_as(&messages[at], role) && is_question()
            };
            let unit_has_text = |nth: &usize| units[*nth].clone().any(message_has_text);
            (0..units.len()).filter(unit_has_text).collect()
        });
        let end = units.last().map_or(messages.len(), |unit| unit.end);
        Self { window, head, units, end, joints, places, spoken }
    }

    /// Index of the first message in the window; 0 if nothing is dropped.
    ///
    /// The smallest multiple of `step` is removed that leaves at most `size` units, and more units if a pair is open there. The
    /// exchange is searched in the units that exist as soon as this multiple is removed, and before them. So units that are
    /// appended until the next step cannot move the beginning.
    ///
    /// ```text
    /// size 5, step 2, units 0 to 7:   0 1 2 3 | 4 5 6 7       4 are removed, until unit 9 is there and 6 are
    ///                                           ^^^^^^^       the exchange is searched in 4 to 7, and then before 4
    /// ```
    fn start(&self) -> usize {
        let HistoryWindow { size, step, max_expansion, .. } = *self.window;
        let count = self.units.len();
        let most = max_expansion.map_or(usize::MAX, |times| size.saturating_mul(times));
        if count <= size || count <= most && self.place(count - size, count.saturating_sub(step), 0).is_none() {
            return 0;
        }
        let removed = (count - size).next_multiple_of(step).min(count - 1);
        let horizon = (removed + size).saturating_sub(step);
        let bound = (removed + size).saturating_sub(most);
        let up = self.joint_from(removed);
        let start = match self.place(up, horizon, bound) {
            Some(place) => self.units[place].start,
            None if max_expansion.is_none() => 0,
            None => self.units.get(up).map_or(self.end, |unit| unit.start),
        };
        // Nothing but preserved messages can be before the first unit.
        if self.units.first().is_some_and(|unit| unit.start == start) { 0 } else { start }
    }

    /// The last place after the first unit, between `bound` and `latest`, such that the units from there to `horizon` contain text
    /// of each role that has text between `bound` and `horizon`.
    fn place(&self, latest: usize, horizon: usize, bound: usize) -> Option<usize> {
        let newest = self.spoken.iter().filter_map(|spoken| {
            let newest = spoken[..spoken.partition_point(|&nth| nth <= horizon)].last()?;
            (*newest >= bound).then_some(*newest)
        });
        let latest = newest.fold(latest, usize::min);
        let place = *self.places[..self.places.partition_point(|&nth| nth <= latest)].last()?;
        (place >= bound.max(1)).then_some(place)
    }

    /// Index of the first unit from `nth` on before which no pair is open; the number of units if there is none.
    fn joint_from(&self, nth: usize) -> usize {
        let next = self.joints.partition_point(|&joint| joint < nth);
        self.joints.get(next).copied().unwrap_or(self.units.len())
    }
}
