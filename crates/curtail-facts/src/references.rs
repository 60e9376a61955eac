//! References in a text, that is, names of things that the model may need again.
//!
//! They are paths, identifiers, quoted strings, hashes, URLs, and numbers of four digits or more, but no common words.

use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;

use foldhash::HashMap;
use foldhash::quality::FixedState;

use curtail_core::json::{Document, Text, Value};
use curtail_core::transcript::{Content, Message};

/// Words that look like references but are not.
pub(crate) const COMMON: &[&str] = &[
    "and/or", "e.g", "i.e", "etc", "n/a", "w/o", "he/she", "his/her", "yes/no", "i/o", "true/false", "on/off",
    "either/or", "input/output", "read/write", "a.m", "p.m", "vs", "JavaScript", "TypeScript", "GitHub", "README.md",
];

/// The longest quoted string that is a reference, in bytes.
const LONGEST_QUOTE: usize = 80;

/// The byte ranges of the references of `text`, in order of their start. A quoted string may contain others.
pub fn references(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if let Some(end) = url(text, at) {
            found.push(at..end);
            at = end;
        } else if is_word(byte) {
            let end = at + bytes[at..].iter().take_while(|&&byte| is_word(byte)).count();
            let word = trimmed(text, at..end);
            if is_reference(&text[word.clone()]) {
                found.push(word);
            }
            at = end;
        } else {
            if let Some(end) = quoted(text, at) {
                found.push(at + 1..end);
            }
            at += 1;
        }
    }
    found
}

/// The end of a URL that starts at `at`.
fn url(text: &str, at: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[at..];
    if !bytes.starts_with(b"http://") && !bytes.starts_with(b"https://") {
        return None;
    }
    let length = bytes
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control() || b"<>\"'`)]}|\\".contains(byte));
    let end = at + length.unwrap_or(bytes.len());
    Some(at + text[at..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*']).len())
}

/// Bytes of words: letters of any script, digits, and the characters that join the parts of paths and identifiers.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || !byte.is_ascii()
        || matches!(byte, b'_' | b'.' | b'/' | b'\\' | b'-' | b'~' | b'@' | b'+' | b'$')
}

/// The word without punctuation around it.
fn trimmed(text: &str, word: Range<usize>) -> Range<usize> {
    let untrimmed = &text[word.clone()];
    let tail = untrimmed.trim_end_matches(['.', '/', '\\', '-', '+', '@', '~', '$']);
    let head = tail.trim_start_matches(['-', '+', '@', '$', '\\']);
    let start = word.start + tail.len() - head.len();
    start..start + head.len()
}

/// Whether a word names something: it has a dot, a slash, an underscore, a change of case or a digit inside.
fn is_reference(word: &str) -> bool {
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if word.len() < 3 || !word.is_ascii() && digits == 0 && !word.contains(['/', '_', '.']) {
        return false;
    }
    if letters == 0 {
        return digits >= 4;
    }
    if COMMON.iter().any(|common| common.eq_ignore_ascii_case(word)) {
        return false;
    }
    // A list of short words, such as `a/b`, is not a path.
    let inside = &word[..word.len() - word.chars().next_back().map_or(0, char::len_utf8)];
    let joined = inside.contains(['/', '\\', '_']) || inside.contains('.') && word.len() >= 4;
    joined && letters + digits >= 3 || digits > 0 && word.len() >= 4 || changes_case(word)
}

/// Whether a lower-case letter is followed by a capital, as in `camelCase`.
fn changes_case(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// The end of the content of a quoted string that opens at `at`, if the content names something.
fn quoted(text: &str, at: usize) -> Option<usize> {
    let quote = *text.as_bytes().get(at)?;
    if !matches!(quote, b'"' | b'\'' | b'`') || at > 0 && text.as_bytes()[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let rest = &text.as_bytes()[at + 1..];
    let length = rest.iter().take(LONGEST_QUOTE + 1).position(|&byte| byte == quote || byte == b'\n')?;
    let closes = rest[length] == quote && !rest.get(length + 1).is_some_and(u8::is_ascii_alphanumeric);
    let inside = text.get(at + 1..at + 1 + length)?;
    (closes && names_something(inside)).then_some(at + 1 + length)
}

/// Whether the content of quotation marks is more than a common word.
fn names_something(inside: &str) -> bool {
    let trimmed = inside.trim();
    let plain = trimmed.bytes().all(|byte| byte.is_ascii_lowercase() || !byte.is_ascii_alphanumeric() && byte != b' ');
    trimmed.len() >= 3 && trimmed.len() == inside.len() && inside.chars().any(char::is_alphabetic) && !plain
}

/// The digest of a reference.
pub fn digest(reference: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(reference.as_bytes());
    hasher.finish()
}

/// Calls `each` with every reference in a message. Reasoning is not searched, because it is not sent again.
pub fn each_in(message: &Message<'_>, each: &mut impl FnMut(&str)) {
    each_use(message, &mut |reference, _| each(reference));
}

/// As [`each_in`]; `each` also gets whether the reference is in the arguments of a call.
pub fn each_use(message: &Message<'_>, each: &mut impl FnMut(&str, bool)) {
    for part in &message.parts {
        match &part.content {
            Content::Text(text) => each_in_text(text, &mut |reference| each(reference, false)),
            Content::ToolCall(call) => each_in_arguments(&call.arguments, &mut |reference| each(reference, true)),
            Content::ToolResult(result) => {
                result.content.iter().for_each(|text| each_in_text(text, &mut |reference| each(reference, false)));
            }
            Content::Reasoning(_) | Content::Media(_) | Content::Unknown(_) | Content::Other => {}
        }
    }
}

/// Calls `each` with every reference of `text`.
pub fn each_in_text(text: &Text<'_>, each: &mut impl FnMut(&str)) {
    let text = text.decode();
    references(&text).into_iter().for_each(|range| each(&text[range]));
}

/// Only the values of arguments are searched: the tool defines the keys.
fn each_in_arguments(arguments: &Text<'_>, each: &mut impl FnMut(&str)) {
    let text = arguments.decode();
    match Document::parse(&text) {
        Ok(document) if document.roots().all(Value::is_object) => {
            document.roots().for_each(|root| each_in_value(root, each));
        }
        _ => references(&text).into_iter().for_each(|range| each(&text[range])),
    }
}

fn each_in_value(value: Value<'_>, each: &mut impl FnMut(&str)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if let Some(text) = value.text() {
            let text = text.decode();
            if text.len() <= LONGEST_QUOTE && !text.contains('\n') && names_something(&text) && text.contains(' ') {
                each(&text);
            }
            references(&text).into_iter().for_each(|range| each(&text[range]));
        } else if value.is_object() || value.is_array() {
            open.extend(value.items());
            open.extend(value.members().map(|member| member.value));
        } else if is_reference(value.raw()) {
            each(value.raw());
        }
    }
}

/// The positions of each reference in a session.
#[derive(Debug, Default)]
pub struct Index {
    /// Positions of the messages that contain it, in order, by digest.
    positions: HashMap<u64, Vec<usize>>,
}

impl Index {
    /// Indexes the references of the message at `position`. Positions ascend.
    pub fn add(&mut self, position: usize, message: &Message<'_>) {
        each_in(message, &mut |reference| {
            let positions = self.positions.entry(digest(reference)).or_default();
            if positions.last() != Some(&position) {
                positions.push(position);
            }
        });
    }

    /// The positions of a reference before `end`.
    pub fn before(&self, reference: u64, end: usize) -> &[usize] {
        let positions = self.positions.get(&reference).map_or(&[][..], Vec::as_slice);
        &positions[..positions.partition_point(|&position| position < end)]
    }
}

#[cfg(test)]
mod tests {
    use super::references;

    fn found(text: &str) -> Vec<&str> {
        references(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn what_names_something_is_a_reference() {
        for (text, expected) in [
            ("Open src/main.rs, then (./ab_c), not a/b.", vec!["src/main.rs", "./ab_c"]),
            ("See https://example.org/a?b=1. Or not", vec!["https://example.org/a?b=1"]),
            ("parseTime calls std.time and foo_bar", vec!["parseTime", "std.time", "foo_bar"]),
            ("commit 3fa9c21 fixed port 8080 in 2 of 300 cases", vec!["3fa9c21", "8080"]),
            ("say \"Hello there\" or 'x' and/or \"word\"", vec!["Hello there"]),
            ("It's fine, isn't it? Don't stop.", vec![]),
            ("The train leaves at noon. Nothing else.", vec![]),
            ("C:\\Users\\ada\\notes.txt", vec!["Users\\ada\\notes.txt"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
