//! Rolling memory: the newest interactions word for word, and summaries of what came before.
//!
//! This folder computes and decides; it reads no file and keeps nothing between two runs.

mod inputs;
mod interactions;
mod placing;
mod rolling_summary;
mod schedule;
mod summary_block;
mod trigger;
mod utterances;

pub use inputs::SummaryInput;
pub use interactions::{Counted, Interaction};
pub use rolling_summary::{RollingSummary, RollingView};
pub use schedule::{InteractionRange, Rolling, RollingState, Summary, SummaryRange};
