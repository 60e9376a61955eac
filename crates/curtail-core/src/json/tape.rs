//! A text together with the places of its values, as a tape in reading order. Code that walks the tape does not check the grammar
//! again.

#![expect(
    clippy::inline_always,
    reason = "functions that are not inlined lose the SIMD features that `dispatch!` enables"
)]

use std::sync::OnceLock;

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};

use super::parse_error::{ParseError, ParseErrorKind};
use super::walk::{NONE, Node, Walk, index, skip_space};
use super::{Span, Value};
use crate::steps;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

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
    /// A [`ParseError`] at the first byte that is not JSON, nesting past [`MAX_DEPTH`](super::MAX_DEPTH), or a text past 4 GiB.
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
        let mut document = Self::begin(text)?;
        document.append_all()?;
        Ok(document)
    }

    /// Parses all values of a log of lines, as [`Document::parse_all`] does, but the last line may be incomplete, because
    /// the program that wrote the log may have been killed while it wrote the line.
    ///
    /// # Errors
    /// As [`Document::parse_all`], except for an incomplete last line, which [`Document::incomplete_end`] returns.
    pub fn parse_log(text: &'a str) -> Result<Self, ParseError> {
        let mut document = Self::begin(text)?;
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
        let mut document = Self::begin(text)?;
        let end = dispatch!(Level::new(), simd => document.append_value(simd, 0));
        steps::count(end.as_ref().map_or_else(|fault| fault.offset, |end| *end));
        end.map(|_| document)
    }

    /// Where the text ends inside a value, if its last line is incomplete.
    #[must_use]
    pub const fn incomplete_end(&self) -> Option<&ParseError> {
        self.incomplete_end.as_ref()
    }

    fn begin(text: &'a str) -> Result<Self, ParseError> {
        if text.len() >= NONE as usize {
            return Err(ParseError { offset: NONE as usize, kind: ParseErrorKind::TooLong });
        }
        Ok(Self {
            text,
            nodes: Vec::new(),
            roots: Vec::new(),
            incomplete_end: None,
            escaped_keys: false,
            ranks: OnceLock::new(),
            surrogates: OnceLock::new(),
        })
    }

    fn append_all(&mut self) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        steps::count(bytes.len());
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
        Walk::new(simd, bytes, &mut self.nodes, &mut self.escaped_keys).value(at)
    }

    /// Whether any key contains an escape. If none does, keys can be compared without decoding.
    pub(super) const fn has_escaped_keys(&self) -> bool {
        self.escaped_keys
    }

    /// Whether any string may contain the escape of a surrogate: all of these begin with `\ud`.
    pub(super) fn has_surrogates(&self) -> bool {
        *self.surrogates.get_or_init(|| {
            [b"\\ud", b"\\uD"].iter().any(|escape| memchr::memmem::find(self.text.as_bytes(), *escape).is_some())
        })
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
            let ranks = self.nodes.iter().map(|node| match seen.get_mut(node.parent as usize) {
                Some(held) => std::mem::replace(held, *held + 1),
                None => 0,
            });
            ranks.collect()
        });
        ranks[at as usize]
    }

    /// The bytes of `span`.
    #[must_use]
    pub fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }
}
