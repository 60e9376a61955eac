//! Why a scratchpad could not be loaded or saved.

use std::fmt;

use crate::store::{self, Scope};

/// Why a state could not be loaded or saved.
#[derive(Debug)]
pub enum MemoryError {
    /// The store failed.
    Store(store::StoreError),
    /// No id was given for the scope.
    NoId(Scope),
    /// The state violates the schema, as the validator reports it.
    Refused(String),
    /// The state is read-only.
    ReadOnly,
    /// The thread with that id already has a state.
    Taken(String),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Store(error) => error.fmt(f),
            MemoryError::NoId(scope) => {
                let name = scope.name();
                write!(f, "no {name} id given; pass --{name} ID")
            }
            MemoryError::Refused(reason) => write!(f, "the state does not match the schema: {reason}"),
            MemoryError::ReadOnly => f.write_str("the memory is read-only"),
            MemoryError::Taken(id) => {
                write!(f, "thread {id:?} already has a memory (not overwritten); pass --force to replace it")
            }
        }
    }
}

// `Display` includes the store's error, so `source` stays empty: a printed chain would repeat it.
impl std::error::Error for MemoryError {}

impl From<store::StoreError> for MemoryError {
    fn from(error: store::StoreError) -> MemoryError {
        MemoryError::Store(error)
    }
}
