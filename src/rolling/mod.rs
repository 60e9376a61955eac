//! Rolling memory: the newest interactions word for word, and summaries of what came before; its state as JSON, threads in the
//! store, and files that grow.
//!
//! The processor decides what to summarize and what to keep, and keeps nothing between two runs; the rest reads, writes and
//! stores.

#[cfg(feature = "store")]
mod append;
#[cfg(feature = "store")]
mod dropping;
#[cfg(feature = "store")]
mod error;
#[cfg(feature = "store")]
mod follow;
mod inputs;
#[cfg(feature = "store")]
mod intake;
mod interactions;
mod placing;
mod resumed;
mod rolling_summary;
mod schedule;
#[cfg(feature = "store")]
mod state;
#[cfg(feature = "store")]
mod stored;
mod summary_block;
#[cfg(feature = "store")]
mod text;
#[cfg(feature = "store")]
mod thread;
mod trigger;
mod utterances;

#[cfg(feature = "store")]
pub use append::{append, current};
#[cfg(feature = "store")]
pub use error::ThreadError;
#[cfg(feature = "store")]
pub use follow::{Follow, Growth};
pub use inputs::SummaryInput;
pub use interactions::{Counted, Interaction};
pub use rolling_summary::{RollingSummary, RollingView, SummaryFailure};
pub use schedule::{InteractionRange, Rolling, RollingState, Summary, SummaryRange};
#[cfg(feature = "store")]
pub use state::state;
#[cfg(feature = "store")]
pub use thread::{Shown, Taken, Thread};
