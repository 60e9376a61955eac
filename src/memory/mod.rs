//! The scratchpad: what a model wrote down, replayed, validated and put back in front of it.
//! It knows no wire format: an update is a call id and JSON text, wherever they stood.

mod block;
mod error;
mod kept;
mod merge;
mod schema;
mod scope;
mod scratchpad;
mod state;
mod tool;

pub use block::{Block, TooSmall, fit, is_block};
pub use error::MemoryError;
pub use kept::{Loaded, Replayed, Rules, amend, clear, load, replay, set};
pub use merge::{DEPTH, merge, strip};
pub use schema::{Schema, SchemaError, Violation};
pub use scope::{Owner, Spawned, spawn};
pub use scratchpad::{Outcome, Scratchpad, Update};
pub use state::State;
pub use tool::{NAMES, Shape, definition};

/// The most tokens that a block takes unless the caller says otherwise.
pub const BUDGET: usize = 1500;
