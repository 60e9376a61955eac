//! How a text is split into pieces: by hand-written patterns where their regexes are known.

use fancy_regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::Unsupported;
use super::model::Alphabet;
use crate::tokenizers::tiktoken::{Keep, SplitStep, Walker, recognize};

/// How a text is split, and what is put before it.
pub(super) struct Splitting {
    pub(super) steps: Vec<SplitStep>,
    pub(super) alphabet: Alphabet,
    pub(super) prefix: Prefix,
    /// The character that is a space in a text, if the pre-tokenizer replaces spaces.
    pub(super) space: Option<char>,
}

/// Which texts get a space before them, unless they begin with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Prefix {
    Never,
    /// The text at the start, but not those after added tokens.
    First,
    Always,
}

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
    Metaspace {
        replacement: char,
        add_prefix_space: Option<bool>,
        #[serde(default = "always")]
        prepend_scheme: Prefix,
        split: Option<bool>,
        #[serde(rename = "str_rep")]
        _text: Option<String>,
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

const fn always() -> Prefix {
    Prefix::Always
}

const UNKNOWN: Unsupported = "it splits texts in a way that the engine does not know";

impl Splitting {
    /// How a pre-tokenizer splits. `space` is the character with which spaces were replaced before.
    ///
    /// # Errors
    /// It is not supported.
    pub(super) fn read(step: &Value, space: Option<char>) -> Result<Self, Unsupported> {
        let mut steps = match Option::<PreTokenizer>::deserialize(step).map_err(|_| UNKNOWN)? {
            Some(PreTokenizer::Sequence { pretokenizers }) => pretokenizers,
            other => other.into_iter().collect(),
        };
        match steps.pop_if(|last| matches!(last, PreTokenizer::ByteLevel { .. })) {
            Some(PreTokenizer::ByteLevel { add_prefix_space, use_regex, .. }) => {
                Self::of_bytes(steps, add_prefix_space, use_regex)
            }
            _ => Self::of_characters(steps, space),
        }
    }

    fn of_bytes(steps: Vec<PreTokenizer>, add_prefix_space: bool, use_regex: bool) -> Result<Self, Unsupported> {
        if add_prefix_space && !steps.is_empty() {
            // Each piece would get a space.
            return Err(UNKNOWN);
        }
        let prefix = if add_prefix_space { Prefix::Always } else { Prefix::Never };
        let all = Self { steps: Vec::new(), alphabet: Alphabet::Bytes, prefix, space: None };
        if let Some(known) = recognize_sequence(&steps).filter(|_| !use_regex) {
            return Ok(Self { steps: vec![SplitStep::Known(known)], ..all });
        }
        let mut steps = steps.into_iter().map(PreTokenizer::step).collect::<Result<Vec<_>, _>>()?;
        if use_regex {
            steps.push(SplitStep::Known(recognize(&[]).ok_or(UNKNOWN)?));
        }
        Ok(Self { steps, ..all })
    }

    fn of_characters(steps: Vec<PreTokenizer>, replaced: Option<char>) -> Result<Self, Unsupported> {
        let mut all = Self { steps: Vec::new(), alphabet: Alphabet::Characters, prefix: Prefix::Never, space: None };
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                PreTokenizer::Metaspace { replacement, add_prefix_space, prepend_scheme, split, .. } => {
                    let is_known = at == 0 && replaced.is_none_or(|space| space == replacement) && replacement != ' ';
                    let agrees = add_prefix_space != Some(false) || prepend_scheme == Prefix::Never;
                    if !is_known || !agrees {
                        return Err(UNKNOWN);
                    }
                    (all.prefix, all.space) = (prepend_scheme, Some(replacement));
                    if split.unwrap_or(true) {
                        let regex = Box::new(Regex::new(" ").map_err(|_| UNKNOWN)?);
                        all.steps.push(SplitStep::Regex { regex, inverted: false, keep: Keep::MergedWithNext });
                    }
                }
                // Without effect, because no spaces are left.
                PreTokenizer::Split { pattern: Delimiter::String(text), invert: false, .. }
                    if text == " " && replaced.or(all.space).is_some() => {}
                PreTokenizer::Digits { individual_digits } => {
                    all.steps.push(SplitStep::Digits { each: individual_digits });
                }
                _ => return Err(UNKNOWN),
            }
        }
        Ok(all)
    }
}

impl PreTokenizer {
    fn step(self) -> Result<SplitStep, Unsupported> {
        let (pattern, keep, inverted) = match self {
            Self::Digits { individual_digits } => return Ok(SplitStep::Digits { each: individual_digits }),
            Self::Split { pattern, behavior, invert } => (pattern, behavior, invert),
            Self::ByteLevel { .. } | Self::Metaspace { .. } | Self::Sequence { .. } => return Err(UNKNOWN),
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

/// The known pattern that consists of these steps, each a regex. A split that keeps both what it finds and what is between is the
/// same inverted.
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
