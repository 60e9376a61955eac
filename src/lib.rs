//! Cut LLM transcripts to size without breaking them.

pub mod memory;
pub mod store;
pub mod summarizers;
pub mod tokenizers;
