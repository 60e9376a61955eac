//! Added and special tokens, which are found in a text before it is split.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, MatchKind};

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
    special: Vec<bool>,
}

/// A part of a text.
pub(super) enum Part<'a> {
    Token,
    Text(&'a str),
}

impl Added {
    pub(super) fn read(tokens: &[AddedToken], model: &Model<'_>, normalizes: bool) -> Result<Self, Foreign> {
        if tokens.iter().any(|token| token.single_word || token.lstrip || token.rstrip) {
            return Err("an added token depends on what is around it");
        }
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
        Ok(Some(Self { automaton, special: tokens.iter().map(|token| token.special).collect() }))
    }

    /// Whether a token is in the text.
    pub(super) fn finds(&self, text: &str, special: bool) -> bool {
        self.split(text, special).any(|part| matches!(part, Part::Token))
    }

    /// The parts of a text. Special tokens are text unless `special`.
    pub(super) fn split<'a>(&'a self, text: &'a str, special: bool) -> impl Iterator<Item = Part<'a>> {
        let all = special || self.special.iter().any(|special| !special);
        let searched = if all { text } else { "" };
        let found = self.automaton.find_iter(searched);
        let found = found.filter(move |found| special || !self.special[found.pattern().as_usize()]);
        let mut at = 0;
        let ends = found.map(|found| (found.start(), found.end(), true)).chain([(text.len(), text.len(), false)]);
        ends.flat_map(move |(start, end, token)| {
            let before = Some(&text[at..start]).filter(|before| !before.is_empty());
            at = end;
            before.map(Part::Text).into_iter().chain(token.then_some(Part::Token))
        })
    }
}
