//! Rolling memory: the newest interactions word for word, and summaries of what came before; its state as JSON, threads in the
//! store, and files that grow.
//!
//! The processor decides what to summarize and what to keep, and keeps nothing between two runs; the rest reads, writes and
//! stores.

mod append;
mod dropping;
mod error;
mod follow;
mod inputs;
mod intake;
mod interactions;
mod placing;
mod resumed;
mod rolling_summary;
mod schedule;
mod state;
mod stored;
mod summary_block;
mod text;
mod thread;
mod trigger;
mod utterances;

pub use append::{append, current};
pub use error::ThreadError;
pub use follow::{Follow, Growth};
pub use inputs::SummaryInput;
pub use interactions::{Counted, Interaction};
pub use rolling_summary::{RollingSummary, RollingView, SummaryFailure};
pub use schedule::{InteractionRange, Rolling, RollingState, Summary, SummaryRange};
pub use state::state;
pub use thread::{Shown, Taken, Thread};
