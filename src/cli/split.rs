//! `curtail split`: splits long transcripts into several that fit a token budget, for training.

use std::path::PathBuf;

use crate::cutting::{Cuts, Job, JobIdentity};
use crate::options::cut::CutFlags;
use crate::options::files::written_path;
use crate::options::split::SplitOptions;
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
pub(super) struct SplitArgs {
    #[command(flatten)]
    options: SplitOptions,

    /// Write the source and the targets of each window to FILE, as JSON lines
    #[arg(long, value_name = "FILE", value_parser = written_path())]
    map: Option<PathBuf>,

    #[command(flatten)]
    cutting: CutFlags,
}

impl Cuts for SplitArgs {
    fn flags(&self) -> &CutFlags {
        &self.cutting
    }

    fn job(&self) -> anyhow::Result<Job> {
        anyhow::ensure!(
            !self.cutting.output.as_new_session,
            "--as-new-session writes one session, and split writes several transcripts; cut with limit or window"
        );
        let SplitOptions { counting, template, .. } = &self.options;
        let reads = template.files(counting);
        let counting = template.counting(counting)?;
        let chain = Chain { splitting: Some(self.options.splitting(&counting)?), ..Chain::default() };
        let chain = self.cutting.with_repair(chain);
        let identity = JobIdentity::of(&[&self.options]);
        let map = self.map.clone();
        Ok(Job { chain, counting: Some(counting), identity, map, reads, ..Job::default() })
    }
}
