//! Added and special tokens, which are found in a text before it is split.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind};
use fancy_regex::Regex;

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
    /// The added tokens of a file.
    ///
    /// # Errors
    /// Why they cannot be found as the library finds them.
    pub(super) fn read(tokens: &[AddedToken], model: &Model<'_>, normalizer: &Normalizer) -> Result<Self, Unsupported> {
        let known: HashSet<&str> = tokens.iter().map(|token| token.content.as_str()).collect();
        let mut ids: Vec<u32> =
            model.vocab.0.iter().filter(|(token, _)| known.contains(&**token)).map(|(_, id)| *id).collect();
        let new = tokens.len() - ids.len().min(tokens.len());
        // The library gives tokens that are not in the vocabulary the ids from its length on.
        let first = u32::try_from(model.vocab.0.len()).unwrap_or(u32::MAX);
        ids.extend((first..).take(new));
        ids.sort_unstable();
        if known.len() != tokens.len() || ids.array_windows().any(|[one, next]| one == next) {
            return Err("two added tokens are equal");
        }
        let found_in = |normalized: bool| tokens.iter().filter(move |token| token.normalized == normalized);
        if normalizer.writes_spaces() && found_in(true).any(|token| token.lstrip || token.rstrip) {
            return Err("added tokens take the spaces around them, which it writes as another character");
        }
        Ok(Self {
            raw: Finder::from_tokens(found_in(false), Cow::Borrowed)?,
            normalized: Finder::from_tokens(found_in(true), |content| normalizer.apply(content))?,
        })
    }
}

impl Finder {
    fn from_tokens<'a>(
        tokens: impl Iterator<Item = &'a AddedToken>,
        spelled: impl Fn(&'a str) -> Cow<'a, str>,
    ) -> Result<Option<Self>, Unsupported> {
        let tokens: Vec<&AddedToken> = tokens.filter(|token| !token.content.is_empty()).collect();
        if tokens.is_empty() {
            return Ok(None);
        }
        let contents: Vec<_> = tokens.iter().map(|token| spelled(&token.content)).collect();
        if contents.iter().collect::<HashSet<_>>().len() != contents.len() {
            return Err("two added tokens are equal");
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(contents.iter().map(|content| content.as_bytes()));
        let automaton = automaton.map_err(|_| "its added tokens are too many")?;
        let rule = |token: &&AddedToken| Rule {
            special: token.special,
            single_word: token.single_word,
            strips_left: token.lstrip,
            strips_right: token.rstrip,
        };
        Ok(Some(Self { automaton, rules: tokens.iter().map(rule).collect() }))
    }

    /// Whether a token is in the text.
    pub(super) fn finds(&self, text: &str, special: bool) -> bool {
        self.split(text, special).any(|part| matches!(part, Part::Token))
    }

    /// The parts of a text. Special tokens are text unless `special`.
    fn split<'a>(&'a self, text: &'a str, special: bool) -> impl Iterator<Item = Part<'a>> {
        let all = special || self.rules.iter().any(|rule| !rule.special);
        let found = self.automaton.find_iter(if all { text } else { "" });
        let mut at = 0;
        let token = move |found: Match| {
            let rule = &self.rules[found.pattern().as_usize()];
            let start = found.start();
            let end = found.end();
            let is_token = (special || !rule.special) && !(rule.single_word && in_word(text, start, end));
            // White space that belongs to the previous token is not taken again.
            let start = if rule.strips_left { text[..start].trim_end().len().max(at) } else { start };
            let end = if rule.strips_right { text.len() - text[end..].trim_start().len() } else { end };
            is_token.then(|| (std::mem::replace(&mut at, end), start, end))
        };
        parts_at(text, found.filter_map(token))
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
    let between = move |from: usize, to: usize| text.get(from..to).filter(|text| !text.is_empty()).map(Part::Text);
    let tokens = tokens.map(Some).chain([None]);
    tokens.flat_map(move |token| {
        let (from, start) = token.map_or((at, text.len()), |(from, start, _)| (from, start));
        at = token.map_or(at, |(_, _, end)| end);
        let token = token.filter(|(_, start, end)| start < end).map(|_| Part::Token);
        between(from, start).into_iter().chain(token)
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
    let matches = |word: &Regex| word.is_match(character.encode_utf8(&mut [0; 4])).unwrap_or(false);
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii() && WORD.as_ref().is_some_and(matches)
}
