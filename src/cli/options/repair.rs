//! The options of a repair.

use clap::{Args, ValueEnum};

use super::{Options, Processors};
use crate::processors::{Repair, RepairMode};

/// Repair broken pairs of tool calls and results
#[derive(Debug, Clone, Args)]
pub struct RepairOptions {
    /// How to repair broken pairs
    #[arg(long, value_enum, value_name = "HOW", default_value = "drop")]
    mode: RepairHow,

    /// Also repair calls that are pending at the end
    #[arg(long)]
    pending: bool,
}

/// How broken pairs are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RepairHow {
    /// Drop broken calls and results
    Drop,
    /// Answer unanswered calls with a stub result; drop the rest
    Stub,
    /// Move detached results to their calls; drop the rest
    Move,
}

impl RepairHow {
    /// The processors of this mode; with `pending`, they also repair calls that are pending at the end.
    #[must_use]
    pub fn processors(self, pending: bool) -> Processors {
        let drop = Box::new(Repair { mode: RepairMode::Drop, pending });
        match self {
            Self::Drop => vec![drop],
            // Pairs that could not be moved or answered are dropped.
            Self::Stub => vec![Box::new(Repair { mode: RepairMode::Stub, pending }), drop],
            Self::Move => vec![Box::new(Repair { mode: RepairMode::Move, pending }), drop],
        }
    }
}

impl Options for RepairOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        Ok(self.mode.processors(self.pending))
    }
}
