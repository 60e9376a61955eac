//! `curtail repair`: repairs broken pairs.

use super::input::Cutting;
use crate::cli::options::RepairOptions;

/// Repair broken pairs of tool calls and results
///
/// Unbroken messages are written byte for byte. A call that is pending at the end stays unless --pending is given.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: RepairOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
