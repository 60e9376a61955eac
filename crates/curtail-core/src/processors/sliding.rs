//! At most N messages, system messages included.

use std::ops::Range;

use super::keep::Preserved;
use super::{DropSet, Keep, Plan, Processor, ProcessorError, Question, Reason, Traits, View, WindowUnit};
use crate::transcript::{Pairs, Part, PartRef, Standing, first_prompt, joints, turn_starts};

/// Keeps at most `size` units: the messages that `keep` names, and the last of the others.
///
/// With `size` 4 and the defaults, `[system, user, calls 1 and 2, result 1, result 2, call 3, result 3]` becomes
/// `[system, user, call 3, result 3]`: two places remain beside the system message and the question that call 3 is about. With 5,
/// result 2 would start the window without its call, so the place stays empty.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::pipeline::{Chain, TextCutter};
/// use curtail_core::processors::SlidingWindow;
///
/// let chat = r#"{"role":"system","content":"Be brief."}
/// {"role":"user","content":"Is it wet in Oslo, Rome and Bonn?"}
/// {"role":"assistant","tool_calls":[{"id":"1","function":{"name":"sky","arguments":""}},{"id":"2","function":{"name":"sky","arguments":""}}]}
/// {"role":"tool","tool_call_id":"1","content":"wet"}
/// {"role":"tool","tool_call_id":"2","content":"dry"}
/// {"role":"assistant","tool_calls":[{"id":"3","function":{"name":"sky","arguments":""}}]}
/// {"role":"tool","tool_call_id":"3","content":"dry"}
/// "#;
/// let lines: Vec<&str> = chat.split_inclusive('\n').collect();
/// for size in [4, 5] {
///     let window = SlidingWindow { size, ..SlidingWindow::default() };
///     let mut kept = String::new();
///     let cutter = TextCutter { chain: Chain::default().then(window), ..TextCutter::default() };
///     cutter.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut kept)?;
///     assert_eq!(kept, [&lines[..2], &lines[5..]].concat().concat());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SlidingWindow {
    /// Number of units to keep, 1 or more; 40 by default.
    pub size: usize,
    /// What one unit is; each preserved message takes the place of one unit.
    pub unit: WindowUnit,
    /// Messages that are kept wherever they are; `size` includes them.
    pub keep: Keep,
    /// Units that are dropped at a time, as in [`HistoryWindow`](super::HistoryWindow).
    pub step: usize,
}

impl Default for SlidingWindow {
    fn default() -> Self {
        Self { size: 40, unit: WindowUnit::default(), keep: Keep::default(), step: 1 }
    }
}

impl Processor for SlidingWindow {
    fn name(&self) -> &'static str {
        "window"
    }

    fn traits(&self) -> Traits {
        Traits::in_steps(self.step, Standing::ROLLED_BACK)
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let units = self.unit.runs(view.messages);
        if units.len() <= self.size {
            return Ok(Plan::keep(view.messages.len()));
        }
        let pairs = Pairs::from_messages(view.messages);
        if self.step <= 1 {
            let asking =
                self.keep.with_question(view.messages, &pairs, |preserved| self.plan(view, &pairs, &units, preserved));
            // What stays of messages for their instructions may leave no place for a question in place of its round.
            let kept = units.iter().filter(|unit| (*unit).clone().any(|at| asking.keeps(at))).count();
            if kept <= self.size || self.keep.question.is_open_after(&asking, view.messages) {
                return Ok(asking);
            }
        }
        Ok(self.plan(view, &pairs, &units, self.keep.among(view.messages, &pairs)))
    }
}

impl SlidingWindow {
    pub(super) fn plan(
        &self,
        view: &View<'_, '_>,
        pairs: &Pairs,
        units: &[Range<usize>],
        mut preserved: Preserved<'_, '_>,
    ) -> Plan {
        let mut drops = DropSet::none(view, pairs);
        let head = preserved.head(units);
        let start = self.joint(view, pairs, self.start(view, &preserved, units, head));
        let start = self.keep.front(&turn_starts(view.messages), start);
        if self.step > 1 {
            preserved = preserved.opening(start);
        }
        let reason = Reason::Owned(format!("no place in a window of {}", self.unit.count(self.size)));
        preserved.drop_others(&mut drops, head..start, &reason);
        drop_leading_orphans(view, pairs, start, &preserved, &mut drops);
        let mut plan = drops.into_plan();
        plan.notes.extend(preserved.without_task(&plan));
        plan
    }

    /// Index of the first message in the window, which has room for what the preserved messages leave.
    pub(super) fn start(
        &self,
        view: &View<'_, '_>,
        preserved: &Preserved<'_, '_>,
        units: &[Range<usize>],
        head: usize,
    ) -> usize {
        let messages = view.messages;
        // A superseded boundary is kept as long as messages need it. It is not counted, because it would move the steps.
        let stays = (0..messages.len()).map(|at| preserved.contains(at) || self.step > 1 && messages[at].is_boundary());
        let stays: Vec<bool> = stays.collect();
        let others: Vec<&Range<usize>> = units.iter().filter(|unit| stays[(*unit).clone()].contains(&false)).collect();
        let in_head = others.iter().filter(|unit| unit.end <= head).count();
        // In steps, a place is left for the message that begins the turn, wherever the cut is.
        let opens = self.step > 1 && self.keep.question != Question::Never && first_prompt(messages).is_some();
        let kept = stays.iter().filter(|stays| **stays).count();
        let room = self.size.saturating_sub(kept + in_head + usize::from(opens));
        // What stays of a message for its instructions takes a place as well.
        let mut instructed: Vec<usize> = if self.keep.system { (head..messages.len()).collect() } else { Vec::new() };
        instructed.retain(|&at| !stays[at] && messages[at].parts.iter().any(Part::instructs));
        let mut taken = 0;
        loop {
            let first = self.first_of(others.len(), room.saturating_sub(taken));
            let start = first.map_or(0, |first| others.get(first).map_or(messages.len(), |unit| unit.start));
            match instructed.partition_point(|at| *at < start) {
                count if count > taken => taken = count,
                _ => return start,
            }
        }
    }

    /// Number of the first of `count` units in a window with this `room`; `None` if it has room for more.
    fn first_of(&self, count: usize, room: usize) -> Option<usize> {
        let first = count.checked_sub(room)?;
        let stepped = first.next_multiple_of(self.step);
        Some(if stepped < count { stepped } else { first })
    }

    /// `start`, with steps moved to where no pair is open: results of one call can arrive one by one, and would move it later.
    fn joint(&self, view: &View<'_, '_>, pairs: &Pairs, start: usize) -> usize {
        if self.step <= 1 {
            return start;
        }
        joints(view.messages, pairs).into_iter().find(|&at| at >= start).unwrap_or(view.messages.len())
    }
}

/// Drops results at the start of the window whose call is not kept, including results that never had a call.
fn drop_leading_orphans(
    view: &View<'_, '_>,
    pairs: &Pairs,
    start: usize,
    preserved: &Preserved<'_, '_>,
    drops: &mut DropSet<'_, '_>,
) {
    for (at, message) in view.messages.iter().enumerate().skip(start) {
        let answers_only = message.has_tools() && message.calls().next().is_none();
        if drops.is_gone(at) || preserved.contains(at) {
            continue;
        }
        if !answers_only {
            break;
        }
        for (nth, _) in message.results() {
            let result = PartRef { message: at, part: nth };
            if pairs.counterpart(result).is_none_or(|call| drops.is_part_gone(call)) {
                drops.drop_part(result, Reason::Borrowed("orphaned result at the start of the window"));
            }
        }
        if !drops.is_gone(at) {
            break;
        }
    }
}
