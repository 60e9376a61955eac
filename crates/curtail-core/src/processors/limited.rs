//! A transcript that is limited to a budget: what is kept of it wherever it is, and the tokens of that.

use std::cell::Cell;
use std::ops::Range;

use super::cascade::DropSet;
use super::error::ProcessorError;
use super::keep::Preserved;
use super::plan::{Plan, Reason};
use super::rendering::Rendering;
use super::token_limit::{Overflow, TokenLimit};
use super::view::View;
use crate::counting::token_count;
use crate::transcript::{Pairs, Part};

/// A cut that keeps some messages wherever they are, and the newest segments beside them.
pub(super) struct LimitedTranscript<'l, 'v, 'a> {
    pub(super) limit: &'l TokenLimit,
    pub(super) view: &'v View<'v, 'a>,
    pub(super) pairs: &'l Pairs,
    pub(super) segments: &'l [Range<usize>],
    /// Renders messages, if a chat template counts.
    pub(super) rendering: Option<&'l Rendering<'l>>,
    pub(super) preserved: Preserved<'v, 'a>,
    /// The tokens of each message that was counted to its end: several cuts of a transcript are tried.
    pub(super) counts: &'l [Cell<Option<usize>>],
}

impl LimitedTranscript<'_, '_, '_> {
    /// The same cut, if it keeps these questions as well.
    pub(super) fn asking(&self, questions: Vec<usize>) -> Self {
        let preserved = self.limit.keep().among(self.view.messages, self.pairs).asking(questions);
        Self { preserved, ..*self }
    }

    /// The same cut, if it begins at `start` and moves in steps.
    pub(super) fn opening(&self, start: usize) -> Self {
        let preserved = self.limit.keep().among(self.view.messages, self.pairs).opening(start);
        Self { preserved, ..*self }
    }

    /// Where the newest segment begins that is not preserved.
    pub(super) fn newest(&self) -> usize {
        let newest = self.segments.iter().rfind(|segment| !self.preserved.contains_all(segment));
        newest.map_or(self.view.messages.len(), |segment| segment.start)
    }

    /// The plan that drops what is before `start`, with a note if no message of a person is left.
    pub(super) fn noted_plan(&self, start: usize) -> Plan {
        let mut plan = self.plan(start);
        plan.notes.extend(self.preserved.without_task(&plan));
        plan
    }

    /// The plan that drops what is before `start`.
    pub(super) fn plan(&self, start: usize) -> Plan {
        let TokenLimit { step, max_tokens, .. } = *self.limit;
        let mut drops = DropSet::none(self.view, self.pairs);
        let steps = if step > 1 { format!(", in steps of {step}") } else { String::new() };
        let reason = Reason::Owned(format!("does not fit into {}{steps}", token_count(max_tokens)));
        self.preserved.drop_others(&mut drops, 0..start, &reason);
        drops.into_plan()
    }

    /// Tokens of the preamble, the reserve and the preserved messages, which fit.
    pub(super) fn fixed(&self) -> Result<usize, ProcessorError> {
        let TokenLimit { max_tokens: budget, preserve_system, first_user, .. } = *self.limit;
        let needed = self.needed();
        if needed <= budget {
            return Ok(needed);
        }
        let enough = (self.limit.on_overflow == Overflow::Error).then(|| {
            let questions = self.limit.question.among(self.view.messages, self.pairs);
            self.least_budget(&self.asking(questions))
        });
        Err(ProcessorError::BudgetBelowFixed { needed, enough, budget, preserve_system, first_user })
    }

    /// Tokens of the preamble, the reserve and the preserved messages.
    pub(super) fn needed(&self) -> usize {
        self.needed_beside(&[])
    }

    /// The same without those of `questions`.
    pub(super) fn needed_beside(&self, questions: &[usize]) -> usize {
        let others = (0..self.view.messages.len()).filter(|at| !questions.contains(at));
        let preserved = others.map(|at| self.preserved_tokens(at));
        self.limit.counting.outside(self.view) + preserved.sum::<usize>()
    }

    /// Tokens that a cut removes with a message.
    pub(super) fn removed_tokens(&self, at: usize) -> usize {
        self.tokens(at) - self.preserved_tokens(at)
    }

    /// Tokens of what is preserved of a message: the whole, or instructions beside its other parts.
    pub(super) fn preserved_tokens(&self, at: usize) -> usize {
        if self.preserved.contains(at) {
            return self.tokens(at);
        }
        let message = &self.view.messages[at];
        let instructs = self.limit.preserve_system && message.parts.iter().any(Part::instructs);
        if instructs { self.limit.counting.instructions(message) } else { 0 }
    }

    /// Tokens of a message.
    fn tokens(&self, at: usize) -> usize {
        self.tokens_until(at, usize::MAX).unwrap_or(usize::MAX)
    }

    /// Tokens of a message if they are at most `limit`.
    pub(super) fn tokens_until(&self, at: usize, limit: usize) -> Option<usize> {
        if self.counts[at].get().is_none() {
            self.counts[at].set(Some(self.limit.counting.message_until(&self.view.messages[at], limit)?));
        }
        self.counts[at].get().filter(|tokens| *tokens <= limit)
    }
}
