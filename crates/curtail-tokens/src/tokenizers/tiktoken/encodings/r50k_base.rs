//! `r50k_base`: the first GPT-3 models. Also its pattern, which `p50k_base` and `gpt2` share.

use super::super::counter::Walker;
use super::super::layout::class::{LOWER, MARK, NUMBER, OTHER, UNCASED, UPPER};
use super::super::pattern::{Pattern, blank, classed, contraction, is_lowercase, letter, other, run};
use super::super::window::SplitRules;
use super::Encoding;

pub(super) static ENCODING: Encoding = Encoding {
    walker: Walker::splitting_by::<R50k>(),
    tenths: 35,
    models: &[
        "text-davinci-001",
        "text-curie-001",
        "text-babbage-001",
        "text-ada-001",
        "text-similarity*",
        "text-search*",
        "code-search*",
        "davinci",
        "curie",
        "babbage",
        "ada",
    ],
};

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
