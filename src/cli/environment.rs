//! The environment variables that belong to no flag: read once when the program starts, and passed down.

/// The environment of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Environment {
    /// Whether `CI` is set, so that no progress bars are shown.
    pub(super) is_ci: bool,
    /// `SOURCE_DATE_EPOCH`: the time to use as the current one, in seconds since 1970, for reproducible output
    /// (<https://reproducible-builds.org/specs/source-date-epoch/>).
    pub(super) source_date_epoch: Option<u64>,
}

impl Environment {
    /// The environment of this process.
    pub(super) fn of_process() -> Self {
        let seconds = std::env::var("SOURCE_DATE_EPOCH").ok();
        Self {
            is_ci: std::env::var_os("CI").is_some(),
            source_date_epoch: seconds.and_then(|seconds| seconds.parse().ok()),
        }
    }
}
