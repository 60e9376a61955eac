//! A rolling memory that goes on from a state, without the messages before it: for a caller that applies it again and again to
//! a conversation that grows.

use std::sync::Arc;

use super::rolling_summary::RollingSummary;
use super::schedule::RollingState;
use curtail_core::processors::{Growth, Plan, Processor, ProcessorError, Traits, View};
use curtail_core::transcript::own_blocks;

/// A rolling memory and its state.
struct ResumedSummary {
    summary: RollingSummary,
    memory: RollingState,
    /// The number of the first interaction that it sees.
    first: usize,
}

impl Processor for ResumedSummary {
    fn name(&self) -> &'static str {
        self.summary.name()
    }

    fn traits(&self) -> Traits {
        Traits { growth: Growth::default(), ..self.summary.traits() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        self.summary.decide_from(view, Some((self.memory.clone(), self.first)))
    }

    fn resumed(&self, view: &View<'_, '_>, is_joint: &dyn Fn(usize) -> bool) -> Option<(Arc<dyn Processor>, usize)> {
        self.summary.resumed_from(view, Some((self.memory.clone(), self.first)), is_joint)
    }
}

impl RollingSummary {
    /// As [`Processor::resumed`], for a memory that goes on from `given`.
    ///
    /// The new state ends with a summary, and begins with the interaction before the window. Nothing is resumed if a pair could
    /// still be completed that a summary has read half of, or if the program wrote blocks into the messages before.
    pub(super) fn resumed_from(
        &self,
        view: &View<'_, '_>,
        given: Option<(RollingState, usize)>,
        is_joint: &dyn Fn(usize) -> bool,
    ) -> Option<(Arc<dyn Processor>, usize)> {
        if self.trigger.is_some() || view.messages.iter().any(|message| own_blocks(message) > 0) {
            return None;
        }
        let mut rolling = self.view_behind(view.messages, given);
        let due = self.due(&rolling);
        let is_closed = |number| rolling.interaction(number).is_some_and(|own| is_joint(own.arrived));
        if !rolling.blocks.is_empty() || !due.iter().all(|span| is_closed(span.end)) {
            return None;
        }
        let begins = |number: &usize| rolling.interaction(*number).is_some_and(|own| is_joint(own.start));
        let first = (rolling.first + 1..self.held(&rolling).start).rev().find(begins)?;
        let index = rolling.interaction(first)?.start;
        let fresh = self.summarize(view.messages, &rolling, &due, None).ok()?;
        rolling.memory.advance(self.rolling, rolling.seen(), fresh);
        let is_covered = rolling.memory.summaries.last().is_some_and(|last| last.range.span.end >= first);
        let resumed = ResumedSummary { summary: self.clone(), memory: rolling.memory, first };
        is_covered.then(|| (Arc::new(resumed) as Arc<dyn Processor>, index))
    }
}
