//! A text that somebody copied from a screen or a log: without what wraps it. Line breaks inside words, escapes, boxes and quotes
//! make no difference.

use std::ops::Range;

use crate::visible::without_escapes;

/// How often a text is unwrapped: JSON in JSON in JSON.
const DEEPEST: usize = 5;

/// A quoted text, without spaces and line breaks.
pub(super) struct Quoted {
    /// Its characters, except white space and those that draw boxes.
    pub(super) tight: String,
    /// Its letters, in lower case, with `#` for each number.
    pub(super) letters: String,
    /// Where in `tight` each byte of `letters` comes from.
    offsets: Vec<usize>,
}

impl Quoted {
    pub(super) fn new(text: &str) -> Self {
        let tight = dotted(&tightened(&unwrapped(text)));
        let mut letters = String::with_capacity(tight.len());
        let mut offsets = Vec::with_capacity(tight.len());
        for (at, c) in tight.char_indices() {
            push_letter(&mut letters, c);
            offsets.resize(letters.len(), at);
        }
        Self { tight, letters, offsets }
    }

    /// The bytes of `tight` that `letters` stand for.
    pub(super) fn tight_range(&self, letters: &Range<usize>) -> Range<usize> {
        let [start, end] =
            [letters.start, letters.end].map(|at| self.offsets.get(at).copied().unwrap_or(self.tight.len()));
        start..end
    }
}

/// The letters of `text` in lower case, with `#` for each number.
pub(super) fn letters(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    text.chars().for_each(|c| push_letter(&mut letters, c));
    letters
}

fn push_letter(letters: &mut String, c: char) {
    match c {
        '0'..='9' if letters.ends_with('#') => {}
        '0'..='9' => letters.push('#'),
        'A'..='Z' => letters.push(c.to_ascii_lowercase()),
        _ if c.is_alphabetic() => letters.push(c),
        _ => {}
    }
}

/// The text without the escapes of the strings that it was quoted in.
fn unwrapped(text: &str) -> String {
    let mut text = without_escapes(text).into_owned();
    for _ in 0..DEEPEST {
        let inner = unescaped(&text);
        if inner == text {
            break;
        }
        text = inner;
    }
    ENTITIES.iter().fold(text, |text, (entity, c)| text.replace(entity, c))
}

/// What HTML writes for characters.
const ENTITIES: [(&str, &str); 7] =
    [("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];

/// One level of escapes resolved, as JSON, Python and JavaScript write them.
fn unescaped(text: &str) -> String {
    let mut inner = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        inner.push_str(&rest[..at]);
        let (c, used) = escape(&rest[at..]);
        inner.push_str(&c);
        rest = &rest[at + used..];
    }
    inner.push_str(rest);
    inner
}

/// What the escape at the beginning of `text` stands for, and its length.
fn escape(text: &str) -> (String, usize) {
    match text.chars().nth(1) {
        Some('n' | 'r' | 't') => (String::from(" "), 2),
        Some('u') => hex(text, 4).unwrap_or_else(|| (String::from("\\u"), 2)),
        Some('x') => hex(text, 2).unwrap_or_else(|| (String::from("x"), 2)),
        // A quote, or a path or a pattern, where it is no escape.
        Some(c) => (c.to_string(), 1 + c.len_utf8()),
        None => (String::new(), 1),
    }
}

/// The character whose number stands in `digits` digits after `\u` or `\x`.
fn hex(text: &str, digits: usize) -> Option<(String, usize)> {
    let code = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
    char::from_u32(code).map(|c| (c.to_string(), 2 + digits))
}

/// The text without white space and boxes. Two numbers stay apart.
fn tightened(text: &str) -> String {
    let mut tight = String::with_capacity(text.len());
    let mut is_apart = false;
    for c in text.replace(" / ", " ").chars() {
        if c.is_whitespace() || is_box(c) {
            is_apart = true;
            continue;
        }
        if is_apart && c.is_ascii_digit() && tight.ends_with(|last: char| last.is_ascii_digit()) {
            tight.push(' ');
        }
        is_apart = false;
        tight.push(c);
    }
    tight
}

/// The text with dots between the steps of paths that other programs write with arrows, or as a list of strings and numbers.
fn dotted(text: &str) -> String {
    let text = ["->", "\",", "',"].iter().fold(text.to_owned(), |text, separator| text.replace(separator, "."));
    let text = text.replace(".\"", ".").replace(".'", ".");
    // `list[union[…]]` names the types of a list.
    let Some(at) = text.find(".list[") else { return text };
    let mut depth = 0_i32;
    let end = text[at..].char_indices().find(|(_, c)| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        *c == ']' && depth == 0
    });
    end.map_or_else(|| text.clone(), |(end, _)| format!("{}{}", &text[..at], &text[at + end + 1..]))
}

/// Whether a character only draws a box, or takes no space.
pub(super) const fn is_box(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '|' | '\u{200b}'..='\u{200f}' | '\u{ad}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_every_language_are_resolved() {
        let tight = |text: &str| Quoted::new(text).tight;
        assert_eq!(tight(r"a\\\\n b"), "ab");
        assert_eq!(tight(r"it\'s \u0060x\u0060 \xe9"), "it's`x`é");
        assert_eq!(tight("\u{1b}[31mred\u{1b}[0m &#39;x&#39;"), "red'x'");
    }

    #[test]
    fn letters_know_where_they_come_from() {
        let quoted = Quoted::new("400: messages.12.x");
        let found = quoted.letters.find("messages#").unwrap();
        assert_eq!(&quoted.tight[quoted.tight_range(&(found..found + 9))], "messages.12.");
    }
}
