//! What every cutting command does with its chain: plans the outputs, runs the batch, reports the result.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::CommandFactory as _;

use super::cut_reporter::CutReporter;
use super::input::{Cutting, ExplainFlag, Global};
use super::interrupt::Interrupt;
use super::report;
use crate::batch::{self, Batch, Words};
use crate::error::{Error, ErrorKind};
use crate::io::{Destination, MANIFEST, Manifest, Progress, Source, Targets};
use crate::pipeline::options::Options;
use crate::pipeline::{Chain, Cutter};
use crate::processors::{Counting, OnSummary, Overhead};
use crate::tokenizers;

/// Runs a command of one processor.
pub(super) fn with(flags: &Cutting, global: &Global, options: &impl Options) -> anyhow::Result<ExitCode> {
    let chain = flags.with_repair(Chain::default().at("", options.processors()?));
    run(flags, global, chain, options.counting()?)
}

/// Reads the inputs, cuts them with `chain` and writes the output. `counting` counts tokens for `--stats`; without it the
/// default tokenizer does.
pub(super) fn run(
    flags: &Cutting,
    global: &Global,
    chain: Chain,
    counting: Option<Counting>,
) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let input_options = flags.input.input_options()?;
    let (mut sources, missing) = flags.input.sources(flags.output.output_dir.as_deref())?;
    let manifest = flags.manifest(&chain)?;
    let finished_before = leave_out_finished(flags, manifest.as_ref(), &mut sources);
    let overwrite = flags.output.force || manifest.as_ref().is_some_and(Manifest::is_resumed);
    let targets = match Targets::plan(flags.destination(), overwrite, &sources) {
        Ok(targets) => targets,
        Err(errors) => return Ok(refuse(&errors)),
    };
    let counting = match (flags.stats, counting) {
        (None, _) => None,
        (Some(_), Some(counting)) => Some(counting),
        (Some(_), None) => Some(default_counting()?),
    };
    let mut cutting = batch::Cutting {
        cutter: Cutter { chain, explain: flags.words() != Words::None, counting },
        words: flags.words(),
        targets,
    };
    let progress = Arc::new(Progress::new(global.show(cutting.targets.is_stdout()), &sources));
    let counted = Arc::clone(&progress);
    cutting.cutter.chain.on_summary = Some(OnSummary::new(move || counted.summary()));
    let interrupt =
        Interrupt::watch(cutting.targets.are_files() || sources.iter().all(|source| source.path.is_some()))?;
    let mut reporter = CutReporter::new(flags, global, &cutting, Arc::clone(&progress), manifest, sources.len())?;
    reporter.sums.finished_before = finished_before;
    reporter.missing(&missing);
    if sources.is_empty() && missing.is_empty() && finished_before == 0 && !global.quiet {
        report::warning(&"no transcripts found (*.jsonl, *.ndjson, *.json, or one of these with .gz or .zst)");
    }
    let on_error = flags.output.on_error.policy();
    let batch = Batch { jobs: global.jobs, input_options, on_error, stop: interrupt.flag(), progress };
    batch.run(sources, &cutting, |event| reporter.event(event));
    reporter.finish(begun, interrupt.status())
}

fn refuse(errors: &[Error]) -> ExitCode {
    for error in errors {
        report::error(error);
    }
    ExitCode::from(2)
}

fn default_counting() -> anyhow::Result<Counting> {
    Ok(Counting {
        tokenizer: tokenizers::tokenizer_by_name(tokenizers::DEFAULT)?,
        overhead: Overhead::None,
        reserve: 0,
    })
}

/// Removes the inputs that an earlier run finished, and returns their number.
fn leave_out_finished(flags: &Cutting, manifest: Option<&Manifest>, sources: &mut Vec<Source>) -> usize {
    let Some(manifest) = manifest else { return 0 };
    // This plan only maps inputs to outputs; it accepts existing files.
    let Ok(targets) = Targets::plan(flags.destination(), true, &[]) else { return 0 };
    let before = sources.len();
    sources.retain(|source| match (&source.path, targets.path(source)) {
        (Some(input), Some(output)) => !manifest.is_done(input, &output),
        _ => true,
    });
    before - sources.len()
}

impl Cutting {
    fn destination(&self) -> Destination {
        let output = &self.output;
        match (&output.output, &output.output_dir, &output.in_place) {
            _ if self.dry_run => Destination::Nothing,
            (Some(file), ..) => Destination::File(file.clone()),
            (_, Some(directory), _) => Destination::Directory(directory.clone()),
            (.., Some(suffix)) => Destination::InPlace(Some(suffix.clone()).filter(|suffix| !suffix.is_empty())),
            (None, None, None) => Destination::Stdout,
        }
    }

    fn words(&self) -> Words {
        match self.explain {
            Some(ExplainFlag::Text) => Words::Text,
            Some(ExplainFlag::Json) => Words::Json,
            None if self.dry_run => Words::Text,
            None => Words::None,
        }
    }

    /// The record of what is finished: kept for every run into a directory, and wherever --resume asks for it.
    fn manifest(&self, chain: &Chain) -> Result<Option<Manifest>, Error> {
        let resume = self.output.resume.as_ref();
        let named = resume.filter(|path| !path.is_empty()).map(PathBuf::from);
        let path = match (named, &self.output.output_dir, resume) {
            _ if self.dry_run => return Ok(None),
            (Some(_), None, _) | (None, None, Some(_)) if self.output.in_place.is_none() => {
                return Err(Error::new(ErrorKind::Usage, "", "--resume needs --output-dir or --in-place"));
            }
            (Some(path), ..) => path,
            (None, Some(directory), _) => directory.join(MANIFEST),
            (None, None, Some(_)) => PathBuf::from(MANIFEST),
            (None, None, None) => return Ok(None),
        };
        let manifest = Manifest::open(&path, &options(&chain.described), resume.is_some());
        manifest.map(Some).map_err(|error| Error::system(path.to_string_lossy(), &error))
    }
}

/// Flags that change where outputs go or what is said, and not what is written.
const BESIDE_THE_POINT: &[&str] = &[
    "paths",
    "stdin_filename",
    "output",
    "output_dir",
    "in_place",
    "force",
    "resume",
    "rejects",
    "explain",
    "dry_run",
    "stats",
    "fail_on_change",
    "jobs",
    "quiet",
    "verbose",
    "color",
    "progress",
];

/// The options that decide what is written, in one line: the version, the command, its flags with their values, and what a
/// configuration told.
fn options(described: &str) -> String {
    let command = super::Cli::command();
    let matches = command.clone().get_matches();
    let mut words = vec![format!("{} {}", command.get_name(), command.get_version().unwrap_or_default())];
    if let Some((name, matches)) = matches.subcommand() {
        words.push(name.to_owned());
        let arguments = command.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
        for id in arguments.map(|argument| argument.get_id().as_str()).filter(|id| !BESIDE_THE_POINT.contains(id)) {
            if let Ok(Some(values)) = matches.try_get_raw(id) {
                words.push(format!("{id}={:?}", values.collect::<Vec<_>>()));
            }
        }
    }
    words.push(described.to_owned());
    words.join(" ").trim_end().to_owned()
}
