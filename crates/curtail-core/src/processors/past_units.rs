//! The units before the in-flight round, from which a window takes the last, and which of their messages are a side of an exchange.

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

impl PastUnits<'_, '_> {
    /// Index of the first message of a unit, or of the in-flight round behind all of them.
    pub(super) fn start(&self, unit: usize) -> usize {
        self.units.get(unit).map_or(self.flight, |unit| unit.start)
    }
}

/// Whether a message is the side of `role` in an exchange: that of the user, or of the assistant. A thought with blank text alone is neither: the
/// message is dropped with the thought.
pub(super) fn is_side_of_exchange(message: &Message<'_>, role: Role) -> bool {
    message.has_text_as(role)
        && (!message.parts.iter().any(Part::is_prefix_bound) || message.parts.iter().any(says_something))
}

fn says_something(part: &Part<'_>) -> bool {
    match &part.content {
        Content::Text(text) => !text.is_blank(),
        content => content.has_text(),
    }
}
