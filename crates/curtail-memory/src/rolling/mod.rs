//! Rolling memory: the newest interactions word for word, and summaries of the interactions before them.
//!
//! The processor decides what to summarize and what to keep, and has no state of its own between two runs. The other files
//! write the state as JSON, keep threads in the store, and follow growing files.

mod follow;
mod interactions;
mod rolling_summary;
mod state;
mod stored;
mod thread;

pub use follow::{Follow, Growth};
pub use interactions::{Counted, Interaction, SummaryInput};
pub use rolling_summary::{RollingSummary, RollingView, SummaryFailure};
pub use state::{InteractionRange, Rolling, RollingState, StateSoFar, Summary, SummaryRange, state};
pub use thread::{Shown, Taken, Thread, ThreadError, append, current};
