//! Characters that are one token, from which merging may start instead of from their bytes; and the boundaries between two
//! characters where that is wrong, because a token with a lower id has bytes of both and only a part of one. Also which
//! characters are adjacent in a token: between any others a text can be cut without changing its tokens.
#![expect(clippy::cast_possible_truncation, reason = "blocks are at most 17,408, and ids have 18 bits")]

use super::super::layout::{BOUNDARY_STEP, NEIGHBOUR_BITS, NONE, UNIT_BLOCK, WHOLE, neighbors};
use super::Tokens;

/// The number of a block for every 64 code points, and the blocks, of which block 0 is empty.
pub(super) fn whole_characters(tokens: &Tokens) -> (Vec<u16>, Vec<u32>) {
    let mut numbers = vec![0_u16; 0x11_0000 / UNIT_BLOCK];
    let mut units = vec![NONE; UNIT_BLOCK];
    for (character, id) in tokens.iter().filter_map(|(id, token)| Some((whole_character(token)?, id))) {
        let block = character as usize / UNIT_BLOCK;
        if numbers[block] == 0 {
            numbers[block] = (units.len() / UNIT_BLOCK) as u16;
            units.resize(units.len() + UNIT_BLOCK, NONE);
        }
        units[usize::from(numbers[block]) * UNIT_BLOCK + character as usize % UNIT_BLOCK] = id;
    }
    (numbers, units)
}

/// The character that a token of more than one byte consists of.
fn whole_character(token: &[u8]) -> Option<char> {
    // A character has at most four bytes.
    let text = std::str::from_utf8(token).ok().filter(|_| (2..=4).contains(&token.len()))?;
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// A bit for every two characters that are whole and adjacent in a token.
pub(super) fn adjacent(tokens: &Tokens) -> Vec<u8> {
    let mut filter = vec![0; 1 << (NEIGHBOUR_BITS - 3)];
    for text in beyond_ascii(tokens).flat_map(|(_, token)| token.utf8_chunks()).map(|chunk| chunk.valid()) {
        for (left, right) in text.chars().zip(text.chars().skip(1)).filter(|(left, _)| !left.is_ascii()) {
            let bit = neighbors(u32::from(left), u32::from(right));
            filter[bit / 8] |= 1 << (bit % 8);
        }
    }
    filter
}

/// For each boundary, the lowest id, in steps, of a token that crosses it and has only a part of a character next to it.
pub(super) fn boundaries(tokens: &Tokens) -> Vec<u8> {
    let mut boundaries = vec![WHOLE; 1 << 16];
    for (id, token) in beyond_ascii(tokens) {
        let step = (id >> BOUNDARY_STEP) as u8;
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

/// The offsets in a token where a character ends that started before it, or one starts that ends after it.
fn split_characters(token: &[u8]) -> impl Iterator<Item = usize> {
    let mut starts = (0..token.len()).filter(|at| token[*at] & 0xC0 != 0x80);
    let first = starts.next();
    let last = starts.next_back().or(first);
    let open = last.filter(|at| std::str::from_utf8(&token[*at..]).is_err());
    first.into_iter().chain(open).filter(|at| *at > 0)
}
