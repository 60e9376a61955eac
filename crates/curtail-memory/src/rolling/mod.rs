//! Rolling memory: the newest interactions word for word, and summaries of the interactions before them.
//!
//! The processor decides what to summarize and what to keep, and has no state of its own between two runs. The other files
//! write the state as JSON, keep threads in the store, and follow growing files.

mod follow;
mod inputs;
mod interactions;
mod rolling_summary;
mod schedule;
mod state;
mod stored;
mod summary_block;
mod thread;

pub use follow::{Follow, Growth};
pub use inputs::SummaryInput;
pub use interactions::{Counted, Interaction};
pub use rolling_summary::{RollingSummary, RollingView, SummaryFailure};
pub use schedule::{InteractionRange, Rolling, RollingState, StateSoFar, Summary, SummaryRange};
pub use state::state;
pub use thread::{Shown, Taken, Thread, ThreadError, append, current};
