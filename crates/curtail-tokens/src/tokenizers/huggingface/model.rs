//! Converts the vocabulary and the merges of a `tokenizer.json` to tables of the engine.
//!
//! A file lists pairs of tokens; the pair that is listed first is merged first. A file may list many pairs for a token,
//! in any order, but only one of them is ever merged: the one in which the merges of the token's own text end. For these
//! merges do not depend on the text around it as long as no token crosses its ends, and where one does, the token cannot
//! be made. So tokens get new numbers: first the units from which merging starts, then the tokens that merges make, in
//! the order of the pairs that make them. The engine merges the pair whose token has the lowest number.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::Unsupported;
use super::file::Model;
use super::limits::HIGHEST_ID;
use crate::tokenizers::tiktoken::{BYTES, MergeTable, NO_PAIR, Tokens, Vocabulary};

/// What a character of a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// A byte, as the pre-tokenizer `ByteLevel` writes it.
    Bytes,
    /// Itself. A character without a token is encoded as bytes.
    Characters,
}

/// The most tokens and the most merges: the engine stores their numbers in 20 bits.
const MOST: usize = (1 << 20) - 1;

/// The longest token, in bytes. The time to find its pair is quadratic.
const LONGEST: usize = 1024;

const NOT_EVERY_BYTE: Unsupported = "not every byte is a token";

/// The tables of a model. They are kept until the program ends. `space` is the character that is a space in texts.
///
/// # Errors
/// Why the engine cannot count with the model.
pub(super) fn vocabulary(
    model: &Model<'_>,
    alphabet: Alphabet,
    space: Option<char>,
) -> Result<&'static Vocabulary, Unsupported> {
    if model.kind != "BPE" || model.dropout.is_some() {
        return Err("its model is not plain byte pair encoding");
    }
    let affixes = [&model.continuing_subword_prefix, &model.end_of_word_suffix];
    if affixes.into_iter().flatten().any(|affix| !affix.is_empty()) {
        return Err("its tokens have prefixes or suffixes");
    }
    if alphabet == Alphabet::Characters && model.byte_fallback != Some(true) {
        return Err("a character without a token is not encoded as bytes");
    }
    if model.vocab.0.len() + BYTES > MOST || model.merges.len() > MOST {
        return Err("it has more tokens than the engine can number");
    }
    check_ids(model)?;
    let entries = EntryTable::read(model, alphabet, space)?;
    let merges = Merges::read(model, &entries)?;
    let made = merges.made(&entries);
    let whole = if model.ignore_merges == Some(true) { entries.unmade(&made) } else { Vec::new() };
    let tokens = entries.numbered(&merges, &made);
    Ok(Box::leak(Box::new(Vocabulary::from_tokens(&tokens, whole))))
}

/// Checks that no two tokens have the same id. Ids may have gaps.
fn check_ids(model: &Model<'_>) -> Result<(), Unsupported> {
    let mut ids: Vec<u32> = model.vocab.0.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    let highest = ids.last().copied().unwrap_or(0);
    let twice = ids.array_windows().any(|[one, next]| one == next);
    if twice || highest > HIGHEST_ID { Err("ids of tokens are too high or not unique") } else { Ok(()) }
}

// The entries of the vocabulary.

/// The byte that a character of a byte-level token stands for, by its code point.
static BYTE_OF: LazyLock<[Option<u8>; 0x144]> = LazyLock::new(|| {
    let mut bytes = [None; 0x144];
    let mut next = 0x100;
    for byte in 0..=u8::MAX {
        let at = if matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..) { usize::from(byte) } else { next };
        next += usize::from(at == next);
        bytes[at] = Some(byte);
    }
    bytes
});

/// The entries of a vocabulary, by their index in the file.
struct EntryTable<'a> {
    known: HashMap<&'a str, u32, RandomState>,
    /// The texts of all entries as they are in a text that is counted, one after another. An entry that is in no such
    /// text is empty.
    text: Vec<u8>,
    /// Where the text of each entry ends.
    ends: Vec<usize>,
    /// The entry from which merging starts for each byte that is a character, or that belongs to a character without
    /// an entry.
    bytes: [u32; BYTES],
    /// The same for other characters; none in an alphabet of bytes.
    characters: HashMap<char, u32, RandomState>,
    /// Whether an entry stands for a byte of characters without an entry; empty in an alphabet of bytes.
    is_fallback: Vec<bool>,
}

impl<'a> EntryTable<'a> {
    fn read(model: &'a Model<'_>, alphabet: Alphabet, space: Option<char>) -> Result<Self, Unsupported> {
        let count = model.vocab.0.len();
        let mut entries = Self {
            known: HashMap::with_capacity_and_hasher(count, RandomState::default()),
            text: Vec::with_capacity(count * 8),
            ends: Vec::with_capacity(count),
            bytes: [0; BYTES],
            characters: HashMap::default(),
            is_fallback: Vec::new(),
        };
        for ((token, _), at) in model.vocab.0.iter().zip(0..) {
            match alphabet {
                Alphabet::Bytes => entries.add_bytes(token),
                Alphabet::Characters => entries.add_characters(token, space),
            }
            if entries.known.insert(token, at).is_some() {
                return Err("a token is in its vocabulary twice");
            }
            if entries.bytes(at).len() > LONGEST {
                return Err("a token is longer than the engine allows");
            }
        }
        match alphabet {
            Alphabet::Bytes => entries.find_bytes()?,
            Alphabet::Characters => entries.find_characters()?,
        }
        match space {
            Some(space) if alphabet == Alphabet::Characters && !entries.known.contains_key(&*space.to_string()) => {
                Err("it has no token for a space")
            }
            _ => Ok(entries),
        }
    }

    /// Adds a token of bytes, unless a character of it stands for none.
    fn add_bytes(&mut self, token: &str) {
        let start = self.text.len();
        for character in token.chars() {
            match BYTE_OF.get(character as usize).copied().flatten() {
                Some(byte) => self.text.push(byte),
                None => {
                    self.text.truncate(start);
                    break;
                }
            }
        }
        self.ends.push(self.text.len());
    }

    /// Adds a token of characters, unless it contains a space that was replaced in texts.
    fn add_characters(&mut self, token: &str, space: Option<char>) {
        match space {
            Some(_) if token.contains(' ') => {}
            Some(space) if token.contains(space) => self.text.extend_from_slice(token.replace(space, " ").as_bytes()),
            _ => self.text.extend_from_slice(token.as_bytes()),
        }
        self.ends.push(self.text.len());
    }

    /// The text of an entry.
    fn bytes(&self, entry: u32) -> &[u8] {
        let entry = entry as usize;
        let start = entry.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[entry]]
    }

    fn all(&self) -> Range<u32> {
        0..u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// Finds the entry of each byte.
    fn find_bytes(&mut self) -> Result<(), Unsupported> {
        let mut found = 0;
        for entry in self.all() {
            if let [byte] = *self.bytes(entry) {
                self.bytes[usize::from(byte)] = entry;
                found += 1;
            }
        }
        if found == BYTES { Ok(()) } else { Err(NOT_EVERY_BYTE) }
    }

    /// Finds the entry of each character, and of each byte for those without one.
    fn find_characters(&mut self) -> Result<(), Unsupported> {
        let fallbacks = (0..=u8::MAX).map(|byte| self.find(&format!("<0x{byte:02X}>")));
        let mut bytes: Vec<Option<u32>> = fallbacks.collect();
        self.is_fallback = vec![false; self.ends.len()];
        bytes.iter().flatten().for_each(|entry| self.is_fallback[*entry as usize] = true);
        for entry in self.all() {
            let text = str::from_utf8(self.bytes(entry)).unwrap_or_default();
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (Some(only), None) if only.is_ascii() => bytes[only as usize] = Some(entry),
                (Some(only), None) => drop(self.characters.insert(only, entry)),
                _ => {}
            }
        }
        for (unit, found) in self.bytes.iter_mut().zip(bytes) {
            *unit = found.ok_or(NOT_EVERY_BYTE)?;
        }
        Ok(())
    }

    /// Replaces `units` by those of an entry.
    fn units(&self, entry: u32, units: &mut Vec<u32>) {
        let text = self.bytes(entry);
        units.clear();
        match str::from_utf8(text) {
            Ok(text) if !self.characters.is_empty() => {
                for character in text.chars() {
                    match self.characters.get(&character) {
                        Some(unit) => units.push(*unit),
                        None => units.extend(character.encode_utf8(&mut [0; 4]).bytes().map(|byte| self.of_byte(byte))),
                    }
                }
            }
            _ => units.extend(text.iter().map(|byte| self.of_byte(*byte))),
        }
    }

    fn of_byte(&self, byte: u8) -> u32 {
        self.bytes[usize::from(byte)]
    }

    /// The tokens with their new numbers.
    fn numbered(&self, merges: &Merges, made: &[(u32, u32)]) -> Tokens {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        let mut characters: Vec<u32> = self.characters.values().copied().collect();
        characters.sort_unstable();
        let mut numbers = vec![0; self.ends.len()];
        let entries = self.bytes.iter().chain(&characters).chain(made.iter().map(|(_, entry)| entry));
        for (entry, number) in entries.zip(0..) {
            numbers[*entry as usize] = number;
        }
        let units = bytes.chunks(1).chain(characters.iter().map(|entry| self.bytes(*entry)));
        let made = made.iter().map(|(rank, entry)| {
            let pair = merges.pairs[*rank as usize].map(|part| numbers[part as usize]);
            (pair, self.bytes(*entry))
        });
        Tokens::new(units.map(|unit| (NO_PAIR, unit)).chain(made))
    }

    /// The texts of the entries that no merge makes.
    fn unmade(&self, made: &[(u32, u32)]) -> Vec<Box<[u8]>> {
        let mut is_made = vec![false; self.ends.len()];
        made.iter().for_each(|(_, entry)| is_made[*entry as usize] = true);
        let unmade = self.all().filter(|entry| !is_made[*entry as usize] && !self.is_unit(*entry));
        unmade.map(|entry| self.bytes(entry).into()).collect()
    }

    fn is_unit(&self, entry: u32) -> bool {
        match str::from_utf8(self.bytes(entry)) {
            Ok(text) if !self.characters.is_empty() => text.chars().count() < 2,
            _ => self.bytes(entry).len() < 2,
        }
    }

    fn find(&self, token: &str) -> Option<u32> {
        self.known.get(token).copied()
    }
}

// The merges, which are known by their ranks: their places in the list, from 1.

struct Merges {
    /// The two entries that each merge joins.
    pairs: Vec<[u32; 2]>,
    /// The entry that it makes.
    results: Vec<u32>,
    ranks: MergeTable,
}

impl Merges {
    fn read(model: &Model<'_>, entries: &EntryTable<'_>) -> Result<Self, Unsupported> {
        let count = model.merges.len();
        let mut merges = Self { pairs: vec![[0; 2]], results: vec![0], ranks: MergeTable::new(count) };
        let mut joined = String::new();
        for merge in &model.merges {
            let (left, right) = &merge.parts;
            joined.clear();
            joined.push_str(left);
            joined.push_str(right);
            // Most files list tokens in the order of the merges that make them.
            let last = merges.results.last().copied().unwrap_or(0);
            let near = [last, last + 1]
                .into_iter()
                .find(|entry| model.vocab.0.get(*entry as usize).is_some_and(|(token, _)| *token == joined));
            let result = near.or_else(|| entries.find(&joined));
            let (Some(left), Some(right), Some(result)) = (entries.find(left), entries.find(right), result) else {
                return Err("a merge is of tokens that it does not have");
            };
            if [left, right, result].iter().any(|entry| entries.is_fallback.get(*entry as usize) == Some(&true)) {
                return Err("a merge is of bytes that stand for other characters");
            }
            merges.pairs.push([left, right]);
            merges.results.push(result);
        }
        // Of pairs that are listed twice, the library merges the last one.
        for rank in (1..=u32::try_from(count).unwrap_or(u32::MAX)).rev() {
            let [left, right] = merges.pairs[rank as usize];
            if merges.ranks.merged(left, right) == 0 {
                merges.ranks.insert([left, right], rank);
            }
        }
        Ok(merges)
    }

    /// The tokens that merges make, in the order of the merges, each with the rank of its last merge.
    fn made(&self, entries: &EntryTable<'_>) -> Vec<(u32, u32)> {
        let mut is_result = vec![false; entries.ends.len()];
        self.results.iter().skip(1).for_each(|entry| is_result[*entry as usize] = true);
        let mut units = Vec::new();
        let mut made = Vec::new();
        for entry in entries.all().filter(|entry| is_result[*entry as usize]) {
            entries.units(entry, &mut units);
            let last = self.ranks.merge(&mut units, |rank| self.results[rank as usize]);
            if last != 0 && units == [entry] {
                made.push((last, entry));
            }
        }
        made.sort_unstable();
        made
    }
}
