//! Cut LLM transcripts to size without breaking them.

pub mod batch;
pub mod checks;
pub mod cli;
pub mod dialects;
pub mod digest;
pub mod edit;
pub mod error;
pub mod io;
pub mod json;
pub mod memory;
pub mod pipeline;
pub mod processors;
pub mod reports;
pub mod rolling;
pub mod store;
mod suggest;
pub mod summarizers;
pub mod tokenizers;
pub mod transcript;
