//! The options of a repair.

use clap::Args;

use super::{Choice, Options, Processors, one_of};
use crate::processors::{Processor, Repair, RepairMode};

/// The values of `--mode`, `--repair` and `--fix`.
pub(in crate::cli) const REPAIR_MODES: &[Choice<RepairMode>] = &[
    Choice::new("drop", RepairMode::Drop, "Drop broken calls and results"),
    Choice::new("stub", RepairMode::Stub, "Answer unanswered calls with a stub result; drop the rest"),
    Choice::new("move", RepairMode::Move, "Move detached results to their calls; drop the rest"),
];

/// Repair broken pairs of tool calls and results
#[derive(Debug, Clone, Args)]
pub(crate) struct RepairOptions {
    /// How to repair broken pairs
    #[arg(long, value_parser = one_of(REPAIR_MODES), value_name = "HOW", default_value = "drop")]
    mode: RepairMode,

    /// Also repair calls that are pending at the end
    #[arg(long)]
    pending: bool,
}

/// The processors of a repair; with `pending`, they also repair calls that are pending at the end.
pub(in crate::cli) fn repairs(mode: RepairMode, pending: bool) -> Processors {
    let boxed = |repair| -> Box<dyn Processor> { Box::new(repair) };
    Repair { mode, pending }.with_drop().into_iter().map(boxed).collect()
}

impl Options for RepairOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        Ok(repairs(self.mode, self.pending))
    }
}
