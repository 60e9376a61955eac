//! Counts with a `tokenizer.json` by the own engine: what is done to a text before it is counted. Counts equal those of the
//! library.

use std::borrow::Cow;

use serde_json::Value;
use tokenizers::{DecoderWrapper, PaddingParams, PostProcessorWrapper, TruncationParams};

use super::added::{Added, Finder, Part};
use super::file::File;
use super::split::Split;
use super::{Foreign, model, normal};
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
        let (text, mut count) = (normal::composed(text, self.composes), 0);
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
            || matches!(normal::composed(text, self.composes), Cow::Owned(_))
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
