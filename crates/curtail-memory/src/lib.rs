//! What `curtail` remembers of a conversation: working memory, rolling summaries, the summarizers, and the
//! store that keeps them between runs.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only crates of this workspace call it")]

pub mod memory;
pub mod rolling;
pub mod store;
pub mod summarizers;
mod temporary;
