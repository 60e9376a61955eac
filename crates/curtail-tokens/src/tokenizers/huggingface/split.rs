//! How the pre-tokenizer of a `tokenizer.json` splits a text: by a pattern that is written by hand where its regex is one of
//! those known, else step by step.

use fancy_regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::Foreign;
use crate::tokenizers::tiktoken::{Keep, Recognized, Splitter, Step, recognize};

/// How a text is split into pieces.
pub(super) enum Split {
    /// By one pattern.
    Pattern(&'static Recognized),
    /// In steps.
    Steps(Vec<Step>),
}

/// A step of a file.
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
        behavior: Behavior,
        invert: bool,
    },
}

#[derive(Deserialize)]
enum Delimiter {
    String(String),
    Regex(String),
}

#[derive(Deserialize)]
enum Behavior {
    Contiguous,
    Isolated,
    Removed,
}

const fn yes() -> bool {
    true
}

const UNKNOWN: Foreign = "it splits texts in a way that the engine does not know";

/// A step, recognized or not.
enum Found {
    Recognized(&'static Recognized),
    Other(Step),
}

impl Split {
    /// The splitting, and whether each text gets a space before it.
    pub(super) fn read(step: &Value) -> Result<(Self, bool), Foreign> {
        let step = PreTokenizer::deserialize(step).map_err(|_| UNKNOWN)?;
        let mut steps = match step {
            PreTokenizer::Sequence { pretokenizers } => pretokenizers,
            other => vec![other],
        };
        let Some(PreTokenizer::ByteLevel { add_prefix_space, use_regex, .. }) = steps.pop() else {
            return Err(UNKNOWN);
        };
        if add_prefix_space && !steps.is_empty() {
            // Each piece would get a space.
            return Err(UNKNOWN);
        }
        if let Some(known) = in_steps(&steps).filter(|_| !use_regex) {
            return Ok((Self::Pattern(known), false));
        }
        let mut found = steps.into_iter().map(Found::of).collect::<Result<Vec<_>, _>>()?;
        if use_regex {
            found.push(Found::Recognized(recognize(&[]).ok_or(UNKNOWN)?));
        }
        if let [Found::Recognized(only)] = found[..] {
            return Ok((Self::Pattern(only), add_prefix_space));
        }
        Ok((Self::Steps(found.into_iter().map(Found::step).collect()), add_prefix_space))
    }

    pub(super) const fn splitter(&self) -> Splitter<'_> {
        match self {
            Self::Pattern(recognized) => Splitter::Pattern(&recognized.walker),
            Self::Steps(steps) => Splitter::Steps(steps.as_slice()),
        }
    }
}

/// Several regexes that are known together.
fn in_steps(steps: &[PreTokenizer]) -> Option<&'static Recognized> {
    fn isolated(step: &PreTokenizer) -> Option<&str> {
        match step {
            PreTokenizer::Split { pattern: Delimiter::Regex(pattern), behavior: Behavior::Isolated, .. } => {
                Some(pattern)
            }
            _ => None,
        }
    }
    let patterns: Vec<&str> = steps.iter().map(isolated).collect::<Option<_>>()?;
    recognize(&patterns).filter(|_| patterns.len() > 1)
}

impl Found {
    fn of(step: PreTokenizer) -> Result<Self, Foreign> {
        match step {
            PreTokenizer::Digits { individual_digits } => Ok(Self::Other(Step::Digits { each: individual_digits })),
            PreTokenizer::Split { pattern, behavior, invert } => Self::split(&pattern, &behavior, invert),
            PreTokenizer::ByteLevel { .. } | PreTokenizer::Sequence { .. } => Err(UNKNOWN),
        }
    }

    fn split(pattern: &Delimiter, behavior: &Behavior, inverted: bool) -> Result<Self, Foreign> {
        let keep = match behavior {
            Behavior::Contiguous => Keep::Contiguous,
            Behavior::Isolated => Keep::Isolated,
            Behavior::Removed => Keep::Removed,
        };
        // The known patterns match every character, so nothing is between their matches that could be removed.
        let plain = keep == Keep::Isolated || keep == Keep::Removed && inverted;
        let known = match pattern {
            Delimiter::Regex(pattern) if plain => recognize(&[pattern]),
            _ => None,
        };
        if let Some(known) = known {
            return Ok(Self::Recognized(known));
        }
        let regex = match pattern {
            Delimiter::Regex(pattern) => Regex::new(pattern),
            Delimiter::String(text) => Regex::new(&fancy_regex::escape(text)),
        };
        let regex = Box::new(regex.map_err(|_| UNKNOWN)?);
        Ok(Self::Other(Step::Regex { regex, inverted, keep }))
    }

    fn step(self) -> Step {
        match self {
            Self::Recognized(recognized) => Step::Known(recognized.end),
            Self::Other(step) => step,
        }
    }
}
