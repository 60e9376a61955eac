//! What becomes of a text, or why nothing does.

use std::ops::Range;

use curtail_core::Explanation;
use curtail_core::dialects::ReadError;
use curtail_core::pipeline::Cut;
use curtail_core::places::{Locator, TextPlace};
use curtail_io::FileError;
use curtail_io::batch::{Unit, reason_of};

/// Why a text was not cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The place in the text; `None` if it is no place in it.
    pub place: Option<TextPlace>,
    /// What is wrong.
    pub reason: String,
}

impl Failure {
    /// A failure without a place.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { place: None, reason: reason.into() }
    }

    /// The failure `error` of reading `text`.
    #[must_use]
    pub fn in_text(text: &[u8], error: ReadError) -> Self {
        let place = Locator::new(text, 1).place(error.offset);
        Self { place: Some(place), reason: reason_of(error, text, 1) }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self { place: error.place, reason: error.what }
    }
}

/// What became of a text.
#[derive(Debug, Default)]
pub struct Answer {
    /// Whether it changed.
    pub changed: bool,
    /// Where each window of a split is in the new text.
    pub windows: Vec<Range<usize>>,
    /// What there is to say about it, each with its place.
    pub notes: Vec<(TextPlace, String)>,
    /// Messages before and after.
    pub messages: (usize, usize),
    /// Tokens before and after, if the command counts them.
    pub tokens: Option<(usize, usize)>,
    /// What was decided about which message, and why, if it is explained.
    pub explained: Vec<Explanation>,
}

impl Answer {
    /// What `cut` says of `unit`.
    pub(super) fn new(cut: Cut, unit: &Unit<'_>) -> Self {
        let mut places = unit.locator();
        let totals = cut.totals;
        Self {
            changed: cut.changed,
            explained: cut.explained.into_iter().map(Explanation::from).collect(),
            notes: cut.notes.into_iter().map(|(offset, note)| (places.place(offset), note)).collect(),
            windows: cut.windows.into_iter().map(|window| window.written).collect(),
            messages: (totals.messages_before, totals.messages_after),
            tokens: Some((totals.tokens_before, totals.tokens_after)),
        }
    }
}
