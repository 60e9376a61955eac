//! Which two tokens merge into which third. Every token except the bytes comes from exactly one pair, and both have lower
//! ids. So the merged id is its own rank, and counting needs no bytes of tokens.

use std::{fs, path::Path};

use crate::{
    Result,
    layout::{NONE, merged, pair, slot, spread, top},
    little,
    ranks::Ranks,
};

pub(crate) struct Merges {
    /// Token of each byte.
    bytes: Vec<u32>,
    slots: Vec<u64>,
    filter: Vec<u64>,
}

impl Merges {
    /// Finds the pair that makes each token, in the order of the ranks, by merging its bytes with the pairs found before.
    pub(crate) fn learn_all(ranks: &Ranks) -> Result<Self> {
        let count = ranks.iter().count();
        let mut merges = Self {
            bytes: vec![u32::MAX; 256],
            slots: vec![0; (count * 5 / 4).next_power_of_two()],
            filter: vec![0; (count * 8 / 64).next_power_of_two()],
        };
        for (id, token) in ranks.iter() {
            if let [byte] = token {
                merges.bytes[usize::from(*byte)] = id;
            }
        }
        for (id, token) in ranks.iter().filter(|(_, token)| token.len() > 1) {
            merges.learn(id, token)?;
        }
        Ok(merges)
    }

    pub(crate) fn write(&self, out: &Path, name: &str) -> Result<()> {
        fs::write(out.join(format!("{name}.merges")), little(&self.slots, |slot| slot.to_le_bytes()))?;
        fs::write(out.join(format!("{name}.filter")), little(&self.filter, |word| word.to_le_bytes()))?;
        fs::write(out.join(format!("{name}.bytes")), little(&self.bytes, |id| id.to_le_bytes()))?;
        if self.bytes.iter().any(|id| *id > 255) {
            return Err(format!("{name}: the first 256 tokens are not the bytes").into());
        }
        let first: Vec<u32> = (0..1 << 16).map(|both| self.merged(both >> 8, both & 0xFF)).collect();
        Ok(fs::write(out.join(format!("{name}.first")), little(&first, |id| id.to_le_bytes()))?)
    }

    fn learn(&mut self, id: u32, token: &[u8]) -> Result<()> {
        let parts = self.merge(token);
        match parts[..] {
            [left, right] if left < id && right < id => self.insert(pair(left, right), id),
            _ => {
                return Err(format!("token {id} ({token:?}) is not one merge of lower tokens: {parts:?}").into());
            }
        }
        Ok(())
    }

    /// The tokens of some bytes under the merges known so far.
    fn merge(&self, bytes: &[u8]) -> Vec<u32> {
        let mut parts: Vec<u32> = bytes.iter().map(|&byte| self.bytes[usize::from(byte)]).collect();
        loop {
            let merged = parts.windows(2).map(|two| self.merged(two[0], two[1])).enumerate();
            let Some((at, id)) = merged.filter(|(_, id)| *id != NONE).min_by_key(|(at, id)| (*id, *at)) else {
                return parts;
            };
            parts[at] = id;
            parts.remove(at + 1);
        }
    }

    fn merged(&self, left: u32, right: u32) -> u32 {
        let key = pair(left, right);
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

    fn insert(&mut self, key: u64, merged: u32) {
        let mut at = self.home(key);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot(key, merged);
        let bit = top(spread(key), self.filter.len().trailing_zeros() + 6);
        self.filter[bit / 64] |= 1 << (bit % 64);
    }

    fn home(&self, key: u64) -> usize {
        top(spread(key), self.slots.len().trailing_zeros())
    }
}
