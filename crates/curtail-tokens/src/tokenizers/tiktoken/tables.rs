//! The tables of an encoding: their layout, and how they are made from its merges. For most models, this happens when
//! `curtail` is built, so that it starts at once, and for older models at their first use, which keeps the binary small.
//! So the build script and the counter both include this file. It reads no file and knows no text.
#![expect(clippy::cast_possible_truncation, reason = "few top bits, blocks are at most 17,408, and ids have 20 bits")]

/// The tables of one encoding, as little-endian numbers.
pub(crate) struct Tables {
    /// The length of the longest token, in bytes.
    pub(crate) longest: usize,
    /// Each table, in the order of their names.
    pub(crate) all: [Vec<u8>; NAMES.len()],
}

/// The names of the tables of an encoding:
///
/// - `merges`, `filter`: The slots of a `MergeTable`, and its filter.
/// - `bytes`: The token of each byte.
/// - `first`: The token into which any two of the first 256 tokens merge.
/// - `blocks`, `units`: The number of the block in `units` for every 64 code points, and the tokens of whole characters.
/// - `boundaries`: For any two bytes, the lowest token that splits a character between them.
/// - `neighbors`: A bit for any two characters that are adjacent in a token, unless both are ASCII.
/// - `following`: For each ASCII character, a bit for each one that follows it in a token.
/// - `words`: The most frequent tokens that may be a whole piece.
pub(crate) const NAMES: [&str; 10] =
    ["merges", "filter", "bytes", "first", "blocks", "units", "boundaries", "neighbors", "following", "words"];

impl Tables {
    pub(crate) fn from_tokens(tokens: &Tokens) -> Self {
        let merges = MergeTable::from_tokens(tokens);
        let (blocks, units) = whole_characters(tokens);
        let all = [
            little_endian(&merges.slots, |slot| slot.to_le_bytes()),
            little_endian(&merges.filter, |word| word.to_le_bytes()),
            little_endian(&tokens.byte_ids(), |id| id.to_le_bytes()),
            little_endian(&merges.first(), |id| id.to_le_bytes()),
            little_endian(&blocks, |number| number.to_le_bytes()),
            little_endian(&units, |id| id.to_le_bytes()),
            boundaries(tokens),
            adjacent(tokens),
            little_endian(&following(tokens), |row| row.to_le_bytes()),
            little_endian(frequent(tokens).as_flattened(), |number| number.to_le_bytes()),
        ];
        Self { longest: tokens.iter().map(|(_, token)| token.len()).max().unwrap_or(0), all }
    }
}

/// The numbers one after another, as little-endian bytes.
fn little_endian<T, const N: usize>(numbers: &[T], bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    let mut all = Vec::with_capacity(numbers.len() * N);
    for number in numbers {
        all.extend_from_slice(&bytes(number));
    }
    all
}

// The bytes of each token, from the pairs that make them.

/// The number of tokens of one byte, which have the lowest ids.
pub(crate) const BYTES: usize = 256;
/// The entry of a byte or an unused id in place of a pair: no id is that large.
pub(crate) const NO_PAIR: [u32; 2] = [0xFF_FFFF; 2];

/// The tokens by their ids. A token is a unit, from which merging starts, or a pair of tokens, usually with lower ids. The
/// first 256 units are the bytes; a vocabulary of characters has more.
pub(crate) struct Tokens {
    /// The two parts of each token; [`NO_PAIR`] for a unit or an unused id.
    pairs: Vec<[u32; 2]>,
    /// The bytes of all tokens, one after another.
    text: Vec<u8>,
    /// Where the bytes of each token end in `text`.
    ends: Vec<usize>,
}

impl Tokens {
    /// Tokens from the pair and the bytes of each id.
    #[allow(dead_code, reason = "the build script knows only pairs")]
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = ([u32; 2], &'a [u8])>) -> Self {
        let mut all = Self { pairs: Vec::new(), text: Vec::new(), ends: Vec::new() };
        for (pair, token) in tokens {
            all.pairs.push(pair);
            all.text.extend_from_slice(token);
            all.ends.push(all.text.len());
        }
        all
    }

    /// Tokens from the bytes in the order of their ids, and from the pair of each id, whose parts have lower ids.
    pub(crate) fn from_pairs(bytes: &[u8], pairs: Vec<[u32; 2]>) -> Self {
        let mut tokens = Self { text: bytes.to_vec(), ends: (1..=bytes.len()).collect(), pairs };
        for id in BYTES..tokens.pairs.len() {
            if tokens.pairs[id] != NO_PAIR {
                for part in tokens.pairs[id] {
                    tokens.text.extend_from_within(tokens.range(part));
                }
            }
            tokens.ends.push(tokens.text.len());
        }
        tokens
    }

    /// The bytes in the order of their ids, then three bytes for each part of each pair: a tenth of the size of the
    /// tables.
    #[allow(dead_code, reason = "only the build script writes")]
    pub(crate) fn packed(&self) -> Vec<u8> {
        let parts = self.pairs[BYTES..].as_flattened().iter();
        let parts = parts.flat_map(|part| part.to_le_bytes().into_iter().take(3));
        self.text[..BYTES].iter().copied().chain(parts).collect()
    }

    /// Reads what [`Self::packed`] wrote.
    #[allow(dead_code, reason = "only the counter reads")]
    pub(crate) fn from_packed(packed: &[u8]) -> Self {
        let (bytes, rest) = packed.split_at(BYTES);
        let (parts, _) = rest.as_chunks::<3>();
        let pairs = parts.as_chunks::<2>().0.iter();
        let pairs = pairs.map(|pair| pair.map(|[low, middle, high]| u32::from_le_bytes([low, middle, high, 0])));
        Self::from_pairs(bytes, std::iter::repeat_n(NO_PAIR, BYTES).chain(pairs).collect())
    }

    /// Ids and bytes of all tokens in use, lowest rank first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let all = (0..).take(self.ends.len()).map(|id| (id, &self.text[self.range(id)]));
        all.filter(|(_, token)| !token.is_empty())
    }

    /// The pairs with the tokens that they make, lowest rank first.
    pub(crate) fn merges(&self) -> impl Iterator<Item = ([u32; 2], u32)> {
        self.pairs.iter().copied().zip(0..).filter(|(pair, _)| *pair != NO_PAIR)
    }

    /// The token of each byte.
    fn byte_ids(&self) -> [u32; BYTES] {
        let mut ids = [0; BYTES];
        for (&byte, id) in self.text[..BYTES].iter().zip(0..) {
            ids[usize::from(byte)] = id;
        }
        ids
    }

    /// For each token, whether its parts and theirs have lower ids, and all tokens of which it is a part have higher ones.
    /// Then it is made before it merges with anything.
    fn settled(&self) -> Vec<bool> {
        let mut settled = vec![true; self.pairs.len()];
        for ([left, right], id) in self.merges() {
            settled[id as usize] = [left, right].into_iter().all(|part| part <= id && settled[part as usize]);
        }
        for (pair, id) in self.merges() {
            for part in pair.into_iter().filter(|part| *part > id) {
                settled[part as usize] = false;
            }
        }
        settled
    }

    fn range(&self, id: u32) -> std::ops::Range<usize> {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        start..self.ends[id]
    }
}

// Which two tokens merge into which third. Every token except the units comes from exactly one pair. So the id of the
// merged token is the rank of the merge, and counting does not need the bytes of tokens.

/// An open-addressing table of merges, with a filter that most pairs that do not merge fail.
pub(crate) struct MergeTable {
    slots: Vec<u64>,
    filter: Vec<u64>,
}

impl MergeTable {
    /// An empty table with space for `count` merges.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            slots: vec![0; (count * 5 / 4 + 1).next_power_of_two()],
            filter: vec![0; (count * 8 / 64).next_power_of_two()],
        }
    }

    fn from_tokens(tokens: &Tokens) -> Self {
        let mut table = Self::new(tokens.iter().count());
        for (parts, id) in tokens.merges() {
            table.insert(parts, id);
        }
        table
    }

    /// The tokens into which any two of the first 256 tokens merge, or `NONE`.
    fn first(&self) -> Vec<u32> {
        (0..1 << 16).map(|pair| self.merged(pair >> 8, pair & 0xFF)).collect()
    }

    /// The token that two adjacent tokens merge into, or `NONE`.
    pub(crate) fn merged(&self, left: u32, right: u32) -> u32 {
        let key = pair(left, right);
        let bit = self.bit(key);
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return NONE;
        }
        let mut at = self.home(key);
        while self.slots[at] != 0 {
            let found = merged(self.slots[at]);
            if self.slots[at] == slot(key, found) {
                return found;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        NONE
    }

    pub(crate) fn insert(&mut self, [left, right]: [u32; 2], merged: u32) {
        let key = pair(left, right);
        let mut at = self.home(key);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot(key, merged);
        let bit = self.bit(key);
        self.filter[bit / 64] |= 1 << (bit % 64);
    }

    /// Merges tokens, the pair with the lowest rank first, and returns the rank of the last merge, or `NONE`. `token` is
    /// the token that the merge of a rank makes.
    pub(crate) fn merge(&self, tokens: &mut Vec<u32>, token: impl Fn(u32) -> u32) -> u32 {
        let mut ranks: Vec<u32> = tokens.array_windows().map(|[left, right]| self.merged(*left, *right)).collect();
        let mut last = NONE;
        loop {
            let candidates = ranks.iter().copied().enumerate().filter(|(_, rank)| *rank != NONE);
            let Some((at, rank)) = candidates.min_by_key(|(at, rank)| (*rank, *at)) else {
                return last;
            };
            last = rank;
            tokens[at] = token(rank);
            tokens.remove(at + 1);
            ranks.remove(at);
            if at > 0 {
                ranks[at - 1] = self.merged(tokens[at - 1], tokens[at]);
            }
            if let Some(after) = ranks.get_mut(at) {
                *after = self.merged(tokens[at], tokens[at + 1]);
            }
        }
    }

    fn bit(&self, key: u64) -> usize {
        top(spread(key), self.filter.len().trailing_zeros() + 6)
    }

    fn home(&self, key: u64) -> usize {
        top(spread(key), self.slots.len().trailing_zeros())
    }
}

// Characters that are one token, from which merging may start instead of from their bytes; and the boundaries between two
// characters where that is wrong, because a token with a lower id has bytes of both, but only a part of one. Also which
// characters are adjacent in a token: between all others, a text can be cut without changing its tokens.

/// The number of the block of every 64 code points, and the blocks of tokens, of which block 0 is empty.
fn whole_characters(tokens: &Tokens) -> (Vec<u16>, Vec<u32>) {
    let mut numbers = vec![0_u16; 0x11_0000 / UNIT_BLOCK];
    let mut units = vec![NONE; UNIT_BLOCK];
    let settled = tokens.settled();
    let characters = tokens.iter().filter(|(id, _)| settled[*id as usize]);
    for (character, id) in characters.filter_map(|(id, token)| Some((whole_character(token)?, id))) {
        let block = character as usize / UNIT_BLOCK;
        if numbers[block] == 0 {
            numbers[block] = (units.len() / UNIT_BLOCK) as u16;
            units.resize(units.len() + UNIT_BLOCK, NONE);
        }
        units[usize::from(numbers[block]) * UNIT_BLOCK + character as usize % UNIT_BLOCK] = id;
    }
    (numbers, units)
}

/// The character of a token that is exactly one character of more than one byte.
fn whole_character(token: &[u8]) -> Option<char> {
    // A character has at most four bytes.
    let text = std::str::from_utf8(token).ok().filter(|_| (2..=4).contains(&token.len()))?;
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// A bit for every two characters that are complete and adjacent in a token, unless both are ASCII.
fn adjacent(tokens: &Tokens) -> Vec<u8> {
    let mut filter = vec![0; 1 << (NEIGHBOR_BITS - 3)];
    for text in beyond_ascii(tokens).flat_map(|(_, token)| token.utf8_chunks()).map(|chunk| chunk.valid()) {
        for (left, right) in text.chars().zip(text.chars().skip(1)) {
            let bit = neighbors(u32::from(left), u32::from(right));
            filter[bit / 8] |= 1 << (bit % 8);
        }
    }
    filter
}

/// For each ASCII character, a bit for each one that follows it in a token.
fn following(tokens: &Tokens) -> [u128; 128] {
    let mut following = [0; 128];
    for [left, right] in tokens.iter().flat_map(|(_, token)| token.array_windows()) {
        if left.is_ascii() && right.is_ascii() {
            following[usize::from(*left)] |= 1 << right;
        }
    }
    following
}

/// For each boundary between two bytes, the lowest id, in steps, of a token that crosses it and contains only a part of
/// one of the characters there.
fn boundaries(tokens: &Tokens) -> Vec<u8> {
    let mut boundaries = vec![WHOLE; 1 << 16];
    for (id, token) in beyond_ascii(tokens) {
        let step = boundary_step(id);
        for at in split_characters(token) {
            let boundary = usize::from(token[at - 1]) << 8 | usize::from(token[at]);
            boundaries[boundary] = boundaries[boundary].min(step);
        }
    }
    boundaries
}

fn beyond_ascii(tokens: &Tokens) -> impl Iterator<Item = (u32, &[u8])> {
    tokens.iter().filter(|(_, token)| !token.is_ascii())
}

/// The offsets in a token where a character that began before the token ends, or one that ends after the token begins.
fn split_characters(token: &[u8]) -> impl Iterator<Item = usize> {
    let mut starts = (0..token.len()).filter(|at| token[*at] & 0xC0 != 0x80);
    let first = starts.next();
    let last = starts.next_back().or(first);
    let open = last.filter(|at| std::str::from_utf8(&token[*at..]).is_err());
    first.into_iter().chain(open).filter(|at| *at > 0)
}

// The most frequent tokens that may be a whole piece, so that such a piece need not be merged. Other tokens are merged
// like any piece: a table of all of them would be slower, because each lookup would first have to read a page of
// memory.

/// The binary logarithm of the number of slots: 256 KB.
const BITS: u32 = 14;

/// An open-addressing table of short pieces; a free slot is 0.
fn frequent(tokens: &Tokens) -> Vec<[u64; 2]> {
    let words = tokens.iter().map(|(_, token)| token);
    let words = words.filter(|token| (2..=SHORT).contains(&token.len()) && std::str::from_utf8(token).is_ok());
    let mut slots = vec![[0_u64; 2]; 1 << BITS];
    for token in words.take(slots.len() * 5 / 8) {
        let mut padded = [0; 16];
        padded[..token.len()].copy_from_slice(token);
        let word = word(u128::from_le_bytes(padded), token.len());
        let mut at = top(spread_word(word), BITS);
        while slots[at] != [0, 0] {
            at = (at + 1) & (slots.len() - 1);
        }
        slots[at] = word;
    }
    slots
}

// The layout of the tables, which the counter reads.

/// The number of bits of a token id: three ids fit into a number of 64 bits.
pub(crate) const ID_BITS: u32 = 20;
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

/// The entry of a boundary that no token crosses.
pub(crate) const WHOLE: u8 = u8::MAX;

/// An id as in the table of boundaries: in steps of 1,024, so that most ids fit into a byte. Higher ones are one step.
#[inline]
pub(crate) fn boundary_step(id: u32) -> u8 {
    (id >> 10).min(u32::from(WHOLE) - 1) as u8
}

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
    /// Those of `OTHER` that are neither punctuation nor symbols: controls, format characters and unassigned code
    /// points.
    pub(crate) const SILENT: u8 = 8 | OTHER;
}
