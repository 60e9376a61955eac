//! Pieces that were counted before: most pieces of a text are. Exact, because a short piece is its own key.

use super::layout::{spread_word, top, word};

/// 512 KB of entries, touched one page at a time as pieces come: more made short runs slower.
const ENTRIES: usize = 1 << 15;

/// A direct-mapped table. An entry is two numbers: the first eight bytes of a piece; the others, its count, its length.
pub(crate) struct Cache {
    entries: Box<[[u64; 2]]>,
}

/// A piece of at most 15 bytes, as an entry with no count.
#[derive(Clone, Copy)]
pub(crate) struct Key(pub(crate) [u64; 2]);

impl Key {
    /// The key of the first `len` of some bytes.
    #[inline]
    pub(crate) fn new(bytes: &[u8; 16], len: usize) -> Self {
        let both = u128::from_le_bytes(*bytes) & MASKS[len & 15];
        Self(word(both, len))
    }

    #[inline]
    fn home(self) -> usize {
        top(spread_word(self.0), ENTRIES.trailing_zeros())
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

impl Cache {
    pub(crate) fn new() -> Self {
        Self { entries: vec![[0; 2]; ENTRIES].into_boxed_slice() }
    }

    /// The count of a piece, if it is here.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<usize> {
        let [first, second] = self.entries[key.home()];
        let differs = second ^ key.0[1];
        (first == key.0[0] && differs & !(0xF << 56) == 0).then_some((differs >> 56) as usize)
    }

    #[inline]
    pub(crate) fn put(&mut self, key: Key, count: usize) {
        self.entries[key.home()] = [key.0[0], key.0[1] | (count as u64) << 56];
    }
}
