//! Counts with a `tokenizer.json` by the engine of `curtail`. This module does what precedes the engine: it finds added
//! tokens, normalizes the text, prefixes a space, and reads how the text is split. Counts equal those of the library.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind};
use fancy_regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::Unsupported;
use super::model::{self, AddedToken, File, Model};
use crate::tokenizers::tiktoken::{Engine, Keep, SplitStep, Vocabulary, Walker, recognize};

/// A `tokenizer.json` that the engine supports.
pub(super) struct NativeTokenizer {
    vocabulary: &'static Vocabulary,
    /// How it splits a text into pieces.
    splits: Vec<SplitStep>,
    added: AddedTokens,
    /// Whether a text is normalized to NFC.
    composes: bool,
    /// Whether a text gets a space before it, unless it begins with one.
    adds_space: bool,
}

impl NativeTokenizer {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// Why the engine cannot count with the file.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unsupported> {
        const OTHER_MODEL: Unsupported = "its model is not byte pair encoding";
        let file: File<'_> = serde_json::from_slice(bytes).map_err(|_| OTHER_MODEL)?;
        if file.model.merges.array_windows().any(|[one, next]| one.listed != next.listed) {
            return Err(OTHER_MODEL);
        }
        if file.version.as_deref().is_some_and(|version| version != "1.0") || !is_valid(&file) {
            return Err("a part of it is not known");
        }
        let composes = composes(&file.normalizer)?;
        let (splits, adds_space) = PreTokenizer::read(&file.pre_tokenizer)?;
        let added = AddedTokens::read(&file.added_tokens, &file.model, composes)?;
        Ok(Self { vocabulary: model::vocabulary(&file.model)?, splits, added, composes, adds_space })
    }

    /// The number of tokens of a text; `None` if it is above `limit`. Special tokens are counted as text unless
    /// `special`.
    pub(super) fn count(&self, text: &str, special: bool, limit: usize) -> Option<usize> {
        let mut count = 0;
        for part in parts(self.added.raw.as_ref(), text, special) {
            count += match part {
                Part::Token => 1,
                Part::Text(text) => self.count_normalized(text, special, limit.checked_sub(count)?)?,
            };
        }
        (count <= limit).then_some(count)
    }

    fn count_normalized(&self, text: &str, special: bool, limit: usize) -> Option<usize> {
        let text = composed(text, self.composes);
        let mut count = 0;
        for part in parts(self.added.normalized.as_ref(), &text, special) {
            count += match part {
                Part::Token => 1,
                Part::Text(text) => self.engine().count_until(&self.spaced(text), limit.checked_sub(count)?)?,
            };
        }
        Some(count)
    }

    /// The engine, if it gets this text unchanged and as a whole, so that its offsets apply to the text.
    pub(super) fn engine_if_unchanged(&self, text: &str) -> Option<Engine<'_>> {
        let mut finders = [&self.added.raw, &self.added.normalized].into_iter().flatten();
        let is_changed = self.adds_space
            || self.engine().removes()
            || matches!(composed(text, self.composes), Cow::Owned(_))
            || finders.any(|finder| finder.finds(text, false));
        (!is_changed).then(|| self.engine())
    }

    /// Whether no text has more tokens than bytes.
    pub(super) const fn at_most_bytes(&self) -> bool {
        !self.composes && !self.adds_space
    }

    fn engine(&self) -> Engine<'_> {
        Engine { vocabulary: self.vocabulary, splits: &self.splits }
    }

    fn spaced<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.adds_space && !text.starts_with(' ') { Cow::Owned(format!(" {text}")) } else { Cow::Borrowed(text) }
    }
}

/// The parts of a text; the whole text without a finder.
fn parts<'a>(finder: Option<&'a Finder>, text: &'a str, special: bool) -> impl Iterator<Item = Part<'a>> {
    let whole = finder.is_none() && !text.is_empty();
    let found = finder.into_iter().flat_map(move |finder| finder.split(text, special));
    whole.then_some(Part::Text(text)).into_iter().chain(found)
}

/// Whether the library would accept the members that do not change a count.
fn is_valid(file: &File<'_>) -> bool {
    let members = json!({
        "version": "1.0",
        "truncation": file.truncation,
        "padding": file.padding,
        "post_processor": file.post_processor,
        "decoder": file.decoder,
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    });
    members.to_string().parse::<tokenizers::Tokenizer>().is_ok()
}

/// Whether the normalizer composes a text (NFC); an error if it does anything else.
fn composes(normalizer: &Value) -> Result<bool, Unsupported> {
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

/// The added tokens that are found in a text before it is normalized, and those found after.
struct AddedTokens {
    raw: Option<Finder>,
    normalized: Option<Finder>,
}

/// Finds tokens in a text: the leftmost first, and the longest of those that start at the same place.
struct Finder {
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
enum Part<'a> {
    Token,
    Text(&'a str),
}

impl AddedTokens {
    fn read(tokens: &[AddedToken], model: &Model<'_>, normalizes: bool) -> Result<Self, Unsupported> {
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
        Ok(Self {
            raw: Finder::from_tokens(found_in(false), false)?,
            normalized: Finder::from_tokens(found_in(true), normalizes)?,
        })
    }
}

impl Finder {
    fn from_tokens<'a>(
        tokens: impl Iterator<Item = &'a AddedToken>,
        normalizes: bool,
    ) -> Result<Option<Self>, Unsupported> {
        let tokens: Vec<&AddedToken> = tokens.filter(|token| !token.content.is_empty()).collect();
        if tokens.is_empty() {
            return Ok(None);
        }
        let contents: Vec<_> = tokens.iter().map(|token| composed(&token.content, normalizes)).collect();
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
    fn finds(&self, text: &str, special: bool) -> bool {
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

// Unicode's composed form (NFC), to which some tokenizers normalize a text.

/// The text, composed if `normalizes`.
fn composed(text: &str, normalizes: bool) -> Cow<'_, str> {
    if !normalizes
        || text.is_ascii()
        || is_nfc_quick(text.chars().filter(|character| may_change(*character))) == IsNormalized::Yes
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().map(|(character, _)| character).collect())
}

/// Whether a character may change, be reordered, or combine with one before it. Most letters do not.
const fn may_change(character: char) -> bool {
    !matches!(character, '\0'..'\u{300}' | '\u{3400}'..'\u{a000}' | '\u{ac00}'..'\u{d7a4}')
}

// How the pre-tokenizer splits a text: by hand-written patterns where their regexes are known.

/// A supported pre-tokenizer in a file.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum PreTokenizer {
    ByteLevel {
        add_prefix_space: bool,
        #[serde(rename = "trim_offsets")]
        _trim: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    Digits {
        individual_digits: bool,
    },
    Sequence {
        pretokenizers: Vec<PreTokenizer>,
    },
    Split {
        pattern: Delimiter,
        behavior: Keep,
        invert: bool,
    },
}

#[derive(Deserialize)]
enum Delimiter {
    String(String),
    Regex(String),
}

const fn yes() -> bool {
    true
}

const UNKNOWN: Unsupported = "it splits texts in a way that the engine does not know";

impl PreTokenizer {
    /// The steps in which `step` splits a text, and whether it puts a space before each text.
    ///
    /// # Errors
    /// It is not supported.
    fn read(step: &Value) -> Result<(Vec<SplitStep>, bool), Unsupported> {
        let mut steps = match Self::deserialize(step).map_err(|_| UNKNOWN)? {
            Self::Sequence { pretokenizers } => pretokenizers,
            other => vec![other],
        };
        let Some(Self::ByteLevel { add_prefix_space, use_regex, .. }) = steps.pop() else {
            return Err(UNKNOWN);
        };
        if add_prefix_space && !steps.is_empty() {
            // Each piece would get a space.
            return Err(UNKNOWN);
        }
        if let Some(known) = recognize_sequence(&steps).filter(|_| !use_regex) {
            return Ok((vec![SplitStep::Known(known)], false));
        }
        let mut steps = steps.into_iter().map(Self::step).collect::<Result<Vec<_>, _>>()?;
        if use_regex {
            steps.push(SplitStep::Known(recognize(&[]).ok_or(UNKNOWN)?));
        }
        Ok((steps, add_prefix_space))
    }

    fn step(self) -> Result<SplitStep, Unsupported> {
        let (pattern, keep, inverted) = match self {
            Self::Digits { individual_digits } => return Ok(SplitStep::Digits { each: individual_digits }),
            Self::Split { pattern, behavior, invert } => (pattern, behavior, invert),
            Self::ByteLevel { .. } | Self::Sequence { .. } => return Err(UNKNOWN),
        };
        // The known patterns match every character, so there is nothing between matches that could be removed.
        let keeps_matches = keep == Keep::Isolated || keep == Keep::Removed && inverted;
        let regex = match &pattern {
            Delimiter::Regex(pattern) => match recognize(&[pattern]).filter(|_| keeps_matches) {
                Some(known) => return Ok(SplitStep::Known(known)),
                None => Regex::new(pattern),
            },
            Delimiter::String(text) => Regex::new(&fancy_regex::escape(text)),
        };
        let regex = Box::new(regex.map_err(|_| UNKNOWN)?);
        Ok(SplitStep::Regex { regex, inverted, keep })
    }
}

/// The known pattern that consists of these steps, each a regex.
fn recognize_sequence(steps: &[PreTokenizer]) -> Option<&'static Walker> {
    fn isolated(step: &PreTokenizer) -> Option<&str> {
        match step {
            PreTokenizer::Split { pattern: Delimiter::Regex(pattern), behavior: Keep::Isolated, .. } => Some(pattern),
            _ => None,
        }
    }
    let patterns: Vec<&str> = steps.iter().map(isolated).collect::<Option<_>>()?;
    recognize(&patterns).filter(|_| patterns.len() > 1)
}
