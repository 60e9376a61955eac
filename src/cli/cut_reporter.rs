//! Reports the results of a batch in input order: output blocks, messages, and the exit status.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::cut_stdout::Stdout;
use super::input::{Cutting as Flags, Global, StatsFlag};
use super::report;
use super::split_map::{SplitMap, refuse_parts};
use super::sums::Sums;
use crate::batch::{CutOutput, Cutting, Event, Failure, Flow, OnError, Opened, OutputSink};
use crate::console;
use crate::progress::Progress;
use curtail_core::dialects::Framing;
use curtail_core::error::{Error, ErrorKind};
use curtail_core::processors::Counting;
use curtail_io::Manifest;

/// Notes shown without --verbose: a dataset can have one for every record.
const NOTES: usize = 10;

/// Collects the results of a batch of cuts.
pub(super) struct CutReporter<'f> {
    flags: &'f Flags,
    global: &'f Global,
    cutting: &'f Cutting,
    progress: Arc<Progress>,
    manifest: Option<Manifest>,
    /// Whether there is more than one input.
    several: bool,
    stdout: Stdout,
    rejects: Option<(String, File)>,
    /// The output of the current file, if it is written block by block.
    sink: Option<OutputSink>,
    /// Whether anything in the current file changed.
    changed: bool,
    /// Whether the output of the current file is in place.
    standing: bool,
    described: bool,
    /// The transcripts that were written, if copies are left out.
    seen: HashSet<u128>,
    /// Number of notes.
    notes: usize,
    /// Number of outputs that exist already and do not belong to the batch.
    existing: usize,
    inputs: usize,
    /// Number of files in directories that are no transcripts.
    passed_over: usize,
    failed: bool,
    pub(super) sums: Sums,
    /// The map of a split.
    pub(super) map: Option<SplitMap>,
    /// Whether the current input is written in parts.
    parts: bool,
}

#[derive(Serialize)]
struct Reject<'r> {
    file: &'r str,
    line: Option<usize>,
    column: Option<usize>,
    reason: &'r str,
    record: Option<String>,
}

impl<'f> CutReporter<'f> {
    /// A reporter for `inputs` files.
    pub(super) fn new(
        flags: &'f Flags,
        global: &'f Global,
        cutting: &'f Cutting,
        progress: Arc<Progress>,
        manifest: Option<Manifest>,
        inputs: usize,
    ) -> Result<Self, Error> {
        Ok(Self {
            flags,
            global,
            cutting,
            progress,
            manifest,
            several: inputs > 1,
            stdout: Stdout::open(),
            rejects: flags.rejects()?,
            sink: None,
            changed: false,
            standing: false,
            described: false,
            seen: HashSet::new(),
            notes: 0,
            existing: 0,
            inputs,
            passed_over: 0,
            failed: false,
            sums: Sums::default(),
            map: None,
            parts: false,
        })
    }

    /// Reports inputs that were not found.
    pub(super) fn missing(&mut self, missing: &[Error]) {
        for error in missing {
            self.fail(error);
            self.sums.failed_files += 1;
        }
    }

    /// Handles the next event.
    pub(super) fn event(&mut self, event: Event<'_, CutOutput>) -> Flow {
        match event {
            Event::Opened(_) => {
                (self.sink, self.changed, self.standing, self.described) = (None, false, false, false);
                self.stdout.next_file();
                self.parts = false;
                self.map.iter_mut().for_each(SplitMap::begin);
                Flow::Continue
            }
            Event::Done { opened, out, whole } => {
                out.drop_copies(&mut self.seen);
                out.notes.extend(out.dropped.iter().map(|own| (own.place, format!("dropped: {}", own.reason))));
                self.sums.dropped_records += out.dropped.len();
                match self.reject_dropped(opened, out) {
                    Ok(()) => self.done(opened, out, whole),
                    Err(error) => {
                        self.fail(&error);
                        Flow::Stop
                    }
                }
            }
            Event::Failed(failure) => self.failure(failure),
            Event::PassedOver(opened) => {
                self.passed_over += 1;
                self.progress.aside(|| report::passed_over(opened, self.global));
                Flow::Continue
            }
            Event::Closed { opened, complete } => self.closed(opened, complete),
        }
    }

    fn done(&mut self, opened: &Opened, output: &CutOutput, whole: bool) -> Flow {
        self.say(opened, output);
        self.sums.add(output);
        self.changed |= output.changed;
        self.parts |= output.parts && !self.cutting.targets.is_in_place();
        let wrote = match &output.written {
            Some(written) => written.clone().map(|()| self.standing = true),
            None if self.cutting.targets.is_stdout() => self.write_stdout(opened, output),
            None if self.cutting.targets.are_files() && (!whole || self.cutting.drops.is_some()) => {
                self.write_sink(opened, output)
            }
            None => Ok(()),
        };
        let wrote = wrote.and_then(|()| match &mut self.map {
            Some(map) if output.written.as_ref().is_none_or(Result::is_ok) => {
                map.add(opened, output, &self.cutting.targets)
            }
            _ => Ok(()),
        });
        match wrote {
            Ok(()) => Flow::Continue,
            Err(error) if error.kind == ErrorKind::BrokenPipe && self.cutting.targets.is_stdout() => {
                self.stdout.gone = true;
                Flow::Stop
            }
            Err(error) => {
                self.fail(&error);
                if self.cutting.targets.is_stdout() { Flow::Stop } else { Flow::Leave }
            }
        }
    }

    fn write_stdout(&mut self, opened: &Opened, output: &CutOutput) -> Result<(), Error> {
        if let Some(table) = &opened.table {
            let name = table.format().name();
            let what =
                format!("the output has the format of the input, {name}; pass --output, --output-dir or --in-place");
            return Err(Error::new(ErrorKind::Usage, &opened.source.name, what));
        }
        refuse_parts(opened, output)?;
        let output = output.output();
        if self.several && opened.reading.framing != Framing::Records && !output.is_empty() {
            return Err(Error::new(ErrorKind::Usage, &opened.source.name, several(opened.reading.framing)));
        }
        self.stdout.append(&output).map_err(|error| Error::system("standard output", &error))
    }

    fn write_sink(&mut self, opened: &Opened, output: &CutOutput) -> Result<(), Error> {
        if self.sink.is_none() {
            self.sink = self.cutting.begin(opened)?;
        }
        self.sink.as_mut().map_or(Ok(()), |sink| sink.write(output))
    }

    fn say(&mut self, opened: &Opened, output: &CutOutput) {
        let name = &opened.source.name;
        let mut said = String::new();
        if self.global.verbose && !std::mem::replace(&mut self.described, true) {
            said = report::reading(opened, output.dialect);
        }
        let noted = match (self.global.quiet, self.global.verbose) {
            (true, _) => 0,
            (_, true) => output.notes.len(),
            _ => output.notes.len().min(NOTES.saturating_sub(self.notes)),
        };
        self.notes += output.notes.len();
        if said.is_empty() && noted == 0 && output.explained.is_empty() {
            return;
        }
        self.progress.aside(|| {
            if !said.is_empty() {
                report::note(&said);
            }
            for (place, note) in &output.notes[..noted] {
                report::warning(&Error::new(ErrorKind::Content, name, note.as_str()).at(*place));
            }
            console::err(&output.explained);
        });
    }

    fn failure(&mut self, failure: &Failure) -> Flow {
        let continues = failure.record.is_some() && self.flags.output.on_error != OnError::Fail;
        if continues {
            self.sums.failed_records += 1;
            let kept = self.flags.output.on_error == OnError::Keep;
            let fate = if kept { "kept unchanged" } else { "dropped" };
            if !self.global.quiet && self.flags.output.on_error != OnError::Report {
                self.progress.aside(|| report::warning(&format!("{} ({fate})", failure.error)));
            }
        } else {
            self.fail(&failure.error);
            if failure.record.is_none() {
                self.sums.failed_files += usize::from(self.sink.is_none());
            }
        }
        match self.reject_failed(failure) {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.fail(&error);
                Flow::Stop
            }
        }
    }

    fn reject_failed(&mut self, failure: &Failure) -> Result<(), Error> {
        let Error { name: input, place, what, .. } = &failure.error;
        let record = failure.record.as_ref().map(|record| String::from_utf8_lossy(record).into_owned());
        self.reject(&Reject {
            file: input,
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            reason: what,
            record,
        })
    }

    fn reject_dropped(&mut self, opened: &Opened, output: &mut CutOutput) -> Result<(), Error> {
        output.dropped.drain(..).try_for_each(|dropped| {
            self.reject(&Reject {
                file: &opened.source.name,
                line: Some(dropped.place.line),
                column: Some(dropped.place.column),
                reason: &dropped.reason,
                record: dropped.record,
            })
        })
    }

    fn reject(&mut self, reject: &Reject<'_>) -> Result<(), Error> {
        let Some((name, file)) = &mut self.rejects else { return Ok(()) };
        let mut line = serde_json::to_vec(reject).unwrap_or_default();
        line.push(b'\n');
        file.write_all(&line).map_err(|error| Error::system(name.as_str(), &error))
    }

    fn closed(&mut self, opened: &Opened, complete: bool) -> Flow {
        let sink = self.sink.take().filter(|_| complete);
        if let Some(sink) = sink {
            match self.cutting.commit(opened, sink, self.changed) {
                Ok(()) => self.standing = true,
                Err(error) => self.fail(&error),
            }
        }
        let files = self.cutting.targets.are_files();
        if let Some(map) = &mut self.map
            && let Err(error) = map.end(self.standing || !files)
        {
            self.fail(&error);
        }
        if complete && (self.standing || !files) {
            self.sums.files += 1;
        } else {
            self.sums.failed_files += 1;
        }
        if let (true, Some(manifest), Some(input)) = (self.standing, &mut self.manifest, &opened.source.path)
            && let Some(output) = self.cutting.targets.path_of_part(&opened.source, self.parts.then_some(1))
            && let Err(error) = manifest.record(input, &output)
        {
            self.fail(&Error::system("the record for --resume", &error));
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn fail(&mut self, error: &Error) {
        self.failed = true;
        self.existing += usize::from(error.kind == ErrorKind::Exists);
        if error.kind == ErrorKind::Exists && self.existing > 1 {
            return;
        }
        self.progress.aside(|| report::record_error(error, self.global));
    }

    /// Ends the batch: prints totals and returns the status. `interrupted` is the status after Ctrl-C.
    pub(super) fn finish(mut self, begun: Instant, interrupted: Option<u8>) -> anyhow::Result<ExitCode> {
        self.progress.finish();
        if let Some(error) = self.stdout.flush() {
            self.fail(&error);
        }
        if self.stdout.gone {
            return Ok(ExitCode::SUCCESS);
        }
        if interrupted.is_some() {
            report::warning(&format!("interrupted after {} files; every written file is complete", self.sums.files));
        }
        if self.notes > NOTES && !self.global.verbose && !self.global.quiet {
            report::warning(&format!("{} more notes are not shown; pass --verbose to see all", self.notes - NOTES));
        }
        if self.existing > 1 {
            report::error(&format!("{} more outputs exist already; --force overwrites them", self.existing - 1));
        }
        if self.passed_over > 0 && self.passed_over == self.inputs && !self.global.quiet {
            let files = if self.passed_over == 1 { "file shows" } else { "files show" };
            report::warning(&format!("no transcripts found: {} .json {files} no messages", self.passed_over));
        }
        self.finish_files();
        self.report_unmatched_globs();
        self.print_sums(begun);
        self.report_nothing_to_do();
        let all_done = !self.failed && interrupted.is_none();
        if let Some(manifest) = self.manifest.filter(|_| all_done && self.flags.output.resume.is_none()) {
            manifest.remove()?;
        }
        let changed = self.sums.totals.changed + self.sums.dropped_records;
        let changed = self.flags.fail_on_change && changed > 0;
        Ok(ExitCode::from(match interrupted {
            Some(status) => status,
            None if self.failed => 2,
            None => u8::from(changed),
        }))
    }

    /// Ends the outputs and the map. Inputs that another program wrote to after they were replaced are as they were before.
    fn finish_files(&mut self) {
        for error in self.cutting.targets.finish() {
            self.fail(&error);
            self.sums.files = self.sums.files.saturating_sub(1);
            self.sums.failed_files += 1;
        }
        let ended = self.map.take().map_or(Ok(()), |map| map.finish(self.failed));
        if let Err(error) = ended {
            self.fail(&error);
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

    /// Reports globs that matched no tool of any transcript: most likely they are misspelled.
    fn report_unmatched_globs(&self) {
        if self.global.quiet || self.sums.totals.transcripts == 0 {
            return;
        }
        for stage in &self.cutting.cutter.chain.stages {
            for glob in stage.processor.unmatched_globs() {
                let label = stage.label();
                report::warning(&format!(
                    "{label}: no tool matches `{glob}`; `curtail count --by tool` lists the tools"
                ));
            }
        }
    }

    fn print_sums(&self, begun: Instant) {
        let chain = &self.cutting.cutter.chain;
        let tokenizer = self.cutting.cutter.counting.as_ref().map_or_else(String::new, Counting::name);
        match self.flags.stats {
            None => {}
            Some(StatsFlag::Json) => {
                console::err(&format!("{}\n", self.sums.json(chain, &tokenizer, begun.elapsed())));
            }
            Some(StatsFlag::Text) => {
                console::err(&format!("{}\n", self.sums.table(chain, &tokenizer, begun.elapsed())));
            }
        }
    }
}

fn several(framing: Framing) -> String {
    format!(
        "several inputs share standard output, which only the framing `records` allows, and this one has the framing `{}`; \
         pass --output-dir or --in-place",
        framing.name()
    )
}

impl Flags {
    /// The file of `--rejects`.
    fn rejects(&self) -> Result<Option<(String, File)>, Error> {
        let Some(path) = &self.output.rejects else { return Ok(None) };
        let name = path.to_string_lossy().into_owned();
        let mut options = File::options();
        options.write(true).truncate(true).create(true);
        if !self.output.force && path.metadata().is_ok_and(|there| there.is_file() && there.len() > 0) {
            return Err(Error::new(ErrorKind::Usage, name, "already exists (not overwritten); pass --force"));
        }
        options.open(path).map(|file| Some((name.clone(), file))).map_err(|error| Error::system(name, &error))
    }
}
