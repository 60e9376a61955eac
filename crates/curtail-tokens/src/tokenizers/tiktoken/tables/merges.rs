//! Which two tokens merge into which third. Every token except the bytes comes from exactly one pair, and both have lower
//! ids. So the merged id is its own rank, and counting needs no bytes of tokens.

use super::super::layout::{NONE, merged, pair, slot, spread, top};
use super::Tokens;

/// An open-addressing table of merges, with a filter before it.
pub(crate) struct MergeTable {
    pub(crate) slots: Vec<u64>,
    pub(crate) filter: Vec<u64>,
    /// The token of each byte.
    bytes: [u32; 256],
}

impl MergeTable {
    /// An empty table with space for so many tokens.
    pub(crate) fn new(count: usize, bytes: &[u32; 256]) -> Self {
        Self {
            slots: vec![0; (count * 5 / 4).next_power_of_two()],
            filter: vec![0; (count * 8 / 64).next_power_of_two()],
            bytes: *bytes,
        }
    }

    pub(super) fn from_tokens(tokens: &Tokens) -> Self {
        let mut table = Self::new(tokens.iter().count(), &tokens.of_bytes());
        for (parts, id) in tokens.merges() {
            table.insert(parts, id);
        }
        table
    }

    /// The tokens of any two bytes: `NONE` where they do not merge.
    pub(super) fn first(&self) -> Vec<u32> {
        (0..1 << 16).map(|both| self.merged(both >> 8, both & 0xFF)).collect()
    }

    /// The token that two neighbors merge into, or `NONE`.
    pub(crate) fn merged(&self, left: u32, right: u32) -> u32 {
        let key = pair(left, right);
        let bit = self.bit(key);
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return NONE;
        }
        let mut at = self.home(key);
        while self.slots[at] != 0 {
            let found = merged(self.slots[at]);
            if self.slots[at] == slot(key, found) {
                return found;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        NONE
    }

    pub(crate) fn insert(&mut self, [left, right]: [u32; 2], merged: u32) {
        let key = pair(left, right);
        let mut at = self.home(key);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot(key, merged);
        let bit = self.bit(key);
        self.filter[bit / 64] |= 1 << (bit % 64);
    }

    /// The tokens of some bytes under the merges known so far.
    pub(crate) fn merge(&self, bytes: &[u8]) -> Vec<u32> {
        let mut parts: Vec<u32> = bytes.iter().map(|&byte| self.bytes[usize::from(byte)]).collect();
        let mut merged: Vec<u32> = parts.windows(2).map(|two| self.merged(two[0], two[1])).collect();
        loop {
            let candidates = merged.iter().copied().enumerate().filter(|(_, id)| *id != NONE);
            let Some((at, id)) = candidates.min_by_key(|(at, id)| (*id, *at)) else {
                return parts;
            };
            parts[at] = id;
            parts.remove(at + 1);
            merged.remove(at);
            if at > 0 {
                merged[at - 1] = self.merged(parts[at - 1], id);
            }
            if let Some(after) = merged.get_mut(at) {
                *after = self.merged(id, parts[at + 1]);
            }
        }
    }

    fn bit(&self, key: u64) -> usize {
        top(spread(key), self.filter.len().trailing_zeros() + 6)
    }

    fn home(&self, key: u64) -> usize {
        top(spread(key), self.slots.len().trailing_zeros())
    }
}
