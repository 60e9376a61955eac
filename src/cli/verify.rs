//! `curtail verify`: what a cut lost.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use rayon::prelude::*;

use crate::console;
use crate::options::counting::CountingOptions;
use crate::options::files::{is_standard, source_of};
use crate::options::global::Global;
use crate::options::input::Input;
use crate::options::verify::{GivenForm, VerifyFormat, VerifyOptions};
use crate::reports::remarks::{self, RecordErrors};
use crate::reports::verify::{VerifyPage, document, rows, screen, workflow_commands};
use crate::works::counterpart::counterpart;
use crate::works::verdict::Failing;
use crate::works::verify::{Verified, Verifying};
use crate::works::whole_file::WholeFile;
use curtail_core::processors::Counting;
use curtail_facts::verify::give_back;
use curtail_io::batch::InputOptions;
use curtail_io::{FileError, Source};
use curtail_lab::replay::Prices;

/// Show what a cut lost: rules, to-dos, files, checks, decisions
///
/// With two files, BEFORE and AFTER are compared; AFTER may be a transcript of any dialect, or a text such as a summary. With two
/// directories, files of the same name are. With one file, what the model read before and after each compaction of its log is
/// compared. No model is asked: the same files give the same verdict.
#[derive(Debug, clap::Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    options: VerifyOptions,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    input: Input,
}

/// What is compared: two files, or the compactions of one.
enum Job {
    Pair(Source, Source),
    Log(Source),
}

/// What a job found.
struct Judged {
    verified: Vec<Verified>,
    /// What could not be read as it is written.
    losses: Vec<FileError>,
    /// The files, if the output shows them: all of a large folder would fill the memory.
    compared: Option<Compared>,
}

/// The files that a job compared.
struct Compared {
    before: WholeFile,
    /// `None` for the compactions of a log.
    after: Option<WholeFile>,
}

impl Job {
    /// Compares. Before a cut, what can be read of a damaged log is read; what a cut wrote must be sound.
    fn run(&self, verifying: &Verifying, options: &InputOptions, shows_files: bool) -> Result<Judged, FileError> {
        let (Self::Pair(before, _) | Self::Log(before)) = self;
        let mut before = WholeFile::read_around(before, options)?;
        let mut after = match self {
            Self::Pair(_, after) => Some(WholeFile::read(after, options)?),
            Self::Log(_) => None,
        };
        let verified = match &after {
            Some(after) => verifying.pair(&before, after)?,
            None => verifying.log(&before)?,
        };
        let mut losses = std::mem::take(&mut before.losses);
        losses.extend(after.iter_mut().flat_map(|after| after.losses.drain(..)));
        Ok(Judged { verified, losses, compared: shows_files.then_some(Compared { before, after }) })
    }
}

impl VerifyArgs {
    /// How texts in memory are compared and read.
    ///
    /// # Errors
    /// An unknown tokenizer, and a format for people.
    pub(super) fn of_texts(&self) -> anyhow::Result<(Verifying, VerifyOptions, &Input)> {
        if !matches!(self.options.output_format, VerifyFormat::Text | VerifyFormat::Json) {
            bail!("--output-format: the report is a value; pass no format");
        }
        let verifying = Verifying { counting: self.counting.without_reserve()?, hindsight: false };
        Ok((verifying, self.options.clone(), &self.input))
    }

    /// Compares the input and prints the report.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let hindsight = self.options.output_format == VerifyFormat::Json;
        let verifying = Verifying { counting: self.counting.without_reserve()?, hindsight };
        remarks::counted(&verifying.counting);
        let input_options = self.input.prepare()?;
        let (jobs, mut failed) = self.jobs()?;
        // Each thread has something to do, however many are asked for; 0 is one for each core.
        let threads = global.jobs.min(jobs.len().max(1));
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let shows_files = self.options.output_format == VerifyFormat::Html || self.options.form == GivenForm::Message;
        let results: Vec<Result<Judged, FileError>> =
            threads.install(|| jobs.par_iter().map(|job| job.run(&verifying, &input_options, shows_files)).collect());
        let mut errors = RecordErrors::default();
        let mut verified = Vec::new();
        let mut compared = HashMap::new();
        for (job, result) in (0..).zip(results) {
            match result {
                Ok(judged) => {
                    judged.losses.iter().for_each(|loss| errors.print_some(loss, None, global));
                    verified.extend(judged.verified.into_iter().map(|one| Verified { job, ..one }));
                    compared.extend(judged.compared.map(|files| (job, files)));
                }
                Err(error) => {
                    console::error(&error);
                    failed = true;
                }
            }
        }
        remarks::warn_empty(jobs.is_empty() && !failed);
        if verified.is_empty() && !jobs.is_empty() && !failed {
            console::warning(&"no compaction found; pass BEFORE and AFTER to compare two files");
        }
        if self.options.output_format == VerifyFormat::Html {
            self.write_page(&verified, &compared, verifying.counting)?;
        } else if let Some(budget) = self.options.give_back {
            print_lost(&verified, budget.0, &compared, &verifying.counting)?;
        } else {
            self.print(&verified)?;
        }
        let passes = verified.iter().all(|one| Failing::all(one, &self.options).is_empty());
        Ok(ExitCode::from(match (failed, passes) {
            (true, _) => 2,
            (false, true) => 0,
            (false, false) => 1,
        }))
    }

    /// What to compare, and whether anything could not be found.
    fn jobs(&self) -> anyhow::Result<(Vec<Job>, bool)> {
        let [before, after] = self.input.paths.as_slice() else { return self.logs() };
        if self.options.all {
            return self.logs();
        }
        if is_standard(before) && is_standard(after) {
            bail!("standard input can be BEFORE or AFTER, not both; name a file for one of them");
        }
        match (before.is_dir(), after.is_dir()) {
            (true, true) => self.pairs(before, after),
            (true, false) | (false, true) => {
                bail!(
                    "BEFORE and AFTER must be two files or two directories; pass --all to compare the compactions of several logs"
                )
            }
            (false, false) => {
                let [before, after] = [self.source(before), self.source(after)];
                self.input.warn_unused_of_files(&[&before, &after]);
                Ok((vec![Job::Pair(before, after)], false))
            }
        }
    }

    fn source(&self, path: &Path) -> Source {
        source_of(path, self.input.stdin_filename.as_deref())
    }

    fn logs(&self) -> anyhow::Result<(Vec<Job>, bool)> {
        if self.input.paths.len() > 1 && !self.options.all {
            bail!("expected BEFORE and AFTER, or one LOG; pass --all to compare the compactions of several logs");
        }
        let (sources, missing) = self.input.sources(None)?;
        missing.iter().for_each(console::error);
        Ok((sources.into_iter().map(Job::Log).collect(), !missing.is_empty()))
    }

    /// The files of two directories that have the same name.
    fn pairs(&self, before: &Path, after: &Path) -> anyhow::Result<(Vec<Job>, bool)> {
        let input = Input { paths: vec![before.to_owned()], ..self.input.clone() };
        let (sources, missing) = input.sources(None)?;
        missing.iter().for_each(console::error);
        let mut failed = !missing.is_empty();
        let mut jobs = Vec::new();
        for source in sources {
            let relative =
                source.path.as_ref().and_then(|path| path.strip_prefix(before).ok()).unwrap_or(&source.relative);
            if let Some(path) = counterpart(after, relative) {
                let after = self.source(&path);
                jobs.push(Job::Pair(source, after));
            } else {
                console::error(&format!("{}: no file of this name in {}", source.name, after.display()));
                failed = true;
            }
        }
        Ok((jobs, failed))
    }

    /// Writes one page with every comparison, and the transcripts that were compared.
    fn write_page(
        &self,
        verified: &[Verified],
        compared: &HashMap<usize, Compared>,
        counting: Counting,
    ) -> anyhow::Result<()> {
        let is_shared = transcripts_of(verified) > 1;
        let page = VerifyPage { options: &self.options, counting, prices: Prices::built_in()?, is_shared };
        let mut sections = String::new();
        for own in verified.chunk_by(|one, other| one.job == other.job) {
            let Some(Compared { before, after }) = compared.get(&own[0].job) else { continue };
            sections += &page.sections(own, before, after.as_ref(), own[0].job)?;
        }
        let title = verified.first().map_or("verify", |one| &one.before.file);
        let (opening, closing) = curtail_view::page(title, None, false);
        Ok(console::data(&format!("{opening}{sections}{closing}"))?)
    }

    fn print(&self, verified: &[Verified]) -> anyhow::Result<()> {
        let text = match (self.options.output_format, verified) {
            (VerifyFormat::Json, _) => return Ok(console::out_json(&document(verified, &self.options))?),
            (VerifyFormat::Github, _) => {
                let mut out = console::report();
                let text = workflow_commands(verified, &self.options);
                let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                return Ok(console::closed_is_fine(written)?);
            }
            (VerifyFormat::Html, _) => return Ok(()),
            (VerifyFormat::Text, [one]) if !self.options.all => screen(one, &self.options),
            (VerifyFormat::Text, []) => String::new(),
            (VerifyFormat::Text, [.., last]) if !self.options.all && last.compaction.is_some() => {
                format!("{}\n{}", rows(verified, &self.options), screen(last, &self.options))
            }
            (VerifyFormat::Text, all) => rows(all, &self.options),
        };
        Ok(console::out(&text)?)
    }
}

/// How many transcripts were compared.
fn transcripts_of(verified: &[Verified]) -> usize {
    verified.chunk_by(|one, other| (one.job, one.transcript) == (other.job, other.transcript)).count()
}

/// Prints what a comparison lost: of a log, only the newest compaction lost what the model does not read now. As a message, it
/// is given back into the file that lost it.
fn print_lost(
    verified: &[Verified],
    budget: usize,
    compared: &HashMap<usize, Compared>,
    counting: &Counting,
) -> anyhow::Result<()> {
    let count = transcripts_of(verified);
    if count > 1 {
        let noun = if verified[0].compaction.is_some() { "log" } else { "pair" };
        bail!("--give-back gives back what one transcript lost, and {count} {noun}s were compared; name one {noun}");
    }
    let text = verified.last().map_or_else(String::new, |one| {
        give_back(&one.comparison, budget, &|text: &str| counting.tokenizer.count(text))
    });
    let job = verified.last().map(|one| one.job).or_else(|| compared.keys().max().copied());
    match job.and_then(|job| compared.get(&job)) {
        Some(Compared { before, after }) => {
            console::transcript(&after.as_ref().unwrap_or(before).with_message(&text)?)?;
        }
        None => console::out(&text)?,
    }
    Ok(())
}
