//! Decisions become bytes, or words.
//!
//! What is kept is copied from the source as it stands; only what a decision names gives way.

mod apply;
mod cuts;
mod diff;
mod explain;

pub use apply::apply;
pub use diff::hunks;
pub use explain::{Explained, explain};
