//! Texts in which every character that would be obeyed is shown by its code.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::characters::{is_suspect, obeyed_at};

/// `text` of several lines: line breaks and tabs are kept, and every other character that would be obeyed is shown by its
/// code.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, false, shown)
}

/// Writes the code of a character.
pub fn shown(c: char, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\u{27e8}U+{:04X}\u{27e9}", u32::from(c));
}

/// `text`, of which `write` writes what would be obeyed, line breaks and tabs included if `breaks` is set.
pub(super) fn escaped(text: &str, breaks: bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| is_suspect(*byte)) {
        let broken = (breaks && matches!(byte, b'\n' | b'\t')).then_some(char::from(byte));
        let Some(c) = broken.or_else(|| obeyed_at(text, at)) else { continue };
        out.push_str(&text[from..at]);
        write(c, &mut out);
        from = at + c.len_utf8();
    }
    match from {
        0 => Cow::Borrowed(text),
        from => Cow::Owned(out + &text[from..]),
    }
}
