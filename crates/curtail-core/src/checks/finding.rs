//! A finding: what a rule detected, where it is in the file, and the line to show.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use serde::Serialize;

use super::{Fix, INVALID_JSON, Level, Rule};
use crate::dialects::{Dialect, Patch, ReadError};
use crate::json::{Span, Value};
use crate::transcript::FaultKind;

/// What a rule detected, as values of the transcript.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    /// The value that is wrong; without one, the finding is at the start of the transcript.
    pub at: Option<Value<'a>>,
    /// Index of the message that the value belongs to, from 0.
    pub message_index: Option<usize>,
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// The counterpart of the call or result, or the message in conflict: the index of its message, and the value.
    pub other: Option<(usize, Option<Value<'a>>)>,
    /// Whether the finding is at most a warning, whatever the rule's level.
    pub only_warns: bool,
    /// Which of the rule's constraints is violated, if it has several.
    pub what: &'static str,
    /// How it is mended in the part alone, if it can be.
    pub mend: Option<Mend<'a>>,
    /// Whether the transcript says something else when it is mended.
    pub is_unsafe: bool,
}

/// How a fault is mended in the part alone.
#[derive(Debug, Clone)]
pub enum Mend<'a> {
    /// The part or the message at the place of the fault is dropped, with what depends on it.
    Cut,
    /// These elements and members are removed.
    Remove(Vec<Value<'a>>),
    /// These bytes are replaced.
    Write(Vec<Patch>),
}

impl<'a> Match<'a> {
    /// A finding at a value.
    #[must_use]
    pub const fn new(at: Option<Value<'a>>, message: String) -> Self {
        Self {
            at,
            message_index: None,
            message,
            other: None,
            only_warns: false,
            what: "",
            mend: None,
            is_unsafe: false,
        }
    }

    /// The same, of the constraint `what`.
    #[must_use]
    pub fn of(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// The same, mended by dropping the part or the message at its place.
    #[must_use]
    pub fn cut(self) -> Self {
        Self { mend: Some(Mend::Cut), ..self }
    }

    /// The same, mended by removing elements or members.
    #[must_use]
    pub fn removing(self, values: Vec<Value<'a>>) -> Self {
        Self { mend: Some(Mend::Remove(values)), ..self }
    }

    /// The same, mended by replacing bytes; without a replacement, a person has to mend it.
    #[must_use]
    pub fn writing(self, patches: Vec<Patch>) -> Self {
        Self { mend: (!patches.is_empty()).then_some(Mend::Write(patches)), ..self }
    }

    /// The same, after which the transcript says something else.
    #[must_use]
    pub fn unsafely(self) -> Self {
        Self { is_unsafe: true, ..self }
    }

    /// The same, which at most warns if `is_mild`.
    #[must_use]
    pub fn warning_if(self, is_mild: bool) -> Self {
        Self { only_warns: self.only_warns || is_mild, ..self }
    }
}

/// What is wrong, where, and what the provider would answer.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The level that applies to it.
    pub level: Level,
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// What to do.
    pub help: Cow<'static, str>,
    /// What the provider would answer, where it is known.
    pub answer: Option<&'static str>,
    /// Where the fault is.
    pub at: FindingPlace,
    /// Where the counterpart of the call or result, or the message in conflict, is.
    pub other: Option<FindingPlace>,
    /// The line to show.
    pub excerpt: Excerpt,
    /// Which of the rule's constraints is violated, if it has several.
    pub what: &'static str,
    /// Whether and how `--fix` mends it: some faults of a rule can be mended by themselves, and others not.
    pub fix: Fix,
    /// Whether it is a fault only because a provider has refused the transcript.
    pub only_refused: bool,
}

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

impl Finding {
    /// A finding in a text that was not read as a transcript: `message` at byte `offset`.
    #[must_use]
    pub fn in_text(rule: &'static Rule, level: Level, lines: &LineIndex<'_>, offset: u32, message: String) -> Self {
        Self::at_place(rule, level, lines, lines.place(Span::new(offset, offset), None, None), message)
    }

    /// A denied finding at `value`, in the text that `lines` indexes.
    #[must_use]
    pub fn at_value(rule: &'static Rule, lines: &LineIndex<'_>, value: Value<'_>, message: String) -> Self {
        Self::at_place(rule, Level::Deny, lines, lines.place_of(value, None), message)
    }

    /// A finding about a place, without an answer of a provider.
    fn at_place(rule: &'static Rule, level: Level, lines: &LineIndex<'_>, at: FindingPlace, message: String) -> Self {
        let excerpt = lines.excerpt(&at);
        let help = rule.help.into();
        Self {
            rule,
            level,
            message,
            help,
            answer: None,
            at,
            other: None,
            excerpt,
            what: "",
            fix: Fix::No,
            only_refused: false,
        }
    }

    /// Whether it or its counterpart is in one of `spans`, or is the message around one.
    pub(super) fn is_within(&self, spans: &[Range<usize>]) -> bool {
        let within = |place: &FindingPlace| {
            let end = place.offset + place.length;
            spans.iter().any(|span| span.contains(&place.offset) || place.offset <= span.start && span.end <= end)
        };
        within(&self.at) || self.other.as_ref().is_some_and(within)
    }

    /// The finding that `text` is not JSON, or not a transcript.
    #[must_use]
    pub fn invalid_json(text: &str, level: Level, error: &ReadError) -> Self {
        let offset = u32::try_from(error.offset).unwrap_or(u32::MAX);
        Self::in_text(INVALID_JSON, level, &LineIndex::new(text), offset, error.what.clone())
    }

    /// The same finding when the examined text is the row of a table: `line` is its number in the file, `row` its place in
    /// words.
    #[must_use]
    pub fn in_row(mut self, line: usize, text: &str, row: &str) -> Self {
        for place in self.places_mut() {
            // The row is one line, whatever its text contains.
            place.line = line;
            let before = text.floor_char_boundary(place.offset);
            place.column = text[..before].chars().count() + 1;
        }
        self.message = format!("{} ({row})", self.message);
        self
    }

    /// The command that mends it, with `FILE` for the file; `None` if a person has to.
    #[must_use]
    pub fn mended_by(&self) -> Option<String> {
        let turned_on = if self.rule.level == Level::Allow { format!(" -D {}", self.rule.name) } else { String::new() };
        let refused = if self.only_refused { " --refused" } else { "" };
        let how = match self.fix {
            Fix::No => return Some(self.rule.command.to_owned()).filter(|command| !command.is_empty()),
            Fix::Pairs(Some(FaultKind::PendingCall)) => " --repair-pending",
            Fix::Pairs(_) | Fix::Part => "",
            Fix::Unsafe => " --unsafe-fixes",
        };
        Some(format!("curtail check{turned_on}{refused} --fix{how} FILE"))
    }

    /// The same finding in a transcript of `dialect`: what is only read cannot be fixed.
    #[must_use]
    pub fn in_dialect(mut self, dialect: &dyn Dialect) -> Self {
        if self.rule.is_fixed() && dialect.writer().is_none() {
            self.help = format!("{}, which does not write `{}`", self.rule.help, dialect.name()).into();
        }
        self
    }

    /// The same finding when the examined text begins `lines` lines and `bytes` bytes into its file.
    #[must_use]
    pub fn moved(mut self, lines: usize, bytes: isize) -> Self {
        for place in self.places_mut() {
            place.line += lines;
            place.offset = place.offset.saturating_add_signed(bytes);
        }
        self
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut FindingPlace> {
        std::iter::once(&mut self.at).chain(&mut self.other)
    }
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
        let ellipsis = |cut: bool| if cut { "…" } else { "" };
        let head = format!("{}{}", ellipsis(head_start > 0), &before[head_start..]);
        let width = after[..tail_end.min(after.ceil_char_boundary(place.length))].chars().count().max(1);
        let text = format!("{head}{}{}", &after[..tail_end], ellipsis(tail_end < after.len()));
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
            let mut sum = 0;
            let mut add = |stride| {
                sum += characters(stride);
                sum
            };
            std::iter::once(0).chain(self.text.as_bytes().chunks(STRIDE).map(&mut add)).collect()
        });
        milestones[offset / STRIDE] + characters(&self.text.as_bytes()[offset / STRIDE * STRIDE..offset])
    }
}

/// How many characters begin in `bytes`. A sum that fits one byte is computed for many bytes at once.
fn characters(bytes: &[u8]) -> usize {
    let begin = |few: &[u8]| few.iter().map(|byte| u8::from(!matches!(byte, 0x80..=0xBF))).sum::<u8>();
    bytes.chunks(192).map(|few| usize::from(begin(few))).sum()
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
