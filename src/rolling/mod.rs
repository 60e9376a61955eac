//! Rolling memory that persists: its state as JSON, threads in the store, and files that grow.
//!
//! The processor decides what to summarize and what to keep; this folder reads, writes and stores.

mod append;
mod dropping;
mod error;
mod follow;
mod intake;
mod state;
mod stored;
mod text;
mod thread;

pub use append::{append, current};
pub use error::ThreadError;
pub use follow::{Follow, Growth};
pub use state::state;
pub use thread::{Shown, Taken, Thread};
