//! `curtail split`: one long transcript becomes several that fit, for training.

use std::path::PathBuf;
use std::process::ExitCode;

use super::cut::{self, Job};
use super::input::{Cutting, Global};
use crate::cli::options::SplitOptions;
use curtail_core::pipeline::Chain;

/// Split long transcripts into windows that fit a token budget
///
/// Every message belongs to exactly one window, so every assistant message is a training target once. A window also repeats
/// its context: system messages, the user message that begins its turn, and the overlap. Tool calls and their results are
/// never separated.
///
/// A record becomes several records, and a row of a Parquet file several rows. A log or a document that does not fit becomes
/// several files: NAME.part-001.jsonl, NAME.part-002.jsonl.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    options: SplitOptions,

    /// Write the source and the targets of each window to FILE, as JSON lines
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    #[command(flatten)]
    cutting: Cutting,
}

impl Args {
    /// Runs the command.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let counting = self.options.counting()?;
        let chain = Chain { splitting: Some(self.options.splitting()?), ..Chain::default() };
        let chain = self.cutting.with_repair(chain);
        let options = format!("{:?}", self.options);
        let (map, reads) = (self.map.clone(), self.options.files());
        cut::run(&self.cutting, global, Job { chain, counting: Some(counting), options, map, reads, ..Job::default() })
    }
}
