//! How the pre-tokenizer of a `tokenizer.json` splits a text: by a hand-written pattern if its regexes are known,
//! otherwise step by step.

use fancy_regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::Unsupported;
use crate::tokenizers::tiktoken::{Keep, Recognized, Splitter, Step, recognize};

/// How a text is split into pieces.
pub(super) enum Split {
    /// By one pattern.
    Pattern(&'static Recognized),
    /// In steps.
    Steps(Vec<Step>),
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

const UNKNOWN: Unsupported = "it splits texts in a way that the engine does not know";

/// A pre-tokenizer, as a known pattern if it is one.
enum ParsedStep {
    Recognized(&'static Recognized),
    Other(Step),
}

impl Split {
    /// How `step` splits a text, and whether it puts a space before each text.
    ///
    /// # Errors
    /// It is not supported.
    pub(super) fn read(step: &Value) -> Result<(Self, bool), Unsupported> {
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
        if let Some(known) = recognize_sequence(&steps).filter(|_| !use_regex) {
            return Ok((Self::Pattern(known), false));
        }
        let mut parsed = steps.into_iter().map(ParsedStep::new).collect::<Result<Vec<_>, _>>()?;
        if use_regex {
            parsed.push(ParsedStep::Recognized(recognize(&[]).ok_or(UNKNOWN)?));
        }
        if let [ParsedStep::Recognized(only)] = parsed[..] {
            return Ok((Self::Pattern(only), add_prefix_space));
        }
        Ok((Self::Steps(parsed.into_iter().map(ParsedStep::step).collect()), add_prefix_space))
    }

    pub(super) const fn splitter(&self) -> Splitter<'_> {
        match self {
            Self::Pattern(recognized) => Splitter::Pattern(&recognized.walker),
            Self::Steps(steps) => Splitter::Steps(steps.as_slice()),
        }
    }
}

/// The known pattern that consists of these steps, each a regex.
fn recognize_sequence(steps: &[PreTokenizer]) -> Option<&'static Recognized> {
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

impl ParsedStep {
    fn new(step: PreTokenizer) -> Result<Self, Unsupported> {
        match step {
            PreTokenizer::Digits { individual_digits } => Ok(Self::Other(Step::Digits { each: individual_digits })),
            PreTokenizer::Split { pattern, behavior, invert } => Self::split(&pattern, &behavior, invert),
            PreTokenizer::ByteLevel { .. } | PreTokenizer::Sequence { .. } => Err(UNKNOWN),
        }
    }

    fn split(pattern: &Delimiter, behavior: &Behavior, inverted: bool) -> Result<Self, Unsupported> {
        let keep = match behavior {
            Behavior::Contiguous => Keep::Contiguous,
            Behavior::Isolated => Keep::Isolated,
            Behavior::Removed => Keep::Removed,
        };
        // The known patterns match every character, so there is nothing between matches that could be removed.
        let keeps_matches = keep == Keep::Isolated || keep == Keep::Removed && inverted;
        let known = match pattern {
            Delimiter::Regex(pattern) if keeps_matches => recognize(&[pattern]),
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
