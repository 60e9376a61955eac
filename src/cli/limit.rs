//! `curtail limit`: the newest segments that fit a token budget.

use super::input::Cutting;
use crate::cli::options::LimitOptions;

/// Keep the newest complete segments that fit a token budget
///
/// A segment is a round of tool calls with its results, or a single other message. The newest run of segments whose tokens
/// fit the budget is kept; tool calls and their results are never separated.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: LimitOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
