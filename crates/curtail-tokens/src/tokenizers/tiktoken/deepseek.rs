//! The split of `DeepSeek` V3 as one pattern. Numbers and then runs of Chinese and Japanese are cut out first, and what is
//! between them is split as if it were a text of its own. A piece depends on nothing before it here, too.

use super::layout::class::{LOWER, MARK, NEWLINE, NUMBER, OTHER, SILENT, SPACE, UNCASED, UPPER};
use super::pattern::{Pattern, classed, ideographs, numbers, whole};
use super::vocabulary::fine_class;
use super::window::Habits;

/// Words with their marks and one character before them, numbers of three digits, punctuation with newlines, Chinese and
/// Japanese without any of these; one sign before ASCII letters belongs to them. What is silent is a piece between others.
pub(crate) struct DeepSeek;

/// What is cut out with Chinese and Japanese, in addition to its class: U+3040 to U+30FF and U+4E00 to U+9FA5. The same pattern
/// splits it further as a text of its own, as between `ア` and `・`.
const CUT: u8 = 16;
const CUT_MARK: u8 = CUT | MARK;
const CUT_LETTER: u8 = CUT | UNCASED;
const CUT_SIGN: u8 = CUT | OTHER;
const CUT_SILENT: u8 = CUT | SILENT;

impl Pattern for DeepSeek {
    const HABITS: Option<Habits> =
        Some(Habits { cased: false, slash: false, contractions: false, digits: false, apart: true });

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

/// Class and end of the character at `at`; nothing at the end of the text.
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

/// Where the run of characters ends that starts at `at`, all of classes for which `belongs` holds.
#[inline]
fn run(text: &[u8], mut at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    while let Some((_, end)) = look(text, at).filter(|(class, _)| belongs(*class)) {
        at = end;
    }
    at
}

const fn of_word(class: u8) -> bool {
    matches!(class, UPPER | LOWER | UNCASED | MARK)
}

fn at_word(text: &[u8], at: usize) -> bool {
    look(text, at).is_some_and(|(class, _)| of_word(class))
}

fn word(text: &[u8], at: usize) -> usize {
    run(text, at, of_word)
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

/// The end of the ASCII letters after a sign of ASCII, if there are some.
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

/// The end of what is `silent`, without its last character if that belongs to letters.
fn silence(text: &[u8], mut at: usize, silent: u8, at_letters: fn(&[u8], usize) -> bool) -> usize {
    while let Some((_, end)) = look(text, at).filter(|(class, _)| *class == silent) {
        if at_letters(text, end) {
            break;
        }
        at = end;
    }
    at
}

/// The end of white space up to its last newline; without a newline all of it before what is cut out and at the end of the
/// text, and elsewhere all but its last character, which belongs to the piece that follows.
fn white(text: &[u8], start: usize) -> usize {
    let (mut at, mut last, mut newline) = (start, start, None);
    while let Some((class @ (SPACE | NEWLINE), end)) = look(text, at) {
        (last, at) = (at, end);
        newline = if class == NEWLINE { Some(end) } else { newline };
    }
    let whole = last == start || look(text, at).is_none_or(|(class, _)| class == NUMBER || class >= CUT);
    newline.unwrap_or(if whole { at } else { last })
}
