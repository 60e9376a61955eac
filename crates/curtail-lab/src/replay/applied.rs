//! A chain that is applied to a history.

use super::history::History;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Counting, ProcessorError};
use curtail_core::transcript::{Layout, Message};

/// A chain, and the history to which it is applied.
pub(super) struct Applied<'h, 'a> {
    pub(super) chain: &'h Chain,
    pub(super) layout: &'h Layout<'a>,
    pub(super) history: &'h History<'a>,
    /// Counts the messages that the chain writes.
    pub(super) counting: &'h Counting,
}

impl<'a> Applied<'_, 'a> {
    /// What the chain keeps of `messages`, and writes.
    pub(super) fn run(&self, messages: Vec<Message<'a>>) -> Result<Vec<Message<'a>>, ProcessorError> {
        self.run_in(self.chain, messages)
    }

    /// What `chain` keeps of `messages`, and writes.
    pub(super) fn run_in(&self, chain: &Chain, messages: Vec<Message<'a>>) -> Result<Vec<Message<'a>>, ProcessorError> {
        Ok(chain.run(self.layout, messages, |_, _, _| {})?.messages)
    }
}
