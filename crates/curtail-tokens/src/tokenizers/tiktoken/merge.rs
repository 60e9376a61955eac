//! Byte pair encoding of one piece: the number of its tokens, or their ends. Merges the pair with the lowest id first, the
//! leftmost of equals. It knows no texts and no patterns.
//!
//! Suppose a vocabulary merges (`h`, `e`) into 258, (`t`, `h`) into 266 and (`t`, `he`) into 290:
//! ```text
//! t h e    candidates 266 and 258: the lower one merges
//! t he     candidate 290
//! the      one token
//! ```
#![expect(clippy::cast_possible_truncation, reason = "a stretch has less than four billion bytes")]

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    layout::NONE,
    small_merge::{self, MAX_UNITS},
    units,
    vocabulary::Vocabulary,
};

/// Longer pieces are cut into stretches of this many bytes, so that time is linear and memory bounded.
const STRETCH: usize = 2048;
/// Tokens of a stretch that are merged again at the start of the next one.
const OVERLAP: usize = 8;
/// The candidate of a unit that no longer starts a token.
const DEAD: u32 = u32::MAX;

/// Buffers for merging, reused for every piece.
#[derive(Default)]
pub(crate) struct Merger {
    units: Vec<u32>,
    starts: Vec<usize>,
    long: Long,
}

/// A linked list of tokens and a heap of candidates.
#[derive(Default)]
struct Long {
    candidates: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Merger {
    /// The number of tokens of a piece. May stop counting above `limit`, and then returns any number above it.
    pub(crate) fn count(&mut self, vocabulary: &Vocabulary, piece: &[u8], limit: usize) -> usize {
        if piece.len() <= 4 * MAX_UNITS
            && let Some(alive) = small_merge::merge(vocabulary, piece)
        {
            return alive.count_ones() as usize;
        }
        if piece.len() <= STRETCH {
            self.split(vocabulary, piece);
            return self.long.merge(vocabulary, &mut self.units);
        }
        self.whole(|merger, stretch| merger.stitch(vocabulary, piece, stretch, limit, |_| {}))
    }

    /// The end of each token in order, in bytes from the start of the piece.
    pub(crate) fn ends(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
        self.whole(|merger, stretch| {
            let mut ends = Vec::new();
            merger.stitch(vocabulary, piece, stretch, usize::MAX, |end| ends.push(end)).map(|_| ends)
        })
    }

    /// Tries longer and longer stretches. One as long as the piece always succeeds.
    fn whole<T>(&mut self, mut stitched: impl FnMut(&mut Self, usize) -> Option<T>) -> T {
        let mut stretch = STRETCH;
        loop {
            if let Some(found) = stitched(self, stretch) {
                return found;
            }
            stretch *= 2;
        }
    }

    /// Collects the units of a piece and their starts.
    fn split(&mut self, vocabulary: &Vocabulary, piece: &[u8]) {
        self.units.clear();
        self.starts.clear();
        units::each(vocabulary, piece, |unit, at| {
            self.units.push(unit);
            self.starts.push(at);
            true
        });
    }

    /// Merges stretch by stretch. Two stretches that overlap are joined at a token that both have: a row of tokens is the
    /// encoding of its bytes if every two neighbors in it are neighbors in an encoding. `None` if they share no token.
    ///
    /// With stretches of 8 bytes and an overlap of 1 token, where `|` ends a token:
    /// ```text
    /// bytes            a b c d e f g h i j k
    /// first stretch    a b|c d e|f g h|           its last token may be wrong, because `i` is not seen
    /// second stretch             f g|h i j|k|     starts at the last token; `f g h|` and `f g|` differ, so
    /// second again         c d e|f g|h i j|k|     it starts two tokens back, and `c d e|` is in both
    /// joined           a b|c d e|f g|h i j|k|
    /// ```
    fn stitch(
        &mut self,
        vocabulary: &Vocabulary,
        piece: &[u8],
        stretch: usize,
        limit: usize,
        mut end: impl FnMut(usize),
    ) -> Option<usize> {
        let (mut row, mut count, mut back) = (Row::default(), 0, OVERLAP);
        loop {
            let from = row.restart(back);
            let to = piece.len().min(row.end() + stretch);
            let ends = self.stretch_ends(vocabulary, &piece[from..to]);
            if row.join(from, &ends) {
                if to == piece.len() || count > limit {
                    return Some(count + row.drain_to(0, &mut end));
                }
                back = OVERLAP;
                count += row.drain_to(stretch / OVERLAP, &mut end);
            } else if back < row.ends.len() {
                back *= 2;
            } else {
                return None;
            }
        }
    }

    fn stretch_ends(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
        self.split(vocabulary, piece);
        self.long.merge(vocabulary, &mut self.units);
        let lives = |at: &usize| self.long.lives(*at);
        let starts = (1..self.starts.len()).filter(lives).map(|at| self.starts[at]);
        starts.chain([piece.len()]).collect()
    }
}

impl Long {
    /// Merges any number of units and returns the number of tokens.
    fn merge(&mut self, vocabulary: &Vocabulary, units: &mut [u32]) -> usize {
        self.link(units.len());
        for at in 1..units.len() {
            self.propose(vocabulary, units, at - 1);
        }
        let mut count = units.len();
        while let Some(Reverse(best)) = self.heap.pop() {
            let (merged, at) = ((best >> 32) as u32, (best & u64::from(u32::MAX)) as usize);
            if self.candidates[at] == merged {
                units[at] = merged;
                self.unlink(at);
                self.propose(vocabulary, units, at);
                if at > 0 {
                    self.propose(vocabulary, units, self.previous[at] as usize);
                }
                count -= 1;
            }
        }
        count
    }

    fn lives(&self, at: usize) -> bool {
        self.candidates[at] != DEAD
    }

    fn link(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.heap.clear();
        self.candidates.clear();
        self.candidates.resize(count as usize, NONE);
        self.next.clear();
        self.next.extend(1..=count);
        self.previous.clear();
        self.previous.extend((0..count).map(|at| at.saturating_sub(1)));
    }

    /// Removes the token after `at` from the list.
    fn unlink(&mut self, at: usize) {
        let gone = self.next[at] as usize;
        self.candidates[gone] = DEAD;
        self.next[at] = self.next[gone];
        if let Some(previous) = self.previous.get_mut(self.next[at] as usize) {
            *previous = at as u32;
        }
    }

    /// Adds the candidate of the token at `at` and the next one.
    fn propose(&mut self, vocabulary: &Vocabulary, units: &[u32], at: usize) {
        let after = units.get(self.next[at] as usize);
        let merged = after.map_or(NONE, |after| vocabulary.merged(units[at], *after));
        self.candidates[at] = merged;
        if merged != NONE {
            self.heap.push(Reverse(u64::from(merged) << 32 | at as u64));
        }
    }
}

/// The ends of the tokens that may still change, and where the first of them starts.
#[derive(Default)]
struct Row {
    start: usize,
    ends: Vec<usize>,
}

impl Row {
    /// Where the next stretch starts: `back` tokens before the end of the row.
    fn restart(&self, back: usize) -> usize {
        match self.ends.len().checked_sub(back + 1) {
            Some(at) => self.ends[at],
            None => self.start,
        }
    }

    fn end(&self) -> usize {
        self.ends.last().copied().unwrap_or(self.start)
    }

    /// Appends the tokens of a stretch that starts at `from`, from the first token that both have. `false` if there is none.
    fn join(&mut self, from: usize, ends: &[usize]) -> bool {
        let mut old = self.ends.partition_point(|end| *end <= from);
        if old == self.ends.len() {
            self.ends.extend(ends.iter().map(|end| from + end));
            return true;
        }
        let (mut new, mut starts) = (0, (from, from));
        while old < self.ends.len() && new < ends.len() {
            let both = (self.ends[old], from + ends[new]);
            if starts.0 == starts.1 && both.0 == both.1 {
                self.ends.truncate(old);
                self.ends.extend(ends[new..].iter().map(|end| from + end));
                return true;
            }
            if both.0 <= both.1 {
                (starts.0, old) = (both.0, old + 1);
            }
            if both.1 <= both.0 {
                (starts.1, new) = (both.1, new + 1);
            }
        }
        false
    }

    /// Removes all tokens except the last `keep`, passes their ends to `end`, and returns their number.
    fn drain_to(&mut self, keep: usize, end: &mut impl FnMut(usize)) -> usize {
        let drained = self.ends.len().saturating_sub(keep);
        self.ends.drain(..drained).for_each(|at| {
            self.start = at;
            end(at);
        });
        drained
    }
}
