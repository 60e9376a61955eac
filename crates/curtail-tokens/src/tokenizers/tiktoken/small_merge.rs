//! Byte pair encoding of a piece of at most 64 units, as nearly all pieces are: in arrays on the stack, with one bit for each
//! unit that still starts a token. Merges the pair with the lowest id first, the leftmost of equals.

#![expect(clippy::cast_possible_truncation, reason = "indices below 64")]
#![expect(clippy::cast_sign_loss, reason = "candidates are not negative")]

use super::{layout::NONE, units, vocabulary::Vocabulary};

/// Most units of a piece.
pub(crate) const MAX_UNITS: usize = 64;
/// Candidates that are compared at once.
const LANES: usize = 8;
/// No candidate.
const DEAD: i32 = i32::MAX;

/// The tokens of a piece during the merge.
pub(crate) struct SmallMerge {
    tokens: [u32; MAX_UNITS],
    /// What each token merges into with the next: the merged id, and in the six bits below it the index.
    candidates: [i32; MAX_UNITS],
    /// Slots in use, in whole lanes.
    slots: usize,
    alive: u64,
}

/// One bit for each unit of the piece that starts a token; `None` if the piece has too many units.
#[inline]
pub(crate) fn merge(vocabulary: &Vocabulary, piece: &[u8]) -> Option<u64> {
    let mut small = SmallMerge { tokens: [0; MAX_UNITS], candidates: [DEAD; MAX_UNITS], slots: 0, alive: 0 };
    let mut count = 0;
    units::each(vocabulary, piece, |id, _| {
        count += 1;
        small.tokens.get_mut(count - 1).map(|token| *token = id).is_some()
    });
    if count > MAX_UNITS {
        return None;
    }
    small.start(vocabulary, count);
    while let Some((id, at)) = small.lowest() {
        small.join(vocabulary, id, at);
    }
    Some(small.alive)
}

impl SmallMerge {
    #[inline]
    fn start(&mut self, vocabulary: &Vocabulary, count: usize) {
        self.slots = count.next_multiple_of(LANES);
        self.alive = if count == MAX_UNITS { u64::MAX } else { (1 << count) - 1 };
        for at in 1..count {
            let (left, right) = (self.tokens[at - 1], self.tokens[at]);
            self.candidates[at - 1] = candidate(vocabulary.first(left, right), at - 1);
        }
    }

    #[inline]
    fn lowest(&self) -> Option<(u32, usize)> {
        let mut lowest = [DEAD; LANES];
        for lanes in self.candidates[..self.slots].as_chunks::<LANES>().0 {
            for (lowest, candidate) in lowest.iter_mut().zip(lanes) {
                *lowest = (*lowest).min(*candidate);
            }
        }
        let lowest = lowest.into_iter().fold(DEAD, i32::min);
        (lowest != DEAD).then(|| (lowest.cast_unsigned() >> 6, lowest as usize % MAX_UNITS))
    }

    #[inline]
    fn join(&mut self, vocabulary: &Vocabulary, id: u32, at: usize) {
        let gone = self.following(at) % MAX_UNITS;
        self.alive &= !(1 << gone);
        self.candidates[gone] = DEAD;
        self.tokens[at] = id;
        let next = self.following(at);
        let after = self.tokens.get(next).map_or(NONE, |next| vocabulary.merged(id, *next));
        self.candidates[at] = candidate(after, at);
        let before = self.alive & ((1 << at) - 1);
        if before != 0 {
            let before = (before.ilog2() as usize) % MAX_UNITS;
            self.candidates[before] = candidate(vocabulary.merged(self.tokens[before], id), before);
        }
    }

    /// The next token after the one at `at`; 64 if there is none.
    #[inline]
    fn following(&self, at: usize) -> usize {
        (self.alive & (u64::MAX << 1 << at)).trailing_zeros() as usize
    }
}

/// A candidate as one number: lowest id first, then leftmost.
#[inline]
fn candidate(merged: u32, at: usize) -> i32 {
    if merged == NONE { DEAD } else { (merged << 6 | at as u32).cast_signed() }
}
