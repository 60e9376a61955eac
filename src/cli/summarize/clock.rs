//! The current time, for messages without a timestamp.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::rolling::iso_8601;

/// The current time in ISO 8601, or the one that `SOURCE_DATE_EPOCH` gives in seconds since 1970, for reproducible output
/// (<https://reproducible-builds.org/specs/source-date-epoch/>).
pub(super) fn now() -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse::<u64>().ok());
    iso_8601(given.map_or_else(milliseconds, |seconds| seconds.saturating_mul(1000)))
}

/// Milliseconds since 1970; 0 if the clock is set to an earlier time.
fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
