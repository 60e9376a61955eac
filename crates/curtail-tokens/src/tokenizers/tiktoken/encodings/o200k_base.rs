//! `o200k_base`: GPT-4o and later, and the reasoning models. Also its pattern, which `o200k_harmony` shares.

use super::super::counter::Walker;
use super::super::layout::class::{LOWER, MARK, NUMBER, OTHER, SPACE, UNCASED, UPPER};
use super::super::pattern::{Pattern, capitals, cased, classed, contraction, numbers, punctuation, spaced, white};
use super::super::window::SplitRules;
use super::Encoding;

pub(super) static ENCODING: Encoding = Encoding {
    walker: Walker::splitting_by::<O200k>(),
    tenths: 42,
    models: &["gpt-5*", "gpt-4.5", "gpt-4.1", "gpt-4o", "chatgpt-4o", "o1", "o3", "o4", "codex-mini"],
};

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
