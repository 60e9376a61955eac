//! Reports the results of a batch in input order: output blocks, messages, rejects, totals, and the exit status.

use std::borrow::Cow;
use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use crate::console;
use crate::options::choices::TextOrJson;
use crate::options::cut::CutFlags;
use crate::options::global::Global;
use crate::reports::explained::DecisionReporter;
use crate::reports::lines::{LineFile, Reject};
use crate::reports::new_session::NewSessionWriter;
use crate::reports::notes::Notes;
use crate::reports::progress::Progress;
use crate::reports::remarks::{self, RecordErrors};
use crate::reports::screen::Screen;
use crate::reports::split_map::SplitMap;
use crate::reports::stdout::Stdout;
use crate::reports::totals::Sums;
use crate::works::cut::Cutting;
use crate::works::output::{CutOutput, OutputSink};
use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::numbers::{counted, figure};
use curtail_core::processors::Counting;
use curtail_io::batch::{Event, Failure, Flow, OnError, Opened};
use curtail_io::{ErrorKind, FileError, Manifest};

/// Collects the results of a batch of cuts.
pub(crate) struct CutReporter<'f> {
    flags: &'f CutFlags,
    global: &'f Global,
    cutting: &'f Cutting,
    progress: Arc<Progress>,
    inputs: usize,
    stdout: Stdout,
    beside: SideOutputs<'f>,
    file: CurrentFile,
    notes: Notes,
    errors: RecordErrors,
    decisions: DecisionReporter,
    /// The fingerprints of the transcripts that were written, if copies are dropped.
    seen: HashSet<u128>,
    sums: Sums,
    outcome: CutOutcome,
}

/// What went wrong so far, and what is left.
#[derive(Default)]
struct CutOutcome {
    /// Outputs that already exist and are not of this batch.
    existing: usize,
    /// Files in directories that are not transcripts.
    passed_over: usize,
    failed: bool,
    /// Whether anything is left of the records that were read.
    is_anything_left: bool,
    /// Whether one that failed is not JSON.
    is_damaged: bool,
}

/// What a run writes beside its outputs.
pub(crate) struct SideOutputs<'f> {
    /// The record for `--resume`.
    pub(crate) manifest: Option<Manifest>,
    /// The file of `--rejects`.
    pub(crate) rejects: Option<LineFile>,
    /// Writes the cut as a session of its own.
    pub(crate) new_session: Option<NewSessionWriter<'f>>,
    /// The map of a split.
    pub(crate) map: Option<SplitMap>,
}

/// The state of the current file.
#[derive(Default)]
struct CurrentFile {
    /// Whether one is open.
    is_open: bool,
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
pub(crate) fn shared_output(inputs: usize) -> String {
    let files = counted(inputs, "file");
    format!(
        "several inputs share standard output, which takes one transcript, or records of one line each; pass --output-dir DIR \
         to write a cut copy of each of the {files}, or --in-place to replace them"
    )
}

impl<'f> CutReporter<'f> {
    /// A reporter for this number of `inputs`, and for those that an earlier run finished.
    pub(crate) fn new(
        flags: &'f CutFlags,
        global: &'f Global,
        cutting: &'f Cutting,
        progress: Arc<Progress>,
        beside: SideOutputs<'f>,
        inputs: usize,
        finished_before: usize,
    ) -> Self {
        Self {
            flags,
            global,
            cutting,
            progress,
            inputs: inputs + finished_before,
            stdout: Stdout::open(),
            beside,
            file: CurrentFile::default(),
            notes: Notes::default(),
            errors: RecordErrors::default(),
            decisions: DecisionReporter::default(),
            seen: HashSet::new(),
            sums: Sums { finished_before, ..Sums::default() },
            outcome: CutOutcome::default(),
        }
    }

    /// Reports inputs that were not found.
    pub(crate) fn missing(&mut self, missing: &[FileError]) {
        for error in missing {
            self.fail(error);
            self.sums.failed_files += 1;
        }
    }

    /// Handles the next event.
    pub(crate) fn event(&mut self, event: Event<'_, CutOutput>) -> Flow {
        match event {
            Event::Opened(_) => {
                self.file = CurrentFile { is_open: true, ..CurrentFile::default() };
                self.stdout.next_file();
                if let Some(map) = &mut self.beside.map {
                    map.begin();
                }
                if let Some(rejects) = &mut self.beside.rejects {
                    rejects.begin();
                }
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
                self.outcome.passed_over += 1;
                self.progress.aside(|| remarks::passed_over(opened, self.global));
                Flow::Continue
            }
            Event::Closed { opened, complete } => self.closed(opened, complete),
        }
    }

    /// Drops copies of earlier records, and notes all dropped records.
    fn dropped(&mut self, opened: &Opened, output: &mut CutOutput) -> Result<(), FileError> {
        output.drop_copies(&mut self.seen);
        output
            .notes
            .extend(output.drops.records.iter().map(|record| (record.place, format!("dropped: {}", record.reason))));
        self.sums.dropped_records += output.drops.records.len();
        output.drops.records.drain(..).try_for_each(|dropped| {
            let Some(rejects) = &mut self.beside.rejects else { return Ok(()) };
            let reject = Reject {
                file: &opened.source.name,
                line: Some(dropped.place.line),
                column: Some(dropped.place.column),
                reason: &dropped.reason,
                record: dropped.record.map(Cow::Owned),
            };
            rejects.add([reject])
        })
    }

    fn done(&mut self, opened: &Opened, output: &mut CutOutput, whole: bool) -> Flow {
        self.report_block(opened, output);
        self.sums.add(output);
        self.outcome.is_anything_left |= output.is_anything_left();
        let targets = &self.cutting.targets;
        self.file.changed |= output.changed;
        self.file.parts |= output.windows.are_parts && !targets.is_in_place();
        if let Some(Err(error)) = self.beside.new_session.as_mut().map(|writer| writer.hold(opened, output)) {
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
        let wrote = wrote.and_then(|()| match &mut self.beside.map {
            Some(map) => map.add(opened, output, targets),
            None => Ok(()),
        });
        let Err(error) = wrote else { return Flow::Continue };
        if error.kind == ErrorKind::BrokenPipe && targets.is_stdout() {
            self.stdout.pipe_closed = true;
        } else {
            self.fail(&error);
        }
        if targets.is_stdout() { Flow::Stop } else { Flow::Leave }
    }

    fn write_stdout(&mut self, opened: &Opened, output: &CutOutput) -> Result<(), FileError> {
        let text = output.text.bytes();
        let framing = opened.reading.framing;
        let refusal = match &opened.table {
            Some(table) => Some(format!(
                "the output has the format of the input, {}; pass --output, --output-dir or --in-place",
                table.format().name()
            )),
            None if output.windows.are_parts => Some(format!(
                "becomes {} transcripts, and standard output holds one; pass --output-dir or --output",
                output.windows.places.len()
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
            reading = remarks::reading(opened, output.dialect, output.mark.as_deref());
        }
        let shown = self.notes.fresh(opened, output, self.global);
        if reading.is_empty() && shown.is_empty() && output.explained.is_empty() {
            return;
        }
        let format = self.cutting.explain.unwrap_or(TextOrJson::Text);
        let explained = self.decisions.block(&opened.source.name, &output.explained, format);
        self.progress.aside(|| {
            if !reading.is_empty() {
                console::note(&reading);
            }
            for note in &shown {
                console::warning(note);
            }
            console::err(&explained);
        });
    }

    fn failure(&mut self, failure: &Failure) -> Flow {
        if failure.is_loss {
            self.progress.aside(|| self.errors.print(&failure.error, None, self.global));
            return self.reject(failure);
        }
        let continues = failure.record.is_some() && self.flags.output.on_error != OnError::Fail;
        if continues {
            self.sums.failed_records += 1;
            self.outcome.is_damaged |= failure.record.as_deref().is_some_and(|record| !is_json(record));
            let kept = self.flags.output.on_error == OnError::Keep;
            let fate = if kept { "kept unchanged" } else { "dropped" };
            if self.flags.output.on_error != OnError::Report {
                self.progress.aside(|| self.errors.print(&failure.error, Some(fate), self.global));
            }
        } else {
            self.fail(&failure.error);
            // One that was opened is counted when it is closed.
            self.sums.failed_files += usize::from(!self.file.is_open);
        }
        self.reject(failure)
    }

    /// Writes what failed to the file of rejects, if there is one.
    fn reject(&mut self, failure: &Failure) -> Flow {
        let (Some(reject), Some(rejects)) = (Reject::from_failure(failure), &mut self.beside.rejects) else {
            return Flow::Continue;
        };
        let Err(error) = rejects.add([reject]) else { return Flow::Continue };
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
        if complete && let Some(Err(error)) = self.beside.new_session.as_mut().map(|writer| writer.write(opened)) {
            self.fail(&error);
        }
        let done = self.file.written || !self.cutting.targets.are_files();
        self.file.is_open = false;
        let ended: Vec<FileError> = self.line_files().filter_map(|file| file.end(done).err()).collect();
        ended.iter().for_each(|error| self.fail(error));
        if complete && done {
            self.sums.files += 1;
        } else {
            self.sums.failed_files += 1;
        }
        let kept = self.cutting.targets.is_in_place() && !self.file.changed;
        if let (true, Some(manifest), Some(input)) = (self.file.written, &mut self.beside.manifest, &opened.source.path)
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
        self.beside.map.iter_mut().map(|map| &mut map.file).chain(&mut self.beside.rejects)
    }

    fn fail(&mut self, error: &FileError) {
        self.outcome.failed = true;
        self.outcome.existing += usize::from(error.kind == ErrorKind::Exists);
        if error.kind != ErrorKind::Exists || self.outcome.existing == 1 {
            self.progress.aside(|| self.errors.print(error, None, self.global));
        }
    }

    /// Ends the batch: prints totals and returns the status. `interrupted` is the status after Ctrl-C.
    pub(crate) fn finish(mut self, start: Instant, interrupted: Option<u8>) -> anyhow::Result<ExitCode> {
        self.progress.finish();
        if let Some(error) = self.stdout.flush() {
            self.fail(&error);
        }
        if self.stdout.pipe_closed {
            return Ok(ExitCode::SUCCESS);
        }
        self.report_nothing_left();
        if interrupted.is_some() {
            let files = counted(self.sums.files, "file");
            console::warning(&format!("interrupted after {files}; every written file is complete"));
        }
        console::err(&self.decisions.sum());
        self.report_held_back();
        self.finish_files();
        self.report_remarks();
        self.print_stats(start);
        self.report_nothing_to_do();
        let all_done = !self.outcome.failed && interrupted.is_none();
        if let Some(manifest) = self.beside.manifest.filter(|_| all_done && self.flags.output.resume.is_none()) {
            manifest.remove()?;
        }
        let changed = self.flags.fail_on_change && self.sums.totals.changed + self.sums.dropped_records > 0;
        Ok(ExitCode::from(match interrupted {
            Some(status) => status,
            None if self.outcome.failed => 2,
            None => u8::from(changed),
        }))
    }

    /// Reports that nothing is left of the records because some failed. An input that would be replaced is still there.
    fn report_nothing_left(&mut self) {
        let targets = &self.cutting.targets;
        let writes = targets.is_stdout() || targets.are_files() && !targets.is_in_place();
        let was_before = self.sums.finished_before > 0;
        if !writes || self.outcome.is_anything_left || was_before || self.sums.failed_records == 0 {
            return;
        }
        let fate = if self.sums.dropped_records == 0 { "failed" } else { "failed or was dropped" };
        let advice = match self.outcome.is_damaged {
            true => "; `curtail repair --damaged` reads what is left of a log",
            false => "",
        };
        console::error(&format!("nothing is left: every record {fate}{advice}"));
        self.outcome.failed = true;
    }

    /// Completes the outputs, the map and the rejects. An input that another program wrote to while it was replaced is
    /// restored, and counts as failed.
    fn finish_files(&mut self) {
        for error in self.cutting.targets.finish() {
            self.fail(&error);
            self.sums.files = self.sums.files.saturating_sub(1);
            self.sums.failed_files += 1;
        }
        let failed = self.outcome.failed;
        let errors: Vec<FileError> = self.line_files().filter_map(|file| file.finish(failed).err()).collect();
        errors.iter().for_each(|error| self.fail(error));
    }

    /// Reports how many messages were held back, and that there was nothing to read.
    fn report_held_back(&self) {
        if !self.global.verbose {
            self.notes.report_repeated();
        }
        match self.outcome.existing {
            0 | 1 => {}
            2 => console::error(&"1 more output exists already; --force overwrites it"),
            all => console::error(&format!("{} more outputs exist already; --force overwrites them", figure(all - 1))),
        }
        if self.outcome.passed_over > 0 && self.outcome.passed_over == self.inputs {
            let files = if self.outcome.passed_over == 1 { "file contains" } else { "files contain" };
            console::warning(&format!("no transcripts found: {} .json {files} no messages", self.outcome.passed_over));
        }
    }

    /// Reports that all outputs were complete before this run.
    fn report_nothing_to_do(&self) {
        let complete = self.sums.finished_before + self.cutting.targets.same();
        if complete > 0
            && complete + self.outcome.passed_over == self.inputs
            && !self.outcome.failed
            && self.flags.stats.is_none()
        {
            let outputs = if complete == 1 { "the output is" } else { &format!("all {complete} outputs are") };
            console::note(&format!("nothing left to do: {outputs} complete"));
        }
    }

    /// Reports what the processors have to say, such as globs that matched no tool.
    fn report_remarks(&self) {
        if self.sums.files == 0 {
            return;
        }
        for stage in &self.cutting.cutter.chain.stages {
            for remark in stage.processor.remarks() {
                console::warning(&format!("{}: {remark}", stage.label()));
            }
        }
    }

    fn print_stats(&self, start: Instant) {
        let chain = &self.cutting.cutter.chain;
        let tokenizer = self.cutting.cutter.counting.as_ref().map_or_else(String::new, Counting::name);
        let text = match self.flags.stats {
            None => return,
            Some(TextOrJson::Json) => self.sums.json(chain, &tokenizer, start.elapsed()),
            Some(TextOrJson::Text) => self.sums.table(chain, &tokenizer, start.elapsed(), Screen::of_stderr()),
        };
        console::err(&format!("{text}\n"));
    }
}

/// Whether a record is JSON.
fn is_json(record: &[u8]) -> bool {
    std::str::from_utf8(record).is_ok_and(|text| Document::parse_all(text).is_ok())
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
