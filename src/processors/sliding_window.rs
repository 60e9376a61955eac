//! At most N messages, instructions among them, and no orphan result at the start, after the design of `SlidingWindowTransformer`.

use std::ops::Range;

use super::planning::DropSet;
use super::{Keep, Plan, Processor, Reason, View, WindowUnit};
use crate::transcript::{Pairs, PartRef};

/// Keeps at most `size` units: those that `keep` preserves wherever they stand, and the last of the others.
#[derive(Debug, Clone, Copy)]
pub struct SlidingWindow {
    /// How many units, 1 or more.
    pub size: usize,
    /// What is counted; a preserved message counts as one unit.
    pub unit: WindowUnit,
    /// What is kept besides; it counts.
    pub keep: Keep,
}

impl Processor for SlidingWindow {
    fn name(&self) -> &'static str {
        "window"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let runs = self.unit.runs(view.messages);
        if runs.len() <= self.size {
            return Ok(Plan::keep(view.messages.len()));
        }
        let pairs = Pairs::find(view.messages);
        let mut drops = DropSet::none(view, &pairs);
        let head = self.keep.head(&runs);
        let start = self.keep.front(view, self.start(view, &runs, head));
        let reason = Reason::Owned(format!("outside the last {} {}", self.size, self.unit.plural()));
        for (at, message) in view.messages.iter().enumerate().take(start).skip(head) {
            if !self.keep.preserves(message) {
                drops.drop_message(at, reason.clone());
            }
        }
        drop_leading_orphans(view, &pairs, start, self.keep, &mut drops);
        Ok(drops.into_plan())
    }
}

impl SlidingWindow {
    /// Where the last units begin that the preserved ones leave room for.
    fn start(&self, view: &View<'_, '_>, runs: &[Range<usize>], head: usize) -> usize {
        let preserved = view.messages.iter().filter(|message| self.keep.preserves(message)).count();
        let in_head = runs.iter().filter(|run| run.end <= head && !self.is_preserved(view, run)).count();
        let room = self.size.saturating_sub(preserved + in_head);
        let others: Vec<&Range<usize>> = runs.iter().filter(|run| !self.is_preserved(view, run)).collect();
        match others.len().checked_sub(room) {
            Some(nth) => others.get(nth).map_or(view.messages.len(), |run| run.start),
            None => 0,
        }
    }

    fn is_preserved(&self, view: &View<'_, '_>, run: &Range<usize>) -> bool {
        view.messages[run.clone()].iter().all(|message| self.keep.preserves(message))
    }
}

/// Results at the start of what follows the cut whose call is not kept, be it that it never was there.
fn drop_leading_orphans(view: &View<'_, '_>, pairs: &Pairs, start: usize, keep: Keep, drops: &mut DropSet<'_, '_>) {
    for (at, message) in view.messages.iter().enumerate().skip(start) {
        let answers_only = message.has_tools() && message.calls().next().is_none();
        if drops.is_gone(at) || keep.preserves(message) {
            continue;
        }
        if !answers_only {
            break;
        }
        for (nth, _) in message.results() {
            let result = PartRef { message: at, part: nth };
            if pairs.other_half(result).is_none_or(|call| drops.is_part_gone(call)) {
                drops.drop_part(result, Reason::Borrowed("an orphan result at the start of the window"));
            }
        }
        if !drops.is_gone(at) {
            break;
        }
    }
}
