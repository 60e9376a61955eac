//! Runs the chain of a cutting command: plans the outputs, runs the batch, reports the result.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use super::cut_reporter::{CutReporter, shared_output};
use super::input::{CutFlags, Global, Input, Output, is_standard};
use super::new_session::NewSessionWriter;
use super::process::Interrupt;
use super::report;
use super::split::SplitMap;
use crate::batch::{self, Batch, Checking, DropRecords, InputOptions, OnError, TextOrJson};
use crate::cli::options::{Options, Reads};
use crate::progress::Progress;
use curtail_core::dialects::Framing;
use curtail_core::digest::fnv1a_128;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Counting, OnSummary};
use curtail_core::small::{SMALL, read_small};
use curtail_io::{Destination, Existing, FileUses, MANIFEST, Manifest, Scratch, Source, Targets};
use curtail_io::{ErrorKind, FileError};
use curtail_tokens::tokenizers;

/// What to do with the inputs.
#[derive(Default)]
pub(super) struct Job {
    /// The processors.
    pub(super) chain: Chain,
    /// Counts tokens for `--stats`; `None` for the default tokenizer.
    pub(super) counting: Option<Counting>,
    /// The options of the processors: jobs with the same text make the same cuts.
    pub(super) options: String,
    /// Where to write the map of a split, which lists the origin of each window.
    pub(super) map: Option<PathBuf>,
    /// The files that the run reads besides its inputs.
    pub(super) reads: Reads,
    /// The check whose findings drop a record.
    pub(super) drops: Option<Checking>,
}

// A command that has only the processors of its options. Its help is theirs: with a doc comment here or on the flags of every
// cut, clap would show that instead.
#[derive(Debug, clap::Args)]
pub(super) struct CutArgs<O: Options + clap::Args> {
    #[command(flatten)]
    options: O,

    #[command(flatten)]
    cutting: CutFlags,
}

impl<O: Options + clap::Args> CutArgs<O> {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        run_options(&self.cutting, global, &self.options)
    }
}

/// Runs a command that has only the processors of `options`.
pub(super) fn run_options(flags: &CutFlags, global: &Global, options: &impl Options) -> anyhow::Result<ExitCode> {
    let chain = flags.with_repair(Chain::default().at("", options.processors(flags.dry_run)?));
    let reads = options.files();
    let (counting, options) = (options.counting()?, format!("{options:?}"));
    run(flags, global, Job { chain, counting, options, reads, ..Job::default() })
}

/// Reads the inputs, cuts them and writes the result.
pub(super) fn run(flags: &CutFlags, global: &Global, job: Job) -> anyhow::Result<ExitCode> {
    let Job { chain, counting, options, map, reads, drops } = job;
    let start = Instant::now();
    counting.iter().for_each(|counting| report::counted(counting, global));
    let input_options = flags.input.input_options()?;
    flags.refuse_misread_words()?;
    let (mut sources, missing) = flags.sources(global)?;
    let mut manifest = flags.manifest(&options, &reads.content)?;
    let uses = Arc::new(FileUses::new(&sources, reads.all()));
    let planned = flags.refuse_shared_output(&sources, &input_options);
    let planned = planned.and_then(|()| flags.targets(manifest.as_ref(), &sources, &uses, map.as_deref()));
    let targets = match planned {
        Ok(targets) => targets,
        Err(errors) => return Ok(refuse(&errors)),
    };
    let finished_before = remove_finished(&targets, flags, manifest.as_ref(), &mut sources);
    announce_backups(&targets, manifest.as_mut(), &sources)?;
    let counting = flags.stats.map(|_| counting_of_totals(counting)).transpose()?;
    let mut cutting = batch::Cutting {
        cutter: TextCutter { chain, explain: flags.explain_format().is_some(), counting },
        explain: flags.explain_format(),
        targets,
        drops: drops.map(|checking| flags.drop_records(checking)),
        finds_project: flags.output.as_new_session,
        stop: Arc::default(),
    };
    let progress = Arc::new(Progress::new(global.progress_display(cutting.targets.is_stdout()), &sources));
    let summaries = Arc::clone(&progress);
    cutting.cutter.chain.on_summary = Some(OnSummary::new(move |_| summaries.summary()));
    let at_once = cutting.cutter.chain.at_once();
    let interrupt = Interrupt::watch(ends_gently(&cutting, &sources))?;
    cutting.stop = interrupt.flag();
    let mut reporter =
        CutReporter::new(flags, global, &cutting, Arc::clone(&progress), manifest, &sources, finished_before)?;
    reporter.new_session = NewSessionWriter::new(flags, global, &uses, sources.len() + missing.len())?;
    reporter.map = map.map(|map| SplitMap::open(&map, flags, &sources)).transpose()?;
    reporter.missing(&missing);
    report::warn_empty(sources.is_empty() && missing.is_empty() && finished_before == 0, global);
    let on_error = flags.output.on_error;
    let batch = Batch { jobs: global.jobs, at_once, input_options, on_error, stop: interrupt.flag(), progress };
    batch.run(sources, &cutting, |event| reporter.event(event));
    reporter.finish(start, interrupt.status())
}

/// Whether an interrupt lets the run finish what it began. A summarizer's program runs in a process group of its own, so this
/// program has to end it.
fn ends_gently(cutting: &batch::Cutting, sources: &[Source]) -> bool {
    cutting.targets.are_files()
        || cutting.cutter.chain.at_once().is_some()
        || sources.iter().all(|source| source.path.is_some())
}

fn refuse(errors: &[FileError]) -> ExitCode {
    const SHOWN: usize = 10;
    errors.iter().take(SHOWN).for_each(report::error);
    if errors.len() > SHOWN {
        report::error(&format!("{} more outputs cannot be written for similar reasons", errors.len() - SHOWN));
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

/// Removes the inputs that an earlier run finished, and returns their number.
fn remove_finished(
    targets: &Targets,
    flags: &CutFlags,
    manifest: Option<&Manifest>,
    sources: &mut Vec<Source>,
) -> usize {
    let Some(manifest) = manifest.filter(|_| flags.output.resume.is_some()) else { return 0 };
    let before = sources.len();
    sources.retain(|source| match (&source.path, targets.path(source)) {
        (Some(input), Some(output)) => {
            let part = targets.path_of_part(source, Some(1));
            !manifest.is_done(input, &output) && !part.is_some_and(|part| manifest.is_done(input, &part))
        }
        _ => true,
    });
    before - sources.len()
}

/// Records the backups that are still to be made.
fn announce_backups(targets: &Targets, manifest: Option<&mut Manifest>, sources: &[Source]) -> Result<(), FileError> {
    let Some(manifest) = manifest else { return Ok(()) };
    for (backup, input) in targets.backups(sources) {
        if manifest.is_backup(&backup) {
            continue;
        }
        let announced = manifest.announce_backup(&backup, input);
        announced.map_err(|error| FileError::system("the record for --resume", &error))?;
    }
    Ok(())
}

impl CutFlags {
    /// The inputs, and the errors of those that cannot be found.
    fn sources(&self, global: &Global) -> Result<(Vec<Source>, Vec<FileError>), FileError> {
        match self.output.in_place.is_some() && !self.output.follow_links {
            true => self.input.sources_in_place(global),
            false => self.input.sources(self.output.output_dir.as_deref(), global),
        }
    }

    /// Drops the records with findings of `checking`.
    const fn drop_records(&self, checking: Checking) -> DropRecords {
        let Output { rejects, on_error, .. } = &self.output;
        DropRecords { checking, keeps_records: rejects.is_some(), reports: matches!(on_error, OnError::Report) }
    }

    fn destination(&self) -> Destination {
        let output = &self.output;
        match (&output.output, &output.output_dir, &output.in_place) {
            // The writer of a new session finds its place when the cut is made.
            _ if self.dry_run || output.as_new_session => Destination::Nothing,
            (Some(file), ..) if is_standard(file) => Destination::Stdout,
            (Some(file), ..) => Destination::File(file.clone()),
            (_, Some(directory), _) => Destination::Directory(directory.clone()),
            (.., Some(suffix)) => Destination::InPlace(Some(suffix.clone()).filter(|suffix| !suffix.is_empty())),
            (None, None, None) => Destination::Stdout,
        }
    }

    /// A dry run that reports no totals explains its decisions.
    fn explain_format(&self) -> Option<TextOrJson> {
        self.explain.or((self.dry_run && self.stats.is_none()).then_some(TextOrJson::Text))
    }

    /// The record of finished outputs: kept for every run into a directory, and for --resume.
    fn manifest(&self, options: &str, reads: &[PathBuf]) -> Result<Option<Manifest>, FileError> {
        let resume = self.output.resume.as_ref();
        let named = resume.filter(|path| !path.is_empty()).map(PathBuf::from);
        let path = match (named, &self.output.output_dir, resume) {
            _ if self.dry_run => return Ok(None),
            (Some(path), ..) => path,
            (None, Some(directory), _) => {
                curtail_io::refuse_file_as_directory(directory, curtail_io::DIRECTORY_ADVICE)?;
                directory.join(MANIFEST)
            }
            (None, None, Some(_)) => PathBuf::from(MANIFEST),
            (None, None, None) => return Ok(None),
        };
        Manifest::load(&path, &identity(self, options, reads)).map(Some)
    }

    /// Refuses to write a log and other inputs to standard output, before anything is written: a part of the output is of no
    /// use.
    fn refuse_shared_output(&self, sources: &[Source], input_options: &InputOptions) -> Result<(), Vec<FileError>> {
        if self.destination() != Destination::Stdout || sources.len() < 2 {
            return Ok(());
        }
        let log = batch::first_without_records(sources, input_options);
        let refusal = log.map(|log| FileError::new(ErrorKind::Usage, &log.name, shared_output(sources.len())));
        refusal.map_or(Ok(()), |refusal| Err(vec![refusal]))
    }

    /// Plans the outputs. Refuses a file that is named by a flag and is also an input or another output.
    fn targets(
        &self,
        manifest: Option<&Manifest>,
        sources: &[Source],
        uses: &Arc<FileUses>,
        map: Option<&Path>,
    ) -> Result<Targets, Vec<FileError>> {
        let output = &self.output;
        let existing = match manifest {
            _ if output.force => Existing::Overwrite,
            Some(manifest) if output.resume.is_some() => Existing::Resume(manifest),
            _ => Existing::Refuse,
        };
        let scratch = Scratch::new(!output.no_sync);
        let targets = Targets::plan(self.destination(), existing, sources, uses, scratch)?;
        let rejects = output.rejects.iter().map(|path| (path.as_path(), "--rejects"));
        let record = manifest.iter().map(|manifest| (manifest.path(), "--resume"));
        let errors: Vec<FileError> = rejects
            .chain(record)
            .chain(map.map(|map| (map, "--map")))
            .filter_map(|(path, flag)| uses.flag(path, flag).err())
            .collect();
        if errors.is_empty() { Ok(targets) } else { Err(errors) }
    }

    /// Refuses flags that name something else than the user meant.
    fn refuse_misread_words(&self) -> anyhow::Result<()> {
        self.refuse_detached_suffix()?;
        self.refuse_detached_record()?;
        self.refuse_reports_in_files()
    }

    /// Refuses `--on-error report` unless records come from standard input and answers go to standard output: it is for programs
    /// that await an answer for each record.
    fn refuse_reports_in_files(&self) -> anyhow::Result<()> {
        let pipe = self.input.paths.iter().all(|path| is_standard(path))
            && self.destination() == Destination::Stdout
            && self.input.framing.0 == Some(Framing::Records);
        anyhow::ensure!(
            self.output.on_error != OnError::Report || pipe,
            "--on-error report answers records in a pipe; pass --framing records, no PATH and no output flag"
        );
        Ok(())
    }

    /// Refuses `--resume RECORD`, where RECORD would be an input.
    fn refuse_detached_record(&self) -> Result<(), FileError> {
        if self.output.resume.as_ref().is_none_or(|record| !record.is_empty()) {
            return Ok(());
        }
        let mut paths = self.input.paths.iter();
        let Some(path) = paths.find(|path| Manifest::is_like_record(path)) else { return Ok(()) };
        let name = path.to_string_lossy();
        let reason = format!("not an input; to keep the record of --resume there, pass --resume={name}");
        Err(FileError::new(ErrorKind::Usage, name, reason))
    }

    /// Refuses `-i .bak FILE`, which is how BSD sed takes a suffix. Here `.bak` would be a missing input, and
    /// FILE would be replaced without a backup.
    fn refuse_detached_suffix(&self) -> Result<(), FileError> {
        let Output { in_place, resume, .. } = &self.output;
        let has_suffix = in_place.as_ref().is_some_and(|suffix| !suffix.is_empty());
        let names_record = resume.as_ref().is_some_and(|record| record.is_empty());
        if in_place.is_none() || has_suffix && names_record {
            return Ok(());
        }
        let mut paths = self.input.paths.iter();
        let Some(path) = paths.find(|path| curtail_io::is_like_suffix(path)) else { return Ok(()) };
        let suffix = path.to_string_lossy();
        let record = if names_record { format!("; to name the record, --resume={suffix}") } else { String::new() };
        let reason = match suffix.is_empty() {
            true => "an input has an empty name; pass -i alone to keep no backup".to_owned(),
            false => {
                format!("there is no such file, and nothing was replaced; to keep backups, pass -i={suffix}{record}")
            }
        };
        Err(FileError::new(ErrorKind::Usage, suffix, reason))
    }
}

/// The version and a digest of everything that affects the output: two runs with the same line make the same cuts. `chain` are
/// the options of the processors, and `reads` the files that these options name, whose content is part of the digest. Every flag
/// is named here, so that a new one cannot be forgotten.
fn identity(flags: &CutFlags, chain: &str, reads: &[PathBuf]) -> String {
    let CutFlags {
        input,
        repair,
        repair_pending,
        thinking,
        usage,
        output,
        explain: _,
        dry_run: _,
        stats: _,
        fail_on_change: _,
    } = flags;
    let Input {
        paths: _,
        glob: _,
        exclude_path: _,
        framing,
        dialect,
        messages_key,
        column,
        live,
        max_record: _,
        stdin_filename: _,
    } = input;
    let Output {
        output: _,
        output_dir: _,
        in_place: _,
        as_new_session: _,
        follow_links: _,
        force: _,
        resume: _,
        no_sync: _,
        on_error,
        rejects: _,
    } = output;
    // The largest is a tokenizer.json.
    let read = |path: &PathBuf| read_small(File::open(path).ok()?, 4 * SMALL).ok();
    let reads: Vec<_> = reads.iter().map(|path| read(path).map(fnv1a_128)).collect();
    let options = (
        chain,
        reads,
        (framing, dialect, messages_key, column),
        live,
        (repair, repair_pending, thinking, usage),
        on_error,
    );
    let mut hasher = DefaultHasher::new();
    format!("{options:?}").hash(&mut hasher);
    format!("{} {} {:016x}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), hasher.finish())
}
