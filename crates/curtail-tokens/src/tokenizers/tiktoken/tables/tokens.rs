//! The bytes of each token, from the pairs that make them.

/// Ids of the bytes, which come first.
const BYTES: usize = 256;
/// In place of the pair of a byte, or of an id that is not in use: no id is that large.
pub(crate) const NO_PAIR: [u32; 2] = [0xFF_FFFF; 2];

/// The tokens by their ids. A token of more than one byte is a pair of tokens with lower ids.
pub(crate) struct Tokens {
    /// The two parts of each token; [`NO_PAIR`] for a byte or an id that is not in use.
    pairs: Vec<[u32; 2]>,
    text: Vec<u8>,
    /// Where the bytes of each token end in `text`.
    ends: Vec<usize>,
}

impl Tokens {
    /// Tokens of the bytes in the order of their ids, and of the pairs by id.
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

    /// The bytes in the order of their ids, then three bytes for each part of each pair: a tenth of the tables.
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
        let number = |three: &[u8; 3]| u32::from_le_bytes([three[0], three[1], three[2], 0]);
        let (parts, _) = rest.as_chunks::<3>();
        let pairs = parts.as_chunks::<2>().0.iter().map(|pair| pair.each_ref().map(number));
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
    pub(crate) fn of_bytes(&self) -> [u32; BYTES] {
        let mut ids = [0; BYTES];
        for (&byte, id) in self.text[..BYTES].iter().zip(0..) {
            ids[usize::from(byte)] = id;
        }
        ids
    }

    fn range(&self, id: u32) -> std::ops::Range<usize> {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        start..self.ends[id]
    }
}
