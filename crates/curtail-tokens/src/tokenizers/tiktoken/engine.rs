//! Counts with a vocabulary and a way to split: what an encoding and a `tokenizer.json` have in common.

use std::cell::RefCell;

use super::counter::{Counter, Reached, Walker};
use super::steps::{self, Step};
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
    pub(crate) splitter: Splitter<'a>,
}

/// How a text is split into pieces.
#[derive(Clone, Copy)]
pub(crate) enum Splitter<'a> {
    /// By a pattern that is written by hand.
    Pattern(&'static Walker),
    /// In steps, each of which splits what the one before it left.
    Steps(&'a [Step]),
}

impl Engine<'_> {
    pub(crate) fn count(self, text: &str) -> usize {
        self.walk(text, usize::MAX).tokens
    }

    /// As [`curtail_core::counting::Tokenizer::count_until`].
    pub(crate) fn count_until(self, text: &str, limit: usize) -> Option<usize> {
        // A token is at most 128 bytes in most vocabularies, so many texts need no counting to be known as too long.
        if text.len() / self.vocabulary.longest > limit && !self.splitter.removes() {
            return None;
        }
        let reached = self.walk(text, limit);
        (reached.at == text.len()).then_some(reached.tokens)
    }

    /// As [`curtail_core::counting::Tokenizer::head`].
    pub(crate) fn head(self, text: &str, tokens: usize) -> usize {
        let reached = self.walk(text, tokens);
        let ends = self.ends(text, reached.at);
        let held = ends.into_iter().take(tokens - reached.tokens);
        held.rev().find(|end| text.is_char_boundary(*end)).unwrap_or(reached.at)
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
        match self.splitter {
            Splitter::Pattern(walker) => self.counting(|counter| (walker.walk)(counter, text.as_bytes(), budget)),
            Splitter::Steps(steps) => {
                let pieces = steps::pieces(steps, text);
                self.counting(|counter| counter.walk_pieces(text.as_bytes(), &pieces, budget))
            }
        }
    }

    /// The ends of the tokens of the piece that starts at `at`; none at the end of the text.
    fn ends(self, text: &str, at: usize) -> Vec<usize> {
        if at == text.len() {
            return Vec::new();
        }
        match self.splitter {
            Splitter::Pattern(walker) => self.counting(|counter| (walker.ends)(counter, text.as_bytes(), at)),
            Splitter::Steps(steps) => {
                let piece = steps::pieces(steps, text).into_iter().find(|piece| piece.start >= at);
                piece.map_or_else(Vec::new, |piece| self.counting(|counter| counter.piece_ends(text.as_bytes(), piece)))
            }
        }
    }

    /// Runs `work` with this thread's counter for the vocabulary.
    fn counting<T>(self, work: impl FnOnce(&mut Counter) -> T) -> T {
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

impl Splitter<'_> {
    /// Whether a part of a text may be in no piece.
    pub(crate) fn removes(self) -> bool {
        match self {
            Splitter::Pattern(_) => false,
            Splitter::Steps(steps) => steps.iter().any(Step::removes),
        }
    }
}
