//! `curtail window`, `limit` and `memory recall`: the commands that have only the processors of their options.

use crate::cutting::{self, Cuts, Job};
use crate::options::cut::CutFlags;
use crate::options::processor::Options;

// A command that has only the processors of its options. Its help is theirs: with a doc comment here or on the flags of every
// cut, clap would show that instead.
#[derive(Debug, clap::Args)]
pub(super) struct CutArgs<O: Options + clap::Args> {
    #[command(flatten)]
    options: O,

    #[command(flatten)]
    cutting: CutFlags,
}

impl<O: Options + clap::Args> Cuts for CutArgs<O> {
    fn flags(&self) -> &CutFlags {
        &self.cutting
    }

    fn job(&self) -> anyhow::Result<Job> {
        cutting::job_of(&self.cutting, &self.options)
    }
}
