//! The counts of pieces that were counted before, as most pieces of a text were. Exact, because a piece is its own key.

use std::hint::black_box;

use super::layout::{SHORT, spread, spread_word, top, word};

/// Number of buckets: 1 MB, touched one page at a time as pieces come.
const BUCKETS: usize = 1 << 15;

/// A table with two pieces per bucket. A piece that is found again moves to the front, and a new one replaces only the piece at
/// the back, so that rare pieces do not evict frequent ones. An entry is two numbers: the first eight bytes of a piece; the other
/// bytes, its count and its length.
pub(crate) struct Cache {
    buckets: Box<[[u64; 4]]>,
    /// How many pieces were put into it, up to [`MANY`].
    put: usize,
}

/// So many pieces are no longer a small text, and the whole table will be needed.
const MANY: usize = 64;

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
    fn home(self) -> usize {
        top(spread_word(self.0), BUCKETS.trailing_zeros())
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
        Self { buckets: vec![[0; 4]; BUCKETS].into_boxed_slice(), put: 0 }
    }

    /// The count of a piece, if it is at the front of its bucket.
    #[inline]
    pub(crate) fn get(&self, key: PieceKey) -> Option<usize> {
        let [first, second, ..] = self.buckets[key.home()];
        key.count_in(first, second)
    }

    /// The count of a piece at the back of its bucket, which moves to the front.
    pub(crate) fn advance(&mut self, key: PieceKey) -> Option<usize> {
        let bucket = &mut self.buckets[key.home()];
        let count = key.count_in(bucket[2], bucket[3])?;
        bucket.rotate_left(2);
        Some(count)
    }

    pub(crate) fn put(&mut self, key: PieceKey, count: usize) {
        if self.put < MANY {
            self.put += 1;
            if self.put == MANY {
                self.buckets = filled();
            }
        }
        let bucket = &mut self.buckets[key.home()];
        let at = if bucket[1] == 0 { 0 } else { 2 };
        bucket[at] = key.0[0];
        bucket[at + 1] = key.0[1] | (count as u64) << 56;
    }
}

/// A table whose memory is written once. The system gives zeroed memory page by page when it is first written; a page that is
/// read before takes twice the work, and with several threads it interrupts the other cores.
fn filled() -> Box<[[u64; 4]]> {
    std::iter::repeat_n(black_box([0; 4]), BUCKETS).collect()
}
