//! How an encoding splits a text into pieces: patterns written by hand instead of as regexes with look-ahead. They take
//! linear time for every input, and a piece does not depend on anything before it.

use super::counter::Walker;
use super::deepseek::DeepSeek;
use super::tables::class::{self, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UNCASED, UPPER};
use super::vocabulary;
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
    let (mut at, mut last) = (start, start);
    while let Some((SPACE | NEWLINE, end)) = classed(text, at) {
        (last, at) = (at, end);
    }
    if at == text.len() || last == start { at } else { last }
}

// The patterns of known models, as their files write them, and the same patterns written by hand.

/// A known pattern that is also written by hand.
struct Recognized {
    /// Its regexes, each of which splits the pieces of the previous one.
    patterns: &'static [&'static str],
    walker: &'static Walker,
}

const fn by_hand<P: Pattern>(patterns: &'static [&'static str]) -> Recognized {
    Recognized { patterns, walker: Walker::splitting_by::<P>() }
}

/// The pattern of GPT-2 and of models that took it over, if a file contains it. `ByteLevel` has the same pattern built
/// in.
static GPT2: Recognized =
    by_hand::<R50k>(&[r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"]);

static RECOGNIZED: &[Recognized] = &[
    // Llama 3, GLM 4 and GPT-4.
    by_hand::<Words<3, false>>(&[
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // Qwen 2 and 3.
    by_hand::<Words<1, false>>(&[
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // GPT-4o and gpt-oss.
    by_hand::<O200k>(&[
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // Mistral's tekken.
    by_hand::<Cased<1, false>>(&[
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // DeepSeek V3 and later.
    by_hand::<DeepSeek>(&[
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
    ]),
];

/// The known pattern with these regexes; without any, that of `ByteLevel`. Some files contain literal newlines instead
/// of `\n`.
pub(crate) fn recognize(patterns: &[&str]) -> Option<&'static Walker> {
    let escaped: Vec<_> = patterns.iter().map(|pattern| pattern.replace('\r', r"\r").replace('\n', r"\n")).collect();
    let is_known = |recognized: &&Recognized| patterns.is_empty() || recognized.patterns == escaped;
    [&GPT2].into_iter().chain(RECOGNIZED).find(is_known).map(|recognized| recognized.walker)
}

// Characters in bytes that may be cut anywhere: their code point, class and width.

/// A character.
#[derive(Clone, Copy)]
pub(crate) struct Character {
    /// Its code point.
    pub(crate) code: u32,
    /// Its length in bytes.
    pub(crate) width: usize,
}

/// The character that starts at `at`, if one does and it is complete.
#[inline]
pub(crate) fn whole(text: &[u8], at: usize) -> Option<Character> {
    // Most characters that reach this function have three bytes: Chinese, Japanese, Korean, and signs.
    if let Some(next) = text.get(at..)?.first_chunk() {
        let bits = u32::from_le_bytes(*next);
        if bits & 0x00C0_C0F0 == 0x0080_80E0 {
            return Some(Character {
                code: (bits & 0x0F) << 12 | (bits & 0x3F00) >> 2 | (bits & 0x3F_0000) >> 16,
                width: 3,
            });
        }
    }
    decoded(text, at)
}

fn decoded(text: &[u8], at: usize) -> Option<Character> {
    let first = u32::from(*text.get(at)?);
    let next = |n: usize| text.get(at + n).filter(|byte| **byte & 0xC0 == 0x80).map(|byte| u32::from(byte & 0x3F));
    let (code, width) = match first {
        0..0x80 => (first, 1),
        0xC2..0xE0 => ((first & 0x1F) << 6 | next(1)?, 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | next(1)? << 6 | next(2)?, 3),
        0xF0..0xF5 => ((first & 0x07) << 18 | next(1)? << 12 | next(2)? << 6 | next(3)?, 4),
        _ => return None,
    };
    (code < 0x11_0000).then_some(Character { code, width })
}

/// Class and end of the character at `at`; `None` at the end of the text. A byte that belongs to no character is one by
/// itself.
#[inline]
pub(crate) fn classed(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let byte = *text.get(at)?;
    if byte < 0x80 {
        return Some((ASCII[usize::from(byte)], at + 1));
    }
    let found = whole(text, at).map(|character| (vocabulary::class(character.code), at + character.width));
    Some(found.unwrap_or((class::OTHER, at + 1)))
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

/// The end of the run of U+5000 to U+8FFF from `at` on. All of them are letters without case, which the build script
/// checks, and four of five characters in Chinese texts are among them.
#[inline]
pub(crate) fn ideographs(text: &[u8], mut at: usize) -> usize {
    while let Some([0xE5..=0xE8, _, _]) = text.get(at..).and_then(<[u8]>::first_chunk) {
        at += 3;
    }
    at
}

/// The classes of ASCII characters.
const ASCII: [u8; 128] = {
    let mut classes = [class::OTHER; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'\r' | b'\n' => class::NEWLINE,
            b' ' | b'\t' | 0x0B | 0x0C => class::SPACE,
            b'0'..=b'9' => class::NUMBER,
            b'A'..=b'Z' => class::UPPER,
            b'a'..=b'z' => class::LOWER,
            _ => class::OTHER,
        };
        byte += 1;
    }
    classes
};
