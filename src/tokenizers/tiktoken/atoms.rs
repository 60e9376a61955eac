//! What merging starts from: whole characters where that is safe, else bytes; and where a piece can be cut before it.

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

/// The places in a piece between two characters that no token joins: what stands on both sides is merged apart.
pub(crate) struct Cuts<'a> {
    vocabulary: &'a Vocabulary,
    piece: &'a [u8],
    at: usize,
    /// The code point of the character before `at`; 0 where it is ASCII or none.
    left: u32,
}

impl<'a> Cuts<'a> {
    pub(crate) const fn new(vocabulary: &'a Vocabulary, piece: &'a [u8]) -> Self {
        Self { vocabulary, piece, at: 0, left: 0 }
    }
}

impl Iterator for Cuts<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while let Some(right) = characters::whole(self.piece, self.at) {
            let (at, left) = (self.at, self.left);
            self.at += right.width;
            self.left = if right.width > 1 { right.code } else { 0 };
            if left > 0 && self.vocabulary.parts((left, self.piece[at - 1]), (right.code, self.piece[at])) {
                return Some(at);
            }
        }
        None
    }
}
