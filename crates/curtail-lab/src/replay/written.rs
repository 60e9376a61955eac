//! The messages that a policy writes.

use foldhash::HashMap;

use super::history::History;
use super::runs::{MessageRun, Runs, Written};
use crate::links::digest;
use curtail_core::processors::Counting;
use curtail_core::steps;
use curtail_core::transcript::Message;

/// The messages that policies wrote or changed, each counted once.
#[derive(Default)]
pub(super) struct WrittenMessages(HashMap<u64, Written>);

impl WrittenMessages {
    /// The runs of a request that sends `messages`.
    pub(super) fn runs(&mut self, history: &History<'_>, counting: &Counting, messages: &[Message<'_>]) -> Runs {
        let mut runs = Runs::default();
        for message in messages {
            self.push(&mut runs, history, counting, message);
        }
        runs
    }

    /// Appends `message` to the `runs` of a request.
    pub(super) fn push(&mut self, runs: &mut Runs, history: &History<'_>, counting: &Counting, message: &Message<'_>) {
        steps::count(1);
        let position = history.position(message);
        if let Some(position) = position.filter(|_| message.is_intact()) {
            return runs.push(position..position + 1);
        }
        let written = self.0.entry(digest(message)).or_insert_with(|| Written::from_message(message, counting));
        runs.0.push(MessageRun::Written(written.clone(), position));
    }
}
