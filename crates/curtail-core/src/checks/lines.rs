//! A text by its lines: where a byte is, in lines and columns, and the part of its line to show.

use std::cell::OnceCell;

use serde::Serialize;

use crate::json::{Span, Value};

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingPlace {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Byte offset, from 0.
    pub offset: usize,
    /// Length in bytes.
    pub length: usize,
    /// JSON pointer (RFC 6901) to the value from the top of its line or document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Index of the message in its transcript, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
}

/// The part of a line around a place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The text, with `…` where the line continues; control characters are replaced by spaces.
    pub text: String,
    /// Number of characters before the place.
    pub before: usize,
    /// Number of characters of the place that the text shows.
    pub width: usize,
}

/// Number of characters shown before and after the start of a place.
const BEFORE: usize = 24;
const AFTER: usize = 72;

/// A text with the offset of each line.
pub struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// How many characters begin before each multiple of [`STRIDE`] bytes. Built when the first column is needed: counting each
    /// column from the start of its line would take quadratic time on a long line.
    milestones: OnceCell<Vec<usize>>,
}

const STRIDE: usize = 4096;

impl<'t> LineIndex<'t> {
    /// Indexes the lines of `text`.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        Self { text, starts: std::iter::once(0).chain(ends.map(|end| end + 1)).collect(), milestones: OnceCell::new() }
    }

    /// The line of the byte at `offset`, from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The place of `span`.
    #[must_use]
    pub fn place(&self, span: Span, pointer: Option<String>, message: Option<usize>) -> FindingPlace {
        let offset = self.text.floor_char_boundary(span.start as usize);
        let line = self.line(offset);
        let start = self.start_of(line).min(offset);
        let column = self.characters_before(offset) - self.characters_before(start) + 1;
        FindingPlace { line, column, offset, length: span.len(), pointer, message }
    }

    /// The place of `value`.
    #[must_use]
    pub fn place_of(&self, value: Value<'_>, message: Option<usize>) -> FindingPlace {
        self.place(value.span(), Some(value.pointer()), message)
    }

    /// The line of `place`, shortened to the characters around it.
    #[must_use]
    pub fn excerpt(&self, place: &FindingPlace) -> Excerpt {
        let start = self.start_of(place.line);
        let end = self.starts.get(place.line).map_or(self.text.len(), |next| next - 1);
        let line = self.text[start..end].trim_end_matches('\r');
        let (before, after) = line.split_at(place.offset.saturating_sub(start).min(line.len()));
        let head_start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
        let tail_end = after.char_indices().nth(AFTER).map_or(after.len(), |(at, _)| at);
        let head = format!("{}{}", if head_start > 0 { "…" } else { "" }, &before[head_start..]);
        let width = after[..tail_end.min(after.ceil_char_boundary(place.length))].chars().count().max(1);
        let text = format!("{head}{}{}", &after[..tail_end], if tail_end < after.len() { "…" } else { "" });
        Excerpt { text: text.replace(char::is_control, " "), before: head.chars().count(), width }
    }

    /// Where a line begins; a byte order mark occupies no column.
    fn start_of(&self, line: usize) -> usize {
        let start = self.starts[line - 1];
        if self.text[start..].starts_with('\u{feff}') { start + '\u{feff}'.len_utf8() } else { start }
    }

    /// How many characters begin before `offset`.
    fn characters_before(&self, offset: usize) -> usize {
        let milestones = self.milestones.get_or_init(|| {
            let mut milestones = vec![0];
            let mut sum = 0;
            for stride in self.text.as_bytes().chunks(STRIDE) {
                sum += characters(stride);
                milestones.push(sum);
            }
            milestones
        });
        milestones[offset / STRIDE] + characters(&self.text.as_bytes()[offset / STRIDE * STRIDE..offset])
    }
}

/// How many characters begin in `bytes`. A sum that fits one byte is computed for many bytes at once.
fn characters(bytes: &[u8]) -> usize {
    let few = bytes.chunks(192).map(|few| few.iter().map(|byte| u8::from(!matches!(byte, 0x80..=0xBF))).sum::<u8>());
    few.map(usize::from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and characters of every length, across more than one milestone.
    #[test]
    fn columns_count_characters() {
        let text: String = (0..9000).map(|n| ["a", "é", "語", "😀", "\n"][n * n % 97 % 5]).collect();
        let long = text.replace('\n', "é");
        for text in [text.as_str(), long.as_str()] {
            let lines = LineIndex::new(text);
            for (offset, _) in text.char_indices().step_by(7).chain([(text.len(), ' ')]) {
                let before = &text[..offset];
                let place = lines.place(Span::new(index(offset), index(offset)), None, None);
                let line = before.rsplit('\n').next().unwrap_or_default();
                assert_eq!((place.line, place.column), (before.matches('\n').count() + 1, line.chars().count() + 1));
            }
        }
    }

    fn index(offset: usize) -> u32 {
        u32::try_from(offset).unwrap_or(u32::MAX)
    }
}
