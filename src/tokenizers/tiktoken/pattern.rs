//! How the encodings split a text into pieces, written by hand instead of as a regex with look-ahead: linear on every
//! input, and a piece depends on nothing before it. The patterns stand in tiktoken-rs (`openai_public.rs`).

use super::{
    characters::{classed, ideographs, run},
    layout::class::{LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UNCASED, UPPER},
    window::Habits,
};

/// Finds where the piece ends that starts at a place in the text.
pub(crate) trait Pattern {
    /// How windows of ASCII are split by it, if they are.
    const HABITS: Option<Habits>;

    /// `start` is the start of a character of the text, the end that is returned is the end of one.
    fn end(text: &[u8], start: usize) -> usize;
}

/// `o200k_base` and `o200k_harmony`.
pub(crate) struct O200k;
/// `cl100k_base`
pub(crate) struct Cl100k;
/// `p50k_base`, `r50k_base` and `gpt2`.
pub(crate) struct R50k;

impl Pattern for O200k {
    const HABITS: Option<Habits> = Some(Habits { cased: true, slash: true });

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
            return end + contraction(text, end).unwrap_or(0);
        }
        match class {
            NUMBER => three_numbers(text, next),
            OTHER => punctuation(text, next, b"\r\n/"),
            _ => spaced(text, start).map_or_else(|| white(text, start), |at| punctuation(text, at, b"\r\n/")),
        }
    }
}

impl Pattern for Cl100k {
    const HABITS: Option<Habits> = Some(Habits { cased: false, slash: false });

    fn end(text: &[u8], start: usize) -> usize {
        let Some((class, next)) = classed(text, start) else {
            return start;
        };
        if let Some(width) = contraction(text, start) {
            return start + width;
        }
        match class {
            UPPER | LOWER | UNCASED => run(text, next, letter),
            NUMBER => three_numbers(text, next),
            OTHER | MARK | SPACE if at_class(text, next, letter) => run(text, next, letter),
            OTHER | MARK => punctuation(text, next, b"\r\n"),
            _ => spaced(text, start).map_or_else(|| final_white(text, start), |at| punctuation(text, at, b"\r\n")),
        }
    }
}

impl Pattern for R50k {
    const HABITS: Option<Habits> = None;

    fn end(text: &[u8], start: usize) -> usize {
        if let Some(width) = contraction(text, start).filter(|width| plain(&text[start..start + width])) {
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

fn letter(class: u8) -> bool {
    class >= UNCASED
}

fn other(class: u8) -> bool {
    class == OTHER || class == MARK
}

fn at_class(text: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> bool {
    classed(text, at).is_some_and(|(class, _)| belongs(class))
}

/// Any capitals, then at least one letter that is none. Where a run without lower case follows its last caseless letter
/// or mark by capitals, the word ends before them.
fn cased(text: &[u8], start: usize) -> Option<usize> {
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

fn capitals(text: &[u8], start: usize) -> Option<usize> {
    let end = run(text, start, |class| class == UPPER);
    (end > start).then_some(end)
}

/// Bytes of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case; the long s is an s.
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

fn plain(contraction: &[u8]) -> bool {
    contraction[1..].iter().all(u8::is_ascii_lowercase)
}

fn three_numbers(text: &[u8], mut at: usize) -> usize {
    for _ in 0..2 {
        match classed(text, at) {
            Some((NUMBER, end)) => at = end,
            _ => break,
        }
    }
    at
}

fn punctuation(text: &[u8], at: usize, after: &[u8]) -> usize {
    let end = run(text, at, other);
    end + text[end..].iter().take_while(|byte| after.contains(byte)).count()
}

/// The end of the character after a space, if that is neither white, nor letter, nor number.
fn spaced(text: &[u8], at: usize) -> Option<usize> {
    let after = text.get(at).filter(|byte| **byte == b' ').and_then(|_| classed(text, at + 1));
    after.filter(|(class, _)| other(*class)).map(|(_, end)| end)
}

/// All white space at the end of the text; elsewhere as [`white`].
fn final_white(text: &[u8], start: usize) -> usize {
    let end = run(text, start, |class| class == SPACE || class == NEWLINE);
    if end == text.len() { end } else { white(text, start) }
}

/// White space up to its last newline; without one as [`blank`].
fn white(text: &[u8], start: usize) -> usize {
    let end = run(text, start, |class| class == SPACE || class == NEWLINE);
    let newline = text[start..end].iter().rposition(|byte| matches!(byte, b'\r' | b'\n'));
    newline.map_or_else(|| blank(text, start), |at| start + at + 1)
}

/// White space up to the last character before something else, which goes with that.
fn blank(text: &[u8], start: usize) -> usize {
    let (mut at, mut last) = (start, start);
    while let Some((SPACE | NEWLINE, end)) = classed(text, at) {
        (last, at) = (at, end);
    }
    if at == text.len() || last == start { at } else { last }
}
