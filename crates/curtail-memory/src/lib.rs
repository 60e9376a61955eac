//! What `curtail` remembers of a conversation: working memory, rolling summaries, the ledger of facts, the summarizers, and the
//! store that keeps them between runs.

#![forbid(unsafe_code)]

pub mod ledger;
pub mod memory;
pub mod rolling;
pub mod store;
pub mod summarizers;
