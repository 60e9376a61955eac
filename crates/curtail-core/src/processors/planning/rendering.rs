//! Counts a transcript, or some of its messages, as a chat template renders them.

use std::cell::OnceCell;

use super::{Counting, View};
use crate::counting::{Prepared, TemplateError};

/// A transcript whose messages are ready to be rendered again and again.
pub(in crate::processors) struct Rendering<'c> {
    counting: &'c Counting,
    prepared: Box<dyn Prepared + 'c>,
    /// The number of messages.
    count: usize,
    /// Tokens of all messages, once they were rendered.
    whole: OnceCell<Result<usize, TemplateError>>,
}

impl<'c> Rendering<'c> {
    /// Prepares `view`; `None` if `counting` has no template.
    pub(in crate::processors) fn of_view(counting: &'c Counting, view: &View<'_, '_>) -> Option<Self> {
        let prepared = counting.template.as_deref()?.prepare(view.preamble, view.messages);
        Some(Self { counting, prepared, count: view.messages.len(), whole: OnceCell::new() })
    }

    /// Tokens of the messages with these numbers, and of the reserve.
    pub(in crate::processors) fn tokens(&self, mut kept: impl Iterator<Item = usize>) -> Result<usize, TemplateError> {
        Ok(self.counting.tokenizer.count_rendered(&self.prepared.text(&mut kept)?) + self.counting.reserve)
    }

    /// Tokens of all messages, and of the reserve. They are rendered once.
    pub(in crate::processors) fn whole(&self) -> Result<usize, TemplateError> {
        self.whole.get_or_init(|| self.tokens(0..self.count)).clone()
    }

    /// Whether the messages with these numbers fit; what the template refuses does not.
    pub(in crate::processors) fn fits(&self, kept: impl Iterator<Item = usize>, budget: usize) -> bool {
        self.tokens(kept).is_ok_and(|tokens| tokens <= budget)
    }

    /// By how many tokens the template exceeds the sum of the messages, for each message on average.
    pub(in crate::processors) fn surplus(&self, tokens: usize, sum: usize) -> usize {
        tokens.saturating_sub(sum) / self.count.max(1)
    }
}
