//! What can go wrong with a scratchpad that is kept.

use std::fmt;

use crate::store::{self, Scope};

/// Why a state could not be had or kept.
#[derive(Debug)]
pub enum MemoryError {
    /// The store said no.
    Store(store::StoreError),
    /// No id was given for the scope.
    NoId(Scope),
    /// The state that was given breaks the schema, in the validator's words.
    Refused(String),
    /// The state may not be changed.
    ReadOnly,
    /// A child of that id has a state already.
    Taken(String),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryError::Store(error) => error.fmt(f),
            MemoryError::NoId(scope) => {
                let name = scope.name();
                write!(f, "no {name} named; give --{name} ID")
            }
            MemoryError::Refused(reason) => write!(f, "the schema refuses it: {reason}"),
            MemoryError::ReadOnly => f.write_str("the memory is read-only"),
            MemoryError::Taken(id) => {
                write!(f, "thread {id:?} has a memory already; --force replaces it")
            }
        }
    }
}

impl std::error::Error for MemoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MemoryError::Store(error) => Some(error),
            MemoryError::NoId(_) | MemoryError::Refused(_) | MemoryError::ReadOnly | MemoryError::Taken(_) => None,
        }
    }
}

impl From<store::StoreError> for MemoryError {
    fn from(error: store::StoreError) -> MemoryError {
        MemoryError::Store(error)
    }
}
