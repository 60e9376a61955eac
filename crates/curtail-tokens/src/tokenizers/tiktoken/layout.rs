//! The layout of the tables of an encoding, which the build script writes and the counter reads.
//! It knows no text and no file.
#![allow(dead_code, reason = "the build script and the counter each use a part")]
#![expect(clippy::cast_possible_truncation, reason = "few top bits, and ids of 18 bits")]

/// The number of bits of a token id: the largest is 199,997.
pub(crate) const ID_BITS: u32 = 18;
/// The entry if two tokens do not merge, or a character is not a token. It is the id of a byte, which no merge makes.
pub(crate) const NONE: u32 = 0;

/// Two adjacent tokens as one number.
pub(crate) const fn pair(left: u32, right: u32) -> u64 {
    ((left as u64) << ID_BITS) | right as u64
}

/// Hashes a pair to 64 bits. The top bits select the slot in the table, and some more of them the bit in the filter.
pub(crate) const fn spread(pair: u64) -> u64 {
    pair.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The top bits of a spread pair.
#[inline]
pub(crate) const fn top(spread: u64, bits: u32) -> usize {
    (spread >> (64 - bits)) as usize
}

/// A slot of the table of merges: the pair in the high bits, the merged token in the low bits. A free slot is 0.
pub(crate) const fn slot(pair: u64, merged: u32) -> u64 {
    (pair << ID_BITS) | merged as u64
}

/// The merged token of a slot.
#[inline]
pub(crate) const fn merged(slot: u64) -> u32 {
    (slot & ((1 << ID_BITS) - 1)) as u32
}

/// The number of low bits of an id that the table of boundaries drops: ids in steps of 1,024 fit into a byte.
pub(crate) const BOUNDARY_STEP: u32 = 10;
/// The entry of a boundary that no token crosses.
pub(crate) const WHOLE: u8 = u8::MAX;

/// The binary logarithm of the number of bits in the filter of neighbors: 32 KB.
pub(crate) const NEIGHBOR_BITS: u32 = 18;

/// The bit of two characters, given by their code points, in the filter of characters that are adjacent in a token.
#[inline]
pub(crate) const fn neighbors(left: u32, right: u32) -> usize {
    top(spread((left as u64) << 21 | right as u64), NEIGHBOR_BITS)
}

/// The longest piece that is its own key in the cache, in bytes.
pub(crate) const SHORT: usize = 15;

/// Hashes a short piece, as made by [`word`], to 64 bits.
#[inline]
pub(crate) const fn spread_word([first, second]: [u64; 2]) -> u64 {
    first.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ second.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// A short piece as two numbers: its first eight bytes; the others, with the length in the top four bits.
#[inline]
pub(crate) const fn word(padded: u128, len: usize) -> [u64; 2] {
    [padded as u64, (padded >> 64) as u64 | (len as u64) << 60]
}

/// Code points in a block of the table of classes.
pub(crate) const CLASS_BLOCK: usize = 128;
/// Code points in a block of the table of whole characters.
pub(crate) const UNIT_BLOCK: usize = 64;

/// The classes of characters that the patterns distinguish.
pub(crate) mod class {
    pub(crate) const OTHER: u8 = 0;
    /// White space other than newlines.
    pub(crate) const SPACE: u8 = 1;
    /// `\r` and `\n`.
    pub(crate) const NEWLINE: u8 = 2;
    /// `\p{N}`
    pub(crate) const NUMBER: u8 = 3;
    /// `\p{M}`
    pub(crate) const MARK: u8 = 4;
    /// `\p{Lm}` and `\p{Lo}`: letters without case.
    pub(crate) const UNCASED: u8 = 5;
    /// `\p{Ll}`
    pub(crate) const LOWER: u8 = 6;
    /// `\p{Lu}` and `\p{Lt}`
    pub(crate) const UPPER: u8 = 7;
    /// A mask of the classes above: most patterns make no finer distinction.
    pub(crate) const COARSE: u8 = 7;
    /// Those of `OTHER` that are neither punctuation nor symbols: controls, format characters and unassigned code
    /// points.
    pub(crate) const SILENT: u8 = 8 | OTHER;
}
