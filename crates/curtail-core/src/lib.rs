//! Cuts transcripts of language models to size without breaking their tool calls.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod checks;
#[doc(hidden)]
pub mod counting;
#[doc(hidden)]
pub mod dialects;
#[doc(hidden)]
pub mod digest;
#[doc(hidden)]
pub mod edit;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod globs;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod processors;
#[doc(hidden)]
pub mod steps;
#[doc(hidden)]
pub mod suggest;
#[doc(hidden)]
pub mod transcript;
#[doc(hidden)]
pub mod visible;
