//! The units before the in-flight round, from which a window takes the last, and who speaks in them.

use std::ops::Range;

use super::keep::Preserved;
use super::view::View;
use crate::transcript::{Content, Message, Pairs, Part, Role};

/// A transcript, and its units before the in-flight round.
pub(super) struct PastUnits<'v, 'a> {
    pub(super) view: &'v View<'v, 'a>,
    pub(super) pairs: &'v Pairs,
    pub(super) preserved: Preserved<'v, 'a>,
    /// Index of the first message of the in-flight round.
    pub(super) flight: usize,
    pub(super) units: Vec<Range<usize>>,
}

/// Whether a message is the user's or the assistant's side of an exchange. A thought with blank text alone is neither: the
/// message is dropped with the thought.
pub(super) fn has_text_as(message: &Message<'_>, role: Role) -> bool {
    let is_thought = || message.parts.iter().any(Part::is_prefix_bound);
    let is_blank = |part: &Part<'_>| match &part.content {
        Content::Text(text) => text.is_blank(),
        content => !content.has_text(),
    };
    message.has_text_as(role) && !(is_thought() && message.parts.iter().all(is_blank))
}
