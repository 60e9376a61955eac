//! `curtail repair`: broken pairs mended, written elsewhere.

use super::input::{Cutting, RepairFlag};
use crate::pipeline::Chain;

/// Mend broken pairs of tool calls and results
///
/// What is whole is written byte for byte. A call that is still pending at the end is left alone unless --pending.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How to mend
    #[arg(long, value_enum, value_name = "HOW", default_value = "drop")]
    mode: RepairFlag,

    /// Mend calls that are still pending at the end, too
    #[arg(long)]
    pending: bool,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}

impl Args {
    /// The chain that these flags describe.
    pub(super) fn chain(&self) -> anyhow::Result<Chain> {
        Ok(self.cutting.with_repair(self.mode.then_repair(Chain::default(), self.pending)))
    }
}
