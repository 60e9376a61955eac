//! Rolling memory as data: its state as JSON, and threads that outlive a run.
//!
//! What to summarize and what to keep is the processor's to say; this layer reads, writes and remembers.

mod clock;
mod follow;
mod state;
mod thread;

pub use clock::now;
pub use follow::{Follow, Growth};
pub use state::state;
pub use thread::{Shown, Taken, Thread, ThreadError, append, current};
