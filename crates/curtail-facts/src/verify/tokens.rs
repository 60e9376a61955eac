//! Splits a text into words and names. It knows no facts.

use std::borrow::Cow;

use curtail_core::visible::without_escapes;
use unicode_normalization_alignments::UnicodeNormalization as _;

/// A word or a name of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    /// Where it begins in the text.
    pub(super) at: usize,
    /// Its text, without punctuation around it.
    pub(super) text: &'t str,
    /// What it is.
    pub(super) class: Class,
    /// Whether it is a piece of the token before it, such as the port of an address.
    pub(super) inner: bool,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A word of a language.
    Word,
    /// A name: an identifier, a path, a number, a URL.
    Name,
    /// A run of Chinese, Japanese or Korean characters.
    Han,
}

impl Token<'_> {
    /// How many digits it has, if it has nothing else.
    fn digits(&self) -> Option<usize> {
        self.text.bytes().all(|byte| byte.is_ascii_digit()).then_some(self.text.len())
    }
}

/// The longest token that names something, in bytes: longer ones are data.
const LONGEST: usize = 400;

/// `text` without characters that show nothing, or turn the order in which others are shown: a name is what it consists of.
fn without_hidden(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_hidden) {
        return text;
    }
    text.chars().filter(|c| !is_hidden(*c)).collect::<String>().into()
}

const fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
}

/// `text` without terminal escapes, with letters and their marks composed.
pub(super) fn composed(text: &str) -> Cow<'_, str> {
    let text = without_hidden(without_escapes(text));
    if text.is_ascii() || !text.contains(|c| matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')) {
        return text;
    }
    text.nfc().map(|(c, _)| c).collect::<String>().into()
}

/// Whether `c` belongs to a script that is compared by pairs of characters: its words are not separated, or have particles at their
/// ends.
pub(super) const fn is_han(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々' | '〆')
}

/// Whether `c` is one of the marks that join the parts of names.
const fn joins(c: char) -> bool {
    matches!(c, '_' | '.' | '/' | '\\' | '-' | '~' | '@' | '+' | '$' | '#' | ':' | '=' | '%')
}

/// The tokens of `text`, in order. A name that consists of several is followed by them.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let end = if is_han(c) {
            text[at..].find(|c: char| !is_han(c) && c != 'ー').map_or(text.len(), |length| at + length)
        } else if c.is_alphanumeric() || joins(c) {
            name_end(text, at)
        } else {
            at += c.len_utf8();
            continue;
        };
        let run = &text[at..end];
        if is_han(c) {
            found.push(Token { at, text: run, class: Class::Han, inner: false });
        } else if run.len() <= LONGEST {
            add_run(run, at, &mut found);
        }
        at = end;
    }
    join_groups(text, &mut found);
    found
}

/// The end of a run of letters, digits and joining marks. A comma or an apostrophe between digits, and an apostrophe between
/// letters, belong to it; a URL ends at white space or a closing mark.
fn name_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut chars = text[at..].char_indices().peekable();
    let mut before = ' ';
    let mut is_url = false;
    while let Some((offset, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        is_url |= c == ':' && bytes[at + offset..].starts_with(b"://") && before.is_ascii_alphanumeric();
        let belongs = match c {
            _ if is_han(c) => false,
            '?' | '&' | '(' | ',' | ';' if is_url => next.is_ascii_alphanumeric(),
            ',' => before.is_ascii_digit() && next.is_ascii_digit(),
            '\'' | '’' => before.is_alphanumeric() && next.is_alphanumeric(),
            c => c.is_alphanumeric() || joins(c) || matches!(c, '\u{300}'..='\u{36f}'),
        };
        if !belongs {
            return at + offset;
        }
        before = c;
    }
    text.len()
}

/// Adds the tokens of a run: the whole, and its pieces.
fn add_run<'t>(run: &'t str, at: usize, found: &mut Vec<Token<'t>>) {
    let whole = trimmed(run);
    let start = at + (whole.as_ptr() as usize - run.as_ptr() as usize);
    if whole.is_empty() || !whole.contains(char::is_alphanumeric) {
        return;
    }
    let mut push = |piece: &'t str, inner: bool| {
        let piece = trimmed(piece);
        if !piece.is_empty() {
            let offset = piece.as_ptr() as usize - whole.as_ptr() as usize;
            let class = if names(piece) { Class::Name } else { Class::Word };
            found.push(Token { at: start + offset, text: piece, class, inner });
        }
    };
    if whole.contains("://") {
        push(whole, false);
        return;
    }
    // An elided article of French is a word of its own; so are the words that only a hyphen joins.
    let elided = whole.split_once(['\'', '’']).filter(|(head, tail)| {
        (1..=2).contains(&head.chars().count()) && head.chars().all(char::is_alphabetic) && !tail.is_empty()
    });
    if let Some((head, tail)) = elided {
        push(head, false);
        push(tail, false);
        return;
    }
    push(whole, false);
    let is_drive = whole.as_bytes().get(1) == Some(&b':') && matches!(whole.as_bytes().get(2), Some(b'\\' | b'/'));
    let splits = |c: char| matches!(c, '=' | '@' | '#' | ',') || c == ':' && !is_drive;
    if whole.contains(splits) {
        whole.split(splits).for_each(|piece| push(piece, true));
    } else if whole.contains('-') && !names(whole) {
        whole.split('-').for_each(|piece| push(piece, true));
    }
}

/// A run without the punctuation around it. Dashes before a flag stay, and `%` behind a number.
fn trimmed(run: &str) -> &str {
    let tail =
        run.trim_end_matches(|c: char| joins(c) && !matches!(c, '/' | '\\' | '+' | '#') || c == '\'' || c == '’');
    let is_percentage = tail.ends_with(|c: char| c.is_ascii_digit()) && run[tail.len()..].starts_with('%');
    let tail = if is_percentage { &run[..=tail.len()] } else { tail };
    let tail = if tail.len() > 1 { tail.trim_end_matches(['/', '\\']) } else { tail };
    let head = tail.trim_start_matches(['+', '@', '$', '\\', '#', ':', '=', '%', '\'']);
    let is_flag = head.starts_with('-') && !head.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    if is_flag { head } else { head.trim_start_matches('-') }
}

/// Whether a piece names something and is no word of a language.
fn names(piece: &str) -> bool {
    let mut letters = 0;
    let mut digits = 0;
    let mut before = [' ', ' '];
    let mut turns = false;
    for c in piece.chars() {
        letters += usize::from(c.is_alphabetic());
        digits += usize::from(c.is_ascii_digit());
        // `camelCase`, and `OSError`.
        turns |= before[1].is_lowercase() && c.is_uppercase();
        turns |= before.iter().all(|c| c.is_uppercase()) && c.is_lowercase() && piece.len() >= 6;
        before = [before[1], c];
    }
    if digits > 0 || turns || piece.starts_with('-') || piece.contains("://") {
        return letters + digits > 0;
    }
    let is_abbreviation = (piece.chars().filter(|c| *c == '.').count() + 1) * 2 > piece.chars().count();
    let is_long = letters >= 2 || letters == 1 && piece.starts_with('/');
    is_long && piece.contains(['/', '\\', '_', '.', ':', '=', '@']) && !is_abbreviation
}

/// Joins numbers whose groups of three digits are separated by a space: `3 600`.
fn join_groups<'t>(text: &'t str, found: &mut Vec<Token<'t>>) {
    let mut joined = Vec::new();
    let mut at = 0;
    while at + 1 < found.len() {
        let first = found[at];
        let mut last = at;
        let is_head = matches!(first.digits(), Some(1..=3));
        while is_head && last + 1 < found.len() && found[last + 1].digits() == Some(3) {
            // The pieces of a name overlap it.
            let between = text.get(found[last].at + found[last].text.len()..found[last + 1].at).unwrap_or_default();
            if !matches!(between, " " | "\u{a0}" | "\u{202f}" | "\u{2009}") {
                break;
            }
            last += 1;
        }
        if last > at {
            let end = found[last].at + found[last].text.len();
            joined
                .push((last + 1, Token { at: first.at, text: &text[first.at..end], class: Class::Name, inner: true }));
        }
        at = last + 1;
    }
    if joined.is_empty() {
        return;
    }
    let mut joined = joined.into_iter().peekable();
    let mut all = Vec::with_capacity(found.len() + joined.len());
    for (place, token) in found.drain(..).enumerate() {
        all.extend(joined.next_if(|(before, _)| *before == place).map(|(_, token)| token));
        all.push(token);
    }
    all.extend(joined.map(|(_, token)| token));
    *found = all;
}

#[cfg(test)]
mod tests {
    use super::{Class, composed, tokens};

    fn names(text: &str) -> Vec<&str> {
        tokens(text).iter().filter(|token| token.class == Class::Name).map(|token| token.text).collect()
    }

    #[test]
    fn names_are_told_from_words() {
        for (text, expected) in [
            ("Open src/main.rs, then (./ab_c).", vec!["src/main.rs", "./ab_c"]),
            ("修改了src/app.py文件", vec!["src/app.py"]),
            ("see https://example.org/a?b=1. Or not", vec!["https://example.org/a?b=1"]),
            ("on localhost:8080 or PORT=9090", vec!["localhost:8080", "8080", "PORT=9090", "9090"]),
            ("with --force and 3 600 rows", vec!["--force", "3", "600", "3 600"]),
            ("It's fine, don't stop, e.g. here", vec![]),
            ("call read_rows() of v2.3.1", vec!["read_rows", "v2.3.1"]),
            ("open /a, then b", vec!["/a"]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn marks_are_composed_and_escapes_removed() {
        assert_eq!(composed("cafe\u{301} \u{1b}[31mred\u{1b}[0m"), "café red");
        assert_eq!(composed("ma\u{200b}in \u{202e}niam"), "main niam");
    }
}
