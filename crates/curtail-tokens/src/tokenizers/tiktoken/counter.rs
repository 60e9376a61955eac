//! Walks over a text piece by piece and adds up the tokens. There is one counter per thread and vocabulary.

#![expect(
    clippy::inline_always,
    reason = "functions that are not inlined lose the SIMD features that `dispatch!` enables"
)]

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};

use super::{
    cache::{Cache, LongCache, PieceKey},
    layout::SHORT,
    merge::Merger,
    pattern::Pattern,
    units::Cuts,
    vocabulary::Vocabulary,
    window::{self, Habits, WIDTH},
};

/// A vocabulary, with the caches and buffers for counting with it.
pub(crate) struct Counter {
    vocabulary: &'static Vocabulary,
    cache: Cache,
    long: LongCache,
    merger: Merger,
}

/// How far a walk came: the end of the last whole piece, and the tokens up to there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reached {
    pub(crate) at: usize,
    pub(crate) tokens: usize,
}

/// The functions of a counter, compiled for one pattern.
pub(crate) struct Walker {
    /// [`Counter::walk`]
    pub(crate) walk: fn(&mut Counter, &[u8], usize) -> Reached,
    /// [`Counter::ends`]
    pub(crate) ends: fn(&mut Counter, &[u8], usize) -> Vec<usize>,
}

impl Walker {
    pub(crate) const fn splitting_by<P: Pattern>() -> Self {
        Self { walk: Counter::walk::<P>, ends: Counter::ends::<P> }
    }
}

impl Counter {
    /// Whether this counter counts with `vocabulary`.
    pub(crate) fn counts_with(&self, vocabulary: &'static Vocabulary) -> bool {
        std::ptr::eq(self.vocabulary, vocabulary)
    }

    pub(crate) fn new(vocabulary: &'static Vocabulary) -> Self {
        Self { vocabulary, cache: Cache::new(), long: LongCache::new(), merger: Merger::default() }
    }

    /// Walks over as many whole pieces of the text as have at most `budget` tokens in all.
    pub(crate) fn walk<P: Pattern>(&mut self, text: &[u8], budget: usize) -> Reached {
        dispatch!(Level::new(), simd => self.walk_with::<P, _>(simd, text, budget))
    }

    #[inline(always)]
    fn walk_with<P: Pattern, S: Simd>(&mut self, simd: S, text: &[u8], budget: usize) -> Reached {
        let mut reached = Reached { at: 0, tokens: 0 };
        while reached.at < text.len() {
            let before = reached;
            if let Some(habits) = P::HABITS.filter(|_| budget - reached.tokens >= WIDTH && ascii(text, reached.at)) {
                self.window(simd, habits, text, &mut reached);
            }
            if reached == before {
                let end = P::end(text, reached.at);
                let tokens = reached.tokens + self.piece(text, reached.at, end, budget - reached.tokens);
                if tokens > budget {
                    break;
                }
                reached = Reached { at: end, tokens };
            }
        }
        reached
    }

    /// The same for a text whose pieces are known.
    pub(crate) fn walk_pieces(&mut self, text: &[u8], pieces: &[Range<usize>], budget: usize) -> Reached {
        let mut reached = Reached { at: 0, tokens: 0 };
        for piece in pieces {
            let tokens = reached.tokens + self.piece(text, piece.start, piece.end, budget - reached.tokens);
            if tokens > budget {
                return reached;
            }
            reached = Reached { at: piece.end, tokens };
        }
        Reached { at: text.len(), ..reached }
    }

    /// Counts the pieces of the next window whose ends are known.
    #[inline(always)]
    fn window<S: Simd>(&mut self, simd: S, habits: Habits, text: &[u8], reached: &mut Reached) {
        let rest = &text[reached.at..];
        if let Some(window) = rest.first_chunk() {
            return self.split(simd, habits, window, WIDTH, false, reached);
        }
        let mut window = [0; WIDTH + 16];
        let len = rest.len().min(WIDTH);
        window[..rest.len()].copy_from_slice(rest);
        self.split(simd, habits, &window, len, len < WIDTH, reached);
    }

    #[inline(always)]
    fn split<S: Simd>(
        &mut self,
        simd: S,
        habits: Habits,
        window: &[u8; WIDTH + 16],
        len: usize,
        last: bool,
        reached: &mut Reached,
    ) {
        let Some(split) = window.first_chunk() else {
            return;
        };
        let mut starts = window::starts(simd, habits, split, len, last) & !1;
        let mut from = 0;
        while starts != 0 {
            let to = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            reached.tokens += self.short(window, from, to);
            from = to;
        }
        reached.at += from;
    }

    /// The tokens of a piece in a window.
    #[inline]
    fn short(&mut self, window: &[u8; WIDTH + 16], from: usize, to: usize) -> usize {
        let from = from % WIDTH;
        if let (Some(bytes), true) = (window[from..].first_chunk(), to - from <= SHORT) {
            let key = PieceKey::new(bytes, to - from);
            return self.cache.get(key).unwrap_or_else(|| self.miss(&window[from..to], key));
        }
        self.long(&window[from..to], usize::MAX)
    }

    /// The ends in the text of the tokens of the piece that starts at `at`.
    pub(crate) fn ends<P: Pattern>(&mut self, text: &[u8], at: usize) -> Vec<usize> {
        self.piece_ends(text, at..P::end(text, at))
    }

    /// The ends in the text of the tokens of a piece.
    pub(crate) fn piece_ends(&mut self, text: &[u8], piece: Range<usize>) -> Vec<usize> {
        if self.vocabulary.takes_whole(&text[piece.clone()]) {
            return vec![piece.end];
        }
        let ends = self.merger.ends(self.vocabulary, &text[piece.clone()]);
        ends.into_iter().map(|end| piece.start + end).collect()
    }

    #[inline]
    fn piece(&mut self, text: &[u8], from: usize, to: usize, limit: usize) -> usize {
        if to - from > SHORT {
            return self.long(&text[from..to], limit);
        }
        self.key(text, from, to)
    }

    /// The tokens of a piece that is short enough to be its own key.
    #[inline]
    fn key(&mut self, text: &[u8], from: usize, to: usize) -> usize {
        let piece = &text[from..to];
        let key = text[from..].first_chunk().map_or_else(
            || {
                let mut bytes = [0; 16];
                bytes[..piece.len()].copy_from_slice(piece);
                PieceKey::new(&bytes, piece.len())
            },
            |bytes| PieceKey::new(bytes, piece.len()),
        );
        self.cache.get(key).unwrap_or_else(|| self.miss(piece, key))
    }

    /// The tokens of a piece that is too long for a key. Scripts without spaces make long pieces that rarely repeat. Such a
    /// piece is cut between two characters that no token joins, and the parts between two cuts do repeat.
    #[inline(never)]
    fn long(&mut self, piece: &[u8], limit: usize) -> usize {
        let (mut start, mut tokens) = (0, 0);
        if self.vocabulary.takes_whole(piece) {
            return 1;
        }
        if !piece[..SHORT].is_ascii() {
            for cut in Cuts::new(self.vocabulary, piece) {
                tokens += self.uncut(piece, start, cut, limit);
                start = cut;
                if tokens > limit {
                    return tokens;
                }
            }
        }
        tokens + self.uncut(piece, start, piece.len(), limit)
    }

    #[inline]
    fn uncut(&mut self, piece: &[u8], from: usize, to: usize, limit: usize) -> usize {
        let Self { vocabulary, long, merger, .. } = self;
        let part = &piece[from..to];
        // A token that only a whole piece can be is none where it is a part.
        if part.len() < piece.len() && vocabulary.takes_whole(part) {
            return merger.count(vocabulary, part, limit);
        }
        if part.len() <= SHORT {
            return self.key(piece, from, to);
        }
        let piece = part;
        long.get_or(piece, || merger.count(vocabulary, piece, limit))
    }

    #[cold]
    #[inline(never)]
    fn miss(&mut self, piece: &[u8], key: PieceKey) -> usize {
        if let Some(count) = self.cache.advance(key) {
            return count;
        }
        let known = self.vocabulary.knows(key.0) || self.vocabulary.takes_whole(piece);
        let count = if known { 1 } else { self.merger.count(self.vocabulary, piece, usize::MAX) };
        self.cache.put(key, count);
        count
    }
}

/// Whether the next eight bytes are ASCII, so that a window is worth its cost.
#[inline]
fn ascii(text: &[u8], at: usize) -> bool {
    let next = text[at..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    next & 0x8080_8080_8080_8080 == 0
}
