//! One strict pass over a text that checks its grammar (RFC 8259) and records the byte range of every value.
//!
//! The ranges form a tape in reading order. The pass keeps its stack in the parent links of the tape, so deep nesting uses
//! no machine stack. Code that walks the tape does not check the grammar again.

#![expect(
    clippy::inline_always,
    reason = "functions that are not inlined lose the SIMD features that `dispatch!` enables"
)]

use std::fmt;
use std::sync::OnceLock;

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, u8x32, u8x64};

use super::{Span, Value};
use crate::steps;

/// Maximum nesting. Deeper values are refused, so that code that walks a document can rely on the limit.
pub const MAX_DEPTH: usize = 10_000;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const NONE: u32 = u32::MAX;

/// The place of a value, and the way to its neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the node after this one and everything in it.
    pub(super) next: u32,
    pub(super) parent: u32,
}

/// A text together with the places of its values: one for a record or a document, many for a log of lines.
///
/// ```
/// use curtail_core::json::Document;
///
/// let document = Document::parse(r#"{"id": 7.0, "tags": ["a", "b"]}"#)?;
/// let record = document.roots().next().expect("one value");
/// assert_eq!(record.get("id").map(|id| id.raw()), Some("7.0"), "numbers keep their spelling");
/// assert_eq!(record.get("tags").map(|tags| tags.items().count()), Some(2));
/// # Ok::<(), curtail_core::json::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Document<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    roots: Vec<u32>,
    incomplete_end: Option<ParseError>,
    /// Whether any key contains an escape.
    escaped_keys: bool,
    /// The index of each node in its list or object; computed at the first use.
    ranks: OnceLock<Vec<u32>>,
    /// Whether the escape of a surrogate may be in the text; searched for at the first use.
    surrogates: OnceLock<bool>,
}

impl<'a> Document<'a> {
    /// Parses the only value of `text`; white space may surround it.
    ///
    /// # Errors
    /// A [`ParseError`] at the first byte that is not JSON, nesting past [`MAX_DEPTH`], or a text past 4 GiB.
    pub fn parse(text: &'a str) -> Result<Self, ParseError> {
        let document = Self::parse_all(text)?;
        match document.roots.as_slice() {
            [_] => Ok(document),
            [] => Err(ParseError { offset: text.len(), kind: ParseErrorKind::NoValue }),
            [_, second, ..] => {
                let offset = document.nodes[*second as usize].start as usize;
                Err(ParseError { offset, kind: ParseErrorKind::SecondValue })
            }
        }
    }

    /// Parses all values of `text`, one after another, with or without white space between them.
    ///
    /// # Errors
    /// As [`Document::parse`], but any number of values is allowed.
    pub fn parse_all(text: &'a str) -> Result<Self, ParseError> {
        let mut document = Self::empty(text);
        document.append_all()?;
        Ok(document)
    }

    /// Parses all values of a log of lines, as [`Document::parse_all`] does, but the last line may be incomplete, because
    /// the program that wrote the log may have been killed while it wrote the line.
    ///
    /// # Errors
    /// As [`Document::parse_all`], except for an incomplete last line, which [`Document::incomplete_end`] returns.
    pub fn parse_log(text: &'a str) -> Result<Self, ParseError> {
        let mut document = Self::empty(text);
        let Err(fault) = document.append_all() else { return Ok(document) };
        // The incomplete value is the last root; its node was pushed if it is a list or an object.
        let root = document.roots.pop().unwrap_or(0);
        let start = document.nodes.get(root as usize).map_or(fault.offset, |node| node.start as usize);
        let tail = text.get(fault.offset..).unwrap_or_default().trim_end();
        let inside = ["true", "false", "null", "-"].iter().any(|word| word.starts_with(tail));
        if !inside || document.roots.is_empty() || text[start..].trim_end().contains('\n') {
            return Err(fault);
        }
        document.nodes.truncate(root as usize);
        document.incomplete_end = Some(fault);
        Ok(document)
    }

    /// Parses the first value of `text`, at its first byte. What follows the value is not looked at.
    ///
    /// # Errors
    /// As [`Document::parse`], for the bytes of the value.
    pub fn parse_first(text: &'a str) -> Result<Self, ParseError> {
        let mut document = Self::empty(text);
        if text.len() >= NONE as usize {
            return Err(ParseError { offset: NONE as usize, kind: ParseErrorKind::TooLong });
        }
        let end = dispatch!(Level::new(), simd => document.append_value(simd, 0));
        steps::count(end.as_ref().map_or_else(|fault| fault.offset, |end| *end));
        end.map(|_| document)
    }

    /// Where the text ends inside a value, if its last line is incomplete.
    #[must_use]
    pub const fn incomplete_end(&self) -> Option<&ParseError> {
        self.incomplete_end.as_ref()
    }

    fn empty(text: &'a str) -> Self {
        Self {
            text,
            nodes: Vec::new(),
            roots: Vec::new(),
            incomplete_end: None,
            escaped_keys: false,
            ranks: OnceLock::new(),
            surrogates: OnceLock::new(),
        }
    }

    fn append_all(&mut self) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        steps::count(bytes.len());
        if bytes.len() >= NONE as usize {
            return Err(ParseError { offset: NONE as usize, kind: ParseErrorKind::TooLong });
        }
        let mark = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        // Real transcripts have a value or a key for every 60 to 200 bytes; growing in steps would copy the tape several
        // times.
        self.nodes.reserve(bytes.len() / 64 + 16);
        dispatch!(Level::new(), simd => self.append_from(simd, mark))
    }

    #[inline(always)]
    fn append_from<S: Simd>(&mut self, simd: S, start: usize) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        let mut at = skip_space(bytes, start);
        while at < bytes.len() {
            at = skip_space(bytes, self.append_value(simd, at)?);
        }
        Ok(())
    }

    /// Parses the value at `at`, and returns where it ends.
    #[inline(always)]
    fn append_value<S: Simd>(&mut self, simd: S, at: usize) -> Result<usize, ParseError> {
        let bytes = self.text.as_bytes();
        self.roots.push(index(self.nodes.len()));
        let escaped_keys = &mut self.escaped_keys;
        let mut walk =
            Walk { simd, bytes, nodes: &mut self.nodes, escaped_keys, parent: NONE, in_object: false, depth: 0 };
        walk.value(at)
    }

    /// Whether any key contains an escape. If none does, keys can be compared without decoding.
    pub(super) const fn has_escaped_keys(&self) -> bool {
        self.escaped_keys
    }

    /// Whether any string may contain the escape of a surrogate: all of these begin with `\ud`.
    pub(super) fn has_surrogates(&self) -> bool {
        let contains = |escape: &[u8]| memchr::memmem::find(self.text.as_bytes(), escape).is_some();
        *self.surrogates.get_or_init(|| contains(b"\\ud") || contains(b"\\uD"))
    }

    /// The values at the top level of the text.
    #[must_use]
    pub fn roots(&self) -> impl ExactSizeIterator<Item = Value<'_>> {
        self.roots.iter().map(|&at| Value::at(self, at))
    }

    /// The whole text.
    #[must_use]
    pub const fn text(&self) -> &'a str {
        self.text
    }

    /// The number of values in the text, at every depth, keys included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the text contains no value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn node(&self, at: u32) -> Node {
        steps::count(1);
        self.nodes[at as usize]
    }

    pub(super) fn parent(&self, at: u32) -> Option<u32> {
        Some(self.node(at).parent).filter(|&parent| parent != NONE)
    }

    /// The index of the node `at` in its list or object. One pass over the tape computes all of them, because searching a
    /// list again for each of its items would take quadratic time.
    pub(super) fn rank(&self, at: u32) -> u32 {
        let ranks = self.ranks.get_or_init(|| {
            let mut seen = vec![0; self.nodes.len()];
            let rank = |node: &Node| {
                let held = seen.get_mut(node.parent as usize);
                held.map_or(0, |held| std::mem::replace(held, *held + 1))
            };
            self.nodes.iter().map(rank).collect()
        });
        ranks[at as usize]
    }

    /// The bytes of `span`.
    #[must_use]
    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }
}

/// Offsets and indices stay below `u32::MAX` because the text does.
#[expect(clippy::cast_possible_truncation, reason = "the text is shorter than 4 GiB, checked before the walk")]
const fn index(n: usize) -> u32 {
    n as u32
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

struct Walk<'w, S> {
    simd: S,
    bytes: &'w [u8],
    escaped_keys: &'w mut bool,
    nodes: &'w mut Vec<Node>,
    parent: u32,
    /// Whether the parent is an object.
    in_object: bool,
    depth: usize,
}

impl<S: Simd> Walk<'_, S> {
    /// Walks one value and everything in it; returns the offset just past it.
    #[inline(always)]
    fn value(&mut self, mut at: usize) -> Result<usize, ParseError> {
        loop {
            at = match self.bytes.get(at) {
                Some(b'{') => match self.open(at, b'}')? {
                    Ok(empty) => empty,
                    Err(first) => {
                        at = self.key(first)?;
                        continue;
                    }
                },
                Some(b'[') => match self.open(at, b']')? {
                    Ok(empty) => empty,
                    Err(first) => {
                        at = first;
                        continue;
                    }
                },
                _ => self.scalar(at)?,
            };
            match self.after(at)? {
                Ok(end) => return Ok(end),
                Err(next) => at = next,
            }
        }
    }

    /// Enters a list or an object: `Ok` past it if it is empty, `Err` with the place of its first element if not.
    #[inline(always)]
    fn open(&mut self, at: usize, close: u8) -> Result<Result<usize, usize>, ParseError> {
        let inside = skip_space(self.bytes, at + 1);
        if self.bytes.get(inside) == Some(&close) {
            self.push(at, inside + 1);
            return Ok(Ok(inside + 1));
        }
        if self.depth == MAX_DEPTH {
            return Err(ParseError { offset: at, kind: ParseErrorKind::TooDeep });
        }
        self.depth += 1;
        self.push(at, at);
        self.parent = index(self.nodes.len() - 1);
        self.in_object = close == b'}';
        Ok(Err(inside))
    }

    /// Continues after a value: `Ok` past the outermost one, `Err` with the place of the next value.
    #[inline(always)]
    fn after(&mut self, mut at: usize) -> Result<Result<usize, usize>, ParseError> {
        while self.parent != NONE {
            at = skip_space(self.bytes, at);
            match (self.in_object, self.bytes.get(at)) {
                (true, Some(b',')) => return self.key(skip_space(self.bytes, at + 1)).map(Err),
                (false, Some(b',')) => return Ok(Err(skip_space(self.bytes, at + 1))),
                (true, Some(b'}')) | (false, Some(b']')) => {
                    at += 1;
                    self.close(at);
                }
                (true, _) => return self.fault(at, ParseErrorKind::ExpectedCommaOrBrace),
                (false, _) => return self.fault(at, ParseErrorKind::ExpectedCommaOrBracket),
            }
        }
        Ok(Ok(at))
    }

    #[inline(always)]
    fn close(&mut self, end: usize) {
        let next = index(self.nodes.len());
        let node = &mut self.nodes[self.parent as usize];
        node.end = index(end);
        node.next = next;
        self.parent = node.parent;
        self.depth -= 1;
        let around = self.nodes.get(self.parent as usize);
        self.in_object = around.is_some_and(|around| self.bytes[around.start as usize] == b'{');
    }

    /// Walks a key and its colon; returns the place of the member's value.
    #[inline(always)]
    fn key(&mut self, at: usize) -> Result<usize, ParseError> {
        if self.bytes.get(at) != Some(&b'"') {
            return self.fault(at, ParseErrorKind::ExpectedKey);
        }
        let end = end_of_string(self.simd, self.bytes, at)?;
        *self.escaped_keys |= end.escaped;
        self.push(at, end.at);
        let end = end.at;
        let colon = skip_space(self.bytes, end);
        if self.bytes.get(colon) != Some(&b':') {
            return self.fault(colon, ParseErrorKind::ExpectedColon);
        }
        Ok(skip_space(self.bytes, colon + 1))
    }

    #[inline(always)]
    fn scalar(&mut self, at: usize) -> Result<usize, ParseError> {
        let end = match self.bytes.get(at) {
            Some(b'"') => end_of_string(self.simd, self.bytes, at)?.at,
            Some(b't') if self.bytes[at..].starts_with(b"true") => at + 4,
            Some(b'n') if self.bytes[at..].starts_with(b"null") => at + 4,
            Some(b'f') if self.bytes[at..].starts_with(b"false") => at + 5,
            Some(b'-' | b'0'..=b'9') => end_of_number(self.bytes, at)?,
            _ => return self.fault(at, ParseErrorKind::ExpectedValue),
        };
        self.push(at, end);
        Ok(end)
    }

    #[inline(always)]
    fn push(&mut self, start: usize, end: usize) {
        let next = index(self.nodes.len() + 1);
        self.nodes.push(Node { start: index(start), end: index(end), next, parent: self.parent });
    }

    fn fault<T>(&self, offset: usize, kind: ParseErrorKind) -> Result<T, ParseError> {
        if offset < self.bytes.len() {
            return Err(ParseError { offset, kind });
        }
        // The line that ends too early, and not the one after it.
        Err(ParseError { offset: self.bytes.trim_ascii_end().len(), kind: ParseErrorKind::UnfinishedValue })
    }
}

/// Offset just past the number at `at`: `-`, integer without leading zeros, fraction, exponent (RFC 8259, section 6).
fn end_of_number(bytes: &[u8], at: usize) -> Result<usize, ParseError> {
    let mut end = at + usize::from(bytes[at] == b'-');
    end = match bytes.get(end) {
        Some(b'0') => end + 1,
        _ => digits(bytes, end)?,
    };
    if bytes.get(end) == Some(&b'.') {
        end = digits(bytes, end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(bytes, end + 1 + sign)?;
    }
    match bytes.get(end) {
        Some(b'0'..=b'9') => Err(ParseError { offset: end, kind: ParseErrorKind::LeadingZero }),
        _ => Ok(end),
    }
}

fn digits(bytes: &[u8], from: usize) -> Result<usize, ParseError> {
    let mut end = from;
    while matches!(bytes.get(end), Some(b'0'..=b'9')) {
        end += 1;
    }
    if end == from { Err(ParseError { offset: from, kind: ParseErrorKind::ExpectedDigit }) } else { Ok(end) }
}

// Where a JSON string ends, found sixty-four bytes at a time.
//
// Real transcripts have an escape about every thirty bytes, and a scan that stops at each one causes a branch
// misprediction there. This scan does not stop: masks of a whole block show which characters are escaped, as in simdjson
// (Langdale and Lemire, "Parsing gigabytes of JSON per second", 2019, section 3.1.1).

const SIZE: usize = 64;

/// One bit for each byte of a block, the lowest for the first.
struct Block {
    quotes: u64,
    backslashes: u64,
    controls: u64,
    /// The usual characters after a backslash: `n`, `t`, quotes and backslashes.
    usual: u64,
}

impl Block {
    #[inline(always)]
    fn classify<S: Simd>(simd: S, bytes: &[u8; SIZE]) -> Self {
        let block = u8x64::from_slice(simd, bytes);
        let quotes = block.simd_eq(b'"');
        let backslashes = block.simd_eq(b'\\');
        let usual = quotes | backslashes | block.simd_eq(b'n') | block.simd_eq(b't');
        Self {
            quotes: quotes.to_bitmask(),
            backslashes: backslashes.to_bitmask(),
            controls: block.simd_le(0x1f).to_bitmask(),
            usual: usual.to_bitmask(),
        }
    }

    /// The bytes after a backslash that is not itself escaped. `carry` is 1 if the previous block ended in such a
    /// backslash, and is set for the next block.
    #[inline(always)]
    fn escaped(&self, carry: &mut u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = self.backslashes & !*carry;
        let behind = backslashes << 1 | *carry;
        // The addition carries a run of backslashes to the byte after its end, which distinguishes runs of odd and even
        // length.
        let starts = backslashes & !EVEN & !behind;
        let (ends, overflow) = starts.overflowing_add(backslashes);
        *carry = u64::from(overflow);
        (EVEN ^ (ends << 1)) & behind
    }
}

/// Where a string ends.
struct End {
    /// Offset just past the closing quote.
    at: usize,
    /// Whether anything in the string is escaped.
    escaped: bool,
}

/// The end of the string whose opening quote is at `open`.
///
/// # Errors
/// A control character, an unknown escape, or a string that never ends (RFC 8259, section 7).
#[inline(always)]
fn end_of_string<S: Simd>(simd: S, bytes: &[u8], open: usize) -> Result<End, ParseError> {
    if let Some(at) = end_of_short(simd, bytes, open + 1) {
        return Ok(End { at, escaped: false });
    }
    let mut at = open + 1;
    let mut carry = 0;
    let mut seen = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let block = Block::classify(simd, chunk);
        let escaped = block.escaped(&mut carry);
        let quotes = block.quotes & !escaped;
        // The bytes before the closing quote, or all of them.
        let inside = (quotes & quotes.wrapping_neg()).wrapping_sub(1);
        seen |= escaped & inside;
        if block.controls & inside != 0 || !are_right(bytes, at, escaped & inside & !block.usual) {
            return byte_by_byte(bytes, open + 1, false);
        }
        if quotes != 0 {
            return Ok(End { at: at + quotes.trailing_zeros() as usize + 1, escaped: seen != 0 });
        }
        at += SIZE;
    }
    byte_by_byte(bytes, at - usize::from(carry != 0), seen != 0)
}

/// The end of a string that ends within thirty-two bytes, as most keys do, and in which nothing is escaped.
#[inline(always)]
fn end_of_short<S: Simd>(simd: S, bytes: &[u8], at: usize) -> Option<usize> {
    let chunk: &[u8; 32] = bytes.get(at..)?.first_chunk()?;
    let block = u8x32::from_slice(simd, chunk);
    let quotes = block.simd_eq(b'"').to_bitmask();
    let others = (block.simd_eq(b'\\') | block.simd_le(0x1f)).to_bitmask();
    // The bytes before the first quote, or all of them.
    let inside = (quotes & quotes.wrapping_neg()).wrapping_sub(1);
    (quotes != 0 && others & inside == 0).then(|| at + quotes.trailing_zeros() as usize + 1)
}

/// Whether the less usual escapes of a block are valid. Their second characters are given as bits from `at`.
#[inline(always)]
fn are_right(bytes: &[u8], at: usize, mut escaped: u64) -> bool {
    while escaped != 0 {
        if end_of_escape(bytes, at + escaped.trailing_zeros() as usize - 1).is_err() {
            return false;
        }
        escaped &= escaped - 1;
    }
    true
}

/// As [`end_of_string`], byte by byte from inside the string: for a rest shorter than a block, and for the place of an
/// error.
fn byte_by_byte(bytes: &[u8], mut at: usize, mut escaped: bool) -> Result<End, ParseError> {
    loop {
        match bytes.get(at) {
            None => return Err(fault(at, ParseErrorKind::UnfinishedString)),
            Some(b'"') => return Ok(End { at: at + 1, escaped }),
            Some(b'\\') => {
                at = end_of_escape(bytes, at)?;
                escaped = true;
            }
            Some(b'\n' | b'\r') => return Err(fault(at, ParseErrorKind::BrokenLine)),
            Some(0..=0x1f) => return Err(fault(at, ParseErrorKind::ControlCharacter)),
            Some(_) => at += 1,
        }
    }
}

const fn fault(offset: usize, kind: ParseErrorKind) -> ParseError {
    ParseError { offset, kind }
}

fn end_of_escape(bytes: &[u8], backslash: usize) -> Result<usize, ParseError> {
    match bytes.get(backslash + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(backslash + 2),
        Some(b'u') => match bytes.get(backslash + 2..backslash + 6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(backslash + 6),
            Some(_) => Err(fault(backslash, ParseErrorKind::BadUnicodeEscape)),
            None => Err(fault(bytes.len(), ParseErrorKind::UnfinishedString)),
        },
        Some(_) => Err(fault(backslash, ParseErrorKind::UnknownEscape)),
        None => Err(fault(bytes.len(), ParseErrorKind::UnfinishedString)),
    }
}

/// The first error of a text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset of the error in the text.
    pub offset: usize,
    /// What is wrong at that offset.
    pub kind: ParseErrorKind,
}

/// What is wrong at the offset of a [`ParseError`]. Its `Display` is the message for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The text contains no value.
    NoValue,
    /// A second value follows where only one is allowed.
    SecondValue,
    /// Something other than a value.
    ExpectedValue,
    /// Something other than a key.
    ExpectedKey,
    /// Something other than a colon after a key.
    ExpectedColon,
    /// Something other than a comma or the end of an object.
    ExpectedCommaOrBrace,
    /// Something other than a comma or the end of a list.
    ExpectedCommaOrBracket,
    /// Something other than a digit of a number.
    ExpectedDigit,
    /// A number with a leading zero.
    LeadingZero,
    /// A control character that a string contains unescaped.
    ControlCharacter,
    /// A line that ends inside a string.
    BrokenLine,
    /// A backslash with a character that forms no escape with it.
    UnknownEscape,
    /// `\u` without four hexadecimal digits.
    BadUnicodeEscape,
    /// The text ends inside an object, a list, a number or a literal.
    UnfinishedValue,
    /// The text ends inside a string.
    UnfinishedString,
    /// Brackets nest deeper than [`super::MAX_DEPTH`].
    TooDeep,
    /// The text is longer than offsets of 32 bits can address.
    TooLong,
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoValue => "expected a JSON value, found nothing",
            Self::SecondValue => "expected the end of the record, found a second value",
            Self::ExpectedValue => "expected a JSON value",
            Self::ExpectedKey => "expected a key in double quotes",
            Self::ExpectedColon => "expected ':' after the key",
            Self::ExpectedCommaOrBrace => "expected ',' or '}'",
            Self::ExpectedCommaOrBracket => "expected ',' or ']'",
            Self::ExpectedDigit => "expected a digit",
            Self::LeadingZero => "a number may not begin with zeros",
            Self::ControlCharacter => "control character in a string; it must be escaped",
            Self::BrokenLine => "the line ends inside a string: it was cut off, or a line break in it is not escaped",
            Self::UnknownEscape => "unknown escape; expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
            Self::BadUnicodeEscape => "expected four hexadecimal digits after '\\u'",
            Self::UnfinishedValue => "the text ends inside a value",
            Self::UnfinishedString => "the text ends inside a string",
            Self::TooDeep => "nesting deeper than 10000 levels",
            Self::TooLong => "a transcript may hold at most 4 GiB",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::{End, ParseError, byte_by_byte, end_of_string};
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    fn outcome(end: Result<End, ParseError>) -> Result<(usize, bool), ParseError> {
        end.map(|end| (end.at, end.escaped))
    }

    proptest! {
        #[test]
        fn a_string_ends_where_it_does_byte_by_byte_on_every_processor(
            inside in r#"([a-z é\x00-\x20]{0,40}|\\[nt"\\u/xé]|\\{1,9}|\\u[0-9a-gD]{4}|"?){0,12}"#,
        ) {
            let bytes = format!("\"{inside}\" and more");
            let bytes = bytes.as_bytes();
            for level in [Level::baseline(), Level::new()] {
                let end = dispatch!(level, simd => end_of_string(simd, bytes, 0));
                prop_assert_eq!(outcome(end), outcome(byte_by_byte(bytes, 1, false)));
            }
        }
    }
}
