//! The current time, for messages without a timestamp.

use std::time::{SystemTime, UNIX_EPOCH};

use super::super::environment::Environment;
use curtail_core::dialects::iso_8601;

/// Returns the time of the system, or always the one that the environment gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    fixed: Option<u64>,
}

impl Clock {
    /// The clock of a run in `environment`.
    pub(super) const fn new(environment: Environment) -> Self {
        Self { fixed: environment.source_date_epoch }
    }

    /// The current time in ISO 8601.
    pub(super) fn now(self) -> String {
        iso_8601(self.fixed.map_or_else(milliseconds, |seconds| seconds.saturating_mul(1000)))
    }
}

/// Milliseconds since 1970; 0 if the clock is set to an earlier time.
fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
