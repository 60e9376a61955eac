//! Makes the tables of an encoding from its merges: those of most models when `curtail` is built, so that it starts at once,
//! and those of older models at their first use, which keeps the program small.
//! The build script and the counter both include it. It reads no file.

mod merges;
mod tokens;
mod units;
mod words;

pub(crate) use merges::MergeTable;
pub(crate) use tokens::NO_PAIR;
pub(crate) use tokens::Tokens;

/// The tables of one encoding, as little-endian numbers.
pub(crate) struct Tables {
    /// Bytes of the longest token.
    pub(crate) longest: usize,
    pub(crate) merges: Vec<u8>,
    pub(crate) filter: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) first: Vec<u8>,
    pub(crate) blocks: Vec<u8>,
    pub(crate) units: Vec<u8>,
    pub(crate) boundaries: Vec<u8>,
    pub(crate) neighbors: Vec<u8>,
    pub(crate) words: Vec<u8>,
}

impl Tables {
    pub(crate) fn from_tokens(tokens: &Tokens) -> Self {
        let merges = MergeTable::from_tokens(tokens);
        let (blocks, units) = units::whole_characters(tokens);
        Self {
            longest: tokens.iter().map(|(_, token)| token.len()).max().unwrap_or(0),
            first: little(&merges.first(), |id| id.to_le_bytes()),
            merges: little(&merges.slots, |slot| slot.to_le_bytes()),
            filter: little(&merges.filter, |word| word.to_le_bytes()),
            bytes: little(&tokens.of_bytes(), |id| id.to_le_bytes()),
            blocks: little(&blocks, |number| number.to_le_bytes()),
            units: little(&units, |id| id.to_le_bytes()),
            boundaries: units::boundaries(tokens),
            neighbors: units::adjacent(tokens),
            words: little(words::frequent(tokens).as_flattened(), |half| half.to_le_bytes()),
        }
    }
}

/// Numbers one after another, little end first.
fn little<T, const N: usize>(numbers: &[T], bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    let mut all = Vec::with_capacity(numbers.len() * N);
    for number in numbers {
        all.extend_from_slice(&bytes(number));
    }
    all
}
