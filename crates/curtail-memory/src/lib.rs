//! What `curtail` remembers of a conversation: working memory, rolling summaries, the summarizers, and the
//! store that keeps them between runs.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only the program calls this crate")]

pub mod memory;
pub mod rolling;
pub mod store;
pub mod summarizers;
mod temporary;
