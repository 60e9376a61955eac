//! `curtail verify`: what a cut lost.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use rayon::prelude::*;

use crate::console;
use crate::options::counting::CountingOptions;
use crate::options::files::is_standard;
use crate::options::global::Global;
use crate::options::input::Input;
use crate::options::verify::{GivenForm, VerifyFormat, VerifyOptions};
use crate::reports::remarks;
use crate::reports::verify::{VerifyPage, document, rows, screen, workflow_commands};
use crate::works::counterpart::counterpart;
use crate::works::verdict::Failing;
use crate::works::verify::{Verified, Verifying};
use crate::works::whole_file::WholeFile;
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
}

impl Job {
    /// Compares. Before a cut, what can be read of a damaged log is read; what a cut wrote must be sound.
    fn run(&self, verifying: &Verifying, options: &InputOptions) -> Result<Judged, FileError> {
        let (Self::Pair(before, _) | Self::Log(before)) = self;
        let before = WholeFile::read_around(before, options)?;
        let Self::Pair(_, after) = self else {
            return Ok(Judged { verified: verifying.log(&before)?, losses: before.losses });
        };
        let after = WholeFile::read(after, options)?;
        let verified = verifying.pair(&before, &after)?;
        Ok(Judged { verified, losses: [before.losses, after.losses].concat() })
    }
}

impl VerifyArgs {
    /// How texts in memory are compared and read.
    ///
    /// # Errors
    /// An unknown tokenizer, and flags for logs or for a text instead of the report.
    pub(super) fn of_texts(&self) -> anyhow::Result<(Verifying, VerifyOptions, &Input)> {
        if self.options.all || self.options.give_back.is_some() {
            bail!("--all and --give-back print something else than a report; run the program itself");
        }
        if !matches!(self.options.output_format, VerifyFormat::Text | VerifyFormat::Json) {
            bail!("--output-format: the report is a value; pass no format");
        }
        let verifying = Verifying { counting: self.counting.counting()?, hindsight: false };
        Ok((verifying, self.options.clone(), &self.input))
    }

    /// Compares the input and prints the report.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let hindsight = self.options.output_format == VerifyFormat::Json;
        let verifying = Verifying { counting: self.counting.counting()?, hindsight };
        remarks::counted(&verifying.counting, global);
        let input_options = self.input.prepare()?;
        let (jobs, mut failed) = self.jobs(global)?;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(global.jobs).build()?;
        let results: Vec<Result<Judged, FileError>> =
            threads.install(|| jobs.par_iter().map(|job| job.run(&verifying, &input_options)).collect());
        let mut verified = Vec::new();
        for (job, result) in (0..).zip(results) {
            match result {
                Ok(judged) => {
                    judged.losses.iter().for_each(console::error);
                    verified.extend(judged.verified.into_iter().map(|one| Verified { job, ..one }));
                }
                Err(error) => {
                    console::error(&error);
                    failed = true;
                }
            }
        }
        if verified.is_empty() && !failed && !global.quiet {
            console::warning(&"no compaction found; pass BEFORE and AFTER to compare two files");
        }
        if self.options.output_format == VerifyFormat::Html {
            self.write_page(&jobs, &verified, &input_options)?;
        } else if let Some(budget) = self.options.give_back {
            self.give_back(&verified, budget.0, &jobs, &input_options)?;
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
    fn jobs(&self, global: &Global) -> anyhow::Result<(Vec<Job>, bool)> {
        let [before, after] = self.input.paths.as_slice() else { return self.logs(global) };
        if self.options.all {
            return self.logs(global);
        }
        if is_standard(after) && self.options.form == GivenForm::Message {
            bail!("--as message reads AFTER twice, and standard input can be read once; name a file");
        }
        if self.input.paths.iter().any(|path| is_standard(path)) && self.options.output_format == VerifyFormat::Html {
            bail!("--output-format html reads the files twice, and standard input can be read once; name a file");
        }
        if is_standard(before) && is_standard(after) {
            bail!("standard input can be BEFORE or AFTER, not both; name a file for one of them");
        }
        match (before.is_dir(), after.is_dir()) {
            (true, true) => self.pairs(before, after, global),
            (true, false) | (false, true) => {
                bail!(
                    "BEFORE and AFTER must be two files or two directories; pass --all to compare the compactions of several logs"
                )
            }
            (false, false) => Ok((vec![Job::Pair(self.source(before), self.source(after))], false)),
        }
    }

    fn source(&self, path: &Path) -> Source {
        if is_standard(path) {
            return Source::stdin(self.input.stdin_filename.as_deref());
        }
        Source {
            path: Some(path.to_owned()),
            name: path.display().to_string(),
            relative: path.to_owned(),
            doubtful: false,
        }
    }

    fn logs(&self, global: &Global) -> anyhow::Result<(Vec<Job>, bool)> {
        if self.input.paths.len() > 1 && !self.options.all {
            bail!("expected BEFORE and AFTER, or one LOG; pass --all to compare the compactions of several logs");
        }
        let (sources, missing) = self.input.sources(None, global)?;
        missing.iter().for_each(console::error);
        Ok((sources.into_iter().map(Job::Log).collect(), !missing.is_empty()))
    }

    /// The files of two directories that have the same name.
    fn pairs(&self, before: &Path, after: &Path, global: &Global) -> anyhow::Result<(Vec<Job>, bool)> {
        let input = Input { paths: vec![before.to_owned()], ..self.input.clone() };
        let (sources, missing) = input.sources(None, global)?;
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

    /// Prints what the last comparison lost: of a log, only the newest compaction lost what the model does not read now. As a
    /// message, it is given back into the file that lost it.
    fn give_back(
        &self,
        verified: &[Verified],
        budget: usize,
        jobs: &[Job],
        options: &InputOptions,
    ) -> anyhow::Result<()> {
        let counting = self.counting.counting()?;
        let count = |text: &str| counting.tokenizer.count(text);
        let text = verified.last().map(|one| give_back(&one.comparison, budget, &count)).unwrap_or_default();
        let job = verified.last().map_or_else(|| jobs.last(), |one| jobs.get(one.job));
        match (self.options.form, job) {
            (GivenForm::Message, Some(Job::Pair(_, source) | Job::Log(source))) => {
                console::transcript(&WholeFile::read(source, options)?.with_message(&text)?)?;
            }
            _ => console::out(&text)?,
        }
        Ok(())
    }

    /// Writes one page with every comparison, and the transcripts that were compared.
    fn write_page(&self, jobs: &[Job], verified: &[Verified], options: &InputOptions) -> anyhow::Result<()> {
        let page =
            VerifyPage { options: &self.options, counting: self.counting.counting()?, prices: Prices::built_in()? };
        let mut sections = String::new();
        for (number, job) in jobs.iter().enumerate() {
            let own: Vec<&Verified> = verified.iter().filter(|one| one.job == number).collect();
            match job {
                _ if own.is_empty() => {}
                Job::Pair(before, after) => {
                    let after = WholeFile::read(after, options)?;
                    sections +=
                        &page.sections(&own, &WholeFile::read_around(before, options)?, Some(&after), number)?;
                }
                Job::Log(log) => {
                    sections += &page.sections(&own, &WholeFile::read_around(log, options)?, None, number)?;
                }
            }
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
                out.write_all(workflow_commands(verified, &self.options).as_bytes())?;
                return Ok(out.flush()?);
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
