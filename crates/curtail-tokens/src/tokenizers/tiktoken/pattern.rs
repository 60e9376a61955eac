//! How an encoding splits a text into pieces: the parts that patterns share, written by hand instead of as a regex with
//! look-ahead. Linear in the length of every input, and a piece depends on nothing before it.

use super::{
    characters::{classed, ideographs, run},
    layout::class::{LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UNCASED, UPPER},
    window::Habits,
};

/// Finds the end of a piece. The patterns of OpenAI's encodings are regexes in tiktoken-rs (`openai_public.rs`).
pub(crate) trait Pattern {
    /// How it splits windows of ASCII; `None` if windows do not help.
    const HABITS: Option<Habits>;

    /// The end of the piece that starts at `start`. Both are at the start of a character or at the end of the text.
    fn end(text: &[u8], start: usize) -> usize;
}

/// Whether a class is one of letters.
pub(crate) fn letter(class: u8) -> bool {
    class >= UNCASED
}

/// Whether a class is neither a letter, nor a number, nor white space.
pub(crate) fn other(class: u8) -> bool {
    class == OTHER || class == MARK
}

/// Whether the character at `at` is of such a class.
pub(crate) fn at_class(text: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> bool {
    classed(text, at).is_some_and(|(class, _)| belongs(class))
}

/// The end of a word of any capitals and then at least one letter that is not a capital. If the run has no lower case, the
/// word ends after its last caseless letter or mark, before the capitals that follow.
pub(crate) fn cased(text: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut caseless) = (start, None);
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
pub(crate) fn capitals(text: &[u8], start: usize) -> Option<usize> {
    let end = run(text, start, |class| class == UPPER);
    (end > start).then_some(end)
}

/// The length of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case; the long s is an s.
pub(crate) fn contraction(text: &[u8], at: usize) -> Option<usize> {
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
pub(crate) fn plain(contraction: &[u8]) -> bool {
    contraction[1..].iter().all(u8::is_ascii_lowercase)
}

/// The end of a number of at most so many digits, the first of which ends at `at`.
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
pub(crate) fn punctuation(text: &[u8], at: usize, after: &[u8]) -> usize {
    let end = run(text, at, other);
    end + text[end..].iter().take_while(|byte| after.contains(byte)).count()
}

/// The end of the character after a space, if that character is neither white space, nor a letter, nor a number.
pub(crate) fn spaced(text: &[u8], at: usize) -> Option<usize> {
    let after = text.get(at).filter(|byte| **byte == b' ').and_then(|_| classed(text, at + 1));
    after.filter(|(class, _)| other(*class)).map(|(_, end)| end)
}

/// The end of white space: all of it at the end of the text; elsewhere as [`white`].
pub(crate) fn final_white(text: &[u8], start: usize) -> usize {
    let end = run(text, start, |class| class == SPACE || class == NEWLINE);
    if end == text.len() { end } else { white(text, start) }
}

/// The end of white space up to its last newline; without a newline as [`blank`].
pub(crate) fn white(text: &[u8], start: usize) -> usize {
    let end = run(text, start, |class| class == SPACE || class == NEWLINE);
    let newline = text[start..end].iter().rposition(|byte| matches!(byte, b'\r' | b'\n'));
    newline.map_or_else(|| blank(text, start), |at| start + at + 1)
}

/// The end of white space without its last character, which belongs to the piece that follows.
pub(crate) fn blank(text: &[u8], start: usize) -> usize {
    let (mut at, mut last) = (start, start);
    while let Some((SPACE | NEWLINE, end)) = classed(text, at) {
        (last, at) = (at, end);
    }
    if at == text.len() || last == start { at } else { last }
}
