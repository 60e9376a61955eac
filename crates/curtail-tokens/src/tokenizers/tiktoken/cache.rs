//! The counts of pieces that were counted before, as most pieces of a text were. Exact, because a piece is its own key.

use std::hint::black_box;

use super::layout::{SHORT, spread, spread_word, top, word};

/// The logarithm of the number of buckets: 1 MB, touched one page at a time as pieces come.
const BITS: u32 = 15;
/// The same for the table of a large text.
const LARGE_BITS: u32 = 16;

/// A table with two pieces per bucket. A piece that is found again moves to the front, and a new one replaces only the piece at
/// the back, so that rare pieces do not evict frequent ones. An entry is two numbers: the first eight bytes of a piece; the other
/// bytes, its count and its length.
pub(crate) struct Cache {
    buckets: Box<[[u64; 4]]>,
    /// The logarithm of their number.
    bits: u32,
    /// How many pieces were put into it.
    put: usize,
}

/// So many pieces are no longer a small text, and the whole table will be needed.
const MANY: usize = 64;
/// So many fill the table twice: a text of some megabytes, whose rare pieces are worth keeping as well.
const FULL: usize = 4 << BITS;

/// A piece of at most 15 bytes, as an entry with no count.
#[derive(Clone, Copy)]
pub(crate) struct PieceKey(pub(crate) [u64; 2]);

impl PieceKey {
    /// The key of the first `len` of some bytes.
    #[inline]
    pub(crate) fn new(bytes: &[u8; 16], len: usize) -> Self {
        let both = u128::from_le_bytes(*bytes) & MASKS[len & 15];
        Self(word(both, len))
    }

    /// The count in an entry, if it is this piece's.
    #[inline]
    fn count_in(self, first: u64, second: u64) -> Option<usize> {
        let differs = second ^ self.0[1];
        (first == self.0[0] && differs & !(0xF << 56) == 0).then_some((differs >> 56) as usize)
    }

    #[inline]
    fn home(self, bits: u32) -> usize {
        top(spread_word(self.0), bits)
    }
}

/// The lowest bytes of a piece by its length.
const MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 1;
    while len < 16 {
        masks[len] = masks[len - 1] << 8 | 0xFF;
        len += 1;
    }
    masks
};

/// Bytes of the longest piece that is kept.
pub(crate) const LONG: usize = 48;
/// Rows of spaces and dashes, paths and phrases: they are not many, but each costs a merge of many units.
const LONG_ENTRIES: usize = 1 << 10;

/// A direct-mapped table of pieces that are too long for [`Cache`].
pub(crate) struct LongCache {
    entries: Box<[LongPiece]>,
}

/// A piece, padded with zeros.
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
    pub(crate) fn get_or(&mut self, piece: &[u8], count: impl FnOnce() -> usize) -> usize {
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
    /// `None` if the piece is too long or too short.
    fn new(piece: &[u8]) -> Option<Self> {
        let mut bytes = [0; LONG];
        bytes.get_mut(..piece.len()).filter(|own| own.len() > SHORT)?.copy_from_slice(piece);
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
    pub(crate) fn advance(&mut self, key: PieceKey) -> Option<usize> {
        let bucket = &mut self.buckets[key.home(self.bits)];
        let count = key.count_in(bucket[2], bucket[3])?;
        bucket.rotate_left(2);
        Some(count)
    }

    pub(crate) fn put(&mut self, key: PieceKey, count: usize) {
        self.put += 1;
        if self.put == MANY {
            self.buckets = filled(BITS);
        } else if self.put == FULL {
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
        let old = std::mem::replace(&mut self.buckets, filled(LARGE_BITS));
        self.bits = LARGE_BITS;
        for [first, second] in old.as_flattened().as_chunks().0 {
            if *second != 0 {
                let key = PieceKey([*first, second & !(0xF << 56)]);
                self.insert(*first, *second, key.home(self.bits));
            }
        }
    }
}

/// A table whose memory is written once. The system gives zeroed memory page by page when it is first written; a page that is
/// read before takes twice the work, and with several threads it interrupts the other cores.
fn filled(bits: u32) -> Box<[[u64; 4]]> {
    std::iter::repeat_n(black_box([0; 4]), 1 << bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_grew_has_the_pieces_it_had() {
        let piece = |nth: usize| PieceKey::new(&(nth as u128 + 1).to_le_bytes(), 8);
        let count = |nth: usize| nth % 15 + 1;
        let mut cache = Cache::new();
        (0..FULL - 1).for_each(|nth| cache.put(piece(nth), count(nth)));
        let found = |cache: &mut Cache| -> Vec<usize> {
            let mut own = |nth: &usize| cache.get(piece(*nth)).or_else(|| cache.advance(piece(*nth)));
            (0..FULL - 1).filter(|nth| own(nth).inspect(|own| assert_eq!(*own, count(*nth))).is_some()).collect()
        };
        let before = found(&mut cache);
        cache.put(piece(FULL), count(FULL));
        assert_eq!(cache.bits, LARGE_BITS);
        assert!(before.len() > 1 << BITS && found(&mut cache) == before);
    }
}
