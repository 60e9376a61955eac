//! Characters that are a token, from which counting may start instead of from their bytes; and the seams between two
//! characters where that would be wrong, because a token with a lower id holds bytes of both and one of them in part. And
//! which characters stand side by side in a token: between others a text can be cut without changing its tokens.

use std::{fs, path::Path};

use crate::{
    Result,
    layout::{ATOM_BLOCK, NEIGHBOUR_BITS, NONE, SEAM_STEP, WHOLE, neighbours},
    little,
    ranks::Ranks,
};

/// Writes a number of a block for every 64 code points, and the blocks of atoms, of which block 0 is empty; then the
/// seams by the last byte before and the first byte after; then the filter of neighbours.
pub(crate) fn write(out: &Path, name: &str, ranks: &Ranks) -> Result<()> {
    let mut numbers = vec![0_u16; 0x11_0000 / ATOM_BLOCK];
    let mut atoms = vec![NONE; ATOM_BLOCK];
    for (character, id) in found(ranks) {
        let block = character as usize / ATOM_BLOCK;
        if numbers[block] == 0 {
            numbers[block] = u16::try_from(atoms.len() / ATOM_BLOCK)?;
            atoms.resize(atoms.len() + ATOM_BLOCK, NONE);
        }
        atoms[usize::from(numbers[block]) * ATOM_BLOCK + character as usize % ATOM_BLOCK] = id;
    }
    fs::write(out.join(format!("{name}.blocks")), little(&numbers, |number| number.to_le_bytes()))?;
    fs::write(out.join(format!("{name}.atoms")), little(&atoms, |id| id.to_le_bytes()))?;
    fs::write(out.join(format!("{name}.seams")), seams(ranks)?)?;
    Ok(fs::write(out.join(format!("{name}.neighbours")), beside(ranks))?)
}

/// A bit for every two characters that a token holds whole and side by side.
fn beside(ranks: &Ranks) -> Vec<u8> {
    let mut filter = vec![0; 1 << (NEIGHBOUR_BITS - 3)];
    for text in ranks.iter().flat_map(|(_, token)| token.utf8_chunks()).map(|chunk| chunk.valid()) {
        for (left, right) in text.chars().zip(text.chars().skip(1)).filter(|(left, _)| !left.is_ascii()) {
            let bit = neighbours(u32::from(left), u32::from(right));
            filter[bit / 8] |= 1 << (bit % 8);
        }
    }
    filter
}

fn found(ranks: &Ranks) -> impl Iterator<Item = (char, u32)> {
    ranks.iter().filter(|(_, token)| token.len() > 1).filter_map(|(id, token)| {
        let mut characters = std::str::from_utf8(token).ok()?.chars();
        characters.next().filter(|_| characters.next().is_none()).map(|character| (character, id))
    })
}

/// The lowest id, in steps, of a token that crosses each seam and tears a character at it.
fn seams(ranks: &Ranks) -> Result<Vec<u8>> {
    let mut seams = vec![WHOLE; 1 << 16];
    for (id, token) in ranks.iter() {
        let step = u8::try_from(id >> SEAM_STEP)?;
        for at in torn(token) {
            let seam = usize::from(token[at - 1]) << 8 | usize::from(token[at]);
            seams[seam] = seams[seam].min(step);
        }
    }
    Ok(seams)
}

/// Where in a token a character ends that does not start in it, or one starts that does not end in it.
fn torn(token: &[u8]) -> impl Iterator<Item = usize> {
    let mut starts = (0..token.len()).filter(|at| token[*at] & 0xC0 != 0x80);
    let first = starts.next();
    let last = starts.next_back().or(first);
    let open = last.filter(|at| std::str::from_utf8(&token[*at..]).is_err());
    first.into_iter().chain(open).filter(|at| *at > 0)
}
