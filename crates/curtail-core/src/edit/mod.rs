//! Turns decisions into bytes, and into explanations.
//!
//! Kept messages are copied from the source byte for byte; only the parts that a decision names are replaced.

mod apply;
mod explain;

pub use apply::{apply, name_drafts};
pub use explain::{Explained, explain, hunks};
