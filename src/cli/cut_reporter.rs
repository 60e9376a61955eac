//! Reports the results of a batch in input order: output blocks, messages, rejects, totals, and the exit status.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::input::{CutFlags, Global};
use super::new_session::NewSessionWriter;
use super::report;
use super::split::SplitMap;
use super::table::{self, Columns};
use crate::batch::{CutOutput, Cutting, Event, Failure, Flow, OnError, Opened, OutputSink, TextOrJson};
use crate::console;
use crate::progress::Progress;
use curtail_core::dialects::Framing;
use curtail_core::pipeline::{Chain, StageCount, Totals};
use curtail_core::processors::Counting;
use curtail_core::visible::{figure, number_of};
use curtail_io::{ErrorKind, FileError};
use curtail_io::{Manifest, Source, options_of_copy};

/// Kinds of notes shown without --verbose.
const MAX_NOTES: usize = 10;

/// Notes that say the same, apart from numbers and names: a dataset can have one for every record.
struct NoteKind {
    /// The first of them, with its place.
    first: FileError,
    count: usize,
    /// What each is about: a record, or something in a log.
    unit: &'static str,
}

/// What notes of one kind have in common: their text without numbers and without what is quoted.
fn kind_of(note: &str) -> String {
    let mut kind = String::new();
    let mut quote = None;
    for c in note.chars() {
        match quote {
            Some(end) => quote = Some(end).filter(|end| *end != c),
            None if matches!(c, '`' | '"') => quote = Some(c),
            None if !c.is_ascii_digit() && c != ',' => kind.push(c),
            None => {}
        }
    }
    kind
}

/// Collects the results of a batch of cuts.
pub(super) struct CutReporter<'f> {
    flags: &'f CutFlags,
    global: &'f Global,
    cutting: &'f Cutting,
    progress: Arc<Progress>,
    manifest: Option<Manifest>,
    inputs: usize,
    stdout: Stdout,
    /// The file of `--rejects`.
    rejects: Option<LineFile>,
    file: CurrentFile,
    /// The notes of each kind, and the kinds in order.
    notes: HashMap<String, NoteKind>,
    kinds: Vec<String>,
    /// Outputs that already exist and are not of this batch.
    existing: usize,
    /// Files in directories that are not transcripts.
    passed_over: usize,
    failed: bool,
    /// The fingerprints of the transcripts that were written, if copies are dropped.
    seen: HashSet<u128>,
    sums: Sums,
    /// The map of a split.
    pub(super) map: Option<SplitMap>,
    /// Writes the cut as a session of its own.
    pub(super) new_session: Option<NewSessionWriter<'f>>,
}

/// The state of the current file.
#[derive(Default)]
struct CurrentFile {
    /// Its output, if it is written block by block.
    sink: Option<OutputSink>,
    /// Whether its output is complete.
    written: bool,
    /// Whether anything in it changed.
    changed: bool,
    /// Whether it was reported how it is read.
    described: bool,
    /// Whether it is written in parts.
    parts: bool,
}

/// Why a log among several `inputs` cannot be written to standard output.
pub(super) fn shared_output(inputs: usize) -> String {
    let files = number_of(inputs, "file");
    format!(
        "several inputs share standard output, which takes one transcript, or records of one line each; pass --output-dir DIR \
         to write a cut copy of each of the {files}, or --in-place to replace them"
    )
}

impl<'f> CutReporter<'f> {
    /// A reporter for `sources`, and for the inputs that an earlier run finished.
    pub(super) fn new(
        flags: &'f CutFlags,
        global: &'f Global,
        cutting: &'f Cutting,
        progress: Arc<Progress>,
        manifest: Option<Manifest>,
        sources: &[Source],
        finished_before: usize,
    ) -> Result<Self, FileError> {
        let rejects = flags.output.rejects.as_ref();
        Ok(Self {
            flags,
            global,
            cutting,
            progress,
            manifest,
            inputs: sources.len() + finished_before,
            stdout: Stdout::open(),
            rejects: rejects.map(|path| LineFile::open(path, flags, sources)).transpose()?,
            file: CurrentFile::default(),
            notes: HashMap::new(),
            kinds: Vec::new(),
            existing: 0,
            passed_over: 0,
            failed: false,
            seen: HashSet::new(),
            sums: Sums { finished_before, ..Sums::default() },
            map: None,
            new_session: None,
        })
    }

    /// Reports inputs that were not found.
    pub(super) fn missing(&mut self, missing: &[FileError]) {
        for error in missing {
            self.fail(error);
            self.sums.failed_files += 1;
        }
    }

    /// Handles the next event.
    pub(super) fn event(&mut self, event: Event<'_, CutOutput>) -> Flow {
        match event {
            Event::Opened(_) => {
                self.file = CurrentFile::default();
                self.stdout.next_file();
                self.map.iter_mut().for_each(SplitMap::begin);
                self.rejects.iter_mut().for_each(LineFile::begin);
                Flow::Continue
            }
            Event::Done { opened, out, whole } => match self.dropped(opened, out) {
                Ok(()) => self.done(opened, out, whole),
                Err(error) => {
                    self.fail(&error);
                    Flow::Stop
                }
            },
            Event::Failed(failure) => self.failure(failure),
            Event::PassedOver(opened) => {
                self.passed_over += 1;
                self.progress.aside(|| report::passed_over(opened, self.global));
                Flow::Continue
            }
            Event::Closed { opened, complete } => self.closed(opened, complete),
        }
    }

    /// Drops copies of earlier records, and notes all dropped records.
    fn dropped(&mut self, opened: &Opened, output: &mut CutOutput) -> Result<(), FileError> {
        output.drop_copies(&mut self.seen);
        output.notes.extend(output.dropped.iter().map(|record| (record.place, format!("dropped: {}", record.reason))));
        self.sums.dropped_records += output.dropped.len();
        output.dropped.drain(..).try_for_each(|dropped| {
            let Some(rejects) = &mut self.rejects else { return Ok(()) };
            let reject = Reject {
                file: &opened.source.name,
                line: Some(dropped.place.line),
                column: Some(dropped.place.column),
                reason: &dropped.reason,
                record: dropped.record.map(Cow::Owned),
            };
            rejects.add(&reject.to_line())
        })
    }

    fn done(&mut self, opened: &Opened, output: &mut CutOutput, whole: bool) -> Flow {
        self.report_block(opened, output);
        self.sums.add(output);
        let targets = &self.cutting.targets;
        self.file.changed |= output.changed;
        self.file.parts |= output.parts && !targets.is_in_place();
        if let Some(Err(error)) = self.new_session.as_mut().map(|writer| writer.hold(opened, output)) {
            self.fail(&error);
            return Flow::Stop;
        }
        let wrote = match &output.written {
            Some(written) => written.clone().map(|()| self.file.written = true),
            None if targets.is_stdout() => self.write_stdout(opened, output),
            None if targets.are_files() && (!whole || self.cutting.drops.is_some()) => {
                self.file.write(self.cutting, opened, output)
            }
            None => Ok(()),
        };
        let mapped = |()| self.map.as_mut().map_or(Ok(()), |map| map.add(opened, output, targets));
        let Err(error) = wrote.and_then(mapped) else { return Flow::Continue };
        if error.kind == ErrorKind::BrokenPipe && targets.is_stdout() {
            self.stdout.closed = true;
        } else {
            self.fail(&error);
        }
        if targets.is_stdout() { Flow::Stop } else { Flow::Leave }
    }

    fn write_stdout(&mut self, opened: &Opened, output: &CutOutput) -> Result<(), FileError> {
        let (text, framing) = (output.output(), opened.reading.framing);
        let refusal = match &opened.table {
            Some(table) => Some(format!(
                "the output has the format of the input, {}; pass --output, --output-dir or --in-place",
                table.format().name()
            )),
            None if output.parts => Some(format!(
                "becomes {} transcripts, and standard output holds one; pass --output-dir or --output",
                output.windows.len()
            )),
            None if self.inputs > 1 && framing != Framing::Records && !text.is_empty() => {
                Some(shared_output(self.inputs))
            }
            None => None,
        };
        if let Some(reason) = refusal {
            return Err(FileError::new(ErrorKind::Usage, &opened.source.name, reason));
        }
        self.stdout.append(&text).map_err(|error| FileError::system("standard output", &error))
    }

    fn report_block(&mut self, opened: &Opened, output: &CutOutput) {
        let mut reading = String::new();
        if self.global.verbose && !std::mem::replace(&mut self.file.described, true) {
            reading = report::reading(opened, output.dialect);
        }
        let shown = self.new_notes(opened, output);
        if reading.is_empty() && shown.is_empty() && output.explained.is_empty() {
            return;
        }
        self.progress.aside(|| {
            if !reading.is_empty() {
                report::note(&reading);
            }
            for note in &shown {
                report::warning(note);
            }
            console::err(&output.explained);
        });
    }

    /// Counts the notes of a block, and returns those to show: the first of each kind, or with --verbose all.
    fn new_notes(&mut self, opened: &Opened, output: &CutOutput) -> Vec<FileError> {
        let unit = if opened.reading.framing == Framing::Records { "record" } else { "note" };
        let mut shown = Vec::new();
        for (place, text) in &output.notes {
            let note = FileError::new(ErrorKind::Content, &opened.source.name, text.as_str()).at(*place);
            if self.global.verbose {
                shown.push(note);
                continue;
            }
            match self.notes.entry(kind_of(text)) {
                Entry::Occupied(mut known) => known.get_mut().count += 1,
                Entry::Vacant(new) => {
                    self.kinds.push(new.key().clone());
                    if self.kinds.len() <= MAX_NOTES && !self.global.quiet {
                        shown.push(note.clone());
                    }
                    new.insert(NoteKind { first: note, count: 1, unit });
                }
            }
        }
        shown
    }

    fn failure(&mut self, failure: &Failure) -> Flow {
        let continues = failure.record.is_some() && self.flags.output.on_error != OnError::Fail;
        if continues {
            self.sums.failed_records += 1;
            let kept = self.flags.output.on_error == OnError::Keep;
            let fate = if kept { "kept unchanged" } else { "dropped" };
            if !self.global.quiet && self.flags.output.on_error != OnError::Report {
                self.progress.aside(|| report::record_error(&failure.error, Some(fate), self.global));
            }
        } else {
            self.fail(&failure.error);
            if failure.record.is_none() {
                self.sums.failed_files += usize::from(self.file.sink.is_none());
            }
        }
        let (Some(reject), Some(rejects)) = (Reject::from_failure(failure), &mut self.rejects) else {
            return Flow::Continue;
        };
        let Err(error) = rejects.add(&reject.to_line()) else { return Flow::Continue };
        self.fail(&error);
        Flow::Stop
    }

    fn closed(&mut self, opened: &Opened, complete: bool) -> Flow {
        if let Some(sink) = self.file.sink.take().filter(|_| complete) {
            match self.cutting.commit(opened, sink, self.file.changed) {
                Ok(()) => self.file.written = true,
                Err(error) => self.fail(&error),
            }
        }
        if complete && let Some(Err(error)) = self.new_session.as_mut().map(|writer| writer.write(opened)) {
            self.fail(&error);
        }
        let done = self.file.written || !self.cutting.targets.are_files();
        let ended: Vec<FileError> = self.line_files().filter_map(|file| file.end(done).err()).collect();
        ended.iter().for_each(|error| self.fail(error));
        if complete && done {
            self.sums.files += 1;
        } else {
            self.sums.failed_files += 1;
        }
        let kept = self.cutting.targets.is_in_place() && !self.file.changed;
        if let (true, Some(manifest), Some(input)) = (self.file.written, &mut self.manifest, &opened.source.path)
            && let Some(output) = self.cutting.targets.path_of_part(&opened.source, self.file.parts.then_some(1))
            && let Err(error) = manifest.record(input, opened.stamp.as_ref(), &output, kept)
        {
            self.fail(&FileError::system("the record for --resume", &error));
            return Flow::Stop;
        }
        Flow::Continue
    }

    /// The map of a split and the rejects, as far as the run writes them.
    fn line_files(&mut self) -> impl Iterator<Item = &mut LineFile> {
        self.map.iter_mut().map(|map| &mut map.file).chain(&mut self.rejects)
    }

    fn fail(&mut self, error: &FileError) {
        self.failed = true;
        self.existing += usize::from(error.kind == ErrorKind::Exists);
        if error.kind != ErrorKind::Exists || self.existing == 1 {
            self.progress.aside(|| report::record_error(error, None, self.global));
        }
    }

    /// Ends the batch: prints totals and returns the status. `interrupted` is the status after Ctrl-C.
    pub(super) fn finish(mut self, start: Instant, interrupted: Option<u8>) -> anyhow::Result<ExitCode> {
        self.progress.finish();
        if let Some(error) = self.stdout.flush() {
            self.fail(&error);
        }
        if self.stdout.closed {
            return Ok(ExitCode::SUCCESS);
        }
        if interrupted.is_some() {
            let files = number_of(self.sums.files, "file");
            report::warning(&format!("interrupted after {files}; every written file is complete"));
        }
        self.report_held_back();
        self.finish_files();
        self.report_remarks();
        self.print_stats(start);
        self.report_nothing_to_do();
        let all_done = !self.failed && interrupted.is_none();
        if let Some(manifest) = self.manifest.filter(|_| all_done && self.flags.output.resume.is_none()) {
            manifest.remove()?;
        }
        let changed = self.flags.fail_on_change && self.sums.totals.changed + self.sums.dropped_records > 0;
        Ok(ExitCode::from(match interrupted {
            Some(status) => status,
            None if self.failed => 2,
            None => u8::from(changed),
        }))
    }

    /// Completes the outputs, the map and the rejects. An input that another program wrote to while it was replaced is
    /// restored, and counts as failed.
    fn finish_files(&mut self) {
        for error in self.cutting.targets.finish() {
            self.fail(&error);
            self.sums.files = self.sums.files.saturating_sub(1);
            self.sums.failed_files += 1;
        }
        let failed = self.failed;
        let errors: Vec<FileError> = self.line_files().filter_map(|file| file.finish(failed).err()).collect();
        errors.iter().for_each(|error| self.fail(error));
    }

    /// Reports how many messages were held back, and that there was nothing to read.
    fn report_held_back(&self) {
        let Global { quiet, verbose, .. } = *self.global;
        if !verbose && !quiet {
            self.report_repeated_notes();
        }
        if self.existing > 1 {
            report::error(&format!("{} more outputs exist already; --force overwrites them", self.existing - 1));
        }
        if self.passed_over > 0 && self.passed_over == self.inputs && !quiet {
            let files = if self.passed_over == 1 { "file contains" } else { "files contain" };
            report::warning(&format!("no transcripts found: {} .json {files} no messages", self.passed_over));
        }
    }

    /// Reports that all outputs were complete before this run.
    fn report_nothing_to_do(&self) {
        let complete = self.sums.finished_before + self.cutting.targets.same();
        if complete > 0
            && complete + self.passed_over == self.inputs
            && !self.failed
            && !self.global.quiet
            && self.flags.stats.is_none()
        {
            report::note(&format!("nothing left to do: all {complete} outputs are complete"));
        }
    }

    /// Reports how often each kind of note was repeated, and how many kinds were not shown.
    fn report_repeated_notes(&self) {
        let kinds = self.kinds.iter().filter_map(|kind| self.notes.get(kind));
        for NoteKind { first, count, unit } in kinds.take(MAX_NOTES).filter(|kind| kind.count > 1) {
            let line = first.place.map_or_else(String::new, |place| format!(":{}", place.line));
            let (what, file) = (number_of(*count, unit), &first.name);
            report::warning(&format!("{what}, first at {file}{line}: {} (--verbose lists all)", first.what));
        }
        if self.kinds.len() > MAX_NOTES {
            let more = number_of(self.kinds.len() - MAX_NOTES, "more kind");
            report::warning(&format!("{more} of notes not shown; pass --verbose to see all"));
        }
    }

    /// Reports what the processors have to say, such as globs that matched no tool.
    fn report_remarks(&self) {
        if self.global.quiet || self.sums.files == 0 {
            return;
        }
        for stage in &self.cutting.cutter.chain.stages {
            for remark in stage.processor.remarks() {
                report::warning(&format!("{}: {remark}", stage.label()));
            }
        }
    }

    fn print_stats(&self, start: Instant) {
        let chain = &self.cutting.cutter.chain;
        let tokenizer = self.cutting.cutter.counting.as_ref().map_or_else(String::new, Counting::name);
        let text = match self.flags.stats {
            None => return,
            Some(TextOrJson::Json) => self.sums.json(chain, &tokenizer, start.elapsed()),
            Some(TextOrJson::Text) => self.sums.table(chain, &tokenizer, start.elapsed()),
        };
        console::err(&format!("{text}\n"));
    }
}

impl CurrentFile {
    /// Adds a block to the output.
    fn write(&mut self, cutting: &Cutting, opened: &Opened, output: &CutOutput) -> Result<(), FileError> {
        if self.sink.is_none() {
            self.sink = cutting.begin(opened)?;
        }
        self.sink.as_mut().map_or(Ok(()), |sink| sink.write(output))
    }
}

/// A line of `--rejects`.
#[derive(Serialize)]
struct Reject<'r> {
    file: &'r str,
    line: Option<usize>,
    column: Option<usize>,
    reason: &'r str,
    record: Option<Cow<'r, str>>,
}

impl<'r> Reject<'r> {
    /// The line of a record that failed; `None` if its whole file could not be read.
    fn from_failure(failure: &'r Failure) -> Option<Self> {
        let FileError { name: file, place, what: reason, .. } = &failure.error;
        let (line, column) = place.map(|place| (place.line, place.column)).unzip();
        let record = String::from_utf8_lossy(failure.record.as_deref()?);
        Some(Self { file, line, column, reason, record: Some(record) })
    }

    fn to_line(&self) -> Vec<u8> {
        // Strings and numbers cannot fail to be written as JSON.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

// A file to which a run adds lines for its inputs: the map of a split, and rejects.

/// A file that contains lines only of inputs whose outputs were written.
pub(super) struct LineFile {
    path: PathBuf,
    file: File,
    /// Whether this run made the file.
    is_new: bool,
    /// Where the lines of the current input begin; `None` if the file cannot be truncated.
    input_start: Option<u64>,
}

impl LineFile {
    /// Opens the file at `path`. With `--resume`, lines are added to those that it has.
    ///
    /// # Errors
    /// The file exists and is not empty, or the system refuses.
    pub(super) fn open(path: &Path, flags: &CutFlags, sources: &[Source]) -> Result<Self, FileError> {
        let continues = flags.output.resume.is_some();
        let has_content = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        if has_content && !flags.output.force && !continues {
            let reason = "already exists (not overwritten); pass --force";
            return Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), reason));
        }
        let is_new = !path.exists();
        let inputs = sources.iter().filter_map(|source| source.path.as_deref());
        let opened = options_of_copy(inputs).write(true).create(true).truncate(!continues).open(path);
        let mut file = opened.map_err(|error| FileError::system(path.to_string_lossy(), &error))?;
        let input_start = file.seek(SeekFrom::End(0)).ok();
        Ok(Self { path: path.to_owned(), file, is_new, input_start })
    }

    /// Begins an input.
    pub(super) fn begin(&mut self) {
        self.input_start = self.file.stream_position().ok();
    }

    /// Adds lines to those of the current input.
    pub(super) fn add(&mut self, lines: &[u8]) -> Result<(), FileError> {
        self.file.write_all(lines).map_err(|error| self.system_error(&error))
    }

    /// Ends an input, and removes its lines if its output was not written.
    fn end(&mut self, written: bool) -> Result<(), FileError> {
        match self.input_start.filter(|_| !written) {
            Some(input_start) => self.truncate_to(input_start).map_err(|error| self.system_error(&error)),
            None => Ok(()),
        }
    }

    /// Ends the run. After a failure, a new file without lines is removed, so that it does not block the next run.
    fn finish(&self, failed: bool) -> Result<(), FileError> {
        let is_empty = self.file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0);
        match failed && self.is_new && is_empty {
            true => std::fs::remove_file(&self.path).map_err(|error| self.system_error(&error)),
            false => Ok(()),
        }
    }

    fn truncate_to(&mut self, input_start: u64) -> io::Result<()> {
        self.file.set_len(input_start)?;
        self.file.seek(SeekFrom::Start(input_start)).map(drop)
    }

    fn system_error(&self, error: &io::Error) -> FileError {
        FileError::system(self.path.to_string_lossy(), error)
    }
}

// The transcripts of a run on standard output, one file after another.

/// Standard output, and the last byte that was written to it.
struct Stdout {
    file: Box<dyn Write + Send>,
    last: Option<u8>,
    /// Whether the next block is the first of a file.
    fresh: bool,
    /// Whether its reader closed the pipe.
    closed: bool,
}

impl Stdout {
    /// Opens standard output.
    fn open() -> Self {
        Self { file: console::transcripts(), last: None, fresh: true, closed: false }
    }

    /// Makes the next block the first of another file.
    fn next_file(&mut self) {
        self.fresh = true;
    }

    /// Writes a block. Two files are separated by a line break; the second is written without its byte order mark.
    fn append(&mut self, mut output: &[u8]) -> io::Result<()> {
        let Some(&last) = output.last() else { return Ok(()) };
        if std::mem::take(&mut self.fresh)
            && let Some(before) = self.last
        {
            output = output.strip_prefix("\u{feff}".as_bytes()).unwrap_or(output);
            if before != b'\n' {
                self.file.write_all(b"\n")?;
            }
        }
        self.last = Some(last);
        self.file.write_all(output)
    }

    /// Flushes the output; returns the error, unless the reader closed the pipe.
    fn flush(&mut self) -> Option<FileError> {
        match self.file.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                None
            }
            Err(error) if !self.closed => Some(FileError::system("standard output", &error)),
            _ => None,
        }
    }
}

// `--stats`: totals before and after the cut, and the time it took.

/// Sums over a batch.
#[derive(Debug, Default, Serialize)]
struct Sums {
    /// Files that were read to their end.
    files: usize,
    /// Files that failed.
    failed_files: usize,
    /// Records that failed and were dropped or kept unchanged.
    failed_records: usize,
    /// Records that were dropped because of findings.
    #[serde(skip_serializing_if = "is_zero")]
    dropped_records: usize,
    /// Files that an earlier run had finished.
    finished_before: usize,
    /// Transcripts, messages, tokens.
    #[serde(flatten)]
    totals: Totals,
    /// Messages and tokens after every stage.
    #[serde(skip)]
    stages: Vec<StageCount>,
    /// Bytes of text that were read.
    #[serde(skip)]
    bytes: u64,
}

/// A stage of the chain, and the messages and tokens after it.
#[derive(Serialize)]
struct StageRow<'r> {
    #[serde(skip_serializing_if = "str::is_empty")]
    level: &'r str,
    processor: &'r str,
    #[serde(flatten)]
    remaining: StageCount,
}

/// What `--stats=json` writes.
#[derive(Serialize)]
struct StatsReport<'r> {
    #[serde(flatten)]
    sums: &'r Sums,
    stages: Vec<StageRow<'r>>,
    tokenizer: &'r str,
    bytes: u64,
    seconds: f64,
    bytes_per_second: f64,
}

impl Sums {
    /// Adds a block.
    fn add(&mut self, output: &CutOutput) {
        self.totals.add(output.totals);
        StageCount::add(&mut self.stages, &output.stages);
        self.bytes += output.bytes;
    }

    /// One JSON object.
    fn json(&self, chain: &Chain, tokenizer: &str, took: Duration) -> String {
        let report = StatsReport {
            sums: self,
            stages: self.after(chain).collect(),
            tokenizer,
            bytes: self.bytes,
            seconds: took.as_secs_f64(),
            bytes_per_second: self.rate(took),
        };
        // Numbers and a name cannot fail to be written as JSON.
        serde_json::to_string(&report).unwrap_or_default()
    }

    /// A table for people.
    fn table(&self, chain: &Chain, tokenizer: &str, took: Duration) -> String {
        let totals = self.totals;
        let changed = format!("{} changed", figure(totals.changed));
        let mut rows = vec![
            row("files", self.files + self.failed_files, self.files),
            ["transcripts".to_owned(), figure(totals.transcripts), changed],
        ];
        if totals.windows > 0 {
            rows.push(["windows".to_owned(), String::new(), figure(totals.windows)]);
        }
        rows.push(row("messages", totals.messages_before, totals.messages_after));
        rows.push(row(&format!("tokens ({tokenizer})"), totals.tokens_before, totals.tokens_after));
        if chain.stages.len() > 1 {
            for (nth, StageRow { level, processor, remaining }) in self.after(chain).enumerate() {
                let stage = if level.is_empty() { processor.to_owned() } else { format!("{processor} at {level}") };
                let (messages, tokens) = (figure(remaining.messages), figure(remaining.tokens));
                rows.push([
                    format!("after {}. {stage}", nth + 1),
                    format!("{messages} messages"),
                    format!("{tokens} tokens"),
                ]);
            }
        }
        rows.push(row("pairing faults", totals.faults, totals.faults_after));
        let table = table::table(["", "before", "after"], rows, Columns::Numbers);
        let rate = self.rate(took) / 1e6;
        let mut text = format!("{table}\n{:.2} s, {rate:.1} MB/s", took.as_secs_f64());
        for (count, one, more) in [
            (self.failed_files, "file failed", "files failed"),
            (self.failed_records, "record failed", "records failed"),
            (self.dropped_records, "record dropped", "records dropped"),
            (self.finished_before, "file was finished before", "files were finished before"),
            (totals.figures_reset, "figure of usage reset", "figures of usage reset"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {}", if count == 1 { one } else { more }));
            }
        }
        text
    }

    fn after<'c>(&self, chain: &'c Chain) -> impl Iterator<Item = StageRow<'c>> {
        let stages = chain.stages.iter().zip(self.stages.iter().copied());
        stages.map(|(stage, remaining)| StageRow { level: &stage.level, processor: stage.processor.name(), remaining })
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate, exact to 53 bits")]
    fn rate(&self, took: Duration) -> f64 {
        self.bytes as f64 / took.as_secs_f64().max(1e-9)
    }
}

fn row(label: &str, before: usize, after: usize) -> [String; 3] {
    [label.to_owned(), figure(before), figure(after)]
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}
