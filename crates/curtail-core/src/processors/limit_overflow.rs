//! What is done when the newest segment does not fit together with the question that it answers.

use super::applying::apply_plan;
use super::error::ProcessorError;
use super::limited::LimitedTranscript;
use super::pins::LAST_ASKED;
use super::plan::{Change, Plan, Reason};
use super::shorter_texts::shorten;
use super::token_limit::{Overflow, TokenLimit};
use super::view::View;
use crate::counting::token_count;
use crate::transcript::prompts;

/// A cut that keeps no more than it has to.
struct LeastCut {
    /// Where its newest segments begin.
    start: usize,
    tokens: usize,
}

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
            plan.notes.insert(0, format!("{}; {outcome}", self.reason(asking)));
        }
        Ok(plan)
    }

    /// The plan if what is kept in any case exceeds the budget: with shorter texts, also those of a question that is kept because a
    /// call waits for its answer. `None` unless texts are shortened, and if that is not enough.
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
        let mut prompted;
        let asking = if asking.preserved.questions.is_empty() {
            prompted = self.asking(prompts(self.view.messages).pop().into_iter().collect());
            prompted.preserved.asked = LAST_ASKED;
            &prompted
        } else {
            asking
        };
        let budget = self.limit.max_tokens;
        let newest = self.newest();
        let reason = Reason::Owned(self.reason(asking));
        let room = budget.checked_sub(asking.needed());
        let with_question = room.and_then(|room| asking.truncated_into(newest, room, &[], &reason));
        if with_question.is_some() {
            return with_question;
        }
        let questions = &asking.preserved.questions;
        let room = budget.checked_sub(asking.needed_beside(questions))?;
        asking.truncated_into(newest, room, questions, &reason)
    }

    /// As [`truncated`](Self::truncated); where a template counts, with less and less room until what it renders fits.
    fn truncated_into(&self, start: usize, mut room: usize, questions: &[usize], reason: &Reason) -> Option<Plan> {
        let TokenLimit { counting, max_tokens, .. } = self.limit;
        let view = self.view;
        loop {
            let plan = self.truncated(start, room, questions, reason)?;
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

    /// Keeps the messages from `start` on and shortens their texts and those of `questions` to `room` tokens, for `reason`; `None`
    /// if that is impossible.
    fn truncated(&self, start: usize, room: usize, questions: &[usize], reason: &Reason) -> Option<Plan> {
        let messages = self.view.messages;
        let mut plan = self.plan(start);
        let mut indices: Vec<usize> = (0..messages.len()).filter(|at| plan.keeps(*at)).collect();
        indices.retain(|at| *at >= start && !self.preserved.contains(*at) || questions.contains(at));
        let cuts = plan.cuts();
        for (at, text) in shorten(self.view, &indices, |part| cuts.contains(&part), room, &self.limit.counting)? {
            plan.change(at.message, [Change::Rewrite(at.part, text)], reason.clone());
        }
        Some(plan)
    }

    /// The error that names the smallest budget that keeps what a person asked last and what has to be kept with it.
    fn too_large(&self, asking: &Self) -> ProcessorError {
        let needed = self.least_budget(asking);
        let budget = self.limit.max_tokens;
        let reserve = self.limit.counting.reserve;
        match prompts(self.view.messages).is_empty() {
            false => ProcessorError::QuestionTooLarge { needed, budget, reserve },
            true => ProcessorError::SegmentTooLarge { needed, budget, reserve },
        }
    }

    /// The smallest budget with which a cut keeps enough, with the question that `asking` keeps or without keeping one. A question
    /// is not kept for a round of which nothing is left.
    pub(super) fn least_budget(&self, asking: &Self) -> usize {
        let least = self.least_cut();
        let beside = asking.least_cut();
        let questions = &asking.preserved.questions;
        let still = self.limit.question.still(questions, &asking.plan(beside.start), self.view.messages);
        if still.is_empty() { least.tokens } else { beside.tokens.min(least.tokens) }
    }

    /// The shortest cut that keeps enough. One that begins earlier keeps more.
    fn least_cut(&self) -> LeastCut {
        let enough = self.segments.partition_point(|segment| self.keeps_enough(self.user_start(segment.start)));
        let start = enough.checked_sub(1).map_or(self.view.messages.len(), |last| self.segments[last].start);
        LeastCut { start, tokens: self.tokens_from(start, &[]).max(self.needed()) }
    }

    /// Tokens of a cut that begins at `start`, without those of `questions`.
    fn tokens_from(&self, start: usize, questions: &[usize]) -> usize {
        let count = self.view.messages.len();
        let kept = (0..count).filter(|at| *at >= start || self.preserved.contains(*at));
        let rendered =
            self.rendering.and_then(|rendering| rendering.tokens(kept.filter(|at| !questions.contains(at))).ok());
        rendered.unwrap_or_else(|| {
            self.needed_beside(questions) + (start..count).map(|at| self.removed_tokens(at)).sum::<usize>()
        })
    }

    /// Why texts are shortened, or what happens instead: the newest segment does not fit, or only not beside the question that
    /// `asking` keeps.
    fn reason(&self, asking: &Self) -> String {
        let newest = self.newest();
        let mut questions = asking.preserved.questions.clone();
        questions.retain(|at| *at < newest);
        let budget = token_count(self.limit.max_tokens);
        match asking.tokens_from(newest, &questions) > self.limit.max_tokens {
            true => format!("the newest segment alone does not fit into {budget}"),
            false => format!("the newest segment and the last question do not fit into {budget}"),
        }
    }
}
