//! Where a limited transcript begins that loses tokens in steps, so that its beginning stays the same for several requests.

use super::error::ProcessorError;
use super::keep::opener;
use super::limited::LimitedTranscript;
use super::pins::Question;
use super::token_limit::TokenLimit;
use crate::transcript::{joints, prompts};

impl LimitedTranscript<'_, '_, '_> {
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
