//! JSON as spans: the byte ranges of values and members in a text, found in one strict pass.
//!
//! Nothing is built or copied: a [`Value`] is a place in the text, and a string is decoded only when its characters are
//! needed. This layer knows nothing about messages.

mod content_hash;
mod elements;
mod escapes;
mod object;
mod parse_error;
mod strings;
mod tape;
mod text;
mod value;
mod walk;

pub(crate) use elements::{own_repeated_members, removal_of_roots};
pub use elements::{removal, repeated_members};
pub(crate) use escapes::written_offsets;
pub use escapes::{quote, quote_into};
pub(crate) use object::{Json, ObjectWriter, list, object, or_null, raw};
pub use parse_error::{ParseError, ParseErrorKind};
pub use tape::Document;
pub use text::Text;
pub use value::{Member, Value, ValueKind};
pub use walk::MAX_DEPTH;

/// A half-open range of byte offsets in a text of at most 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` up to `end`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Length in bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the span is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }

    /// The bytes of the span in `text`.
    #[must_use]
    pub fn slice(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
}
