//! What can go wrong with a scratchpad that is kept.

use std::fmt;

use crate::store::{self, Scope};

/// Why a state could not be had or kept.
#[derive(Debug)]
pub enum Error {
    /// The store said no.
    Store(store::Error),
    /// No id was given for the scope.
    NoId(Scope),
    /// The state that was given breaks the schema, in the validator's words.
    Refused(String),
    /// The state may not be changed.
    ReadOnly,
    /// A child of that id has a state already.
    Taken(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Store(error) => error.fmt(f),
            Error::NoId(scope) => {
                let name = scope.name();
                write!(f, "no {name} named; give --{name} ID")
            }
            Error::Refused(reason) => write!(f, "the schema refuses it: {reason}"),
            Error::ReadOnly => f.write_str("the memory is read-only"),
            Error::Taken(id) => {
                write!(f, "thread {id:?} has a memory already; --force replaces it")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Store(error) => Some(error),
            Error::NoId(_) | Error::Refused(_) | Error::ReadOnly | Error::Taken(_) => None,
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Error {
        Error::Store(error)
    }
}
