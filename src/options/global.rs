//! The flags of every command, and the environment variables that belong to no flag.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use crate::console;
use crate::options::variables::Variables;
use curtail_core::dialects::iso_8601;

/// The flags of every command, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global")]
pub(crate) struct Global {
    /// Number of threads (0 = all cores)
    #[arg(short, long, global = true, value_name = "N", default_value_t = 0, env = "CURTAIL_JOBS")]
    pub(crate) jobs: usize,

    /// Print errors only
    #[arg(short, long, global = true, env = "CURTAIL_QUIET", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) quiet: bool,

    /// Report every note, and how each input is read that is cut, checked or counted
    #[arg(short, long, global = true, env = "CURTAIL_VERBOSE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) verbose: bool,

    /// When to use colors; `NO_COLOR` is respected
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", env = "CURTAIL_COLOR")]
    pub(crate) color: When,

    /// When to show progress: bars on a terminal, otherwise a line every ten seconds
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto", env = "CURTAIL_PROGRESS")]
    pub(crate) progress: When,

    #[arg(skip = Environment::of_process())]
    pub(crate) environment: Environment,
}

/// `--color`, `--progress`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// Only on a terminal
    Auto,
    /// Also in files and pipes
    Always,
    /// Not at all
    Never,
}

impl Global {
    /// Applies `--color` and `--quiet` to all later output.
    pub(crate) fn apply(&self) {
        if self.quiet {
            console::be_quiet();
        }
        if self.color != When::Auto {
            console::use_colors(self.color == When::Always);
        }
    }
}

/// The environment variables that belong to no flag and apply to every command, as they are when the command line is read.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    /// Whether `CI` is set, so that no progress bars are shown.
    pub(crate) is_ci: bool,
    /// `SOURCE_DATE_EPOCH`: the time to use as the current one, in seconds since 1970, for reproducible output
    /// (<https://reproducible-builds.org/specs/source-date-epoch/>).
    source_date_epoch: Option<String>,
}

impl Environment {
    /// The environment of this process.
    fn of_process() -> Self {
        let variables = Variables::of_process();
        let seconds = variables.get("SOURCE_DATE_EPOCH").map(|seconds| seconds.to_string_lossy().into_owned());
        Self { is_ci: variables.get("CI").is_some(), source_date_epoch: seconds }
    }

    /// The current time.
    ///
    /// # Errors
    /// `SOURCE_DATE_EPOCH` is no time.
    pub(crate) fn now(&self) -> anyhow::Result<SystemTime> {
        let Some(seconds) = &self.source_date_epoch else { return Ok(SystemTime::now()) };
        let since = seconds.parse().ok().map(Duration::from_secs);
        let time = since.and_then(|since| UNIX_EPOCH.checked_add(since));
        time.with_context(|| format!("`SOURCE_DATE_EPOCH` takes the seconds since 1970, not `{seconds}`"))
    }
}

/// A time in ISO 8601. One before 1970 is shown as its beginning.
pub(crate) fn iso_time(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    iso_8601(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
