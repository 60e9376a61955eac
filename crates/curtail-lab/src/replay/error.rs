//! Why a session cannot be replayed.

use std::error::Error;
use std::fmt;

/// Why a session cannot be replayed.
#[derive(Debug)]
pub enum ReplayError {
    /// The price table has no cache rules with this name.
    NoCacheRules(String),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCacheRules(name) => write!(f, "the price table has no cache rules called `{name}`"),
        }
    }
}

// `Display` includes the cause, so `source` stays empty: a printed chain would repeat it.
impl Error for ReplayError {}
