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

/// The newest segments that may fit beside what is kept in any case.
struct Proposal {
    /// Index of the first of them.
    first: usize,
    /// Their tokens as a sum, with those of what is kept in any case.
    tokens: usize,
    /// The number of their messages.
    messages: usize,
}

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
        if start == 0 || !view.rules.context.user_first || prompts.is_empty() || is_asked {
            return start;
        }
        let mut starts = self.segments.iter().map(|segment| segment.start).filter(|at| *at >= start);
        starts.find(|at| view.messages[*at].has_text_as(Role::User)).unwrap_or(view.messages.len())
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
        let plain = self.proposed(fixed, 0, &mut sums);
        let added = tokens(plain.first).map_or(0, |tokens| tokens.saturating_sub(plain.tokens));
        let proposed = self.proposed(fixed, added / plain.messages.max(1), &mut sums).first;
        let first = newest_fitting(proposed, segments.len(), |first| tokens(first).map(|tokens| tokens <= budget));
        segments.get(first).map_or(count, |segment| segment.start)
    }

    /// The newest segments that fit as a sum, with `surplus` tokens more for each message; `sums` are those of segments, as far as
    /// they are known.
    fn proposed(&self, fixed: usize, surplus: usize, sums: &mut [Option<usize>]) -> Proposal {
        let mut proposal = Proposal { first: sums.len(), tokens: fixed, messages: 0 };
        for (first, (segment, sum)) in self.segments.iter().zip(sums).enumerate().rev() {
            let added = segment.clone().filter(|&at| !self.preserved.contains(at));
            let sum = sum.get_or_insert_with(|| added.map(|at| self.removed_tokens(at)).sum());
            let tokens = proposal.tokens + *sum;
            let messages = proposal.messages + segment.len();
            if tokens + messages * surplus > self.limit.max_tokens {
                break;
            }
            proposal = Proposal { first, tokens, messages };
        }
        proposal
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
        let prompts = if self.limit.question == Question::Never { Vec::new() } else { prompts(view.messages) };
        let sums: Vec<usize> = (0..count).map(|at| self.removed_tokens(at)).collect();
        let excess = match rendering {
            Some(rendering) => rendering.whole()?.saturating_sub(max_tokens),
            None => sums.iter().sum::<usize>().saturating_sub(room),
        };
        let last = (0..count).rfind(|&at| !self.preserved.contains(at));
        let mut removed = 0;
        let mut due = 0;
        for (at, sum) in sums.iter().enumerate().take_while(|(at, _)| last >= Some(*at)) {
            // What begins the turn at a place is kept, too, so more has to be removed before it.
            let opener = opener(&prompts, at).filter(|&opener| !self.preserved.contains(opener));
            let needed = excess + opener.map_or(0, |opener| sums[opener]);
            if removed >= needed.next_multiple_of(step).max(due) && places.binary_search(&at).is_ok() {
                let kept =
                    (0..count).filter(|&other| other >= at || self.preserved.contains(other) || opener == Some(other));
                if rendering.is_none_or(|rendering| rendering.tokens_within(max_tokens, kept).is_some()) {
                    return Ok(Some(at));
                }
                due = (removed + 1).next_multiple_of(step);
            }
            removed += sum;
        }
        Ok(None)
    }
}
