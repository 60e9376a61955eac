//! Why a session cannot be replayed.

use std::error::Error;
use std::fmt;

use curtail_core::processors::ProcessorError;

/// Why a session cannot be replayed.
#[derive(Debug)]
pub enum ReplayError {
    /// The price table has no cache rules with this name.
    NoCacheRules(String),
    /// The chain of a policy cannot be made for the session.
    Chain {
        /// The name of the policy.
        policy: String,
        /// Why it cannot be made.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A policy cannot decide about a request.
    Policy {
        /// The name of the policy.
        policy: String,
        /// The error of its processor.
        source: ProcessorError,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCacheRules(name) => write!(f, "the price table has no cache rules called `{name}`"),
            Self::Chain { policy, source } => write!(f, "{policy}: {source}"),
            Self::Policy { policy, source } => write!(f, "{policy}: {source}"),
        }
    }
}

// `Display` includes the cause, so `source` stays empty: a printed chain would repeat it.
impl Error for ReplayError {}
