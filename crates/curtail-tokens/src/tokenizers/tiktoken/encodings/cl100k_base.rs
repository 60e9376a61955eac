//! `cl100k_base`: GPT-4, GPT-3.5 and the embedding models.

use super::super::counter::Walker;
use super::super::layout::class::{LOWER, MARK, NUMBER, OTHER, SPACE, UNCASED, UPPER};
use super::super::pattern::{
    Pattern, at_class, classed, contraction, final_white, letter, numbers, punctuation, run, spaced, white,
};
use super::super::window::SplitRules;
use super::Encoding;

pub(super) static ENCODING: Encoding = Encoding {
    walker: Walker::splitting_by::<Cl100k>(),
    tenths: 40,
    models: &[
        "gpt-4",
        "gpt-3.5",
        "gpt-35-turbo",
        "davinci-002",
        "babbage-002",
        "text-embedding-ada-002",
        "text-embedding-3-small",
        "text-embedding-3-large",
    ],
};

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
