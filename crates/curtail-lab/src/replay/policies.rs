//! Policies: chains of processors that are applied before every request.

use curtail_core::pipeline::Chain;

/// The name of the first policy: the requests as the log records them.
pub(super) const AS_RECORDED: &str = "as recorded";

/// How a policy is applied from request to request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Apply {
    /// It sees the whole recorded history at each request.
    #[default]
    View,
    /// Its output is kept, and the next messages are appended to it.
    Rewrite,
}

/// A named policy.
pub struct Policy {
    /// Its name.
    pub name: String,
    /// The command that applies it, without `curtail`. A budget in percent is relative to the largest request.
    pub command: String,
    /// What it does.
    pub chain: PolicyChain,
    /// Whether a sweep made it.
    pub swept: bool,
}

/// Makes the chain of a policy for a session, from our count of its largest recorded request.
pub type ScaledChain = Box<dyn Fn(u64) -> Result<Chain, Box<dyn std::error::Error + Send + Sync>> + Send + Sync>;

/// What a policy does.
pub enum PolicyChain {
    /// What was recorded.
    Recorded,
    /// The same chain for all sessions.
    Fixed(Chain),
    /// A chain for each session.
    Scaled(ScaledChain),
}

impl Policy {
    /// The requests as the log records them.
    pub fn recorded() -> Self {
        Self { name: AS_RECORDED.to_owned(), command: String::new(), chain: PolicyChain::Recorded, swept: false }
    }
}
