//! Estimates a count from the length of a text. Needs no tables, and may be wrong by a fifth or more.

use super::Tokenizer;

/// The length in UTF-16 units, divided by a ratio that was measured for an encoding, rounded up. By default that of
/// `o200k_base`: 4.2 units per token.
///
/// ```
/// use curtail_core::{Approximate, Tokenizer as _};
///
/// assert_eq!(Approximate::default().count("When does the first train leave?"), 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approximate {
    name: &'static str,
    /// UTF-16 units per token, in tenths.
    tenths: usize,
}

impl Default for Approximate {
    fn default() -> Self {
        Self { name: "approx:o200k_base", tenths: 42 }
    }
}

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
        (utf16_units(text) * 10).div_ceil(self.tenths)
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
    /// An estimate with this name, of `tenths` tenths of a UTF-16 unit per token.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(name: &'static str, tenths: usize) -> Self {
        Self { name, tenths }
    }

    /// Bytes of as many characters as have at most `tokens` tokens.
    fn fitting(&self, characters: impl Iterator<Item = char>, tokens: usize) -> usize {
        let (mut remaining, mut bytes) = (tokens.saturating_mul(self.tenths) / 10, 0);
        for character in characters {
            match remaining.checked_sub(character.len_utf16()) {
                Some(rest) => remaining = rest,
                None => break,
            }
            bytes += character.len_utf8();
        }
        bytes
    }
}

/// The length in UTF-16 units: one per character, two per character of four bytes.
fn utf16_units(text: &str) -> usize {
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}
