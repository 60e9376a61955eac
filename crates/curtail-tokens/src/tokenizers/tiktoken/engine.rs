//! The engine: counts with a vocabulary and a way to split texts, which come from an encoding or from a
//! `tokenizer.json`.

use std::cell::RefCell;
use std::ops::Range;

use fancy_regex::Regex;
use serde::Deserialize;

use super::counter::{Counter, Reached, Walker};
use super::merge::Cuts;
use super::vocabulary::Vocabulary;

thread_local! {
    // One counter per thread and vocabulary. A tokenizer is shared between threads, and the counter's cache of pieces must
    // outlive one text without a lock around each count. The cache never changes a count.
    static COUNTERS: RefCell<Vec<Counter>> = const { RefCell::new(Vec::new()) };
}

/// A vocabulary and a way to split.
#[derive(Clone, Copy)]
pub(crate) struct Engine<'a> {
    pub(crate) vocabulary: &'static Vocabulary,
    /// The steps in which a text is split into pieces: each splits the pieces of the previous one. Without any, the text
    /// is one piece.
    pub(crate) splits: &'a [SplitStep],
}

impl Engine<'_> {
    pub(crate) fn count(self, text: &str) -> usize {
        self.walk(text, usize::MAX).tokens
    }

    /// As [`curtail_core::counting::Tokenizer::count_until`].
    pub(crate) fn count_until(self, text: &str, limit: usize) -> Option<usize> {
        // A token has at most 128 bytes in most vocabularies, so many texts are known to be too long without being
        // counted.
        if text.len() / self.vocabulary.longest > limit && !self.removes() {
            return None;
        }
        let reached = self.walk(text, limit);
        (reached.at == text.len()).then_some(reached.tokens)
    }

    /// As [`curtail_core::counting::Tokenizer::head`].
    pub(crate) fn head(self, text: &str, tokens: usize) -> usize {
        let reached = self.walk(text, tokens);
        let ends = self.ends(text, reached.at);
        let kept = ends.into_iter().take(tokens - reached.tokens);
        kept.rev().find(|end| text.is_char_boundary(*end)).unwrap_or(reached.at)
    }

    /// As [`curtail_core::counting::Tokenizer::tail`].
    pub(crate) fn tail(self, text: &str, tokens: usize) -> usize {
        let Some(before) = self.count(text).checked_sub(tokens).filter(|before| *before > 0) else {
            return 0;
        };
        let reached = self.walk(text, before);
        if reached.tokens == before {
            return reached.at;
        }
        let ends = self.ends(text, reached.at).into_iter().skip(before - reached.tokens - 1);
        ends.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(text.len())
    }

    fn walk(self, text: &str, budget: usize) -> Reached {
        match self.splits {
            [SplitStep::Known(walker)] => self.with_counter(|counter| (walker.walk)(counter, text.as_bytes(), budget)),
            [] if self.vocabulary.makes_all() => {
                self.with_counter(|counter| counter.walk_cuts(text.as_bytes(), budget))
            }
            steps => {
                let pieces = pieces(steps, text);
                self.with_counter(|counter| counter.walk_pieces(text.as_bytes(), &pieces, budget))
            }
        }
    }

    /// The ends of the tokens of the piece at `at`, or of the next one; none at the end of the text.
    fn ends(self, text: &str, at: usize) -> Vec<usize> {
        if at == text.len() {
            return Vec::new();
        }
        let piece = match self.splits {
            [SplitStep::Known(walker)] => Some(at..(walker.end)(text.as_bytes(), at)),
            [] if self.vocabulary.makes_all() => {
                let rest = &text.as_bytes()[at..];
                Some(at..at + Cuts::new(self.vocabulary, rest).next().unwrap_or(rest.len()))
            }
            steps => pieces(steps, text).into_iter().find(|piece| piece.start >= at),
        };
        piece.map_or_else(Vec::new, |piece| self.with_counter(|counter| counter.piece_ends(text.as_bytes(), piece)))
    }

    /// Whether parts of a text may be removed, so that they are in no piece.
    pub(crate) fn removes(self) -> bool {
        self.splits.iter().any(|step| matches!(step, SplitStep::Regex { keep: Keep::Removed, .. }))
    }

    /// Runs `work` with this thread's counter for the vocabulary.
    fn with_counter<T>(self, work: impl FnOnce(&mut Counter) -> T) -> T {
        COUNTERS.with_borrow_mut(|counters| {
            let known = counters.iter().position(|counter| counter.counts_with(self.vocabulary));
            let at = known.unwrap_or_else(|| {
                counters.push(Counter::new(self.vocabulary));
                counters.len() - 1
            });
            work(&mut counters[at])
        })
    }
}

// Splits a text step by step, as the pre-tokenizers of a `tokenizer.json` do. It knows no vocabulary.

/// One step.
pub(crate) enum SplitStep {
    /// By a hand-written pattern.
    Known(&'static Walker),
    /// Digits apart from other text: each one alone, or in numbers.
    Digits { each: bool },
    /// Matches of a regex apart from other text; if `inverted`, the text between matches counts as matched.
    Regex { regex: Box<Regex>, inverted: bool, keep: Keep },
}

/// How matches become pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum Keep {
    /// Each match is a piece.
    Isolated,
    /// Adjacent matches are one piece.
    Contiguous,
    /// Matches are removed.
    Removed,
    /// Each match ends the piece before it, unless that is a match.
    MergedWithPrevious,
    /// Each match begins the piece after it, unless that is a match.
    MergedWithNext,
}

impl SplitStep {
    /// Splits a part of a text, and appends its pieces.
    fn split(&self, text: &str, part: Range<usize>, pieces: &mut Vec<Range<usize>>) {
        let start = part.start;
        let text = &text[part];
        match self {
            Self::Known(walker) => {
                let mut at = 0;
                while at < text.len() {
                    let to = (walker.end)(text.as_bytes(), at);
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
                // As in the library, the rest of the text is not a match if the regex gives up.
                let found = regex.find_iter(text).map_while(Result::ok).map(|found| found.range());
                let matches = covered(text, found).map(|(range, matched)| (range, matched != *inverted));
                keep(matches, *kept, start, pieces);
            }
        }
    }
}

/// The pieces of a text, none of them empty.
fn pieces(steps: &[SplitStep], text: &str) -> Vec<Range<usize>> {
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

/// The matches and the text between them, in order, each with whether it is a match.
fn covered(text: &str, found: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = (Range<usize>, bool)> {
    let mut at = 0;
    let end = text.len()..text.len();
    found.map(|found| (found, true)).chain([(end, false)]).flat_map(move |(range, matched)| {
        let before = at..range.start;
        at = range.end;
        let between = (!before.is_empty()).then_some((before, false));
        between.into_iter().chain(matched.then_some((range, true)))
    })
}

/// Appends the pieces that `matches`, in bytes from `start` on, become.
fn keep(matches: impl Iterator<Item = (Range<usize>, bool)>, keep: Keep, start: usize, pieces: &mut Vec<Range<usize>>) {
    let mut last = false;
    let first = pieces.len();
    for (range, matched) in matches {
        let joins = match keep {
            Keep::Contiguous => matched == last,
            Keep::MergedWithPrevious => matched && !last,
            Keep::MergedWithNext => !matched && last,
            Keep::Isolated | Keep::Removed => false,
        };
        let joins = joins && pieces.len() > first;
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
