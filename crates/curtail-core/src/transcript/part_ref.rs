//! A part, by its place among the messages of a transcript.

use super::{Message, Part};

/// A part, by the index of its message and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartRef {
    /// Index of the message.
    pub message: usize,
    /// Index of the part in it.
    pub part: usize,
}

impl PartRef {
    /// The part, in the messages that it refers to.
    #[must_use]
    pub fn part_in<'m, 'a>(self, messages: &'m [Message<'a>]) -> &'m Part<'a> {
        &messages[self.message].parts[self.part]
    }
}
