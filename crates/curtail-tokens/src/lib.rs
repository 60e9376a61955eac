//! Counts the tokens of texts for `curtail`: the encodings of OpenAI's models, `tokenizer.json` of Hugging Face, estimates, and
//! chat templates.

#![forbid(unsafe_code)]

pub mod templates;
pub mod tokenizers;
