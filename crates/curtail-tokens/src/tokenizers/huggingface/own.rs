//! Counts with a `tokenizer.json` by the own engine: what is done to a text before it is counted. Counts equal those of the
//! library.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind};
use fancy_regex::Regex;
use serde_json::Value;
use tokenizers::{DecoderWrapper, PaddingParams, PostProcessorWrapper, TruncationParams};
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::file::{AddedToken, File, Model};
use super::split::Split;
use super::{Foreign, model};
use crate::tokenizers::tiktoken::{Engine, Vocabulary};

/// A `tokenizer.json` that the engine understands.
pub(super) struct Own {
    vocabulary: &'static Vocabulary,
    split: Split,
    added: Added,
    /// Whether a text is composed.
    composes: bool,
    /// Whether a text gets a space before it.
    spaced: bool,
}

impl Own {
    /// # Errors
    /// Why the file is left to the library.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Foreign> {
        let file: File<'_> = serde_json::from_slice(bytes).map_err(|_| "its model is not byte pair encoding")?;
        if file.version.as_deref().is_some_and(|version| version != "1.0") || !valid(&file) {
            return Err("a part of it is not known");
        }
        let composes = composes(&file.normalizer)?;
        let (split, spaced) = Split::read(&file.pre_tokenizer)?;
        let added = Added::read(&file.added_tokens, &file.model, composes)?;
        Ok(Self { vocabulary: model::vocabulary(&file.model)?, split, added, composes, spaced })
    }

    /// Tokens of a text, or `None` if there are more than `limit`. Special tokens are text unless `special`.
    pub(super) fn count(&self, text: &str, special: bool, limit: usize) -> Option<usize> {
        let mut count = 0;
        for part in parts(self.added.raw.as_ref(), text, special) {
            count += match part {
                Part::Token => 1,
                Part::Text(text) => self.normalized(text, special, limit.checked_sub(count)?)?,
            };
        }
        (count <= limit).then_some(count)
    }

    fn normalized(&self, text: &str, special: bool, limit: usize) -> Option<usize> {
        let (text, mut count) = (composed(text, self.composes), 0);
        for part in parts(self.added.normalized.as_ref(), &text, special) {
            count += match part {
                Part::Token => 1,
                Part::Text(text) => self.engine().count_until(&self.spaced(text), limit.checked_sub(count)?)?,
            };
        }
        Some(count)
    }

    /// The engine, if the tokens of this text are those of its own bytes and nothing was put in or left out.
    pub(super) fn as_it_is(&self, text: &str) -> Option<Engine<'_>> {
        let mut finders = [&self.added.raw, &self.added.normalized].into_iter().flatten();
        let changed = self.spaced
            || self.engine().splitter.removes()
            || matches!(composed(text, self.composes), Cow::Owned(_))
            || finders.any(|finder| finder.finds(text, false));
        (!changed).then(|| self.engine())
    }

    /// Whether no text has more tokens than bytes.
    pub(super) const fn at_most_bytes(&self) -> bool {
        !self.composes && !self.spaced
    }

    const fn engine(&self) -> Engine<'_> {
        Engine { vocabulary: self.vocabulary, splitter: self.split.splitter() }
    }

    fn spaced<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.spaced && !text.starts_with(' ') { Cow::Owned(format!(" {text}")) } else { Cow::Borrowed(text) }
    }
}

fn parts<'a>(finder: Option<&'a Finder>, text: &'a str, special: bool) -> impl Iterator<Item = Part<'a>> {
    let whole = finder.is_none() && !text.is_empty();
    let found = finder.into_iter().flat_map(move |finder| finder.split(text, special));
    whole.then_some(Part::Text(text)).into_iter().chain(found)
}

/// Whether the library takes the parts that do not change a count.
fn valid(file: &File<'_>) -> bool {
    fn is<T: serde::de::DeserializeOwned>(part: &Value) -> bool {
        serde_json::from_value::<Option<T>>(part.clone()).is_ok()
    }
    is::<TruncationParams>(&file.truncation)
        && is::<PaddingParams>(&file.padding)
        && is::<PostProcessorWrapper>(&file.post_processor)
        && is::<DecoderWrapper>(&file.decoder)
}

/// Whether the normalizer composes a text.
fn composes(normalizer: &Value) -> Result<bool, Foreign> {
    match (normalizer["type"].as_str(), normalizer["normalizers"].as_array()) {
        (None, _) if normalizer.is_null() => Ok(false),
        (Some("NFC"), _) => Ok(true),
        (Some("Sequence"), Some(steps)) if !steps.iter().any(Value::is_null) => {
            let steps: Vec<bool> = steps.iter().map(composes).collect::<Result<_, _>>()?;
            Ok(steps.contains(&true))
        }
        _ => Err("it normalizes texts in another way than NFC"),
    }
}

// Added and special tokens, which are found in a text before it is split.

/// The tokens that are found in a text as it is, and those found in the normalized text.
struct Added {
    pub(super) raw: Option<Finder>,
    pub(super) normalized: Option<Finder>,
}

/// Finds some tokens, the leftmost first and of these the longest.
struct Finder {
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
enum Part<'a> {
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
        let contents: Vec<_> = tokens.iter().map(|token| composed(&token.content, normalizes)).collect();
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
        parts_at(text, found.filter_map(token))
    }
}

/// The parts of a text with these tokens: where the text before one begins, and its start and end. As the library does, a
/// token may be within the white space that the one before it took, and is none if all of it was taken.
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

// Unicode's composed form (NFC), which some tokenizers give a text.

/// The text, composed if `normalizes`.
fn composed(text: &str, normalizes: bool) -> Cow<'_, str> {
    if !normalizes
        || text.is_ascii()
        || is_nfc_quick(text.chars().filter(|each| may_change(*each))) == IsNormalized::Yes
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().map(|(character, _)| character).collect())
}

/// Whether a character may change or be reordered: most letters do not, and combine with nothing before them.
const fn may_change(character: char) -> bool {
    !matches!(character, '\0'..'\u{300}' | '\u{3400}'..'\u{a000}' | '\u{ac00}'..'\u{d7a4}')
}
