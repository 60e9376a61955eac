//! When summaries are due, by the number of interactions and by their tokens, and which interactions the window holds.

use super::InteractionRange;
use super::interactions::Interaction;
use super::rolling_summary::RollingSummary;
use super::utterances::utterances;
use super::view::RollingView;
use curtail_core::transcript::{Message, Pairs};

impl RollingSummary {
    /// The tokens of each interaction, calls and results included; empty without a trigger. Messages that stay in any case do not
    /// count.
    pub(super) fn sizes(
        &self,
        messages: &[Message<'_>],
        interactions: &[Interaction],
        stays: &dyn Fn(usize) -> bool,
    ) -> Vec<usize> {
        if self.trigger.is_none() {
            return Vec::new();
        }
        let pairs = Pairs::from_messages(messages);
        let ends = interactions.iter().map(|interaction| interaction.arrived);
        let starts = std::iter::once(interactions.first().map_or(0, |first| first.start)).chain(ends.clone());
        let sizes = starts.zip(ends).map(|(start, end)| {
            let counted = (start..end).filter(|at| !stays(*at));
            let spoken = counted.flat_map(|at| utterances(messages, &pairs, at..at + 1));
            spoken.map(|utterance| self.tokenizer.count(&utterance.text)).sum()
        });
        sizes.collect()
    }

    /// The ranges to summarize now, oldest first. A summary that would be dropped in the same step is not made.
    pub fn due(&self, rolling: &RollingView) -> Vec<InteractionRange> {
        if self.trigger.is_none() {
            let mut due = rolling.memory.due(self.rolling, rolling.seen());
            // What the state says of the interactions before the transcript may be wrong.
            due.iter_mut().for_each(|span| span.start = span.start.max(rolling.first));
            return due;
        }
        let last = rolling.memory.summarized();
        let ends = self.ends(rolling, last);
        let starts = std::iter::once(last).chain(ends.iter().copied());
        let ranges = starts.zip(&ends).map(|(start, &end)| {
            // The first summary of a full window leaves out the interaction that has just left it.
            let oldest = (end + 1).saturating_sub(self.rolling.window.get());
            InteractionRange { start: if start == 0 { oldest.max(1) } else { start + 1 }, end }
        });
        let mut due: Vec<_> = ranges.collect();
        due.drain(..due.len().saturating_sub(self.rolling.max_summaries.get()));
        due
    }

    /// The numbers of the interactions after `seen` with which a summary ends.
    pub(super) fn ends(&self, rolling: &RollingView, seen: usize) -> Vec<usize> {
        let numbers = seen + 1..=rolling.seen();
        let Some(trigger) = self.trigger else {
            return numbers.filter(|&number| self.rolling.due(number).is_some()).collect();
        };
        let window = self.rolling.window.get();
        let mut ends = Vec::new();
        let mut last = seen;
        let mut tokens = 0;
        for number in numbers {
            tokens += size(rolling, number);
            let full = number - last >= window.saturating_add(usize::from(last == 0));
            if tokens > trigger || full {
                ends.push(number);
                (last, tokens) = (number, 0);
            }
        }
        ends
    }

    /// The interactions in the window: the newest ones, as many as the window holds, and no more tokens than the trigger
    /// allows. The newest interaction is always included.
    pub fn held(&self, rolling: &RollingView) -> InteractionRange {
        let held = self.rolling.held(rolling.seen());
        let Some(trigger) = self.trigger else { return held };
        let mut left = trigger;
        let mut start = held.end + 1;
        for number in (held.start.max(rolling.first)..=held.end).rev() {
            let tokens = size(rolling, number);
            if number < held.end && tokens > left {
                break;
            }
            left = left.saturating_sub(tokens);
            start = number;
        }
        InteractionRange { start, end: held.end }
    }
}

/// The tokens of the interaction with this number.
fn size(rolling: &RollingView, number: usize) -> usize {
    number.checked_sub(rolling.first).and_then(|nth| rolling.sizes.get(nth)).copied().unwrap_or(0)
}
