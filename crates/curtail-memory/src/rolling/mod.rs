//! Rolling memory: the newest interactions word for word, and summaries of what came before; its state as JSON, threads in the
//! store, and files that grow.
//!
//! The processor decides what to summarize and what to keep, and keeps nothing between two runs; the rest reads, writes and
//! stores.

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
