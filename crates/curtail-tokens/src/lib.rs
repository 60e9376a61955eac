//! Counts the tokens of texts for `curtail`: with the encodings of OpenAI's models, with a `tokenizer.json` of Hugging
//! Face, or as an estimate. Also renders chat templates, whose text is what is counted for a model.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only crates of this workspace call it")]

pub mod panics;
pub mod templates;
pub mod tokenizers;
