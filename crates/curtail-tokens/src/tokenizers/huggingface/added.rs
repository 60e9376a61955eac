//! Added and special tokens, which are found in a text before it is split.

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind};
use fancy_regex::Regex;

use super::file::{AddedToken, Model};
use super::{Foreign, normal};

/// The tokens that are found in a text as it is, and those found in the normalized text.
pub(super) struct Added {
    pub(super) raw: Option<Finder>,
    pub(super) normalized: Option<Finder>,
}

/// Finds some tokens, the leftmost first and of these the longest.
pub(super) struct Finder {
    automaton: AhoCorasick,
    rules: Vec<Rule>,
}

/// When a token is one where its text is found, and what it takes from around it.
struct Rule {
    special: bool,
    /// Only where no word goes on.
    alone: bool,
    /// It takes the white space before it.
    before: bool,
    /// It takes the white space after it.
    after: bool,
}

/// A part of a text.
pub(super) enum Part<'a> {
    Token,
    Text(&'a str),
}

impl Added {
    pub(super) fn read(tokens: &[AddedToken], model: &Model<'_>, normalizes: bool) -> Result<Self, Foreign> {
        let known: HashSet<&str> = tokens.iter().map(|token| token.content.as_str()).collect();
        let mut ids: Vec<u32> =
            model.vocab.0.iter().filter(|(token, _)| known.contains(&**token)).map(|(_, id)| *id).collect();
        let new = tokens.len() - ids.len().min(tokens.len());
        // The library numbers those that the vocabulary does not have from its length on.
        let first = u32::try_from(model.vocab.0.len()).unwrap_or(u32::MAX);
        ids.extend((first..).take(new));
        ids.sort_unstable();
        if known.len() != tokens.len() || ids.array_windows().any(|[one, next]| one == next) {
            return Err("two added tokens are one");
        }
        let of = |normalized: bool| tokens.iter().filter(move |token| token.normalized == normalized);
        Ok(Self { raw: Finder::of(of(false), false)?, normalized: Finder::of(of(true), normalizes)? })
    }
}

impl Finder {
    fn of<'a>(tokens: impl Iterator<Item = &'a AddedToken>, normalizes: bool) -> Result<Option<Self>, Foreign> {
        let tokens: Vec<&AddedToken> = tokens.filter(|token| !token.content.is_empty()).collect();
        if tokens.is_empty() {
            return Ok(None);
        }
        let contents: Vec<_> = tokens.iter().map(|token| normal::composed(&token.content, normalizes)).collect();
        if contents.iter().collect::<HashSet<_>>().len() != contents.len() {
            return Err("two added tokens are one");
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(contents.iter().map(|content| content.as_bytes()));
        let automaton = automaton.map_err(|_| "its added tokens are too many")?;
        let rule = |token: &&AddedToken| Rule {
            special: token.special,
            alone: token.single_word,
            before: token.lstrip,
            after: token.rstrip,
        };
        Ok(Some(Self { automaton, rules: tokens.iter().map(rule).collect() }))
    }

    /// Whether a token is in the text.
    pub(super) fn finds(&self, text: &str, special: bool) -> bool {
        self.split(text, special).any(|part| matches!(part, Part::Token))
    }

    /// The parts of a text. Special tokens are text unless `special`.
    pub(super) fn split<'a>(&'a self, text: &'a str, special: bool) -> impl Iterator<Item = Part<'a>> {
        let all = special || self.rules.iter().any(|rule| !rule.special);
        let found = self.automaton.find_iter(if all { text } else { "" });
        let mut at = 0;
        let token = move |found: Match| {
            let rule = &self.rules[found.pattern().as_usize()];
            let (start, end) = (found.start(), found.end());
            let takes = (special || !rule.special) && !(rule.alone && in_word(text, start, end));
            // What the token before it took is not taken again.
            let start = if rule.before { text[..start].trim_end().len().max(at) } else { start };
            let end = if rule.after { text.len() - text[end..].trim_start().len() } else { end };
            takes.then(|| (std::mem::replace(&mut at, end), start, end))
        };
        parts(text, found.filter_map(token))
    }
}

/// The parts of a text with these tokens: where the text before one begins, and its start and end. As the library does, a
/// token may be within the white space that the one before it took, and is none if all of it was taken.
fn parts(text: &str, tokens: impl Iterator<Item = (usize, usize, usize)>) -> impl Iterator<Item = Part<'_>> {
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

/// Whether a word goes on at the start or at the end of a part.
fn in_word(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (text[..start].chars().next_back(), text[end..].chars().next());
    [before, after].into_iter().flatten().any(of_word)
}

/// Whether a character is of a word, as regexes say it.
fn of_word(character: char) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\w").ok());
    let found = |word: &Regex| word.is_match(character.encode_utf8(&mut [0; 4])).unwrap_or(false);
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii() && WORD.as_ref().is_some_and(found)
}
