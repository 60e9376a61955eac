//! Working memory: notes that a model writes with tool calls, replayed, validated and put back into its context.
//! It knows no wire format: an update is a call id and JSON text. `kept` keeps the notes in the store between runs.

mod kept;
mod schema;
mod state;
mod working_memory;

pub use kept::{Loaded, MemoryError, Owner, Replayed, Rules, Spawned, amend, clear, load, replay, set, spawn};
pub use schema::{NAMES, Schema, SchemaError, Shape, definition};
pub use state::{DEPTH, Outcome, Scratchpad, State, Update, merge, strip};
pub use working_memory::{Block, FoundUpdate, StateSource, TooSmall, WorkingMemory, fit, is_block, updates};

/// The default budget of a block, in tokens.
pub const BUDGET: usize = 1500;
