//! Working memory as a library: merging, budgets, schemas, and what the store keeps.

mod block;
mod merge;
mod schema;
mod stored;
