//! Judges the beginning of a text: what it is, and what is wrong with it.

use std::borrow::Cow;

use super::rescue::Rescued;
use crate::utf16::{ByteOrder, converted, is_utf32};
use crate::{ErrorKind, FileError};
use curtail_core::dialects::{ReadError, begins_damaged};
use curtail_core::json::{Document, ParseErrorKind};
use curtail_core::places::TextPlace;

/// The bytes of the longest character.
const CHARACTER: usize = 4;

/// At least the bytes of the longest literal, and of the longest escape.
const TOKEN: usize = 16;

/// The error of a value that begins with `head`, if no continuation can be valid. A decompression bomb is thus refused
/// early.
pub(super) fn fault_of_head(head: &[u8], name: &str, line: usize) -> Option<FileError> {
    // It may be converted.
    if foreign_encoding(head).is_some() {
        return None;
    }
    let text = valid_prefix(head);
    // Where the head ends, a character may be incomplete, and so may a literal or an escape.
    let error = if text.len() + CHARACTER <= head.len() {
        ReadError::invalid_utf8(text)
    } else {
        let fault = Document::parse_all(text).err()?;
        // White space at the end says nothing of what follows.
        if fault.offset + TOKEN >= text.trim_ascii_end().len() || fault.kind == ParseErrorKind::UnfinishedString {
            return None;
        }
        fault.into()
    };
    let place = TextPlace::locate(head, error.offset, line);
    Some(FileError::new(ErrorKind::Content, name, reason_of(error, head, line)).at(place))
}

/// Why nothing can be read of a file that begins with `head`, if its encoding is not UTF-8.
pub(super) fn foreign_encoding(head: &[u8]) -> Option<&'static str> {
    match ByteOrder::of(head) {
        Some(_) => Some("the file is UTF-16; convert it to UTF-8, as `curtail repair --damaged` does"),
        None => is_utf32(head).then_some("the file is UTF-32; convert it to UTF-8 first"),
    }
}

/// What is wrong with `text`, which begins on `line` of a file. A file whose first byte is not JSON is most likely not a
/// transcript.
pub fn reason_of(error: ReadError, text: &[u8], line: usize) -> String {
    if let Some(reason) = foreign_encoding(text).filter(|_| line == 1) {
        return String::from(reason);
    }
    let is_first = line == 1 && text.get(..error.offset).unwrap_or_default().trim_ascii().is_empty();
    match is_first && error.what == ParseErrorKind::ExpectedValue.to_string() {
        true if text.trim_ascii_start().starts_with(b"<|") => String::from(
            "this is a text that a chat template rendered; cut the messages that it was rendered from, and render again",
        ),
        true => error.what + "; a transcript is JSON or JSON Lines",
        false => error.what,
    }
}

/// The error of what begins on `line`, with that place if it is of the content and has none.
pub(super) fn placed_at(error: FileError, line: &dyn Fn() -> usize) -> FileError {
    match error.place {
        None if error.kind == ErrorKind::Content => error.at(TextPlace { line: line(), column: 1 }),
        _ => error,
    }
}

/// The beginning of a file, to see what it is: what is damaged in it does not matter.
pub fn readable_head(bytes: &[u8]) -> Cow<'_, str> {
    let head = match simdutf8::basic::from_utf8(bytes) {
        Ok(text) if memchr::memchr(0, bytes).is_none() => Cow::Borrowed(text),
        _ => match converted(bytes) {
            Some(text) => Cow::Owned(String::from_utf8_lossy(&text).into_owned()),
            None => Cow::Owned(String::from_utf8_lossy(bytes).replace('\0', "")),
        },
    };
    // A text of another kind is no log, whatever is quoted in it.
    if !head.trim_start().starts_with(['{', '[']) || !begins_damaged(&head) {
        return head;
    }
    let sound = Rescued::from_text(head.as_bytes()).filter(|rescued| !rescued.is_empty());
    sound.and_then(|rescued| String::from_utf8(rescued.text).ok()).map_or(head, Cow::Owned)
}

/// The beginning of `bytes` that is UTF-8.
pub(super) fn valid_prefix(bytes: &[u8]) -> &str {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::fault_of_head;

    #[test]
    fn a_head_may_end_anywhere_in_a_valid_text() {
        for head in ["[{\"a\":\n", "[{\"a\":\n                        ", "[1,\n                        ", "[tru"] {
            assert!(fault_of_head(head.as_bytes(), "a.json", 1).is_none(), "{head:?}");
        }
        assert!(fault_of_head(b"[1 2, 3, 4, 5, 6, 7, 8, 9             ", "a.json", 1).is_some());
    }
}
