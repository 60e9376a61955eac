//! Working memory: the notes that a model wrote with tool calls, replayed, validated and put back into its context.
//! It knows no wire format: an update is a call id and JSON text. What keeps the notes between runs needs `store`.

mod block;
mod error;
mod kept;
mod merge;
mod schema;
mod scope;
mod scratchpad;
mod state;
mod tool;
mod working_memory;

pub use block::{Block, TooSmall, fit, is_block};
pub use error::MemoryError;
pub use kept::{Loaded, Replayed, Rules, amend, clear, load, replay, set};
pub use merge::{DEPTH, merge, strip};
pub use schema::{Mismatched, Schema, SchemaError, Violation};
pub use scope::{Owner, Spawned, spawn};
pub use scratchpad::{Outcome, Scratchpad, Update};
pub use state::{State, StateError};
pub use tool::{NAMES, Shape, definition};
pub use working_memory::{FoundUpdate, StateSource, WorkingMemory, updates};

/// The default budget of a block, in tokens.
pub const BUDGET: usize = 1500;
