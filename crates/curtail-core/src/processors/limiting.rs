//! Decides what a limit keeps: the newest complete segments that fit its budget, and what a person asked.

use std::cell::Cell;
use std::sync::Arc;

use super::limited::LimitedTranscript;
use super::rendering::Rendering;
use super::{Counting, Overflow, Plan, Processor, ProcessorError, TokenLimit, Traits, View};
use crate::counting::token_count;
use crate::transcript::{Pairs, Standing, prompts, segments};

impl Processor for TokenLimit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn traits(&self) -> Traits {
        let may_empty = self.on_overflow == Overflow::Empty;
        Traits { may_empty, ..Traits::in_steps(self.step, Standing::UNREAD) }
    }

    fn counting(&self) -> Option<&Counting> {
        Some(&self.counting)
    }

    fn with_counting(&self, counting: Counting) -> Option<Arc<dyn Processor>> {
        Some(Arc::new(Self { counting, ..self.clone() }))
    }

    fn would_change(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        Ok(!self.is_idle(view)? && !self.is_within(view, self.max_tokens)?)
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let rendering = Rendering::of_view(&self.counting, view);
        let idle = match &rendering {
            Some(rendering) => rendering.whole()? <= self.trigger.unwrap_or(0).max(self.max_tokens),
            None => self.is_idle(view)?,
        };
        if idle {
            return Ok(Plan::keep(view.messages.len()));
        }
        let pairs = Pairs::from_messages(view.messages);
        let segments = segments(view.messages, &pairs);
        let preserved = self.keep().among(view.messages, &pairs);
        let rendering = rendering.as_ref();
        let counts = &vec![Cell::new(None); view.messages.len()];
        let limited =
            LimitedTranscript { limit: self, view, pairs: &pairs, segments: &segments, rendering, preserved, counts };
        let mut plan = limited.decide()?;
        if let Some(trigger) = self.trigger.filter(|trigger| *trigger <= self.max_tokens) {
            let trigger = token_count(trigger);
            let budget = self.max_tokens;
            plan.notes.push(format!("a trigger of {trigger} does nothing: it does not exceed the budget of {budget}"));
        }
        Ok(plan)
    }
}

impl TokenLimit {
    /// Whether the transcript is known to need no cut before its segments are counted.
    fn is_idle(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        let trigger = self.trigger.filter(|trigger| *trigger > self.max_tokens);
        if self.counting.surely_fits(view, trigger.unwrap_or(self.max_tokens)) {
            return Ok(true);
        }
        trigger.map_or(Ok(false), |trigger| self.is_within(view, trigger))
    }

    fn is_within(&self, view: &View<'_, '_>, limit: usize) -> Result<bool, ProcessorError> {
        Ok(match self.counting.template {
            Some(_) => self.counting.total(view)? <= limit,
            None => self.counting.total_until(view, limit).is_some(),
        })
    }
}

impl LimitedTranscript<'_, '_, '_> {
    /// The plan that keeps as many of the newest segments as fit, if that keeps what a person asked; otherwise the one that keeps
    /// the question as well.
    fn decide(&self) -> Result<Plan, ProcessorError> {
        let fixed = match self.fixed() {
            Ok(fixed) => fixed,
            Err(error) => return self.with_shorter_question().ok_or(error),
        };
        if let Some(start) = self.stepped_start(self.limit.max_tokens - fixed)? {
            let stepped = self.opening(start);
            if self.limit.on_overflow == Overflow::Empty || stepped.keeps_enough(start) {
                return Ok(stepped.noted_plan(start));
            }
        }
        let newest = self.newest_start(fixed);
        let start = self.user_start(newest);
        if self.keeps_enough(start) {
            return Ok(self.noted_plan(start));
        }
        self.decide_asking(self.limit.question.among(self.view.messages, self.pairs), newest)
    }

    /// The plan that keeps `questions`. Without them, the newest segments that fit begin at `newest`.
    fn decide_asking(&self, questions: Vec<usize>, newest: usize) -> Result<Plan, ProcessorError> {
        let asking = self.asking(questions);
        let start = asking.newest_start_beside_question().filter(|start| asking.keeps_enough(*start));
        let plan = match start {
            Some(start) => asking.noted_plan(start),
            None => self.overflow(&asking, newest)?,
        };
        let questions = &asking.preserved.questions;
        let messages = self.view.messages;
        let still = self.limit.question.still(questions, &plan, messages);
        if still.len() == questions.len() {
            return Ok(plan);
        }
        if !still.is_empty() {
            return self.decide_asking(still, newest);
        }
        // Nothing is left of the round that answers them.
        let without = self.decide_asking(Vec::new(), newest)?;
        Ok(if self.limit.question.is_open_after(&without, messages) { plan } else { without })
    }

    /// Whether a cut that begins at `start` keeps a message of its own, and a message of a person if there is one.
    pub(super) fn keeps_enough(&self, start: usize) -> bool {
        let messages = self.view.messages;
        if start == 0 || (0..messages.len()).all(|at| self.preserved.contains(at)) {
            return true;
        }
        if (start..messages.len()).all(|at| self.preserved.contains(at)) {
            return false;
        }
        let prompts = prompts(messages);
        let newest = prompts.iter().rfind(|at| **at >= start || self.preserved.contains(**at));
        // A pinned task, or the question of a call that waits, is not what the in-flight round answers.
        newest == prompts.last() || newest.is_some() && self.limit.question.among(messages, self.pairs).is_empty()
    }
}
