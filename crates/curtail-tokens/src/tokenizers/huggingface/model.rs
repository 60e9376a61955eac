//! Reads a `tokenizer.json` of the form that the engine of `curtail` supports, and converts its vocabulary and merges to
//! tables of the engine. Files of any other form are left to the library, which also reports what is wrong with a
//! damaged file.
//!
//! The engine merges the pair whose token has the lowest id; a file defines that the pair that it lists first is
//! merged. So tokens get new numbers: the bytes first, then the others in the order of their merges.
//!
//! A file may list several pairs for a token, one after another. Only one of them is ever merged: the one in which the
//! merges of the token's bytes end. For these merges do not depend on the surrounding bytes as long as no token crosses
//! the ends of the bytes, and where one does, the token cannot be made.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use serde::Deserialize;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{HIGHEST_ID, Unsupported};
use crate::tokenizers::tiktoken::{BYTES, MergeTable, NO_PAIR, Tokens, Vocabulary};

/// A supported file.
#[derive(Deserialize)]
pub(super) struct File<'a> {
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) truncation: Value,
    #[serde(default)]
    pub(super) padding: Value,
    #[serde(default)]
    pub(super) added_tokens: Vec<AddedToken>,
    #[serde(default)]
    pub(super) normalizer: Value,
    #[serde(default)]
    pub(super) pre_tokenizer: Value,
    #[serde(default)]
    pub(super) post_processor: Value,
    #[serde(default)]
    pub(super) decoder: Value,
    #[serde(borrow)]
    pub(super) model: Model<'a>,
}

/// A model of byte pair encoding. The members that begin with `_` are only checked for their type.
#[derive(Deserialize)]
pub(super) struct Model<'a> {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) dropout: Option<f32>,
    #[serde(rename = "unk_token")]
    _unknown: Option<String>,
    pub(super) continuing_subword_prefix: Option<String>,
    pub(super) end_of_word_suffix: Option<String>,
    #[serde(rename = "fuse_unk")]
    _fuse: Option<bool>,
    // Without effect: it applies to characters without a token, and in supported models every byte has one.
    #[serde(rename = "byte_fallback")]
    _fallback: Option<bool>,
    pub(super) ignore_merges: Option<bool>,
    #[serde(borrow)]
    pub(super) vocab: Entries<'a>,
    /// Pairs of tokens, in the order in which they merge.
    #[serde(borrow)]
    pub(super) merges: Vec<Merge<'a>>,
}

/// A token that is found in a text before the text is split.
#[derive(Deserialize)]
pub(super) struct AddedToken {
    #[serde(rename = "id")]
    _id: u32,
    pub(super) content: String,
    pub(super) single_word: bool,
    pub(super) lstrip: bool,
    pub(super) rstrip: bool,
    pub(super) normalized: bool,
    pub(super) special: bool,
}

/// The tokens of a vocabulary with their ids, in the order of the file.
pub(super) struct Entries<'a>(pub(super) Vec<(Cow<'a, str>, u32)>);

/// A string that is borrowed from the file if it contains no escape.
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a vocabulary")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::with_capacity(1 << 16);
                while let Some((Borrowed(token), id)) = map.next_entry()? {
                    entries.push((token, id));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// A merge: `"a b"` or (`listed`) `["a", "b"]`.
pub(super) struct Merge<'a> {
    parts: (Cow<'a, str>, Cow<'a, str>),
    pub(super) listed: bool,
}

/// The two parts of `"a b"`.
fn merge_parts<E: Error>(text: &str) -> Result<(&str, &str), E> {
    let parts = text.split_once(' ').filter(|(_, right)| !right.contains(' ') && !text.starts_with("#version"));
    parts.ok_or_else(|| E::custom("a merge has two parts"))
}

impl<'de: 'a, 'a> Deserialize<'de> for Merge<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Merge<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a merge")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Merge<'de>, E> {
                let (left, right) = merge_parts(text)?;
                Ok(Merge { parts: (left.into(), right.into()), listed: false })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Merge<'de>, E> {
                let (left, right) = merge_parts(text)?;
                Ok(Merge { parts: (left.to_owned().into(), right.to_owned().into()), listed: false })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merge<'de>, A::Error> {
                let parts = (list.next_element()?, list.next_element()?, list.next_element::<Borrowed<'de>>()?);
                match parts {
                    (Some(Borrowed(left)), Some(Borrowed(right)), None) => {
                        Ok(Merge { parts: (left, right), listed: true })
                    }
                    _ => Err(A::Error::custom("a merge has two parts")),
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}

// The tables of a model.

/// The most tokens: the engine stores ids in steps of 1,024 in a byte, and one value of that byte has another meaning.
const MAX_TOKENS: usize = 255 << 10;

/// The tables of a model. They are kept until the program ends.
pub(super) fn vocabulary(model: &Model<'_>) -> Result<&'static Vocabulary, Unsupported> {
    let is_empty = |affix: &Option<String>| affix.as_ref().is_none_or(String::is_empty);
    if model.kind != "BPE" || model.dropout.is_some() {
        return Err("its model is not plain byte pair encoding");
    }
    if !is_empty(&model.continuing_subword_prefix) || !is_empty(&model.end_of_word_suffix) {
        return Err("its tokens have prefixes or suffixes");
    }
    let entries = EntryTable::read(model)?;
    let (pairs, made) = entries.learn()?;
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    let tokens = Tokens::from_pairs(&bytes, pairs);
    let whole = if model.ignore_merges == Some(true) { entries.unmade(&made) } else { Vec::new() };
    Ok(Box::leak(Box::new(Vocabulary::from_tokens(&tokens, whole))))
}

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

/// The token of an entry in the vocabulary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    /// It has this new number.
    Numbered(u32),
    /// It has no number, because no merge makes it.
    Unmade,
    /// It does not consist of byte-level characters, so that it can be in no piece.
    NotBytes,
}

/// The entries of a vocabulary, and the tokens that merges make.
struct EntryTable {
    /// The bytes of all entries, one after another.
    text: Vec<u8>,
    /// Where the bytes of each entry end in `text`.
    ends: Vec<usize>,
    tokens: Vec<Token>,
    /// The tokens that merges make, in the order of the merges.
    groups: Vec<TokenPairs>,
    /// The pairs of all groups, as entries.
    pairs: Vec<[usize; 2]>,
}

/// A token, and the pairs that the file lists for it.
struct TokenPairs {
    entry: usize,
    /// Where its pairs start in the list of all pairs.
    start: usize,
}

impl EntryTable {
    fn read(model: &Model<'_>) -> Result<Self, Unsupported> {
        let count = model.vocab.0.len();
        let mut entries = Self {
            text: Vec::with_capacity(count * 8),
            ends: Vec::with_capacity(count),
            tokens: Vec::with_capacity(count),
            groups: Vec::with_capacity(count),
            pairs: Vec::with_capacity(model.merges.len()),
        };
        let mut known = HashMap::with_capacity_and_hasher(count, RandomState::default());
        for (at, (token, _)) in model.vocab.0.iter().enumerate() {
            entries.add(token);
            if known.insert(&**token, at).is_some() {
                return Err("a token is in its vocabulary twice");
            }
        }
        let bytes = entries.tokens.iter().filter(|token| matches!(token, Token::Numbered(_))).count();
        if bytes != BYTES {
            return Err("not every byte is a token");
        }
        check_ids(model)?;
        entries.number(model, &known)?;
        Ok(entries)
    }

    /// Adds the bytes of a token.
    fn add(&mut self, token: &str) {
        let start = self.text.len();
        let bytes = token.chars().map(|character| BYTE_OF.get(character as usize).copied().flatten());
        let mut is_foreign = false;
        self.text.extend(bytes.map_while(|byte| {
            is_foreign |= byte.is_none();
            byte
        }));
        if is_foreign {
            self.text.truncate(start);
        }
        self.tokens.push(match self.text[start..] {
            [] => Token::NotBytes,
            [byte] => Token::Numbered(u32::from(byte)),
            _ => Token::Unmade,
        });
        self.ends.push(self.text.len());
    }

    /// Numbers the tokens that merges make. `known` is the index of each entry.
    fn number(&mut self, model: &Model<'_>, known: &HashMap<&str, usize, RandomState>) -> Result<(), Unsupported> {
        let mut joined = String::new();
        for Merge { parts: (left, right), .. } in &model.merges {
            joined.clear();
            joined.push_str(left);
            joined.push_str(right);
            let found = [left, right, joined.as_str()].map(|token| known.get(token).copied());
            let [Some(left), Some(right), Some(merged)] = found else {
                return Err("a merge is of tokens that it does not have");
            };
            if [left, right].iter().any(|part| self.tokens[*part] == Token::NotBytes) {
                continue;
            }
            match self.tokens[merged] {
                Token::Unmade => {
                    self.tokens[merged] = Token::Numbered(u32::try_from(BYTES + self.groups.len()).unwrap_or(u32::MAX));
                    self.groups.push(TokenPairs { entry: merged, start: self.pairs.len() });
                }
                Token::Numbered(_) if self.groups.last().is_some_and(|last| last.entry == merged) => {}
                _ => return Err("merges that make one token are not neighbors"),
            }
            self.pairs.push([left, right]);
        }
        if BYTES + self.groups.len() > MAX_TOKENS {
            return Err("it has more tokens than the engine can number");
        }
        Ok(())
    }

    fn bytes(&self, entry: usize) -> &[u8] {
        let start = entry.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[entry]]
    }

    /// For each number, the pair that makes its token; for each group, whether there is such a pair.
    fn learn(&self) -> Result<(Vec<[u32; 2]>, Vec<bool>), Unsupported> {
        let ids = std::array::from_fn(|byte| u32::try_from(byte).unwrap_or(0));
        let count = BYTES + self.groups.len();
        let mut table = MergeTable::new(count, &ids);
        let mut pairs = vec![NO_PAIR; count];
        let mut made = vec![false; self.groups.len()];
        for (at, id) in (0..self.groups.len()).zip(256..) {
            if let Some(pair) = self.pair(at, &table) {
                table.insert(pair, id);
                (pairs[BYTES + at], made[at]) = (pair, true);
            }
        }
        // A token that cannot be made of tokens with lower numbers might be made of higher ones.
        let late = (0..made.len()).any(|at| !made[at] && self.pair(at, &table).is_some());
        if late { Err("a merge comes before those that it needs") } else { Ok((pairs, made)) }
    }

    /// The pair into which the bytes of a group's token merge, if the file lists it.
    fn pair(&self, at: usize, table: &MergeTable) -> Option<[u32; 2]> {
        let parts = table.merge(self.bytes(self.groups[at].entry));
        let pair = <[u32; 2]>::try_from(parts).ok()?;
        let end = self.groups.get(at + 1).map_or(self.pairs.len(), |next| next.start);
        let mut listed = self.pairs[self.groups[at].start..end].iter();
        let is = |entry: usize, id: u32| self.tokens[entry] == Token::Numbered(id);
        listed.any(|[left, right]| is(*left, pair[0]) && is(*right, pair[1])).then_some(pair)
    }

    /// The tokens that no merge makes.
    fn unmade(&self, made: &[bool]) -> Vec<Box<[u8]>> {
        let unmade = (0..self.tokens.len()).filter(|entry| match self.tokens[*entry] {
            Token::Numbered(id) => (id as usize).checked_sub(BYTES).is_some_and(|at| !made[at]),
            Token::Unmade => true,
            Token::NotBytes => false,
        });
        unmade.map(|entry| self.bytes(entry).into()).collect()
    }
}

/// Checks that no two tokens have the same id. Ids may have gaps.
fn check_ids(model: &Model<'_>) -> Result<(), Unsupported> {
    let mut ids: Vec<u32> = model.vocab.0.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    let highest = ids.last().copied().unwrap_or(0);
    let twice = ids.array_windows().any(|[one, next]| one == next);
    if twice || highest > HIGHEST_ID { Err("ids of tokens are too high or not unique") } else { Ok(()) }
}
