//! The most frequent tokens that may be a whole piece, so that such a piece need not be merged. Others are merged like any
//! piece: a table of all of them is slower, because each lookup in it is a page that has to be read first.

use super::super::layout::{SHORT, spread_word, top, word};
use super::Tokens;

/// Bits of a slot's number: 256 KB.
const BITS: u32 = 14;

/// An open-addressing table of short pieces; a free slot is 0.
pub(super) fn frequent(tokens: &Tokens) -> Vec<[u64; 2]> {
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
