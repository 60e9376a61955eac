//! A rolling memory that continues from its summaries.

use std::sync::Arc;

use super::applied::Applied;
use crate::requests::Request;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{ProcessorError, View};
use curtail_core::transcript::Message;
use curtail_memory::rolling::RollingSummary;

/// The number of messages above which a first state is looked for.
const FIRST_SEARCH: usize = 32;

/// The number of messages above which the next state is looked for, if the last search saw `messages`: a quarter more,
/// so that the searches take no more time than the decisions.
const fn next_search(messages: usize) -> usize {
    messages + messages / 4 + 8
}

/// The state from which a rolling memory continues.
pub(super) struct Resumed {
    /// The memory in that state.
    memory: RollingSummary,
    /// The chain that contains it alone; `None` for the policy itself.
    chain: Option<Chain>,
    /// Position of the first message, besides instructions, that it has to see.
    from: usize,
    /// The number of messages above which a later state is looked for.
    most: usize,
}

impl Resumed {
    pub(super) fn new(memory: &RollingSummary) -> Self {
        Self { memory: memory.clone(), chain: None, from: 0, most: FIRST_SEARCH }
    }

    /// The messages that the policy sends with `request`.
    pub(super) fn messages<'a>(
        &mut self,
        request: &Request,
        applied: &Applied<'_, 'a>,
    ) -> Result<Vec<Message<'a>>, ProcessorError> {
        let history = applied.history;
        // A result without a call may belong to one before the state.
        if !history.is_paired(self.from..request.at) {
            return applied.run(history.messages_at(history.originals_in(0..request.at)));
        }
        let mut positions = history.positions(self.from, request.at);
        let mut messages = history.messages_at(&positions);
        if messages.len() > self.most && self.resume(&messages, &positions, applied) {
            positions = history.positions(self.from, request.at);
            messages = history.messages_at(&positions);
        }
        applied.run_in(self.chain.as_ref().unwrap_or(applied.chain), messages)
    }

    /// Looks for a later state in `messages`, which are at `positions`; returns whether there is one.
    fn resume<'a>(&mut self, messages: &[Message<'a>], positions: &[usize], applied: &Applied<'_, 'a>) -> bool {
        self.most = next_search(messages.len());
        let joints = &applied.history.joints;
        let view = View::of_layout(applied.layout, messages);
        let resumed = self
            .memory
            .resumed(&view, |at| positions.get(at).is_some_and(|position| joints.binary_search(position).is_ok()));
        let Some((memory, index)) = resumed else { return false };
        self.from = positions[index];
        self.most = next_search(messages.len() - index);
        // Only a chain of one stage is resumed.
        let mut stage = applied.chain.stages[0].clone();
        stage.processor = Arc::new(memory.clone());
        self.chain = Some(Chain { stages: vec![stage], ..Chain::default() });
        self.memory = memory;
        true
    }
}
