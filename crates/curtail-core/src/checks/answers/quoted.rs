//! A text that somebody copied from a screen or a log: without what wraps it, and compared with the words of providers. Line
//! breaks inside words, escapes, boxes and quotes make no difference.

use std::collections::HashSet;

use crate::checks::constraints::{Constraint, constraints};

/// How often a text is unwrapped: JSON in JSON in JSON.
const DEEPEST: usize = 5;

/// The number of characters that are compared at once.
const GRAM: usize = 6;

/// Words that are shorter must be there whole.
const SHORT: usize = 24;

/// What part of the words must be in the text.
const ENOUGH: f64 = 0.72;

/// The same of the first sentence, if the rest is not quoted.
const ENOUGH_OF_FIRST: f64 = 0.85;

/// A quoted text, without spaces and line breaks.
pub(super) struct Quoted {
    /// Its characters, except white space and those that draw boxes.
    pub(super) tight: String,
    /// Its letters, in lower case, with `#` for each number.
    letters: String,
    grams: HashSet<[u8; GRAM]>,
}

impl Quoted {
    pub(super) fn new(text: &str) -> Self {
        let tight = tightened(&unwrapped(text));
        let letters = letters(&tight);
        let grams = grams(&letters).collect();
        Self { tight, letters, grams }
    }

    /// The rows whose words the text contains, all with about the same words.
    pub(super) fn rows(&self) -> Vec<&'static Constraint> {
        let ranked: Vec<(f64, &Constraint)> =
            constraints().iter().filter_map(|row| Some((self.likeness(row).rank()?, row))).collect();
        let best = ranked.iter().map(|(rank, _)| *rank).fold(0.0, f64::max);
        ranked.into_iter().filter(|(rank, _)| *rank > best * 0.97).map(|(_, row)| row).collect()
    }

    /// The words that are most like the text, at most `count` of them.
    pub(super) fn nearest(&self, count: usize) -> Vec<&'static Constraint> {
        let mut ranked: Vec<(f64, &Constraint)> =
            constraints().iter().map(|row| (self.likeness(row).all.share(), row)).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut words = HashSet::new();
        ranked.into_iter().map(|(_, row)| row).filter(|row| words.insert(row.words)).take(count).collect()
    }

    fn likeness(&self, row: &Constraint) -> Likeness {
        let mut likeness = Likeness::default();
        for (nth, sentence) in row.words.split(". ").enumerate() {
            let found = self.overlap(sentence);
            likeness.all.add(found);
            if nth == 0 {
                likeness.first = found;
            }
        }
        likeness
    }

    /// How much of `words` the text contains.
    fn overlap(&self, words: &str) -> Overlap {
        let mut overlap = Overlap::default();
        for piece in pieces(words) {
            overlap.add(self.overlap_of_piece(&piece));
        }
        overlap
    }

    fn overlap_of_piece(&self, piece: &str) -> Overlap {
        if self.letters.contains(piece) {
            return Overlap { found: piece.len(), all: piece.len() };
        }
        // The number of a message is there, or it is not.
        if piece.contains('#') && piece.len() < SHORT {
            return Overlap { found: 0, all: piece.len() };
        }
        let all = grams(piece).count();
        let found = grams(piece).filter(|gram| self.grams.contains(gram)).count();
        match all {
            0 => Overlap { found: 0, all: piece.len() },
            all => Overlap { found: found * piece.len() / all, all: piece.len() },
        }
    }
}

/// How much of some words is in a text, in characters.
#[derive(Debug, Clone, Copy, Default)]
struct Overlap {
    found: usize,
    all: usize,
}

impl Overlap {
    fn add(&mut self, other: Self) {
        self.found += other.found;
        self.all += other.all;
    }

    #[expect(clippy::cast_precision_loss, reason = "the lengths of sentences")]
    fn share(self) -> f64 {
        if self.all == 0 { 0.0 } else { self.found as f64 / self.all as f64 }
    }

    /// Long words that are there whole rank first.
    #[expect(clippy::cast_precision_loss, reason = "the lengths of sentences")]
    fn rank(self) -> f64 {
        self.found as f64 * self.share()
    }
}

/// How much of the words of a row is in a text.
#[derive(Debug, Clone, Copy, Default)]
struct Likeness {
    all: Overlap,
    first: Overlap,
}

impl Likeness {
    /// How well they fit; `None` if they do not.
    fn rank(self) -> Option<f64> {
        if self.all.all < SHORT {
            return (self.all.found == self.all.all).then(|| self.all.rank());
        }
        let whole = (self.all.share() >= ENOUGH).then(|| self.all.rank());
        let is_begun = self.first.all >= SHORT && self.first.share() >= ENOUGH_OF_FIRST;
        let begun = is_begun.then(|| self.first.rank());
        whole.into_iter().chain(begun).reduce(f64::max)
    }
}

/// The letters between the placeholders of `words`.
fn pieces(words: &str) -> impl Iterator<Item = String> {
    let pieces = words.split('…').map(|piece| letters(&with_numbers(piece)));
    pieces.filter(|piece| !piece.is_empty() && piece != "#")
}

/// The text with a digit for each placeholder of a number.
fn with_numbers(words: &str) -> String {
    let chars: Vec<char> = words.chars().collect();
    let is_word = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let numbered = chars.iter().enumerate().map(|(at, c)| {
        let stands_alone = !is_word(at.checked_sub(1)) && !is_word(Some(at + 1));
        if matches!(c, 'N' | 'M' | 'K') && stands_alone { '0' } else { *c }
    });
    numbered.collect()
}

/// The letters of `text` in lower case, with `#` for each number.
fn letters(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if !letters.ends_with('#') => letters.push('#'),
            'a'..='z' => letters.push(c),
            'A'..='Z' => letters.push(c.to_ascii_lowercase()),
            _ => {}
        }
    }
    letters
}

fn grams(letters: &str) -> impl Iterator<Item = [u8; GRAM]> {
    letters.as_bytes().windows(GRAM).filter_map(|gram| gram.try_into().ok())
}

/// The text without the escapes of the strings that it was quoted in.
fn unwrapped(text: &str) -> String {
    let mut text = without_colors(text);
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
    let hex = |from: usize, digits: usize| {
        let code = text.get(from..from + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        code.and_then(char::from_u32).map(|c| (c.to_string(), from + digits))
    };
    match text.chars().nth(1) {
        Some('n' | 'r' | 't') => (String::from(" "), 2),
        Some('u') => hex(2, 4).unwrap_or_else(|| (String::from("\\u"), 2)),
        Some('x') => hex(2, 2).unwrap_or_else(|| (String::from("x"), 2)),
        Some(c @ ('"' | '\'' | '`' | '/' | '\\')) => (c.to_string(), 2),
        // A path or a pattern: no escape.
        Some(c) => (format!("{c}"), 1 + c.len_utf8()),
        None => (String::new(), 1),
    }
}

/// The text without the codes by which a terminal changes colors.
fn without_colors(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        let end = code.find(|c: char| c.is_ascii_alphabetic()).map_or(code.len(), |end| end + 1);
        rest = &code[end..];
    }
    plain.push_str(rest);
    plain
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

/// Whether a character only draws a box, or takes no space.
const fn is_box(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '|' | '\u{200b}'..='\u{200f}' | '\u{ad}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Option<&'static str> {
        Quoted::new(text).rows().first().map(|row| row.words)
    }

    #[test]
    fn every_answer_is_found_by_its_own_words() {
        for row in constraints() {
            let quoted = row.words.replace('…', "x1");
            let quoted = with_numbers(&quoted);
            let found = Quoted::new(&quoted).rows();
            let expected = (row.rule, row.words);
            assert!(found.iter().any(|other| other.rule == row.rule), "{expected:?} became {found:?}");
        }
    }

    #[test]
    fn what_was_broken_and_wrapped_is_found() {
        let text = "  \u{2502} BadRequestError: Error code: 400 - {'error': {'message': \"messages.37.con  \u{2502}\n  \
                    \u{2502} tent.1: unexpected \\\\`tool_use_id\\\\` fo  \u{2502}\n  \u{2502} und in `tool_res";
        assert!(words_of(text).is_none_or(|words| words.starts_with("messages.N.content.M: unexpected `tool_use_id`")));
        let json = r#"{"error":{"metadata":{"raw":"{\"error\":{\"message\":\"messages: text content blocks must be non-empty\"}}"}}}"#;
        assert_eq!(words_of(json), Some("messages: text content blocks must be non-empty"));
        assert_eq!(words_of("the weather in Oslo is fine today, and it will stay so"), None);
    }
}
