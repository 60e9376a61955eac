//! Added and special tokens, which are found in a text before it is split.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Anchored, Input, Match, MatchKind, StartKind};
use fancy_regex::Regex;
use foldhash::fast::RandomState;

use super::Unsupported;
use super::file::{AddedToken, Model};
use super::normalizer::Normalizer;

/// The added tokens that are found in a text before it is normalized, and those found after.
pub(super) struct AddedTokens {
    pub(super) raw: Option<Finder>,
    pub(super) normalized: Option<Finder>,
}

/// Finds tokens in a text: the leftmost first, and the longest of those that start at the same place.
pub(super) struct Finder {
    automaton: AhoCorasick,
    starts: Starts,
    rules: Vec<Rule>,
}

/// When the text of a token is the token, and which white space belongs to it.
struct Rule {
    special: bool,
    /// Whether it is a token only between word boundaries.
    single_word: bool,
    /// Whether the white space before it belongs to it.
    strips_left: bool,
    /// Whether the white space after it belongs to it.
    strips_right: bool,
}

/// A part of a text: an added token, or the text between two.
pub(super) enum Part<'a> {
    Token,
    Text(&'a str),
}

impl AddedTokens {
    /// The added tokens of a file, which [`check_ids`] accepted.
    ///
    /// # Errors
    /// Why they cannot be found as the library finds them.
    pub(super) fn read(tokens: &[AddedToken], normalizer: &Normalizer) -> Result<Self, Unsupported> {
        let (normalized, raw): (Vec<&AddedToken>, Vec<_>) = tokens.iter().partition(|token| token.normalized);
        if normalizer.writes_spaces() && normalized.iter().any(|token| token.lstrip || token.rstrip) {
            return Err("added tokens take the spaces around them, which it writes as another character");
        }
        Ok(Self {
            raw: Finder::from_tokens(raw, Cow::Borrowed)?,
            normalized: Finder::from_tokens(normalized, |content| normalizer.apply(content))?,
        })
    }

    /// Whether any of them, special ones aside, is in `text`, or in `normalized`, which the normalizer makes of it.
    pub(super) fn are_in(&self, text: &str, normalized: &str) -> bool {
        [(&self.raw, text), (&self.normalized, normalized)]
            .into_iter()
            .any(|(finder, text)| finder.as_ref().is_some_and(|finder| finder.finds(text, false)))
    }
}

/// Checks that no two added tokens are equal or have the same id.
pub(super) fn check_ids(tokens: &[AddedToken], model: &Model<'_>) -> Result<(), Unsupported> {
    let known: HashSet<&str, RandomState> = tokens.iter().map(|token| token.content.as_str()).collect();
    let mut ids: Vec<u32> =
        model.vocab.0.iter().filter(|(token, _)| known.contains(&**token)).map(|(_, id)| *id).collect();
    let new = tokens.len() - ids.len().min(tokens.len());
    // The library gives tokens that are not in the vocabulary the ids from its length on.
    let first = u32::try_from(model.vocab.0.len()).unwrap_or(u32::MAX);
    ids.extend((first..).take(new));
    ids.sort_unstable();
    if known.len() != tokens.len() {
        return Err("two added tokens are equal");
    }
    if ids.array_windows().any(|[one, next]| one == next) {
        return Err("two added tokens have the same id");
    }
    Ok(())
}

/// The longest added token, in bytes. At each place where tokens may begin, as much of a text is looked at.
const LONGEST: usize = 256;

impl Finder {
    fn from_tokens<'a>(
        mut tokens: Vec<&'a AddedToken>,
        spelled: impl Fn(&'a str) -> Cow<'a, str>,
    ) -> Result<Option<Self>, Unsupported> {
        tokens.retain(|token| !token.content.is_empty());
        if tokens.is_empty() {
            return Ok(None);
        }
        let contents: Vec<_> = tokens.iter().map(|token| spelled(&token.content)).collect();
        if contents.iter().collect::<HashSet<_>>().len() != contents.len() {
            return Err("two added tokens are equal");
        }
        if contents.iter().any(|content| content.len() > LONGEST) {
            return Err("an added token is longer than the engine allows");
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Anchored)
            .build(contents.iter().map(|content| content.as_bytes()));
        let automaton = automaton.map_err(|_| "its added tokens are too many")?;
        let starts = Starts::of_tokens(contents.iter().map(|content| content.as_bytes()));
        let rules = tokens.iter().map(|token| Rule {
            special: token.special,
            single_word: token.single_word,
            strips_left: token.lstrip,
            strips_right: token.rstrip,
        });
        Ok(Some(Self { automaton, starts, rules: rules.collect() }))
    }

    /// The leftmost tokens that do not overlap; the longest of those that start at the same place.
    fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Match> + 'a {
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let start = self.starts.next(text.as_bytes(), at)?;
                let input = Input::new(text).span(start..text.len()).anchored(Anchored::Yes);
                if let Some(found) = self.automaton.find(input) {
                    at = found.end();
                    return Some(found);
                }
                at = start + 1;
            }
        })
    }

    /// Whether a token is in the text.
    fn finds(&self, text: &str, special: bool) -> bool {
        self.split(text, special).any(|part| matches!(part, Part::Token))
    }

    /// The parts of a text. Special tokens are text unless `special`.
    fn split<'a>(&'a self, text: &'a str, special: bool) -> impl Iterator<Item = Part<'a>> {
        let may_find = special || self.rules.iter().any(|rule| !rule.special);
        let found = self.matches(if may_find { text } else { "" });
        let mut at = 0;
        let tokens = found.filter_map(move |found| {
            let rule = &self.rules[found.pattern().as_usize()];
            let start = found.start();
            let end = found.end();
            let is_token = (special || !rule.special) && !(rule.single_word && in_word(text, start, end));
            // White space that belongs to the previous token is not taken again.
            let start = if rule.strips_left { text[..start].trim_end().len().max(at) } else { start };
            let end = if rule.strips_right { text.len() - text[end..].trim_start().len() } else { end };
            is_token.then(|| (std::mem::replace(&mut at, end), start, end))
        });
        parts_at(text, tokens)
    }
}

/// The first two bytes of tokens. Few places in a text begin with those of any token, and only these are searched: with
/// thousands of tokens, searching is slower than counting.
struct Starts {
    /// Whether a token begins with a byte.
    first: [bool; 256],
    /// For each of these bytes, a bit for each second byte.
    second: Vec<[u64; 4]>,
}

impl Starts {
    fn of_tokens<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut starts = Self { first: [false; 256], second: vec![[0; 4]; 256] };
        for token in tokens {
            let [first, ref rest @ ..] = *token else { continue };
            starts.first[usize::from(first)] = true;
            let second = &mut starts.second[usize::from(first)];
            match rest.first() {
                Some(byte) => second[usize::from(byte / 64)] |= 1 << (byte % 64),
                None => *second = [u64::MAX; 4],
            }
        }
        starts
    }

    /// The first place from `at` on where a token may begin.
    fn next(&self, text: &[u8], mut at: usize) -> Option<usize> {
        loop {
            at += text.get(at..)?.iter().position(|byte| self.first[usize::from(*byte)])?;
            // Only a token of one byte begins with the last byte.
            let second = text.get(at + 1).copied().unwrap_or(0);
            let bits = self.second[usize::from(text[at])][usize::from(second / 64)];
            if bits >> (second % 64) & 1 == 1 {
                return Some(at);
            }
            at += 1;
        }
    }
}

/// The parts of a text; the whole text without a finder.
pub(super) fn parts<'a>(finder: Option<&'a Finder>, text: &'a str, special: bool) -> impl Iterator<Item = Part<'a>> {
    let whole = finder.is_none() && !text.is_empty();
    let found = finder.into_iter().flat_map(move |finder| finder.split(text, special));
    whole.then_some(Part::Text(text)).into_iter().chain(found)
}

/// The parts of a text with these tokens. Each is given by the start of the text before it, its start and its end. As
/// in the library, a token may lie in white space that belongs to the previous one; it is dropped if nothing of it
/// remains.
fn parts_at(text: &str, tokens: impl Iterator<Item = (usize, usize, usize)>) -> impl Iterator<Item = Part<'_>> {
    let mut at = 0;
    let tokens = tokens.map(Some).chain([None]);
    tokens.flat_map(move |token| {
        let (from, start) = token.map_or((at, text.len()), |(from, start, _)| (from, start));
        at = token.map_or(at, |(_, _, end)| end);
        let token = token.filter(|(_, start, end)| start < end).map(|_| Part::Token);
        let before = text.get(from..start).filter(|text| !text.is_empty()).map(Part::Text);
        before.into_iter().chain(token)
    })
}

/// Whether the character before `start` or after `end` belongs to a word.
fn in_word(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    [before, after].into_iter().flatten().any(is_word)
}

/// Whether a character belongs to a word, by `\w` of a regex.
fn is_word(character: char) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\w").ok());
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    WORD.as_ref().is_some_and(|word| word.is_match(character.encode_utf8(&mut [0; 4])).unwrap_or(false))
}
