//! Runs the chain of a cutting command: plans the outputs, runs the batch, reports the result.

mod plan;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use crate::console;
use crate::options::cut::{CutFlags, Output};
use crate::options::files::Reads;
use crate::options::global::Global;
use crate::options::processor::Options;
use crate::process::{self, Interrupt};
use crate::reports::cut::{CutReporter, SideOutputs};
use crate::reports::lines::LineFile;
use crate::reports::new_session::NewSessionWriter;
use crate::reports::progress::{Progress, Show};
use crate::reports::remarks;
use crate::reports::split_map::SplitMap;
use crate::works::check::Checking;
use crate::works::copies::DropRecords;
use crate::works::cut::Cutting;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Counting, OnSummary};
use curtail_io::batch::{Batch, Damage, OnError};
use curtail_io::{FileError, Source, Targets};
use curtail_tokens::tokenizers;
use plan::Plan;

/// What to do with the inputs.
#[derive(Default)]
pub(crate) struct Job {
    /// The processors.
    pub(crate) chain: Chain,
    /// Counts tokens for `--stats`; `None` for the default tokenizer.
    pub(crate) counting: Option<Counting>,
    pub(crate) identity: JobIdentity,
    /// Where to write the map of a split, which lists the origin of each window.
    pub(crate) map: Option<PathBuf>,
    /// The files that the run reads besides its inputs.
    pub(crate) reads: Reads,
    /// The check whose findings drop a record.
    pub(crate) drops: Option<Checking>,
    /// The check of a repair.
    pub(crate) verifies: Option<Checking>,
    /// How to handle a log that is damaged.
    pub(crate) damage: Damage,
}

/// What tells a job from others: jobs with the same identity make the same cuts.
#[derive(Debug, Default)]
pub(crate) struct JobIdentity(String);

impl JobIdentity {
    /// That of a job with all of these options.
    pub(crate) fn of(options: &[&dyn fmt::Debug]) -> Self {
        Self(options.iter().map(|option| format!("{option:?}")).collect::<Vec<_>>().join(" "))
    }

    /// That of a job which is written like this in a file or on a command line.
    pub(crate) const fn written(job: String) -> Self {
        Self(job)
    }

    /// The same with one more option.
    pub(crate) fn and(&self, option: &dyn fmt::Debug) -> Self {
        Self(format!("{} {option:?}", self.0))
    }
}

/// A command that cuts.
pub(crate) trait Cuts {
    /// What is read, and where it is written.
    fn flags(&self) -> &CutFlags;

    /// What is done to it.
    ///
    /// # Errors
    /// Values that no processor can have, or flags with which the command cuts nothing.
    fn job(&self) -> anyhow::Result<Job>;

    /// Reads the inputs, cuts them and writes the result.
    fn run(&self, global: &Global) -> anyhow::Result<ExitCode>
    where
        Self: Sized,
    {
        run(self, global)
    }
}

/// What a command does that has only the processors of `options`.
pub(crate) fn job_of(flags: &CutFlags, options: &impl Options) -> anyhow::Result<Job> {
    let chain = flags.with_repair(Chain::default().at("", options.processors(flags.dry_run)?));
    let reads = options.files();
    let counting = options.counting()?;
    Ok(Job { chain, counting, identity: JobIdentity::of(&[options]), reads, ..Job::default() })
}

/// Reads the inputs, cuts them and writes the result.
pub(crate) fn run(cuts: &impl Cuts, global: &Global) -> anyhow::Result<ExitCode> {
    let flags = cuts.flags();
    let Job { chain, counting, identity, map, mut reads, drops, verifies, damage } = cuts.job()?;
    #[cfg(unix)]
    if chain.splitting.is_some() {
        process::raise_file_limit();
    }
    reads.other.extend(flags.input.dialect_file.iter().cloned());
    let start = Instant::now();
    let budget = drops.as_ref().and_then(|checking| checking.inspection.budget.as_ref());
    for counting in counting.iter().chain(budget.map(|budget| &budget.counting)) {
        remarks::counted(counting);
    }
    let input_options = flags.input.prepare()?;
    flags.refuse_misread_words()?;
    let planned = Plan::new(flags, global, &input_options, &identity, &reads, map.as_deref())?;
    let Plan { sources, missing, finished_before, targets, manifest, uses } = match planned {
        Ok(plan) => plan,
        Err(errors) => return Ok(refuse(&errors)),
    };
    let counting = flags.stats.map(|_| counting_of_totals(counting)).transpose()?;
    let progress = Arc::new(Progress::new(Show::chosen(global, targets.is_stdout()), &sources));
    let summaries = Arc::clone(&progress);
    let chain = Chain { on_summary: Some(OnSummary::new(move |_| summaries.summary())), ..chain };
    let at_once = chain.at_once();
    let interrupt = Interrupt::watch(ends_gently(&targets, at_once, &sources))?;
    let cutting = Cutting {
        cutter: TextCutter { chain, explain: flags.explain_format().is_some(), counting },
        explain: flags.explain_format(),
        targets,
        drops: drops.map(|checking| drop_records(&flags.output, checking)),
        verifies,
        finds_project: flags.output.as_new_session,
        verbose: global.verbose,
        stop: interrupt.flag(),
    };
    let inputs = sources.len() + missing.len();
    let writes = !flags.dry_run;
    let rejects = flags.output.rejects.as_ref().filter(|_| writes);
    let beside = SideOutputs {
        manifest,
        rejects: rejects.map(|path| LineFile::open(path, flags, &sources)).transpose()?,
        new_session: NewSessionWriter::new(flags, global, &uses, inputs)?,
        map: map.filter(|_| writes).map(|map| SplitMap::open(&map, flags, &sources)).transpose()?,
    };
    let shown = Arc::clone(&progress);
    let mut reporter = CutReporter::new(flags, global, &cutting, shown, beside, sources.len(), finished_before);
    reporter.missing(&missing);
    remarks::warn_empty(inputs == 0 && finished_before == 0);
    let on_error = flags.output.on_error;
    let batch = Batch {
        jobs: global.jobs,
        at_once,
        input_options,
        on_error,
        damage,
        stop: interrupt.flag(),
        progress: Some(progress),
    };
    batch.run(sources, &cutting, |event| reporter.event(event));
    reporter.finish(start, interrupt.status())
}

/// Whether an interrupt lets the run finish what it began. A summarizer's program runs in a process group of its own, so this
/// program has to end it.
fn ends_gently(targets: &Targets, at_once: Option<usize>, sources: &[Source]) -> bool {
    targets.are_files() || at_once.is_some() || sources.iter().all(|source| source.path.is_some())
}

/// Drops the records with findings of `checking`.
const fn drop_records(output: &Output, checking: Checking) -> DropRecords {
    let Output { rejects, on_error, .. } = output;
    DropRecords { checking, keeps_records: rejects.is_some(), reports: matches!(on_error, OnError::Report) }
}

fn refuse(errors: &[FileError]) -> ExitCode {
    const SHOWN: usize = 10;
    errors.iter().take(SHOWN).for_each(console::error);
    if errors.len() > SHOWN {
        console::error(&format!("{} more outputs cannot be written for similar reasons", errors.len() - SHOWN));
    }
    ExitCode::from(2)
}

/// How totals are counted: as the processors count, if they do.
fn counting_of_totals(counting: Option<Counting>) -> anyhow::Result<Counting> {
    match counting {
        // A reserve is a part of the budget, not of the transcript.
        Some(counting) => Ok(Counting { reserve: 0, ..counting }),
        None => Ok(Counting::new(tokenizers::tokenizer_by_name(tokenizers::DEFAULT)?)),
    }
}
