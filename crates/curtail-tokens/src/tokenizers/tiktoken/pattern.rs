//! How an encoding splits a text into pieces: patterns written by hand instead of as regexes with look-ahead. They take
//! linear time for every input, and a piece does not depend on anything before it.

use super::characters::{classed, ideographs};
use super::tables::class::{LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UNCASED, UPPER};
use super::window::SplitRules;

/// Finds the end of a piece. The patterns of OpenAI's encodings are regexes in tiktoken-rs (`openai_public.rs`).
pub(crate) trait Pattern {
    /// How it splits windows of ASCII; `None` if windows are not faster.
    const SPLIT_RULES: Option<SplitRules>;

    /// The end of the piece that starts at `start`. Both are at the start of a character or at the end of the text.
    fn end(text: &[u8], start: usize) -> usize;
}

// The patterns of the encodings; those of other models differ in a number or a rule.

/// Words with their case and contraction, numbers of three digits, punctuation with newlines and slashes.
pub(crate) type O200k = Cased<3, true>;

/// The same for numbers of at most `DIGITS` digits; contractions belong to their words if `CONTRACTIONS`, and are split
/// like other text otherwise.
pub(crate) struct Cased<const DIGITS: usize, const CONTRACTIONS: bool>;

impl<const DIGITS: usize, const CONTRACTIONS: bool> Pattern for Cased<DIGITS, CONTRACTIONS> {
    const SPLIT_RULES: Option<SplitRules> =
        Some(SplitRules { cased: true, slash: true, contractions: CONTRACTIONS, digits: DIGITS == 1, apart: false });

    fn end(text: &[u8], start: usize) -> usize {
        let Some((class, next)) = classed(text, start) else {
            return start;
        };
        let word = match class {
            UPPER | LOWER | UNCASED => cased(text, start).or_else(|| capitals(text, start)),
            MARK => cased(text, next).or(Some(next)),
            OTHER | SPACE => cased(text, next).or_else(|| capitals(text, next)),
            _ => None,
        };
        if let Some(end) = word {
            return end + contraction(text, end).filter(|_| CONTRACTIONS).unwrap_or(0);
        }
        match class {
            NUMBER => numbers::<DIGITS>(text, next),
            OTHER => punctuation(text, next, b"\r\n/"),
            _ => spaced(text, start).map_or_else(|| white(text, start), |at| punctuation(text, at, b"\r\n/")),
        }
    }
}

/// Words of any case, contractions as pieces, numbers of three digits, punctuation with newlines.
pub(crate) type Cl100k = Words<3, true>;

/// The same for numbers of at most `DIGITS` digits; white space at the end of a text is one piece if `LAST`. Patterns
/// of other models differ only in these.
pub(crate) struct Words<const DIGITS: usize, const LAST: bool>;

impl<const DIGITS: usize, const LAST: bool> Pattern for Words<DIGITS, LAST> {
    const SPLIT_RULES: Option<SplitRules> =
        Some(SplitRules { cased: false, slash: false, contractions: true, digits: DIGITS == 1, apart: false });

    fn end(text: &[u8], start: usize) -> usize {
        let Some((class, next)) = classed(text, start) else {
            return start;
        };
        if let Some(width) = contraction(text, start) {
            return start + width;
        }
        let blank = if LAST { final_white } else { white };
        match class {
            UPPER | LOWER | UNCASED => run(text, next, letter),
            NUMBER => numbers::<DIGITS>(text, next),
            OTHER | MARK | SPACE if at_class(text, next, letter) => run(text, next, letter),
            OTHER | MARK => punctuation(text, next, b"\r\n"),
            _ => spaced(text, start).map_or_else(|| blank(text, start), |at| punctuation(text, at, b"\r\n")),
        }
    }
}

/// Words, numbers of any length and punctuation, each with one space before it; contractions in lower case.
pub(crate) struct R50k;

impl Pattern for R50k {
    const SPLIT_RULES: Option<SplitRules> = None;

    fn end(text: &[u8], start: usize) -> usize {
        if let Some(width) = contraction(text, start).filter(|width| is_lowercase(&text[start..start + width])) {
            return start + width;
        }
        let first = if text.get(start) == Some(&b' ') { start + 1 } else { start };
        match classed(text, first) {
            Some((UPPER | LOWER | UNCASED, next)) => run(text, next, letter),
            Some((NUMBER, next)) => run(text, next, |class| class == NUMBER),
            Some((OTHER | MARK, next)) => run(text, next, other),
            _ => blank(text, start),
        }
    }
}

// What patterns share.

/// Whether a class contains letters.
fn letter(class: u8) -> bool {
    class >= UNCASED
}

/// Whether a class is neither a letter, nor a number, nor white space.
fn other(class: u8) -> bool {
    class == OTHER || class == MARK
}

/// Whether the class of the character at `at` satisfies `belongs`.
fn at_class(text: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> bool {
    classed(text, at).is_some_and(|(class, _)| belongs(class))
}

/// The end of a word of any number of capitals and then at least one letter or mark that is not a capital. If the run
/// has no lower-case letter, the word ends after its last caseless letter or mark, before the capitals that follow.
fn cased(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut caseless = None;
    while let Some((class, end)) = classed(text, at) {
        match class {
            UPPER => {}
            MARK => caseless = Some(end),
            UNCASED => {
                at = ideographs(text, end);
                caseless = Some(at);
                continue;
            }
            LOWER => {
                return Some(run(text, end, |class| matches!(class, LOWER | MARK | UNCASED)));
            }
            _ => break,
        }
        at = end;
    }
    caseless
}

/// The end of a run of capitals, if there is one.
fn capitals(text: &[u8], start: usize) -> Option<usize> {
    let end = run(text, start, |class| class == UPPER);
    (end > start).then_some(end)
}

/// The length of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case, in bytes. The long s (`ſ`) is an s.
fn contraction(text: &[u8], at: usize) -> Option<usize> {
    let [b'\'', rest @ ..] = text.get(at..)? else {
        return None;
    };
    match rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => Some(2),
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] | [0xC5, 0xBF, ..] => Some(3),
        _ => None,
    }
}

/// Whether a contraction is in lower case.
fn is_lowercase(contraction: &[u8]) -> bool {
    contraction[1..].iter().all(u8::is_ascii_lowercase)
}

/// The end of a number of at most `DIGITS` digits, the first of which ends at `at`.
pub(crate) fn numbers<const DIGITS: usize>(text: &[u8], mut at: usize) -> usize {
    for _ in 1..DIGITS {
        match classed(text, at) {
            Some((NUMBER, end)) => at = end,
            _ => break,
        }
    }
    at
}

/// The end of a run of punctuation and of the bytes of `after` that follow it.
fn punctuation(text: &[u8], at: usize, after: &[u8]) -> usize {
    let end = run(text, at, other);
    end + text[end..].iter().take_while(|byte| after.contains(byte)).count()
}

/// The end of the character after a space, if that character is neither white space, nor a letter, nor a number.
fn spaced(text: &[u8], at: usize) -> Option<usize> {
    let after = text.get(at).filter(|byte| **byte == b' ').and_then(|_| classed(text, at + 1));
    after.filter(|(class, _)| other(*class)).map(|(_, end)| end)
}

/// The end of white space: of all of it at the end of the text, elsewhere as [`white`].
fn final_white(text: &[u8], start: usize) -> usize {
    let end = run(text, start, |class| class == SPACE || class == NEWLINE);
    if end == text.len() { end } else { white(text, start) }
}

/// The end of white space: its last newline, or without a newline as [`blank`].
fn white(text: &[u8], start: usize) -> usize {
    let end = run(text, start, |class| class == SPACE || class == NEWLINE);
    let newline = text[start..end].iter().rposition(|byte| matches!(byte, b'\r' | b'\n'));
    newline.map_or_else(|| blank(text, start), |at| start + at + 1)
}

/// The end of white space: all of it at the end of the text, elsewhere all but the last character, unless it is the
/// only one: that belongs to the piece that follows.
fn blank(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut last = start;
    while let Some((SPACE | NEWLINE, end)) = classed(text, at) {
        (last, at) = (at, end);
    }
    if at == text.len() || last == start { at } else { last }
}

/// The end of the run of characters from `at` on whose classes satisfy `belongs`.
#[inline]
fn run(text: &[u8], mut at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    while let Some((class, end)) = classed(text, at) {
        if !belongs(class) {
            break;
        }
        at = if class == UNCASED { ideographs(text, end) } else { end };
    }
    at
}
