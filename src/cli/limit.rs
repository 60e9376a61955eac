//! `curtail limit`: what fits a budget of tokens.

use super::input::Cutting;
use crate::pipeline::options::LimitOptions;

/// Keep the newest complete segments that fit a budget of tokens
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: LimitOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
