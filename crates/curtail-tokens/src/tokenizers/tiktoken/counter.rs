//! Counts the tokens of a text, piece by piece. There is one counter per thread and vocabulary.

#![expect(
    clippy::inline_always,
    reason = "functions that are not inlined lose the SIMD features that `dispatch!` enables"
)]

use std::hint::black_box;
use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};

use super::merge::{Cuts, Merger};
use super::pattern::Pattern;
use super::tables::{SHORT, spread, spread_word, top, word};
use super::vocabulary::Vocabulary;
use super::window;
use super::window::{SplitRules, WIDTH};

/// A vocabulary, with the caches and buffers for counting with it.
pub(crate) struct Counter {
    vocabulary: &'static Vocabulary,
    cache: Cache,
    long: LongCache,
    merger: Merger,
}

/// How far a walk came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reached {
    /// The end of the last whole piece, in bytes.
    pub(crate) at: usize,
    /// The number of tokens up to there.
    pub(crate) tokens: usize,
}

/// The functions of a pattern.
pub(crate) struct Walker {
    /// [`Counter::walk`], compiled for the pattern.
    pub(crate) walk: fn(&mut Counter, &[u8], usize) -> Reached,
    /// [`Pattern::end`]
    pub(crate) end: fn(&[u8], usize) -> usize,
}

impl Walker {
    pub(crate) const fn splitting_by<P: Pattern>() -> &'static Self {
        &const { Self { walk: Counter::walk::<P>, end: P::end } }
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

    /// Walks over as many whole pieces of the text as have at most `budget` tokens together.
    pub(crate) fn walk<P: Pattern>(&mut self, text: &[u8], budget: usize) -> Reached {
        dispatch!(Level::new(), simd => self.walk_with::<P, _>(simd, text, budget))
    }

    #[inline(always)]
    fn walk_with<P: Pattern, S: Simd>(&mut self, simd: S, text: &[u8], budget: usize) -> Reached {
        let mut reached = Reached { at: 0, tokens: 0 };
        while reached.at < text.len() {
            let before = reached;
            if let Some(rules) = P::SPLIT_RULES.filter(|_| budget - reached.tokens >= WIDTH && ascii(text, reached.at))
            {
                self.window(simd, rules, text, &mut reached);
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

    /// As [`Self::walk`], for a text whose pieces are known.
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

    /// As [`Self::walk`], for a text that is one piece. It is cut where no token can be.
    pub(crate) fn walk_cuts(&mut self, text: &[u8], budget: usize) -> Reached {
        let mut reached = Reached { at: 0, tokens: 0 };
        for cut in Cuts::new(self.vocabulary, text).chain([text.len()]) {
            let tokens = reached.tokens + self.piece(text, reached.at, cut, budget - reached.tokens);
            if tokens > budget {
                return reached;
            }
            reached = Reached { at: cut, tokens };
        }
        reached
    }

    /// Counts the pieces of the next window whose ends are known.
    #[inline(always)]
    fn window<S: Simd>(&mut self, simd: S, rules: SplitRules, text: &[u8], reached: &mut Reached) {
        let rest = &text[reached.at..];
        if let Some(window) = rest.first_chunk() {
            return self.split(simd, rules, window, WIDTH, false, reached);
        }
        let mut window = [0; WIDTH + 16];
        let len = rest.len().min(WIDTH);
        window[..rest.len()].copy_from_slice(rest);
        self.split(simd, rules, &window, len, len < WIDTH, reached);
    }

    #[inline(always)]
    fn split<S: Simd>(
        &mut self,
        simd: S,
        rules: SplitRules,
        window: &[u8; WIDTH + 16],
        len: usize,
        last: bool,
        reached: &mut Reached,
    ) {
        let Some(split) = window.first_chunk() else {
            return;
        };
        let mut starts = window::starts(simd, rules, split, len, last) & !1;
        let mut from = 0;
        while starts != 0 {
            let to = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            reached.tokens += self.short(window, from, to);
            from = to;
        }
        reached.at += from;
    }

    /// The number of tokens of a piece in a window.
    #[inline]
    fn short(&mut self, window: &[u8; WIDTH + 16], from: usize, to: usize) -> usize {
        let from = from % WIDTH;
        if let (Some(bytes), true) = (window[from..].first_chunk(), to - from <= SHORT) {
            let key = PieceKey::new(bytes, to - from);
            return self.cache.get(key).unwrap_or_else(|| self.miss(&window[from..to], key));
        }
        self.long(&window[from..to], usize::MAX)
    }

    /// The ends of the tokens of a piece, in bytes of the text.
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

    /// The number of tokens of a piece that is short enough to be its own key.
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

    /// The number of tokens of a piece that is too long for a key; any number above `limit` if there are more. Scripts
    /// without spaces have long pieces that rarely repeat. Such a piece is cut between characters that no token joins;
    /// its parts do repeat.
    #[inline(never)]
    fn long(&mut self, piece: &[u8], limit: usize) -> usize {
        let mut start = 0;
        let mut tokens = 0;
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
        // A token that is only made of a whole piece is not made of a part.
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

// The counts of pieces that were counted before, as most pieces of a text were. They are exact, because a piece is its
// own key.

/// The binary logarithm of the number of buckets at first: 1 MB, of which only the pages in use take memory.
const BITS: u32 = 15;
/// The same for the table of a large text: 4 MB. A lookup in it is still faster than merging a few letters.
const LARGEST_BITS: u32 = 17;

/// A table with two pieces per bucket. A piece that is found again moves to the front, and a new one replaces only the piece at
/// the back, so that rare pieces do not evict frequent ones. An entry is two numbers: the first eight bytes of a piece; the other
/// bytes, its count and its length.
struct Cache {
    buckets: Box<[[u64; 4]]>,
    /// The binary logarithm of the number of buckets.
    bits: u32,
    /// The number of pieces that were put into the table.
    put: usize,
}

/// The number of pieces from which on a text is no longer small, so that the whole table will be needed.
const MANY: usize = 64;
/// The number of pieces per bucket after which the table grows. They fill it twice: the text has some megabytes, and
/// its rare pieces are worth keeping as well.
const FULL: usize = 4;

/// A piece of at most 15 bytes: an entry without a count.
#[derive(Clone, Copy)]
pub(crate) struct PieceKey(pub(crate) [u64; 2]);

impl PieceKey {
    /// The key of the first `len` bytes.
    #[inline]
    pub(crate) fn new(bytes: &[u8; 16], len: usize) -> Self {
        let padded = u128::from_le_bytes(*bytes) & MASKS[len & 15];
        Self(word(padded, len))
    }

    /// The count in an entry, if it is this piece's.
    #[inline]
    fn count_in(self, first: u64, second: u64) -> Option<usize> {
        let differs = second ^ self.0[1];
        (first == self.0[0] && differs & !(0xF << 56) == 0).then_some((differs >> 56) as usize)
    }

    /// The bucket of this piece in a table of `1 << bits` buckets.
    #[inline]
    fn home(self, bits: u32) -> usize {
        top(spread_word(self.0), bits)
    }
}

/// Masks of the lowest bytes, by their number.
const MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 1;
    while len < 16 {
        masks[len] = masks[len - 1] << 8 | 0xFF;
        len += 1;
    }
    masks
};

/// The longest piece that is kept, in bytes.
const LONG: usize = 48;
/// The number of entries. Rows of spaces and dashes, paths and phrases are few, but each costs a merge of many units.
const LONG_ENTRIES: usize = 1 << 10;

/// A direct-mapped table of pieces that are too long for [`Cache`].
struct LongCache {
    entries: Box<[LongPiece]>,
}

/// A piece, padded with zeros, and the number of its tokens.
#[derive(Clone, Copy, PartialEq)]
struct LongPiece {
    bytes: [u8; LONG],
    len: u8,
    count: u8,
}

impl LongCache {
    pub(crate) fn new() -> Self {
        let free = LongPiece { bytes: [0; LONG], len: 0, count: 0 };
        Self { entries: vec![free; LONG_ENTRIES].into_boxed_slice() }
    }

    /// The count of a piece longer than 15 bytes; `count` counts it if it is not in the table.
    fn get_or(&mut self, piece: &[u8], count: impl FnOnce() -> usize) -> usize {
        let Some(key) = LongPiece::new(piece) else {
            return count();
        };
        let entry = &mut self.entries[key.home()];
        if *entry != (LongPiece { count: entry.count, ..key }) {
            *entry = LongPiece { count: u8::try_from(count()).unwrap_or(u8::MAX), ..key };
        }
        usize::from(entry.count)
    }
}

impl LongPiece {
    /// The piece without a count; `None` if it is too long or too short.
    fn new(piece: &[u8]) -> Option<Self> {
        let mut bytes = [0; LONG];
        bytes.get_mut(..piece.len()).filter(|room| room.len() > SHORT)?.copy_from_slice(piece);
        Some(Self { bytes, len: u8::try_from(piece.len()).ok()?, count: 0 })
    }

    fn home(&self) -> usize {
        let (words, _) = self.bytes.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let all = words.fold(u64::from(self.len), |all, word| spread(all ^ word).rotate_left(23));
        top(spread(all), LONG_ENTRIES.trailing_zeros())
    }
}

impl Cache {
    pub(crate) fn new() -> Self {
        Self { buckets: vec![[0; 4]; 1 << BITS].into_boxed_slice(), bits: BITS, put: 0 }
    }

    /// The count of a piece, if it is at the front of its bucket.
    #[inline]
    pub(crate) fn get(&self, key: PieceKey) -> Option<usize> {
        let [first, second, ..] = self.buckets[key.home(self.bits)];
        key.count_in(first, second)
    }

    /// The count of a piece at the back of its bucket, which moves to the front.
    fn advance(&mut self, key: PieceKey) -> Option<usize> {
        let bucket = &mut self.buckets[key.home(self.bits)];
        let count = key.count_in(bucket[2], bucket[3])?;
        bucket.rotate_left(2);
        Some(count)
    }

    pub(crate) fn put(&mut self, key: PieceKey, count: usize) {
        self.put += 1;
        if self.put == MANY {
            self.buckets = filled(BITS);
        } else if self.put == FULL << self.bits && self.bits < LARGEST_BITS {
            self.grow();
        }
        self.insert(key.0[0], key.0[1] | (count as u64) << 56, key.home(self.bits));
    }

    fn insert(&mut self, first: u64, second: u64, home: usize) {
        let bucket = &mut self.buckets[home];
        let at = if bucket[1] == 0 { 0 } else { 2 };
        bucket[at] = first;
        bucket[at + 1] = second;
    }

    fn grow(&mut self) {
        self.bits += 1;
        let old = std::mem::replace(&mut self.buckets, filled(self.bits));
        for [first, second] in old.as_flattened().as_chunks().0 {
            if *second != 0 {
                let key = PieceKey([*first, second & !(0xF << 56)]);
                self.insert(*first, *second, key.home(self.bits));
            }
        }
    }
}

/// An empty table whose memory was written once. The system provides a page of zeroed memory when it is first written.
/// If the page is read before that, this takes twice the work, and with several threads it interrupts the other cores.
fn filled(bits: u32) -> Box<[[u64; 4]]> {
    std::iter::repeat_n(black_box([0; 4]), 1 << bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(nth: usize) -> PieceKey {
        PieceKey::new(&(nth as u128 + 1).to_le_bytes(), 8)
    }

    const fn count(nth: usize) -> usize {
        nth % 15 + 1
    }

    /// Which of the first `put` pieces are in the cache.
    fn found(cache: &mut Cache, put: usize) -> Vec<usize> {
        let counts = (0..put).map(|nth| (nth, cache.get(piece(nth)).or_else(|| cache.advance(piece(nth)))));
        let found = counts.filter_map(|(nth, found)| Some((nth, found?)));
        found.inspect(|(nth, found)| assert_eq!(*found, count(*nth))).map(|(nth, _)| nth).collect()
    }

    #[test]
    fn a_table_that_grew_has_the_pieces_it_had() {
        let mut cache = Cache::new();
        for bits in BITS..LARGEST_BITS {
            let put = (FULL << bits) - 1;
            (cache.put..put).for_each(|nth| cache.put(piece(nth), count(nth)));
            assert_eq!(cache.bits, bits);
            let before = found(&mut cache, put);
            cache.put(piece(put), count(put));
            assert_eq!(cache.bits, bits + 1);
            let after = found(&mut cache, put);
            assert!(before.len() > 1 << bits && before.iter().all(|nth| after.binary_search(nth).is_ok()));
        }
    }
}
