//! Rolling memory: the newest interactions word for word, and summaries of the interactions before them.
//!
//! The processor decides what to summarize and what to keep, and has no state of its own between two runs. The [`RollingState`] is
//! written as JSON for a program, and as a block of text in the transcript for a model. The other files group
//! messages into interactions and keep threads in the store. [`RollingSummary::due`] says when a summary is due.

mod block;
mod due;
mod input;
mod intake;
mod interactions;
mod json;
mod least_kept;
mod lines;
mod placing;
mod rolling_summary;
mod schedule;
mod state;
mod summarizing;
mod thread;
mod utterances;
mod view;
mod viewing;
mod window;

pub use input::SummaryInput;
pub use interactions::{Counted, Interaction};
pub use json::state;
pub use least_kept::LeastKept;
pub use rolling_summary::RollingSummary;
pub use schedule::{InteractionRange, Rolling};
pub use state::{RollingState, StateSoFar, Summary, SummaryRange};
pub use thread::{Shown, Taken, Thread, ThreadError, append, current};
pub use view::RollingView;
