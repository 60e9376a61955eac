//! Walks over a text piece by piece and adds up their tokens. One counter per thread and vocabulary.

use super::{
    cache::{self, Cache},
    merge::Merger,
    pattern::Pattern,
    vocabulary::Vocabulary,
};

/// The vocabulary, and the memory that counting with it uses.
pub(crate) struct Counter {
    vocabulary: &'static Vocabulary,
    cache: Cache,
    merger: Merger,
}

/// How far a walk came: whole pieces, and their tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reached {
    pub(crate) at: usize,
    pub(crate) tokens: usize,
}

impl Counter {
    pub(crate) fn new(vocabulary: &'static Vocabulary) -> Self {
        Self { vocabulary, cache: Cache::new(), merger: Merger::default() }
    }

    /// As many whole pieces of the text as hold at most `budget` tokens together.
    pub(crate) fn walk<P: Pattern>(&mut self, text: &[u8], budget: usize) -> Reached {
        let mut reached = Reached { at: 0, tokens: 0 };
        while reached.at < text.len() {
            let end = P::end(text, reached.at);
            let tokens = reached.tokens + self.piece(&text[reached.at..end], budget - reached.tokens);
            if tokens > budget {
                break;
            }
            reached = Reached { at: end, tokens };
        }
        reached
    }

    /// The places in the text where the tokens end of the piece that starts at `at`.
    pub(crate) fn ends<P: Pattern>(&mut self, text: &[u8], at: usize) -> Vec<usize> {
        let ends = self.merger.ends(self.vocabulary, &text[at..P::end(text, at)]);
        ends.into_iter().map(|end| at + end).collect()
    }

    #[inline]
    fn piece(&mut self, piece: &[u8], limit: usize) -> usize {
        if piece.len() > cache::LONGEST {
            return self.merger.count(self.vocabulary, piece, limit);
        }
        let key = Cache::key(piece);
        self.cache.get(key).unwrap_or_else(|| self.miss(piece, key))
    }

    #[cold]
    #[inline(never)]
    fn miss(&mut self, piece: &[u8], key: u128) -> usize {
        let count = self.merger.count(self.vocabulary, piece, usize::MAX);
        self.cache.put(key, count);
        count
    }
}
