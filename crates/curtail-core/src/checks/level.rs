//! The level of a finding.

use serde::Serialize;

/// What happens to a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The rule does not run.
    Allow,
    /// The finding is reported.
    Warn,
    /// The finding is reported and the check fails.
    Deny,
}

impl Level {
    /// The level's name, as flags and configurations write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}
