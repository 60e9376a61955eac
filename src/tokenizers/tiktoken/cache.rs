//! Pieces that were counted before: most pieces of a text are. Exact, because a piece is its own key.

use super::layout::{SHORT, spread, spread_word, top, word};

/// 1 MB of places, touched one page at a time as pieces come.
const PLACES: usize = 1 << 15;

/// A table with room for two pieces at each place, in front the one that was met twice: pieces that come once do not drive out
/// those that come often. An entry is two numbers: the first eight bytes of a piece; the others, its count, its length.
pub(crate) struct Cache {
    places: Box<[[u64; 4]]>,
}

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
        top(spread_word(self.0), PLACES.trailing_zeros())
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
/// Rows of spaces and dashes, paths and phrases: few, but each costs a merge of many atoms.
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

    /// The count of a piece longer than 15 bytes; `count` counts what is not here.
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
    /// Nothing if the piece is too long or too short.
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
        Self { places: vec![[0; 4]; PLACES].into_boxed_slice() }
    }

    /// The count of a piece, if it stands in front.
    #[inline]
    pub(crate) fn get(&self, key: PieceKey) -> Option<usize> {
        let [first, second, ..] = self.places[key.home()];
        key.count_in(first, second)
    }

    /// The count of a piece that stands behind, which from now on stands in front.
    pub(crate) fn advance(&mut self, key: PieceKey) -> Option<usize> {
        let place = &mut self.places[key.home()];
        let count = key.count_in(place[2], place[3])?;
        place.rotate_left(2);
        Some(count)
    }

    pub(crate) fn put(&mut self, key: PieceKey, count: usize) {
        let place = &mut self.places[key.home()];
        let at = if place[1] == 0 { 0 } else { 2 };
        place[at] = key.0[0];
        place[at + 1] = key.0[1] | (count as u64) << 56;
    }
}
