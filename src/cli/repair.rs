//! `curtail repair`: whole pairs, and what can be read of a damaged log.

use crate::cutting::{self, Cuts, Job};
use crate::options::cut::CutFlags;
use crate::options::repair::RepairOptions;
use crate::works::check::Checking;
use curtail_core::checks::{Inspection, Levels};
use curtail_io::batch::Damage;

// Its help is that of its options: with a doc comment here, clap would show that instead.
#[derive(Debug, clap::Args)]
pub(super) struct RepairArgs {
    #[command(flatten)]
    options: RepairOptions,

    /// Leave out what cannot be read of a damaged log: lines that are not JSON, NUL bytes, a torn last line
    #[arg(long)]
    damaged: bool,

    #[command(flatten)]
    cutting: CutFlags,
}

impl Cuts for RepairArgs {
    fn flags(&self) -> &CutFlags {
        &self.cutting
    }

    fn job(&self) -> anyhow::Result<Job> {
        let damage = if self.damaged { Damage::LeaveOut } else { Damage::Fail };
        let job = cutting::job_of(&self.cutting, &self.options)?;
        let profile = self.options.profile()?;
        let inspection = Inspection { profile, ..Inspection::default() };
        let verifies = Some(Checking { inspection, levels: Levels::default(), repair: None, verbose: false });
        Ok(Job { identity: job.identity.and(&damage), verifies, damage, ..job })
    }
}
