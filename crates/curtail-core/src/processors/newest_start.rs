//! Where the newest segments of a limited transcript begin that fit beside what is kept in any case; `stepped_start.rs` says where if
//! they are cut in steps.

use std::collections::BTreeMap;
use std::ops::Range;

use super::fitting::newest_fitting;
use super::limited::LimitedTranscript;
use super::rendering::Rendering;
use crate::transcript::{Role, prompts};

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
            total += self.tokens_until(at, limit - total + instructions)? - instructions;
        }
        Some(total)
    }

    /// Where the newest segments begin that fit as a template renders them: sums of the newest messages propose a start, what the
    /// template adds to these leads to a better proposal, and rendering decides.
    fn rendered_start(&self, rendering: &Rendering<'_>, fixed: usize) -> usize {
        let count = self.segments.len();
        let mut tails = RenderedTails { limited: self, rendering, known: BTreeMap::new() };
        let mut sums = vec![None; count];
        let plain = self.proposed(fixed, 0, &mut sums);
        let added = tails.tokens(plain.first).map_or(0, |tokens| tokens.saturating_sub(plain.tokens));
        let proposed = self.proposed(fixed, added / plain.messages.max(1), &mut sums).first;
        let budget = self.limit.max_tokens;
        let first = newest_fitting(proposed, count, |first| tails.tokens(first).map(|tokens| tokens <= budget));
        self.segment_start(first)
    }

    /// Where a segment begins; after the last one, the end of the messages.
    fn segment_start(&self, segment: usize) -> usize {
        self.segments.get(segment).map_or(self.view.messages.len(), |segment| segment.start)
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
}

/// What a template renders of a limited transcript from a segment on, beside what is kept in any case.
struct RenderedTails<'r, 'l, 'v, 'a> {
    limited: &'r LimitedTranscript<'l, 'v, 'a>,
    rendering: &'r Rendering<'r>,
    /// The tokens from each segment on that was tried; `None` if the template refuses to begin there.
    known: BTreeMap<usize, Option<usize>>,
}

impl RenderedTails<'_, '_, '_, '_> {
    fn tokens(&mut self, first: usize) -> Option<usize> {
        let Self { limited, rendering, known } = self;
        *known.entry(first).or_insert_with(|| {
            let start = limited.segment_start(first);
            let all = 0..limited.view.messages.len();
            rendering.tokens(all.filter(|&at| at >= start || limited.preserved.contains(at))).ok()
        })
    }
}
