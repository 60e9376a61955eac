//! The text that a block becomes: the records that were cut, and those that are kept because they are not UTF-8.

use std::borrow::Cow;

use crate::works::copies::Replacements;
use curtail_core::steps;

/// The text of a block after the cut.
#[derive(Debug, Default)]
pub(crate) struct CutText {
    /// The records that are UTF-8.
    pub(crate) valid: String,
    /// The others, in order.
    invalid: Vec<InvalidRecord>,
}

/// A record that is not UTF-8, and is kept unchanged.
#[derive(Debug)]
struct InvalidRecord {
    /// Its place among the records that are UTF-8.
    at: usize,
    bytes: Vec<u8>,
}

impl CutText {
    /// Adds a record that is kept unchanged.
    pub(super) fn keep(&mut self, record: &[u8]) {
        match std::str::from_utf8(record) {
            Ok(text) => self.valid.push_str(text),
            Err(_) => self.invalid.push(InvalidRecord { at: self.valid.len(), bytes: record.to_vec() }),
        }
    }

    /// Empties it, to be used again.
    pub(super) fn clear(&mut self) {
        self.valid.clear();
        self.invalid.clear();
    }

    /// The number of bytes to write.
    pub(super) fn len(&self) -> usize {
        self.valid.len() + self.invalid.iter().map(|record| record.bytes.len()).sum::<usize>()
    }

    /// The bytes to write.
    #[must_use]
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        if self.invalid.is_empty() {
            return Cow::Borrowed(self.valid.as_bytes());
        }
        let mut bytes = Vec::with_capacity(self.len());
        let mut from = 0;
        for record in &self.invalid {
            bytes.extend_from_slice(&self.valid.as_bytes()[from..record.at]);
            bytes.extend_from_slice(&record.bytes);
            from = record.at;
        }
        bytes.extend_from_slice(&self.valid.as_bytes()[from..]);
        Cow::Owned(bytes)
    }

    /// Counts its lines.
    pub(crate) fn lines(&self) -> LineCounter<'_> {
        LineCounter { valid: self.valid.as_bytes(), invalid: &self.invalid, at: 0, ended: 0 }
    }

    pub(super) fn replace(&mut self, replacements: &Replacements<'_>) {
        self.valid = replacements.apply(&self.valid);
        for record in &mut self.invalid {
            record.at = replacements.moved(record.at);
        }
    }
}

/// Counts the lines of a text up to ascending places.
pub(crate) struct LineCounter<'t> {
    valid: &'t [u8],
    /// The records from here on.
    invalid: &'t [InvalidRecord],
    at: usize,
    /// The number of lines that end before `at`.
    ended: usize,
}

impl LineCounter<'_> {
    /// The number of lines that end before the record at `place` among those that are UTF-8.
    pub(crate) fn ended_before(&mut self, place: usize) -> usize {
        let (before, behind) = self.invalid.split_at(self.invalid.partition_point(|record| record.at <= place));
        let in_invalid: usize = before.iter().map(|record| line_ends(&record.bytes)).sum();
        self.ended += line_ends(&self.valid[self.at..place]) + in_invalid;
        self.invalid = behind;
        self.at = place;
        self.ended
    }

    /// The number of all lines.
    pub(crate) fn all(mut self) -> usize {
        self.ended_before(self.valid.len())
    }
}

fn line_ends(text: &[u8]) -> usize {
    steps::count(text.len());
    memchr::memchr_iter(b'\n', text).count()
}
