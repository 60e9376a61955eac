//! Pieces that were counted before: most pieces of a text are. Exact, because a short piece is its own key.

/// Bytes of the longest piece that is kept.
pub(crate) const LONGEST: usize = 15;
/// 512 KB of entries, touched one page at a time as pieces come: more made short runs slower.
const ENTRIES: usize = 1 << 15;

/// A direct-mapped table. An entry is the piece's bytes, above them its length, and in the lowest four bits its count.
pub(crate) struct Cache {
    entries: Box<[u128]>,
}

impl Cache {
    pub(crate) fn new() -> Self {
        Self { entries: vec![0; ENTRIES].into_boxed_slice() }
    }

    /// The key of a piece of 1 to 15 bytes.
    #[inline]
    pub(crate) fn key(piece: &[u8]) -> u128 {
        let mut bytes = [0; 16];
        bytes[1..=piece.len()].copy_from_slice(piece);
        bytes[0] = (piece.len() as u8) << 4;
        u128::from_le_bytes(bytes)
    }

    /// The count of a piece, if it is here.
    #[inline]
    pub(crate) fn get(&self, key: u128) -> Option<usize> {
        let differs = self.entries[home(key)] ^ key;
        (differs < 16).then_some(differs as usize)
    }

    #[inline]
    pub(crate) fn put(&mut self, key: u128, count: usize) {
        self.entries[home(key)] = key | count as u128;
    }
}

#[inline]
fn home(key: u128) -> usize {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let mixed = (low ^ high.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 49) as usize
}
