//! The three regexes of `DeepSeek` V3 as one pattern. They cut out numbers, then runs of Chinese and Japanese, and
//! split each remaining part as if it were a whole text. As in other patterns, a piece does not depend on anything
//! before it.

use super::characters::{classed, ideographs, whole};
use super::pattern::{Pattern, numbers};
use super::tables::class::{LOWER, MARK, NEWLINE, NUMBER, OTHER, SILENT, SPACE, UNCASED, UPPER};
use super::vocabulary::fine_class;
use super::window::SplitRules;

/// The pieces are: words with their marks and one character before them; numbers of three digits; punctuation with
/// newlines; and runs of Chinese and Japanese. A sign before ASCII letters belongs to them. Silent characters between
/// pieces are a piece.
pub(crate) struct DeepSeek;

/// A bit in addition to the class, for characters that are cut out as Chinese and Japanese: U+3040 to U+30FF and U+4E00
/// to U+9FA5. What is cut out is split further by class, for example between `ア` and `・`.
const CUT: u8 = 16;
const CUT_MARK: u8 = CUT | MARK;
const CUT_LETTER: u8 = CUT | UNCASED;
const CUT_SIGN: u8 = CUT | OTHER;
const CUT_SILENT: u8 = CUT | SILENT;

impl Pattern for DeepSeek {
    const SPLIT_RULES: Option<SplitRules> =
        Some(SplitRules { cased: false, slash: false, contractions: false, digits: false, apart: true });

    fn end(text: &[u8], start: usize) -> usize {
        let Some((class, next)) = look(text, start) else {
            return start;
        };
        match class {
            CUT_LETTER | CUT_MARK => cut_letters(text, next),
            CUT_SIGN => run(text, next, |class| class == CUT_SIGN),
            CUT_SILENT if at_cut_letter(text, next) => cut_letters(text, next),
            CUT_SILENT => silence(text, next, CUT_SILENT, at_cut_letter),
            NUMBER => numbers::<3>(text, next),
            UPPER | LOWER | UNCASED | MARK => word(text, next),
            OTHER => letters(text, start).unwrap_or_else(|| signs(text, next)),
            SPACE | SILENT if at_word(text, next) => word(text, next),
            SILENT => silence(text, next, SILENT, at_word),
            SPACE if text[start] == b' ' && look(text, next).is_some_and(|(class, _)| class == OTHER) => {
                signs(text, next)
            }
            _ => white(text, start),
        }
    }
}

/// Class and end of the character at `at`; `None` at the end of the text.
#[inline]
fn look(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let byte = *text.get(at)?;
    if byte < 0x80 {
        let (class, end) = classed(text, at)?;
        return Some((if class == OTHER && byte.is_ascii_control() { SILENT } else { class }, end));
    }
    let Some(character) = whole(text, at) else {
        return Some((SILENT, at + 1));
    };
    let class = match character.code {
        0x3040..=0x30FF | 0x4E00..=0x9FA5 => CUT | fine_class(character.code),
        code => fine_class(code),
    };
    Some((class, at + character.width))
}

/// The end of the run of characters from `at` on whose classes satisfy `belongs`.
#[inline]
fn run(text: &[u8], mut at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    while let Some((_, end)) = look(text, at).filter(|(class, _)| belongs(*class)) {
        at = end;
    }
    at
}

const fn is_word(class: u8) -> bool {
    matches!(class, UPPER | LOWER | UNCASED | MARK)
}

fn at_word(text: &[u8], at: usize) -> bool {
    look(text, at).is_some_and(|(class, _)| is_word(class))
}

fn word(text: &[u8], at: usize) -> usize {
    run(text, at, is_word)
}

fn at_cut_letter(text: &[u8], at: usize) -> bool {
    matches!(look(text, at), Some((CUT_LETTER | CUT_MARK, _)))
}

fn cut_letters(text: &[u8], mut at: usize) -> usize {
    loop {
        at = ideographs(text, at);
        match look(text, at) {
            Some((CUT_LETTER | CUT_MARK, end)) => at = end,
            _ => return at,
        }
    }
}

/// The end of the ASCII letters after an ASCII sign, if there are any.
fn letters(text: &[u8], start: usize) -> Option<usize> {
    let [sign, after @ ..] = text.get(start..)? else {
        return None;
    };
    let count = after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    (sign.is_ascii() && count > 0).then_some(start + 1 + count)
}

/// The end of a run of signs and of the newlines that follow it.
fn signs(text: &[u8], at: usize) -> usize {
    let end = run(text, at, |class| class == OTHER);
    run(text, end, |class| class == NEWLINE)
}

/// The end of a run of the class `silent`, without its last character if letters follow, to which it belongs.
fn silence(text: &[u8], mut at: usize, silent: u8, at_letters: fn(&[u8], usize) -> bool) -> usize {
    while let Some((_, end)) = look(text, at).filter(|(class, _)| *class == silent) {
        if at_letters(text, end) {
            break;
        }
        at = end;
    }
    at
}

/// The end of white space: its last newline. Without a newline, it is all of the white space before a part that is cut
/// out or at the end of the text, and elsewhere all but the last character, which belongs to the piece that follows.
fn white(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut last = start;
    let mut newline = None;
    while let Some((class @ (SPACE | NEWLINE), end)) = look(text, at) {
        (last, at) = (at, end);
        newline = if class == NEWLINE { Some(end) } else { newline };
    }
    let whole = last == start || look(text, at).is_none_or(|(class, _)| class == NUMBER || class >= CUT);
    newline.unwrap_or(if whole { at } else { last })
}
