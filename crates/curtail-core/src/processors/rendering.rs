//! Counts a transcript, or some of its messages, as a chat template renders them.

use std::cell::OnceCell;

use super::counting::Counting;
use super::view::View;
use crate::counting::{Prepared, TemplateError};

/// A transcript whose messages are ready to be rendered again and again.
pub(super) struct Rendering<'c> {
    counting: &'c Counting,
    prepared: Box<dyn Prepared + 'c>,
    /// The number of messages.
    count: usize,
    /// Tokens of all messages, once they were rendered.
    whole: OnceCell<Result<usize, TemplateError>>,
}

impl<'c> Rendering<'c> {
    /// Prepares `view`; `None` if `counting` has no template.
    pub(super) fn of_view(counting: &'c Counting, view: &View<'_, '_>) -> Option<Self> {
        let prepared = counting.template.as_deref()?.prepare(view.preamble, view.messages, view.replies);
        Some(Self { counting, prepared, count: view.messages.len(), whole: OnceCell::new() })
    }

    /// Tokens of the messages with these numbers, and of the reserve.
    pub(super) fn tokens(&self, mut kept: impl Iterator<Item = usize>) -> Result<usize, TemplateError> {
        self.counting.rendered(&*self.prepared, &mut kept)
    }

    /// Tokens of all messages, and of the reserve. They are rendered once.
    pub(super) fn whole(&self) -> Result<usize, TemplateError> {
        self.whole.get_or_init(|| self.tokens(0..self.count)).clone()
    }

    /// Tokens of the messages with these numbers, and of the reserve, if they fit; what the template refuses does not.
    pub(super) fn tokens_within(&self, budget: usize, kept: impl Iterator<Item = usize>) -> Option<usize> {
        self.tokens(kept).ok().filter(|tokens| *tokens <= budget)
    }

    /// By how many tokens the template exceeds the sum of the messages, for each message on average.
    pub(super) fn surplus(&self, tokens: usize, sum: usize) -> usize {
        tokens.saturating_sub(sum) / self.count.max(1)
    }
}
