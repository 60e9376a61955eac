//! The units that merging starts from: whole characters where that is safe, else bytes. Also where a piece can be cut
//! before it is merged.
//! In `漢字` each character may be one unit of three bytes. If a token made earlier joins the last byte of `漢` with the first
//! of `字`, both are split into bytes, so that the merge finds that token.

use super::{characters, layout::NONE, vocabulary::Vocabulary};

/// Calls `unit` with the token and the start of each unit of a piece, until it returns `false`.
#[inline]
pub(crate) fn each(vocabulary: &Vocabulary, piece: &[u8], mut unit: impl FnMut(u32, usize) -> bool) {
    let mut at = 0;
    while let Some(&byte) = piece.get(at) {
        let character = if byte < 0x80 { None } else { character(vocabulary, piece, at) };
        let (id, width) = character.unwrap_or_else(|| (vocabulary.byte(byte), 1));
        if !unit(id, at) {
            return;
        }
        at += width;
    }
}

/// The token and width of the character at `at`, unless its bytes can merge with those around it first.
#[inline]
fn character(vocabulary: &Vocabulary, piece: &[u8], at: usize) -> Option<(u32, usize)> {
    let character = characters::whole(piece, at)?;
    let id = vocabulary.unit(character.code);
    let end = at + character.width;
    let split = id == NONE
        || at > 0 && vocabulary.splits(piece[at - 1], piece[at], id)
        || end < piece.len() && vocabulary.splits(piece[end - 1], piece[end], id);
    (!split).then_some((id, character.width))
}

/// The offsets in a piece between two characters that no token joins: each side can be merged alone.
pub(crate) struct Cuts<'a> {
    vocabulary: &'a Vocabulary,
    piece: &'a [u8],
    at: usize,
    /// The code point of the character before `at`; 0 if it is ASCII or there is none.
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
            if left > 0 && self.vocabulary.separates((left, self.piece[at - 1]), (right.code, self.piece[at])) {
                return Some(at);
            }
        }
        None
    }
}
