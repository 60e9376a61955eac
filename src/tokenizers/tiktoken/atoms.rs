//! What merging starts from: whole characters where that is safe, else bytes.

use super::{characters, layout::NONE, vocabulary::Vocabulary};

/// Calls `atom` with the token and the start of each atom of a piece, until it says that it has enough.
#[inline]
pub(crate) fn each(vocabulary: &Vocabulary, piece: &[u8], mut atom: impl FnMut(u32, usize) -> bool) {
    let mut at = 0;
    while let Some(&byte) = piece.get(at) {
        let character = if byte < 0x80 { None } else { character(vocabulary, piece, at) };
        let (id, width) = character.unwrap_or_else(|| (vocabulary.byte(byte), 1));
        if !atom(id, at) {
            return;
        }
        at += width;
    }
}

/// The token of the character at `at`, unless its bytes could be joined with those around it first.
#[inline]
fn character(vocabulary: &Vocabulary, piece: &[u8], at: usize) -> Option<(u32, usize)> {
    let character = characters::whole(piece, at)?;
    let id = vocabulary.atom(character.code);
    let end = at + character.width;
    let torn = id == NONE
        || at > 0 && vocabulary.tears(piece[at - 1], piece[at], id)
        || end < piece.len() && vocabulary.tears(piece[end - 1], piece[end], id);
    (!torn).then_some((id, character.width))
}
