//! `curtail repair`: broken pairs mended, written elsewhere.

use super::input::Cutting;
use crate::pipeline::options::RepairOptions;

/// Mend broken pairs of tool calls and results
///
/// What is whole is written byte for byte. A call that is still pending at the end is left alone unless --pending.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: RepairOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
