//! Where the newest segments of a limited transcript begin that fit beside what is kept in any case.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::error::ProcessorError;
use super::fitting::newest_fitting;
use super::keep::opener;
use super::limited::LimitedTranscript;
use super::pins::Question;
use super::rendering::Rendering;
use super::token_limit::TokenLimit;
use crate::transcript::{Role, joints, prompts};

impl LimitedTranscript<'_, '_, '_> {
    /// Where the newest segments begin that fit beside the `fixed` tokens of what is preserved.
    pub(super) fn newest_start(&self, fixed: usize) -> usize {
        match self.rendering {
            Some(rendering) => self.rendered_start(rendering, fixed),
            None => self.start(self.limit.max_tokens - fixed),
        }
    }

    /// The same beside the question, which is counted first; `None` if no question is kept, or if it does not fit.
    pub(super) fn newest_start_beside_question(&self) -> Option<usize> {
        let fixed = self.needed();
        let is_asked = !self.preserved.questions.is_empty();
        (is_asked && fixed <= self.limit.max_tokens).then(|| self.user_start(self.newest_start(fixed)))
    }

    /// `start`, moved forward to the next message of the user with text where a transcript has to begin with one, unless a message
    /// of a person is kept before it.
    pub(super) fn user_start(&self, start: usize) -> usize {
        let view = self.view;
        let prompts = prompts(view.messages);
        let is_asked = prompts.iter().any(|&at| at < start && self.preserved.contains(at));
        if start == 0 || !view.context.user_first || prompts.is_empty() || is_asked {
            return start;
        }
        let is_user = |at: &usize| view.messages[*at].has_text_as(Role::User);
        let starts = self.segments.iter().map(|segment| segment.start);
        starts.filter(|at| *at >= start).find(is_user).unwrap_or(view.messages.len())
    }

    /// Where the newest segments begin that fit into `room` tokens.
    fn start(&self, mut room: usize) -> usize {
        let mut start = self.view.messages.len();
        for segment in self.segments.iter().rev() {
            let Some(tokens) = self.segment_until(segment.clone(), room) else { break };
            room -= tokens;
            start = segment.start;
        }
        start
    }

    /// Tokens of a segment without its preserved messages, if they are at most `limit`.
    fn segment_until(&self, segment: Range<usize>, limit: usize) -> Option<usize> {
        let mut total = 0;
        for at in segment.rev().filter(|&at| !self.preserved.contains(at)) {
            let instructions = self.preserved_tokens(at);
            let message = &self.view.messages[at];
            total += self.limit.counting.message_until(message, limit - total + instructions)? - instructions;
        }
        Some(total)
    }

    /// Where the newest segments begin that fit as a template renders them: sums of the newest messages propose a start, what the
    /// template adds to these leads to a better proposal, and rendering decides.
    fn rendered_start(&self, rendering: &Rendering<'_>, fixed: usize) -> usize {
        let Self { view, segments, .. } = *self;
        let count = view.messages.len();
        let budget = self.limit.max_tokens;
        let tried = RefCell::new(BTreeMap::new());
        let tokens = |first: usize| -> Option<usize> {
            let start = segments.get(first).map_or(count, |segment| segment.start);
            let kept = (0..count).filter(|&at| at >= start || self.preserved.contains(at));
            *tried.borrow_mut().entry(first).or_insert_with(|| rendering.tokens(kept).ok())
        };
        let mut sums = vec![None; segments.len()];
        let mut propose = |surplus: usize| {
            let mut first = segments.len();
            let mut sum = 0;
            let mut messages = 0;
            for (at, segment) in segments.iter().enumerate().rev() {
                let added = segment.clone().filter(|&at| !self.preserved.contains(at));
                let tokens = || added.map(|at| self.removed_tokens(at)).sum::<usize>();
                let needed = sum + *sums[at].get_or_insert_with(tokens);
                if fixed + needed + (messages + segment.len()) * surplus > budget {
                    break;
                }
                (first, sum, messages) = (at, needed, messages + segment.len());
            }
            (first, sum, messages)
        };
        let (first, sum, messages) = propose(0);
        let added = tokens(first).map_or(0, |tokens| tokens.saturating_sub(fixed + sum));
        let (proposed, ..) = propose(added / messages.max(1));
        let first = newest_fitting(proposed, segments.len(), |first| tokens(first).map(|tokens| tokens <= budget));
        segments.get(first).map_or(count, |segment| segment.start)
    }

    /// Where the segments begin that are left if tokens are removed in steps: the smallest multiple of `step` whose removal makes
    /// the others fit into `room`, rounded up to whole segments. `None` without steps, and if nothing would be left.
    pub(super) fn stepped_start(&self, room: usize) -> Result<Option<usize>, ProcessorError> {
        let TokenLimit { step, max_tokens, .. } = *self.limit;
        if step <= 1 {
            return Ok(None);
        }
        let Self { view, pairs, rendering, .. } = *self;
        let count = view.messages.len();
        let places = joints(view.messages, pairs);
        let openers = if self.limit.question == Question::Never { Vec::new() } else { prompts(view.messages) };
        let opener = |at: usize| opener(&openers, at).filter(|&opener| !self.preserved.contains(opener));
        let sums: Vec<usize> = (0..count).map(|at| self.removed_tokens(at)).collect();
        let excess = match rendering {
            Some(rendering) => rendering.whole()?.saturating_sub(max_tokens),
            None => sums.iter().sum::<usize>().saturating_sub(room),
        };
        let fits = |start: usize| {
            let kept = |at: &usize| *at >= start || self.preserved.contains(*at) || opener(start) == Some(*at);
            rendering.is_none_or(|rendering| rendering.tokens_within(max_tokens, (0..count).filter(kept)).is_some())
        };
        let last = (0..count).rfind(|&at| !self.preserved.contains(at));
        // What begins the turn at a place is kept, too, so more has to be removed before it.
        let needed = |at: usize| excess + opener(at).map_or(0, |opener| sums[opener]);
        let mut removed = 0;
        let mut due = 0;
        for (at, sum) in sums.iter().enumerate().take_while(|(at, _)| last >= Some(*at)) {
            if removed >= needed(at).next_multiple_of(step).max(due) && places.binary_search(&at).is_ok() {
                if fits(at) {
                    return Ok(Some(at));
                }
                due = (removed + 1).next_multiple_of(step);
            }
            removed += sum;
        }
        Ok(None)
    }
}
