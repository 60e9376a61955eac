//! Characters in bytes that may be cut anywhere: their code point, class and width.

use super::tables::class;
use super::vocabulary;

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
    let (code, width) = match first {
        0..0x80 => (first, 1),
        0xC2..0xE0 => ((first & 0x1F) << 6 | continuation(text, at + 1)?, 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | continuation(text, at + 1)? << 6 | continuation(text, at + 2)?, 3),
        0xF0..0xF5 => (
            (first & 0x07) << 18
                | continuation(text, at + 1)? << 12
                | continuation(text, at + 2)? << 6
                | continuation(text, at + 3)?,
            4,
        ),
        _ => return None,
    };
    (code < 0x11_0000).then_some(Character { code, width })
}

/// The bits of a character in a byte that continues it.
#[inline]
fn continuation(text: &[u8], at: usize) -> Option<u32> {
    text.get(at).filter(|byte| **byte & 0xC0 == 0x80).map(|byte| u32::from(byte & 0x3F))
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
