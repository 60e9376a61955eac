//! What the windows of a split repeat.

use std::collections::BTreeMap;

use super::counting::Counting;
use crate::transcript::{Message, Pairs, Part, first_prompt, reach};

/// What a window may repeat of the messages before it because of what they are, wherever they are.
pub(super) struct Repeatable {
    /// System and developer messages.
    pub(super) instructions: Vec<usize>,
    /// Messages with instructions beside other parts, and the tokens of these instructions.
    pub(super) beside: BTreeMap<usize, usize>,
    /// The boundaries, each with where the messages end that need it.
    pub(super) boundaries: Vec<(usize, usize)>,
    /// Messages with calls that can still be answered, which every later window repeats.
    pub(super) awaiting: Vec<usize>,
    pub(super) first_user: Option<usize>,
}

impl Repeatable {
    pub(super) fn of(messages: &[Message<'_>], pairs: &Pairs, counting: &Counting) -> Self {
        let mut awaiting: Vec<usize> = pairs.awaiting_messages(messages).into_iter().collect();
        awaiting.sort_unstable();
        let mut instructions = Vec::new();
        let mut beside = BTreeMap::new();
        let mut boundaries = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            if message.role.instructs() {
                instructions.push(at);
            } else if message.parts.iter().any(Part::instructs) {
                beside.insert(at, counting.instructions(message));
            }
            if message.is_boundary() {
                boundaries.push((at, reach(messages, at)));
            }
        }
        Self { instructions, beside, boundaries, awaiting, first_user: first_prompt(messages) }
    }
}
