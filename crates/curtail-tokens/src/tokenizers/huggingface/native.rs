//! Counts with a `tokenizer.json` by the engine of `curtail`. This module does what precedes the engine: it finds added
//! tokens, normalizes the text and prefixes a space. Counts equal those of the library.

use std::borrow::Cow;

use serde_json::json;

use super::Unsupported;
use super::added::{AddedTokens, Part, check_ids, parts};
use super::file::{File, Outline};
use super::limits::check_steps;
use super::model::{self, Alphabet};
use super::normalizer::{Normalizer, respaced};
use super::pre_tokenizer::{Prefix, Splitting};
use super::prepared;
use crate::tokenizers::tiktoken::{Engine, SplitStep, Vocabulary};

/// A `tokenizer.json` that the engine supports.
pub(super) struct NativeTokenizer {
    vocabulary: &'static Vocabulary,
    /// How it splits a text into pieces.
    splits: Vec<SplitStep>,
    added: AddedTokens,
    normalizer: Normalizer,
    prefix: Prefix,
    /// The character that is a space after added tokens were found.
    space: Option<char>,
}

impl NativeTokenizer {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// Why the engine cannot count with the file.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unsupported> {
        const OTHER_MODEL: Unsupported = "its model is not byte pair encoding";
        let place = prepared::place(bytes);
        if let Some((outline, vocabulary)) = place.as_deref().and_then(prepared::load) {
            return Self::new(&outline, |_, _| Ok(vocabulary));
        }
        let file: File<'_> = serde_json::from_slice(bytes).map_err(|_| OTHER_MODEL)?;
        if file.model.merges.array_windows().any(|[one, next]| one.listed != next.listed) {
            return Err(OTHER_MODEL);
        }
        if file.version.as_deref().is_some_and(|version| version != "1.0") || !is_valid(&file) {
            return Err("a part of it is not known");
        }
        let File { added_tokens, normalizer, pre_tokenizer, model, .. } = file;
        check_steps(&normalizer, &pre_tokenizer).map_err(|_| "it exceeds a limit")?;
        check_ids(&added_tokens, &model)?;
        let outline = Outline { added_tokens, normalizer, pre_tokenizer };
        let tokenizer = Self::new(&outline, |alphabet, space| model::vocabulary(&model, alphabet, space))?;
        if let Some(place) = place {
            prepared::keep(&place, &outline, tokenizer.vocabulary);
        }
        Ok(tokenizer)
    }

    /// A tokenizer with the `vocabulary` of an alphabet and the character that is a space in texts.
    fn new(
        outline: &Outline,
        vocabulary: impl FnOnce(Alphabet, Option<char>) -> Result<&'static Vocabulary, Unsupported>,
    ) -> Result<Self, Unsupported> {
        let mut normalizer = Normalizer::read(&outline.normalizer)?;
        let replaced = normalizer.replaced_space();
        let splitting = Splitting::read(&outline.pre_tokenizer, replaced)?;
        if splitting.alphabet == Alphabet::Characters {
            normalizer.leave_spaces();
        }
        let added = AddedTokens::read(&outline.added_tokens, &normalizer)?;
        let vocabulary = vocabulary(splitting.alphabet, splitting.space.or(replaced))?;
        let Splitting { steps: splits, prefix, space, .. } = splitting;
        Ok(Self { vocabulary, splits, added, normalizer, prefix, space })
    }

    /// The number of tokens of a text; `None` if it is above `limit`. Special tokens are counted as text unless
    /// `special`.
    pub(super) fn count(&self, text: &str, special: bool, limit: usize) -> Option<usize> {
        let mut count = 0;
        for (at, part) in parts(self.added.raw.as_ref(), text, special).enumerate() {
            count += match part {
                Part::Token => 1,
                Part::Text(text) => self.count_normalized(text, at == 0, special, limit.checked_sub(count)?)?,
            };
        }
        (count <= limit).then_some(count)
    }

    /// The same for a part without tokens that are found before it is normalized. `first`: it is at the start.
    fn count_normalized(&self, text: &str, first: bool, special: bool, limit: usize) -> Option<usize> {
        let text = self.normalizer.apply(text);
        let mut count = 0;
        for (at, part) in parts(self.added.normalized.as_ref(), &text, special).enumerate() {
            count += match part {
                Part::Token => 1,
                Part::Text(text) => {
                    let text = self.spaced(text, first && at == 0);
                    self.engine().count_until(&text, limit.checked_sub(count)?)?
                }
            };
        }
        Some(count)
    }

    /// As [`curtail_core::counting::Tokenizer::head`]; `None` if the engine gets another text.
    pub(super) fn head(&self, text: &str, tokens: usize) -> Option<usize> {
        let (engine, text, before) = self.prefixed(text)?;
        Some(engine.head(&text, tokens).saturating_sub(before))
    }

    /// As [`curtail_core::counting::Tokenizer::tail`]; `None` if the engine gets another text.
    pub(super) fn tail(&self, text: &str, tokens: usize) -> Option<usize> {
        let (engine, text, before) = self.prefixed(text)?;
        // A token that is only what was put before the text is not dropped without the next one.
        let starts = (0..=tokens).rev().map(|tokens| engine.tail(&text, tokens));
        let start = starts.into_iter().find(|start| *start == 0 || *start > before).unwrap_or(text.len());
        Some(start.saturating_sub(before))
    }

    /// The engine and the text that it gets, if that is the text with at most some bytes put before it, whose number is
    /// returned as well.
    fn prefixed<'a>(&self, text: &'a str) -> Option<(Engine<'_>, Cow<'a, str>, usize)> {
        let normalized = self.normalizer.apply(text);
        if self.engine().removes() || self.added.are_in(text, &normalized) {
            return None;
        }
        let whole = match normalized {
            Cow::Borrowed(text) => self.spaced(text, true),
            Cow::Owned(text) => Cow::Owned(self.spaced(&text, true).into_owned()),
        };
        let before = whole.strip_suffix(text)?.len();
        Some((self.engine(), whole, before))
    }

    /// Whether no text has more tokens than bytes.
    pub(super) fn at_most_bytes(&self) -> bool {
        !self.normalizer.rewrites() && self.prefix == Prefix::Never
    }

    fn engine(&self) -> Engine<'_> {
        Engine { vocabulary: self.vocabulary, splits: &self.splits }
    }

    /// The text as the engine gets it: with spaces, and with one before it if it needs one. `first`: it is at the start.
    fn spaced<'a>(&self, text: &'a str, first: bool) -> Cow<'a, str> {
        let changed = self.space.and_then(|space| respaced(text, space));
        let text = changed.map_or(Cow::Borrowed(text), Cow::Owned);
        let prefixes = self.prefix == Prefix::Always || self.prefix == Prefix::First && first;
        if prefixes && !text.starts_with(' ') { Cow::Owned(format!(" {text}")) } else { text }
    }
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
