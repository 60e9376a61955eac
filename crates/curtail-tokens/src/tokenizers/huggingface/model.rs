//! The vocabulary and the merges of a `tokenizer.json` as tables of the own engine.
//!
//! The engine merges the pair whose token has the lowest id; a file, the pair that it lists first. So tokens are numbered
//! anew: the bytes, then the others in the order of their merges. A file may list several pairs for a token, one after another.
//! Of these only one is ever merged, the one that the token's own bytes come to: what happens inside these bytes does not
//! depend on what is around them as long as no token crosses their ends, and a token can only be made where none does.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::super::tiktoken::{MergeTable, NO_PAIR, Tokens, Vocabulary};
use super::Foreign;
use super::file::Model;

/// Tokens of the bytes.
const BYTES: usize = 256;
/// The engine holds ids in steps of 1,024 in a byte, of which one value has another meaning.
const MOST: usize = 255 << 10;
/// Known vocabularies end below 300,000.
const HIGHEST_ID: u32 = 1 << 24;

/// The tables of a model, which stay until the program ends.
pub(super) fn vocabulary(model: &Model<'_>) -> Result<&'static Vocabulary, Foreign> {
    let plain = |affix: &Option<String>| affix.as_ref().is_none_or(String::is_empty);
    if model.kind != "BPE" || model.dropout.is_some() {
        return Err("its model is not plain byte pair encoding");
    }
    if !plain(&model.continuing_subword_prefix) || !plain(&model.end_of_word_suffix) {
        return Err("its tokens have prefixes or suffixes");
    }
    let entries = EntryTable::read(model)?;
    let (pairs, made) = entries.learn()?;
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    let tokens = Tokens::from_pairs(&bytes, pairs);
    let whole = if model.ignore_merges == Some(true) { entries.unmade(&made) } else { Vec::new() };
    Ok(Box::leak(Box::new(Vocabulary::from_tokens(&tokens, whole))))
}

/// The bytes that the characters of a byte-level token stand for.
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

/// The token of a vocabulary's entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    /// Under this number; not yet with a pair.
    Numbered(u32),
    /// No merge makes it.
    Unmade,
    /// It is not of bytes, so that it is in no piece.
    Foreign,
}

/// The entries of a vocabulary, and the tokens that merges make.
struct EntryTable {
    /// The bytes of all entries one after another, and where those of each end.
    text: Vec<u8>,
    ends: Vec<usize>,
    tokens: Vec<Token>,
    /// The entry and the pairs of each token that merges make, in their order.
    groups: Vec<Group>,
    /// The pairs of all groups, as entries.
    pairs: Vec<[usize; 2]>,
}

struct Group {
    entry: usize,
    /// Where its pairs start.
    start: usize,
}

impl EntryTable {
    fn read(model: &Model<'_>) -> Result<Self, Foreign> {
        let count = model.vocab.0.len();
        let mut entries = Self {
            text: Vec::with_capacity(count * 8),
            ends: Vec::with_capacity(count),
            tokens: Vec::with_capacity(count),
            groups: Vec::with_capacity(count),
            pairs: Vec::with_capacity(model.merges.0.len()),
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
        unique(model)?;
        entries.order(model, &known)?;
        Ok(entries)
    }

    /// Adds the bytes of a token.
    fn add(&mut self, token: &str) {
        let start = self.text.len();
        let bytes = token.chars().map(|character| BYTE_OF.get(character as usize).copied().flatten());
        let mut foreign = token.is_empty();
        self.text.extend(bytes.map_while(|byte| {
            foreign |= byte.is_none();
            byte
        }));
        if foreign {
            self.text.truncate(start);
        }
        self.tokens.push(match self.text[start..] {
            [] => Token::Foreign,
            [byte] => Token::Numbered(u32::from(byte)),
            _ => Token::Unmade,
        });
        self.ends.push(self.text.len());
    }

    /// Numbers the tokens that merges make.
    fn order(&mut self, model: &Model<'_>, known: &HashMap<&str, usize, RandomState>) -> Result<(), Foreign> {
        let mut both = String::new();
        for (left, right) in &model.merges.0 {
            both.clear();
            both.push_str(left);
            both.push_str(right);
            let found = [left, right, both.as_str()].map(|token| known.get(token).copied());
            let [Some(left), Some(right), Some(merged)] = found else {
                return Err("a merge is of tokens that it does not have");
            };
            if [left, right].iter().any(|part| self.tokens[*part] == Token::Foreign) {
                continue;
            }
            match self.tokens[merged] {
                Token::Unmade => {
                    self.tokens[merged] = Token::Numbered(u32::try_from(BYTES + self.groups.len()).unwrap_or(u32::MAX));
                    self.groups.push(Group { entry: merged, start: self.pairs.len() });
                }
                Token::Numbered(_) if self.groups.last().is_some_and(|last| last.entry == merged) => {}
                _ => return Err("merges that make one token are not neighbors"),
            }
            self.pairs.push([left, right]);
        }
        if BYTES + self.groups.len() > MOST {
            return Err("it has more tokens than the engine can number");
        }
        Ok(())
    }

    fn bytes(&self, entry: usize) -> &[u8] {
        let start = entry.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[entry]]
    }

    /// The pair that makes each token, and whether one does.
    fn learn(&self) -> Result<(Vec<[u32; 2]>, Vec<bool>), Foreign> {
        let ids = std::array::from_fn(|byte| u32::try_from(byte).unwrap_or(0));
        let count = BYTES + self.groups.len();
        let mut table = MergeTable::new(count, &ids);
        let (mut pairs, mut made) = (vec![NO_PAIR; count], vec![false; self.groups.len()]);
        for (at, id) in (0..self.groups.len()).zip(256..) {
            if let Some(pair) = self.pair(at, &table) {
                table.insert(pair, id);
                (pairs[BYTES + at], made[at]) = (pair, true);
            }
        }
        // A token that lower ones do not make might be made of higher ones.
        let late = (0..made.len()).any(|at| !made[at] && self.pair(at, &table).is_some());
        if late { Err("a merge comes before those that it needs") } else { Ok((pairs, made)) }
    }

    /// The pair of the token of a group, if its bytes merge into one.
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
            Token::Foreign => false,
        });
        unmade.map(|entry| self.bytes(entry).into()).collect()
    }
}

/// Ids may have gaps, and belong to one token each.
fn unique(model: &Model<'_>) -> Result<(), Foreign> {
    let mut ids: Vec<u32> = model.vocab.0.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    let highest = ids.last().copied().unwrap_or(0);
    let twice = ids.array_windows().any(|[one, next]| one == next);
    if twice || highest > HIGHEST_ID { Err("ids of tokens are too high or not unique") } else { Ok(()) }
}
