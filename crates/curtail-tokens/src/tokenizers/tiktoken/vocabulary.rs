//! The tables of an encoding. Those of most models are used in place in the binary, so that nothing is parsed or
//! allocated when the program starts. Those of older models are made when they are first used, which takes about
//! fifteen milliseconds. It knows ids and bytes, not how a text is split.

use super::tables::{
    CLASS_BLOCK, ID_BITS, NAMES, NONE, Tables, Tokens, UNIT_BLOCK, WHOLE, boundary_step, merged, neighbors, pair,
    spread, spread_word, top,
};

/// The tables of little-endian numbers that [`NAMES`] describes.
pub(crate) struct Vocabulary {
    /// The length of the longest token, in bytes.
    pub(crate) longest: usize,
    merges: &'static [[u8; 8]],
    filter: &'static [[u8; 8]],
    bytes: &'static [[u8; 4]],
    first: &'static [[u8; 4]],
    blocks: &'static [[u8; 2]],
    units: &'static [[u8; 4]],
    boundaries: &'static [[u8; 1]],
    neighbors: &'static [[u8; 1]],
    following: &'static [[u8; 16]],
    words: &'static [[u8; 8]],
    /// Tokens that no merges make, sorted: a piece is looked up among them before it is merged.
    whole: &'static [&'static [u8]],
}

/// Aligns a table to a cache line.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

macro_rules! in_place {
    ($file:literal) => {{
        static TABLE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $file)));
        &TABLE.0
    }};
}

/// The vocabularies by the names of their ranks in tiktoken-rs.
// Tables that are made once and never change are not state: a `LazyLock` here affects only speed.
pub(crate) mod listed {
    use std::sync::LazyLock;

    use super::{Aligned, Vocabulary};

    include!(concat!(env!("OUT_DIR"), "/vocabularies.rs"));
}

static CLASSES: &[u8] = in_place!("classes");
static CLASS_BLOCKS: &[u8] = in_place!("classes.blocks");

const fn rows<const N: usize>(table: &'static [u8]) -> &'static [[u8; N]] {
    table.as_chunks().0
}

/// Appends a section: its length, then its bytes.
pub(crate) fn write_section(bytes: &mut Vec<u8>, section: &[u8]) {
    bytes.extend_from_slice(&(section.len() as u64).to_le_bytes());
    bytes.extend_from_slice(section);
}

/// Takes the next section from `rest`; `None` if there is none.
pub(crate) fn read_section<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let (section, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *rest = after;
    Some(section)
}

/// A mask of the classes below `SILENT`: most patterns make no finer distinction.
const COARSE: u8 = 7;

/// The class of a code point, without the distinction of `SILENT` from `OTHER`.
#[inline]
pub(crate) fn class(character: u32) -> u8 {
    fine_class(character) & COARSE
}

/// The class of a code point, including `SILENT`.
#[inline]
pub(crate) fn fine_class(character: u32) -> u8 {
    let block = usize::from(CLASS_BLOCKS[character as usize / CLASS_BLOCK]);
    CLASSES[block * CLASS_BLOCK + character as usize % CLASS_BLOCK]
}

impl Vocabulary {
    /// Makes the tables from merges that are in the binary. Like tables in place, they are kept until the program ends.
    fn from_packed(packed: &[u8]) -> Self {
        Self::from_tokens(&Tokens::from_packed(packed), Vec::new())
    }

    /// Makes the tables of `tokens`, and of the tokens `whole` that no merges make. They are kept until the program
    /// ends.
    pub(crate) fn from_tokens(tokens: &Tokens, mut whole: Vec<Box<[u8]>>) -> Self {
        let Tables { longest, all } = Tables::from_tokens(tokens);
        whole.sort_unstable();
        let longest = whole.iter().map(|token| token.len()).max().unwrap_or(0).max(longest);
        let whole: Vec<&[u8]> = whole.into_iter().map(|token| &*Box::leak(token)).collect();
        Self::from_tables(longest, all.map(|table| &*table.leak()), whole.leak())
    }

    /// The vocabulary with these tables, in the order of [`NAMES`].
    const fn from_tables(
        longest: usize,
        tables: [&'static [u8]; NAMES.len()],
        whole: &'static [&'static [u8]],
    ) -> Self {
        let [merges, filter, bytes, first, blocks, units, boundaries, neighbors, following, words] = tables;
        Self {
            longest,
            merges: rows(merges),
            filter: rows(filter),
            bytes: rows(bytes),
            first: rows(first),
            blocks: rows(blocks),
            units: rows(units),
            boundaries: rows(boundaries),
            neighbors: rows(neighbors),
            following: rows(following),
            words: rows(words),
            whole,
        }
    }

    /// All tables, each after its length in bytes, for [`Self::from_bytes`].
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let tables = [
            self.merges.as_flattened(),
            self.filter.as_flattened(),
            self.bytes.as_flattened(),
            self.first.as_flattened(),
            self.blocks.as_flattened(),
            self.units.as_flattened(),
            self.boundaries.as_flattened(),
            self.neighbors.as_flattened(),
            self.following.as_flattened(),
            self.words.as_flattened(),
        ];
        let mut bytes = (self.longest as u64).to_le_bytes().to_vec();
        tables.into_iter().chain(self.whole.iter().copied()).for_each(|table| write_section(&mut bytes, table));
        bytes
    }

    /// The tables in what [`Self::to_bytes`] wrote; `None` if it is something else.
    pub(crate) fn from_bytes(bytes: &'static [u8]) -> Option<Self> {
        let (longest, mut rest) = bytes.split_first_chunk()?;
        let mut tables = [&[][..]; NAMES.len()];
        for table in &mut tables {
            *table = read_section(&mut rest)?;
        }
        let whole = std::iter::from_fn(|| read_section(&mut rest)).collect::<Vec<_>>().leak();
        Some(Self::from_tables(usize::try_from(u64::from_le_bytes(*longest)).ok()?, tables, whole))
    }

    /// Whether a piece is a token that no merges make.
    #[inline]
    pub(crate) fn takes_whole(&self, piece: &[u8]) -> bool {
        !self.whole.is_empty() && self.whole.binary_search(&piece).is_ok()
    }

    /// Whether merges make all tokens, so that it does not matter which text is a whole piece.
    pub(crate) const fn makes_all(&self) -> bool {
        self.whole.is_empty()
    }

    /// The token that two adjacent tokens merge into, or `NONE`.
    #[inline]
    pub(crate) fn merged(&self, left: u32, right: u32) -> u32 {
        let key = pair(left, right);
        let spread = spread(key);
        let bit = top(spread, self.filter.len().trailing_zeros() + 6);
        if u64::from_le_bytes(self.filter[bit / 64]) >> (bit % 64) & 1 == 0 {
            return NONE;
        }
        self.probe(key, top(spread, self.merges.len().trailing_zeros()))
    }

    #[inline]
    fn probe(&self, key: u64, mut at: usize) -> u32 {
        loop {
            let slot = u64::from_le_bytes(self.merges[at]);
            if slot >> ID_BITS == key {
                return merged(slot);
            }
            if slot == 0 {
                return NONE;
            }
            at = (at + 1) & (self.merges.len() - 1);
        }
    }

    /// The same, faster for two of the first 256 tokens, which are those of single bytes: before the first merge, most
    /// units are bytes.
    #[inline]
    pub(crate) fn first(&self, left: u32, right: u32) -> u32 {
        if left | right < 256 {
            return u32::from_le_bytes(self.first[(left << 8 | right) as usize]);
        }
        self.merged(left, right)
    }

    /// Whether a short piece is in the table of frequent pieces that are one token. Many other pieces are one token
    /// too.
    #[inline]
    pub(crate) fn knows(&self, word: [u64; 2]) -> bool {
        let (words, _) = self.words.as_chunks::<2>();
        let mut at = top(spread_word(word), words.len().trailing_zeros());
        loop {
            let found = words[at].map(u64::from_le_bytes);
            if found == word || found == [0, 0] {
                return found == word;
            }
            at = (at + 1) & (words.len() - 1);
        }
    }

    /// The token of a byte.
    #[inline]
    pub(crate) fn byte(&self, byte: u8) -> u32 {
        u32::from_le_bytes(self.bytes[usize::from(byte)])
    }

    /// The token of a whole character, or `NONE`.
    #[inline]
    pub(crate) fn unit(&self, character: u32) -> u32 {
        let block = u16::from_le_bytes(self.blocks[character as usize / UNIT_BLOCK]);
        u32::from_le_bytes(self.units[usize::from(block) * UNIT_BLOCK + character as usize % UNIT_BLOCK])
    }

    /// Whether no token contains both of two ASCII characters, one after the other.
    #[inline]
    pub(crate) fn separates_ascii(&self, left: u8, right: u8) -> bool {
        u128::from_le_bytes(self.following[usize::from(left)]) >> right & 1 == 0
    }

    /// Whether no token contains bytes of both characters, of which at least one is not ASCII. `left` ends with the byte
    /// `before`, and `right` begins with `after`.
    #[inline]
    pub(crate) fn separates(&self, left: u32, before: u8, right: u32, after: u8) -> bool {
        let bit = neighbors(left, right);
        self.neighbors[bit / 8][0] >> (bit % 8) & 1 == 0
            && self.boundaries[usize::from(before) << 8 | usize::from(after)][0] == WHOLE
    }

    /// Whether the bytes on both sides of a boundary can merge before the token `id` is made.
    #[inline]
    pub(crate) fn splits(&self, before: u8, after: u8, id: u32) -> bool {
        boundary_step(id) >= self.boundaries[usize::from(before) << 8 | usize::from(after)][0]
    }
}
