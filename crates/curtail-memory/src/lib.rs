//! What `curtail` remembers: working memory, rolling summaries, the ledger of a session, those who write summaries, and the store.

#![forbid(unsafe_code)]

pub mod ledger;
pub mod memory;
pub mod rolling;
pub mod store;
pub mod summarizers;
