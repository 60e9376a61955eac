//! One strict pass over a value that checks its grammar (RFC 8259) and records the byte range of everything in it.
//!
//! The ranges form a tape in reading order. The pass keeps its stack in the parent links of the tape, so deep nesting uses
//! no machine stack.

#![expect(
    clippy::inline_always,
    reason = "functions that are not inlined lose the SIMD features that `dispatch!` enables"
)]

use fearless_simd::prelude::*;

use super::parse_error::{ParseError, ParseErrorKind};
use super::strings::end_of_string;

/// Maximum nesting. Deeper values are refused, so that code that walks a document can rely on the limit.
pub const MAX_DEPTH: usize = 10_000;

/// No node: offsets and indices stay below it.
pub(super) const NONE: u32 = u32::MAX;

/// The place of a value, and the way to its neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the node after this one and everything in it.
    pub(super) next: u32,
    pub(super) parent: u32,
}

/// A pass over the values of a text.
pub(super) struct Walk<'w, S> {
    simd: S,
    bytes: &'w [u8],
    escaped_keys: &'w mut bool,
    nodes: &'w mut Vec<Node>,
    parent: u32,
    /// Whether the parent is an object.
    in_object: bool,
    depth: usize,
}

/// Where a walk goes on.
enum Next {
    /// With the value, or the key, at this offset.
    At(usize),
    /// Behind a value that is complete.
    Behind(usize),
}

impl<'w, S: Simd> Walk<'w, S> {
    /// A walk over `bytes` that appends to `nodes`, and sets `escaped_keys` if a key contains an escape.
    pub(super) const fn new(simd: S, bytes: &'w [u8], nodes: &'w mut Vec<Node>, escaped_keys: &'w mut bool) -> Self {
        Self { simd, bytes, escaped_keys, nodes, parent: NONE, in_object: false, depth: 0 }
    }

    /// Walks one value and everything in it; returns the offset just past it.
    #[inline(always)]
    pub(super) fn value(&mut self, mut at: usize) -> Result<usize, ParseError> {
        loop {
            at = match self.bytes.get(at) {
                Some(b'{') => match self.open(at, b'}')? {
                    Next::Behind(empty) => empty,
                    Next::At(first) => {
                        at = self.key(first)?;
                        continue;
                    }
                },
                Some(b'[') => match self.open(at, b']')? {
                    Next::Behind(empty) => empty,
                    Next::At(first) => {
                        at = first;
                        continue;
                    }
                },
                _ => self.scalar(at)?,
            };
            match self.after(at)? {
                Next::Behind(end) => return Ok(end),
                Next::At(next) => at = next,
            }
        }
    }

    /// Enters a list or an object: behind it if it is empty, at its first element if not.
    #[inline(always)]
    fn open(&mut self, at: usize, close: u8) -> Result<Next, ParseError> {
        let inside = skip_space(self.bytes, at + 1);
        if self.bytes.get(inside) == Some(&close) {
            self.push(at, inside + 1);
            return Ok(Next::Behind(inside + 1));
        }
        if self.depth == MAX_DEPTH {
            return Err(ParseError { offset: at, kind: ParseErrorKind::TooDeep });
        }
        self.depth += 1;
        self.push(at, at);
        self.parent = index(self.nodes.len() - 1);
        self.in_object = close == b'}';
        Ok(Next::At(inside))
    }

    /// Continues after a value: at the next value, or behind the outermost one.
    #[inline(always)]
    fn after(&mut self, mut at: usize) -> Result<Next, ParseError> {
        while self.parent != NONE {
            at = skip_space(self.bytes, at);
            match (self.in_object, self.bytes.get(at)) {
                (true, Some(b',')) => return self.key(skip_space(self.bytes, at + 1)).map(Next::At),
                (false, Some(b',')) => return Ok(Next::At(skip_space(self.bytes, at + 1))),
                (true, Some(b'}')) | (false, Some(b']')) => {
                    at += 1;
                    self.close(at);
                }
                (true, _) => return self.fault(at, ParseErrorKind::ExpectedCommaOrBrace),
                (false, _) => return self.fault(at, ParseErrorKind::ExpectedCommaOrBracket),
            }
        }
        Ok(Next::Behind(at))
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

/// Offset of the first byte from `at` on that is no white space.
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// Offsets and indices stay below `u32::MAX` because the text does.
#[expect(clippy::cast_possible_truncation, reason = "the text is shorter than 4 GiB, checked before the walk")]
pub(super) const fn index(n: usize) -> u32 {
    n as u32
}
