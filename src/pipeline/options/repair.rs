//! Broken pairs, mended.

use clap::{Args, ValueEnum};

use super::{Options, Processors};
use crate::processors::{Repair, RepairMode};

/// Mend broken pairs of tool calls and results
#[derive(Debug, Clone, Args)]
pub struct RepairOptions {
    /// What becomes of them
    #[arg(long, value_enum, value_name = "HOW", default_value = "drop")]
    mode: RepairHow,

    /// Mend calls that are still pending at the end, too
    #[arg(long)]
    pending: bool,
}

/// What becomes of broken pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RepairHow {
    /// What is broken goes, with its other half
    Drop,
    /// An unanswered call gets a result that says so; the rest goes
    Stub,
    /// A detached result goes where it belongs; the rest goes
    Move,
}

impl RepairHow {
    /// The processors that do it; with `pending`, calls that are still pending at the end are mended, too.
    #[must_use]
    pub fn processors(self, pending: bool) -> Processors {
        let drop = Box::new(Repair { mode: RepairMode::Drop, pending });
        match self {
            Self::Drop => vec![drop],
            // What could not be moved or answered is dropped.
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
