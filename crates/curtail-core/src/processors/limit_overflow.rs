//! What is done when the newest segment does not fit together with the question that it answers.

use super::applying::apply_plan;
use super::error::ProcessorError;
use super::limited::LimitedTranscript;
use super::plan::{Change, Plan, Reason};
use super::shorter_texts::shorten;
use super::token_limit::{Overflow, TokenLimit};
use super::view::View;
use crate::counting::token_count;
use crate::transcript::prompts;

impl LimitedTranscript<'_, '_, '_> {
    /// The plan if the newest segment does not fit beside the question that `asking` keeps, or if nothing would be asked. Without a
    /// question, the newest segments that fit begin at `start`.
    pub(super) fn overflow(&self, asking: &Self, start: usize) -> Result<Plan, ProcessorError> {
        let newest = self.newest();
        let fits = (start..self.view.messages.len()).any(|at| !self.preserved.contains(at));
        let is_asked = !asking.preserved.questions.is_empty();
        let (mut plan, outcome) = match self.limit.on_overflow {
            Overflow::Error => return Err(self.too_large(asking)),
            Overflow::Truncate => return self.truncated_to_fit(asking).ok_or_else(|| self.too_large(asking)),
            Overflow::KeepNewest if is_asked => {
                (asking.noted_plan(newest), Some("kept with its question because of --on-overflow keep-newest"))
            }
            Overflow::KeepNewest if !fits => {
                (self.noted_plan(newest), Some("kept because of --on-overflow keep-newest"))
            }
            Overflow::Empty if !fits => (self.noted_plan(start), Some("dropped because of --on-overflow empty")),
            Overflow::Empty | Overflow::KeepNewest => (self.noted_plan(start), None),
        };
        if let Some(outcome) = outcome {
            plan.notes.insert(0, format!("{}; {outcome}", self.reason()));
        }
        Ok(plan)
    }

    /// The plan that shortens the question although a call that waits keeps it; `None` unless what exceeds the budget is shortened.
    pub(super) fn with_shorter_question(&self) -> Option<Plan> {
        if self.limit.on_overflow != Overflow::Truncate {
            return None;
        }
        let questions = self.limit.question.among(self.view.messages, self.pairs);
        self.truncated_to_fit(&self.asking(questions))
    }

    /// The plan that keeps what a person asked last and the newest segment, with texts shortened to the budget: those of the
    /// question only if shortening the others is not enough. `None` if that is impossible.
    fn truncated_to_fit(&self, asking: &Self) -> Option<Plan> {
        let prompted;
        let asking = if asking.preserved.questions.is_empty() {
            prompted = self.asking(prompts(self.view.messages).pop().into_iter().collect());
            &prompted
        } else {
            asking
        };
        let budget = self.limit.max_tokens;
        let newest = self.newest();
        let room = budget.checked_sub(asking.needed());
        let with_question = room.and_then(|room| asking.truncated_into(newest, room, &[]));
        if with_question.is_some() {
            return with_question;
        }
        let questions = &asking.preserved.questions;
        let room = budget.checked_sub(asking.needed_beside(questions))?;
        asking.truncated_into(newest, room, questions)
    }

    /// As [`truncated`](Self::truncated); where a template counts, with less and less room until what it renders fits.
    fn truncated_into(&self, start: usize, mut room: usize, questions: &[usize]) -> Option<Plan> {
        let TokenLimit { counting, max_tokens, .. } = self.limit;
        let view = self.view;
        loop {
            let plan = self.truncated(start, room, questions)?;
            if counting.template.is_none() {
                return Some(plan);
            }
            let messages = apply_plan(view.messages.to_vec(), &plan);
            let rendered = counting.total(&View { messages: &messages, ..*view }).ok()?;
            if rendered <= *max_tokens {
                return Some(plan);
            }
            room = room.checked_sub(rendered - max_tokens)?;
        }
    }

    /// Keeps the messages from `start` on and shortens their texts and those of `questions` to `room` tokens; `None` if that is
    /// impossible.
    fn truncated(&self, start: usize, room: usize, questions: &[usize]) -> Option<Plan> {
        let messages = self.view.messages;
        let mut plan = self.plan(start);
        let mut indices: Vec<usize> = (0..messages.len()).filter(|at| plan.keeps(*at)).collect();
        indices.retain(|at| *at >= start && !self.preserved.contains(*at) || questions.contains(at));
        let cuts = plan.cuts();
        for (at, text) in shorten(self.view, &indices, |part| cuts.contains(&part), room, &self.limit.counting)? {
            plan.change(at.message, [Change::Rewrite(at.part, text)], Reason::Owned(self.reason()));
        }
        Some(plan)
    }

    /// The error that names the smallest budget that keeps what a person asked last: with the newest segment while a round is in
    /// flight, else with everything after it.
    fn too_large(&self, asking: &Self) -> ProcessorError {
        let Self { view, segments, rendering, .. } = *self;
        let budget = self.limit.max_tokens;
        let reserve = self.limit.counting.reserve;
        let prompt = prompts(view.messages).pop();
        let start = match prompt.filter(|_| asking.preserved.questions.is_empty()) {
            Some(prompt) => segments[segments.partition_point(|segment| segment.end <= prompt)].start,
            None => self.newest(),
        };
        let count = view.messages.len();
        let rest = (start..count).map(|at| asking.removed_tokens(at));
        let sum = asking.needed() + rest.sum::<usize>();
        let kept = (0..count).filter(|&at| at >= start || asking.preserved.contains(at));
        let needed = rendering.and_then(|rendering| rendering.tokens(kept).ok()).unwrap_or(sum);
        match prompt {
            Some(_) => ProcessorError::QuestionTooLarge { needed, budget, reserve },
            None => ProcessorError::SegmentTooLarge { needed, budget, reserve },
        }
    }

    /// Why texts are shortened, or what happens instead.
    fn reason(&self) -> String {
        format!("the newest segment alone does not fit into {}", token_count(self.limit.max_tokens))
    }
}
