//! Counting without an encoding: the length of a text over a ratio. Instant, wrong by a fifth or more, and says so.

use super::Tokenizer;

/// Length in UTF-16 units over a ratio that was measured for an encoding, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approximate {
    name: &'static str,
    tenths: usize,
}

/// UTF-16 units per token, in tenths, for each encoding.
pub(super) const ALL: [Approximate; 6] = [
    Approximate { name: "approx:o200k_base", tenths: 42 },
    Approximate { name: "approx:o200k_harmony", tenths: 42 },
    Approximate { name: "approx:cl100k_base", tenths: 40 },
    Approximate { name: "approx:p50k_base", tenths: 38 },
    Approximate { name: "approx:r50k_base", tenths: 35 },
    Approximate { name: "approx:gpt2", tenths: 32 },
];

impl Tokenizer for Approximate {
    fn name(&self) -> &str {
        self.name
    }

    fn exact(&self) -> bool {
        false
    }

    fn at_most_bytes(&self) -> bool {
        true
    }

    fn count(&self, text: &str) -> usize {
        (units(text) * 10).div_ceil(self.tenths)
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        Some(self.count(text)).filter(|count| *count <= limit)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        self.fitting(text.chars(), tokens)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        text.len() - self.fitting(text.chars().rev(), tokens)
    }
}

impl Approximate {
    /// Bytes of as many characters as hold at most `tokens` tokens.
    fn fitting(&self, characters: impl Iterator<Item = char>, tokens: usize) -> usize {
        let (mut left, mut bytes) = (tokens.saturating_mul(self.tenths) / 10, 0);
        for character in characters {
            match left.checked_sub(character.len_utf16()) {
                Some(rest) => left = rest,
                None => break,
            }
            bytes += character.len_utf8();
        }
        bytes
    }
}

/// Every byte that starts a character is a unit, and a character of four bytes is two.
fn units(text: &str) -> usize {
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}
