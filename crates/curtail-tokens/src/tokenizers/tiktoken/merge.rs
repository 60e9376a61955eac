//! Byte pair encoding of one piece: the number of its tokens, or their ends. The pair with the lowest id merges first,
//! and of equal pairs the leftmost. It knows no texts and no patterns.
//!
//! Suppose a vocabulary merges (`h`, `e`) into 258, (`t`, `h`) into 266 and (`t`, `he`) into 290:
//! ```text
//! t h e    candidates 266 and 258: the lower one merges
//! t he     candidate 290
//! the      one token
//! ```

#![expect(clippy::cast_possible_truncation, reason = "a stretch has less than four billion bytes")]
#![expect(clippy::cast_sign_loss, reason = "candidates of a short piece are not negative")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::characters::{self, Character};
use super::tables::NONE;
use super::vocabulary::Vocabulary;

/// Longer pieces are merged in stretches of this many bytes, so that time is linear and memory bounded.
const STRETCH: usize = 2048;
/// The number of tokens of a stretch that are merged again at the start of the next one.
const OVERLAP: usize = 8;
/// The candidate of a unit that no longer starts a token.
const DEAD: u32 = u32::MAX;

/// Buffers for merging, reused for every piece.
#[derive(Default)]
pub(crate) struct Merger {
    units: Vec<u32>,
    starts: Vec<usize>,
    long: LongMerge,
}

/// A merge of any number of units: a linked list of tokens and a heap of candidates.
#[derive(Default)]
struct LongMerge {
    candidates: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Merger {
    /// The number of tokens of a piece. May stop counting above `limit`, and then returns any number above it.
    pub(crate) fn count(&mut self, vocabulary: &Vocabulary, piece: &[u8], limit: usize) -> usize {
        if piece.len() <= 4 * MAX_UNITS
            && let Some(alive) = merge_small(vocabulary, piece)
        {
            return alive.count_ones() as usize;
        }
        if piece.len() <= STRETCH {
            self.split(vocabulary, piece);
            return self.long.merge(vocabulary, &mut self.units);
        }
        self.try_stretches(|merger, stretch| merger.stitch(vocabulary, piece, stretch, limit, |_| {}))
    }

    /// The end of each token in order, in bytes from the start of the piece.
    pub(crate) fn ends(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
        self.try_stretches(|merger, stretch| {
            let mut ends = Vec::new();
            merger.stitch(vocabulary, piece, stretch, usize::MAX, |end| ends.push(end)).map(|_| ends)
        })
    }

    /// Calls `stitch` with longer and longer stretches until it succeeds, as it does at the latest with one as long as
    /// the piece.
    fn try_stretches<T>(&mut self, mut stitch: impl FnMut(&mut Self, usize) -> Option<T>) -> T {
        let mut stretch = STRETCH;
        loop {
            if let Some(found) = stitch(self, stretch) {
                return found;
            }
            stretch *= 2;
        }
    }

    /// Collects the units of a piece and their starts.
    fn split(&mut self, vocabulary: &Vocabulary, piece: &[u8]) {
        self.units.clear();
        self.starts.clear();
        for_each_unit(vocabulary, piece, |unit, at| {
            self.units.push(unit);
            self.starts.push(at);
            true
        });
    }

    /// Merges stretch by stretch, and returns the number of tokens. Two stretches that overlap are joined at a token
    /// that both contain: a row of tokens is the encoding of its bytes if every two adjacent ones are adjacent in some
    /// encoding. `None` if two stretches share no token.
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
        let mut row = TokenRow::default();
        let mut count = 0;
        let mut back = OVERLAP;
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

    /// The ends of the tokens of a stretch.
    fn stretch_ends(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
        self.split(vocabulary, piece);
        self.long.merge(vocabulary, &mut self.units);
        let starts = (1..self.starts.len()).filter(|at| self.long.is_alive(*at)).map(|at| self.starts[at]);
        starts.chain([piece.len()]).collect()
    }
}

impl LongMerge {
    /// Merges any number of units and returns the number of tokens.
    fn merge(&mut self, vocabulary: &Vocabulary, units: &mut [u32]) -> usize {
        self.link(units.len());
        for at in 1..units.len() {
            self.propose(vocabulary, units, at - 1);
        }
        let mut count = units.len();
        while let Some(Reverse(best)) = self.heap.pop() {
            let merged = (best >> 32) as u32;
            let at = (best & u64::from(u32::MAX)) as usize;
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

    fn is_alive(&self, at: usize) -> bool {
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

    /// Adds the candidate: the token into which the one at `at` and the next one merge.
    fn propose(&mut self, vocabulary: &Vocabulary, units: &[u32], at: usize) {
        let after = units.get(self.next[at] as usize);
        let merged = after.map_or(NONE, |after| vocabulary.merged(units[at], *after));
        self.candidates[at] = merged;
        if merged != NONE {
            self.heap.push(Reverse(u64::from(merged) << 32 | at as u64));
        }
    }
}

/// The tokens at the end of what is merged so far, which may still change.
#[derive(Default)]
struct TokenRow {
    /// Where the first of them starts.
    start: usize,
    ends: Vec<usize>,
}

impl TokenRow {
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

    /// Appends the tokens of a stretch that starts at `from`, from the first token that both contain. `false` if there
    /// is none.
    fn join(&mut self, from: usize, ends: &[usize]) -> bool {
        let mut old = self.ends.partition_point(|end| *end <= from);
        if old == self.ends.len() {
            self.ends.extend(ends.iter().map(|end| from + end));
            return true;
        }
        let mut new = 0;
        let mut starts = (from, from);
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

// Byte pair encoding of a piece of at most 64 units, as nearly all pieces are: in arrays on the stack, with one bit for each
// unit that still starts a token.

/// The most units of a piece.
const MAX_UNITS: usize = 64;
/// The number of candidates that are compared at once.
const LANES: usize = 8;
/// The entry if there is no candidate.
const SMALL_DEAD: i32 = i32::MAX;

/// The tokens of a piece during the merge.
struct SmallMerge {
    tokens: [u32; MAX_UNITS],
    /// The token into which each one and the next merge: its id, and in the six bits below it the index.
    candidates: [i32; MAX_UNITS],
    /// The number of candidates in use, rounded up to whole lanes.
    slots: usize,
    /// One bit for each unit that starts a token.
    alive: u64,
}

/// One bit for each unit of the piece that starts a token; `None` if the piece has too many units.
#[inline]
fn merge_small(vocabulary: &Vocabulary, piece: &[u8]) -> Option<u64> {
    let mut small = SmallMerge { tokens: [0; MAX_UNITS], candidates: [SMALL_DEAD; MAX_UNITS], slots: 0, alive: 0 };
    let mut count = 0;
    for_each_unit(vocabulary, piece, |id, _| {
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
            let left = self.tokens[at - 1];
            let right = self.tokens[at];
            self.candidates[at - 1] = candidate(vocabulary.first(left, right), at - 1);
        }
    }

    /// The lowest candidate: its id and the index of its left token.
    #[inline]
    fn lowest(&self) -> Option<(u32, usize)> {
        let mut lowest = [SMALL_DEAD; LANES];
        for lanes in self.candidates[..self.slots].as_chunks::<LANES>().0 {
            for (lowest, candidate) in lowest.iter_mut().zip(lanes) {
                *lowest = (*lowest).min(*candidate);
            }
        }
        let lowest = lowest.into_iter().fold(SMALL_DEAD, i32::min);
        (lowest != SMALL_DEAD).then(|| (lowest.cast_unsigned() >> 6, lowest as usize % MAX_UNITS))
    }

    /// Merges the token at `at` with the next one to the token `id`.
    #[inline]
    fn join(&mut self, vocabulary: &Vocabulary, id: u32, at: usize) {
        let gone = self.following(at) % MAX_UNITS;
        self.alive &= !(1 << gone);
        self.candidates[gone] = SMALL_DEAD;
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
    if merged == NONE { SMALL_DEAD } else { (merged << 6 | at as u32).cast_signed() }
}

// The units that merging starts from, which are whole characters where that is safe and bytes elsewhere; and the places
// where a piece can be cut before it is merged.
//
// In `漢字`, each character may be one unit of three bytes. But if a token that is made before them joins the last byte
// of `漢` and the first of `字`, both are split into bytes, so that the merge finds that token.

/// Calls `each` with the token and the start of each unit of a piece, until it returns `false`.
#[inline]
fn for_each_unit(vocabulary: &Vocabulary, piece: &[u8], mut each: impl FnMut(u32, usize) -> bool) {
    let mut at = 0;
    while let Some(&byte) = piece.get(at) {
        let character = if byte < 0x80 { None } else { character(vocabulary, piece, at) };
        let (id, width) = character.unwrap_or_else(|| (vocabulary.byte(byte), 1));
        if !each(id, at) {
            return;
        }
        at += width;
    }
}

/// The token and width of the character at `at`, unless its bytes can merge with those around it before it is a token.
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

/// The offsets in a text between two characters that no token joins: each side can be merged alone.
pub(crate) struct Cuts<'a> {
    vocabulary: &'a Vocabulary,
    text: &'a [u8],
    /// The end of the last character that was seen.
    at: usize,
    /// Its code point.
    left: Option<u32>,
}

impl<'a> Cuts<'a> {
    pub(crate) const fn new(vocabulary: &'a Vocabulary, text: &'a [u8]) -> Self {
        Self { vocabulary, text, at: 0, left: None }
    }

    /// Whether no token joins the last character and the next one, which begins at `at`.
    #[inline]
    fn separates(&self, left: u32, right: u32, at: usize) -> bool {
        let [before, after] = [self.text[at - 1], self.text[at]];
        if before.is_ascii() && after.is_ascii() {
            return self.vocabulary.separates_ascii(before, after);
        }
        self.vocabulary.separates(left, before, right, after)
    }
}

impl Iterator for Cuts<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while let Some(&byte) = self.text.get(self.at) {
            let at = self.at;
            let ascii = byte.is_ascii().then_some(Character { code: byte.into(), width: 1 });
            let right = ascii.or_else(|| characters::whole(self.text, at))?;
            let left = self.left.replace(right.code);
            self.at += right.width;
            if left.is_some_and(|left| self.separates(left, right.code, at)) {
                return Some(at);
            }
        }
        None
    }
}
