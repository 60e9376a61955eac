//! How a text is rewritten before it is split.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization as _, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::Unsupported;

/// The steps of a normalizer.
pub(super) struct Normalizer {
    steps: Vec<Step>,
    /// The character that replaces spaces, if that is the last step. The engine reads this character as a space, so that
    /// most texts need not be rewritten.
    space: Option<char>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Step {
    #[serde(rename = "NFC")]
    Nfc,
    #[serde(rename = "NFD")]
    Nfd,
    #[serde(rename = "NFKC")]
    Nfkc,
    #[serde(rename = "NFKD")]
    Nfkd,
    /// Puts a text before every text that is not empty.
    Prepend {
        prepend: String,
    },
    Replace {
        pattern: Literal,
        content: String,
    },
}

#[derive(Deserialize)]
enum Literal {
    String(String),
}

const UNKNOWN: Unsupported = "it normalizes texts in a way that the engine does not know";

impl Normalizer {
    /// The normalizer of a file.
    ///
    /// # Errors
    /// It is not supported.
    pub(super) fn read(value: &Value) -> Result<Self, Unsupported> {
        let mut steps = Vec::new();
        if !value.is_null() {
            collect(value, &mut steps)?;
        }
        Ok(Self { steps, space: None })
    }

    /// The character that replaces spaces in the last step.
    pub(super) fn replaced_space(&self) -> Option<char> {
        let Some(Step::Replace { pattern: Literal::String(pattern), content }) = self.steps.last() else {
            return None;
        };
        content.parse().ok().filter(|space| pattern == " " && *space != ' ')
    }

    /// Leaves the last step, which replaces spaces, to the engine.
    pub(super) fn leave_spaces(&mut self) {
        self.space = self.replaced_space();
        if let Some(space) = self.space {
            self.steps.pop();
            if let Some(Step::Prepend { prepend }) = self.steps.last_mut() {
                *prepend = prepend.replace(space, " ");
            }
        }
    }

    /// Whether a text has spaces where the library has another character.
    pub(super) const fn writes_spaces(&self) -> bool {
        self.space.is_some()
    }

    /// Whether it may change a text, apart from [`respaced`].
    pub(super) const fn rewrites(&self) -> bool {
        !self.steps.is_empty()
    }

    pub(super) fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for step in &self.steps {
            if let Some(changed) = step.changed(&text) {
                text = Cow::Owned(changed);
            }
        }
        match self.space.and_then(|space| respaced(&text, space)) {
            Some(changed) => Cow::Owned(changed),
            None => text,
        }
    }
}

/// Collects the steps of a normalizer, including those in sequences.
fn collect(value: &Value, steps: &mut Vec<Step>) -> Result<(), Unsupported> {
    if value["type"] == "Sequence" {
        let inner = value["normalizers"].as_array().ok_or(UNKNOWN)?;
        return inner.iter().try_for_each(|step| collect(step, steps));
    }
    let step = Step::deserialize(value).map_err(|_| UNKNOWN)?;
    if matches!(&step, Step::Replace { pattern: Literal::String(pattern), .. } if pattern.is_empty()) {
        return Err(UNKNOWN);
    }
    steps.push(step);
    Ok(())
}

/// The text with spaces for `space`, if it contains that.
pub(super) fn respaced(text: &str, space: char) -> Option<String> {
    text.contains(space).then(|| text.replace(space, " "))
}

impl Step {
    /// The text after this step, if it changes.
    fn changed(&self, text: &str) -> Option<String> {
        match self {
            Self::Prepend { prepend } => (!text.is_empty() && !prepend.is_empty()).then(|| [prepend, text].concat()),
            Self::Replace { pattern: Literal::String(pattern), content } => {
                text.contains(pattern).then(|| text.replace(pattern, content))
            }
            _ if text.is_ascii() => None,
            Self::Nfc => {
                let quick = is_nfc_quick(text.chars().filter(|character| may_compose(*character)));
                (quick != IsNormalized::Yes).then(|| text.nfc().map(|(character, _)| character).collect())
            }
            Self::Nfkc => {
                let quick = is_nfkc_quick(text.chars().filter(|character| may_change(*character)));
                (quick != IsNormalized::Yes).then(|| text.nfkc().map(|(character, _)| character).collect())
            }
            Self::Nfd => (is_nfd_quick(text.chars()) != IsNormalized::Yes)
                .then(|| text.nfd().map(|(character, _)| character).collect()),
            Self::Nfkd => (is_nfkd_quick(text.chars()) != IsNormalized::Yes)
                .then(|| text.nfkd().map(|(character, _)| character).collect()),
        }
    }
}

// Most letters do not change when a text is composed. Two marks are compared even if such a letter is between them; then
// a text that does not change is composed in vain.

/// Whether a character may change, be reordered, or combine with one before it in the composed form (NFC).
const fn may_compose(character: char) -> bool {
    character >= '\u{300}' && may_change(character)
}

/// The same in the compatible composed form (NFKC).
const fn may_change(character: char) -> bool {
    !matches!(character, '\0'..'\u{A0}' | '\u{3400}'..'\u{a000}' | '\u{ac00}'..'\u{d7a4}')
}
