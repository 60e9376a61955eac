//! A transcript divided into interactions.

use super::RollingState;
use super::interactions::Interaction;
use curtail_core::transcript::PartRef;

/// A transcript divided into interactions, with the state of its rolling memory.
#[derive(Debug, Clone)]
pub struct RollingView {
    /// The state: given by the caller, or read from the summaries in the transcript.
    pub memory: RollingState,
    /// The number of the first interaction in the transcript.
    pub first: usize,
    /// The interactions in the transcript.
    pub interactions: Vec<Interaction>,
    /// The blocks of earlier summaries.
    pub(super) blocks: Vec<PartRef>,
    /// The messages that consist of blocks of this program.
    pub(super) context: Vec<usize>,
    /// The tokens of each interaction; empty without a trigger.
    pub(super) sizes: Vec<usize>,
}

impl RollingView {
    /// Number of interactions of the conversation so far.
    pub const fn seen(&self) -> usize {
        self.first - 1 + self.interactions.len()
    }

    /// Whether the message with this index consists of blocks of this program: summaries, or working memory.
    pub fn is_block(&self, message: usize) -> bool {
        self.context.contains(&message)
    }

    /// The interaction with this number.
    pub fn interaction(&self, number: usize) -> Option<&Interaction> {
        self.interactions.get(number.checked_sub(self.first)?)
    }
}
