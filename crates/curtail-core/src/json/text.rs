//! Text in JSON: escaped in a string, the JSON of a value, or written by an edit.

use std::borrow::Cow;

use super::escapes::{characters_with_lengths, unescape};
use crate::steps;

/// Text that a model reads, not decoded yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Text<'a> {
    /// The inside of a JSON string, with its escapes.
    Escaped(&'a str),
    /// A JSON value that is read as JSON, such as the arguments of a call. White space between its tokens is not part of
    /// the text.
    Json(&'a str),
    /// Text that an edit wrote, or that was assembled from several values.
    Owned(String),
}

impl<'a> Text<'a> {
    /// The decoded characters.
    #[must_use]
    pub fn decode(&self) -> Cow<'_, str> {
        steps::count(1 + self.len_bound());
        match self {
            Self::Escaped(raw) => unescape(raw),
            Self::Json(raw) => compact(raw),
            Self::Owned(text) => Cow::Borrowed(text),
        }
    }

    /// The decoded characters, for as long as the JSON lives where they contain no escape.
    #[must_use]
    pub fn into_decoded(self) -> Cow<'a, str> {
        steps::count(1 + self.len_bound());
        match self {
            Self::Escaped(raw) => unescape(raw),
            Self::Json(raw) => compact(raw),
            Self::Owned(text) => Cow::Owned(text),
        }
    }

    /// The same text, without the JSON that it was read of.
    pub(crate) fn into_static(self) -> Text<'static> {
        Text::Owned(self.into_decoded().into_owned())
    }

    /// The decoded characters, one by one, and those of JSON as they are written: for code that needs only the first few.
    pub(crate) fn characters(&self) -> impl Iterator<Item = char> {
        let (escaped, plain) = match self {
            Self::Escaped(raw) => (*raw, ""),
            Self::Json(text) => ("", *text),
            Self::Owned(text) => ("", text.as_str()),
        };
        characters_with_lengths(escaped).map(|(c, _)| c).chain(plain.chars())
    }

    /// Whether the characters are `text`.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        steps::count(1);
        match self {
            Self::Escaped(raw) if *raw == text => !raw.contains('\\'),
            // Escapes make a string longer, and before the first one it is the text.
            Self::Escaped(raw) => {
                raw.len() > text.len() && raw.as_bytes()[..text.len()].contains(&b'\\') && self.decode() == text
            }
            _ => self.decode() == text,
        }
    }

    /// Whether the characters are one of `texts`.
    #[must_use]
    pub fn is_one_of(&self, texts: &[&str]) -> bool {
        match self {
            Self::Escaped(raw) if !raw.contains('\\') => texts.contains(raw),
            _ => texts.iter().any(|text| self.is(text)),
        }
    }

    /// An upper bound of the decoded length in bytes, known without decoding.
    #[must_use]
    pub fn len_bound(&self) -> usize {
        self.written().len()
    }

    /// Whether the characters may contain `word`, of ASCII letters, known without decoding: an escape can write one of them.
    #[must_use]
    pub fn may_contain(&self, word: &str) -> bool {
        // `str::contains` prepares nothing before it searches, as most texts are short.
        let written = self.written();
        written.contains(word) || written.contains("\\u00")
    }

    /// The text as it is written, with its escapes.
    fn written(&self) -> &str {
        match self {
            Self::Escaped(raw) | Self::Json(raw) => raw,
            Self::Owned(text) => text,
        }
    }

    /// Where in `source` the text is written; `None` if it is not a slice of it.
    #[must_use]
    pub fn offset_in(&self, source: &str) -> Option<u32> {
        let start = self.written().as_ptr().addr().checked_sub(source.as_ptr().addr())?;
        u32::try_from(start).ok().filter(|_| start < source.len())
    }

    /// Whether it is empty or only white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.characters().all(char::is_whitespace)
    }
}

/// A proven JSON value without the white space between its tokens.
fn compact(raw: &str) -> Cow<'_, str> {
    if !raw.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return Cow::Borrowed(raw);
    }
    let mut in_string = false;
    let mut escaped = false;
    let tight = raw.chars().filter(|&c| {
        let keep = in_string || !c.is_ascii_whitespace();
        in_string ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        keep
    });
    Cow::Owned(tight.collect())
}
