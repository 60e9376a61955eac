//! Frequent tokens that may be a whole piece, so that such a piece need not be merged. Rarer ones are merged like any piece:
//! a table of all of them would be twice as large.

use std::{fs, path::Path};

use crate::{
    Result,
    layout::{SHORT, spread_word, top, word},
    little,
    ranks::Ranks,
};

/// Bits of a slot's number: 2 MB per table, about half of the slots in use.
const BITS: u32 = 17;

/// Writes an open-addressing table of short pieces; a free slot is 0.
pub(crate) fn write(out: &Path, name: &str, ranks: &Ranks) -> Result<()> {
    let words = ranks.iter().map(|(_, token)| token);
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
    Ok(fs::write(out.join(format!("{name}.words")), little(slots.as_flattened(), |half| half.to_le_bytes()))?)
}
