//! Splits a text step by step, as the pre-tokenizers of a `tokenizer.json` do. It knows no vocabulary.

use std::ops::Range;

use fancy_regex::Regex;

/// One step.
pub(crate) enum Step {
    /// A pattern that is written by hand and finds the end of each piece.
    Known(fn(&[u8], usize) -> usize),
    /// Numbers, or each digit.
    Digits { each: bool },
    /// What a regex matches, or (`inverted`) what it does not.
    Regex { regex: Box<Regex>, inverted: bool, keep: Keep },
}

/// What becomes of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is a piece.
    Isolated,
    /// It is one piece with the matches that touch it.
    Contiguous,
    /// It is in no piece.
    Removed,
}

impl Step {
    pub(crate) const fn removes(&self) -> bool {
        matches!(self, Self::Regex { keep: Keep::Removed, .. })
    }

    /// Splits a part of a text.
    fn split(&self, text: &str, part: Range<usize>, pieces: &mut Vec<Range<usize>>) {
        let (start, text) = (part.start, &text[part]);
        match self {
            Self::Known(end) => {
                let mut at = 0;
                while at < text.len() {
                    let to = end(text.as_bytes(), at);
                    pieces.push(start + at..start + to);
                    at = to;
                }
            }
            Self::Digits { each } => {
                let digits = text.char_indices().filter(|(_, character)| character.is_numeric());
                let found = digits.map(|(at, character)| at..at + character.len_utf8());
                keep(covered(text, found), if *each { Keep::Isolated } else { Keep::Contiguous }, start, pieces);
            }
            Self::Regex { regex, inverted, keep: kept } => {
                // As the library does, the rest is no match where the regex gives up.
                let found = regex.find_iter(text).map_while(Result::ok).map(|found| found.range());
                let matches = covered(text, found).map(|(range, matched)| (range, matched != *inverted));
                keep(matches, *kept, start, pieces);
            }
        }
    }
}

/// The pieces of a text, none of them empty.
pub(crate) fn pieces(steps: &[Step], text: &str) -> Vec<Range<usize>> {
    let whole = 0..text.len();
    let mut parts = vec![whole];
    for step in steps {
        let mut pieces = Vec::with_capacity(parts.len().max(text.len() / 4));
        for part in parts {
            step.split(text, part, &mut pieces);
        }
        pieces.retain(|piece| !piece.is_empty());
        parts = pieces;
    }
    parts
}

/// Matches and what is between them.
fn covered(text: &str, found: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut at = 0;
    let end = text.len()..text.len();
    found.map(|found| (found, true)).chain([(end, false)]).flat_map(move |(range, matched)| {
        let before = at..range.start;
        at = range.end;
        let between = (!before.is_empty()).then_some((before, false));
        between.into_iter().chain((matched).then_some((range, true)))
    })
}

fn keep(matches: impl Iterator<Item = (Range<usize>, bool)>, keep: Keep, start: usize, pieces: &mut Vec<Range<usize>>) {
    let (mut last, first) = (false, pieces.len());
    for (range, matched) in matches {
        let joins = keep == Keep::Contiguous && matched == last && pieces.len() > first;
        last = matched;
        if keep == Keep::Removed && matched {
            continue;
        }
        match pieces.last_mut().filter(|_| joins) {
            Some(piece) => piece.end = start + range.end,
            None => pieces.push(start + range.start..start + range.end),
        }
    }
}
