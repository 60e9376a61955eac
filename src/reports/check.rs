//! Reports the results of a batch of checks in input order: findings, repaired files, and the exit status.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crate::console;
use crate::options::global::Global;
use crate::reports::baseline::KnownFindings;
use crate::reports::findings::{CheckOutcome, FORMATS, Format};
use crate::reports::progress::Progress;
use crate::reports::remarks::{self, RecordErrors};
use crate::works::check::Checked;
use curtail_core::checks::{Finding, FindingPlace};
use curtail_core::visible::one_line;
use curtail_io::batch::{Event, Flow, Opened};
use curtail_io::{ErrorKind, FileError, FileSink, Replace, Scratch};

/// What a check reports, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckReport {
    /// The format of the report.
    pub(crate) format: &'static Format,
    /// Whether files are repaired in place.
    pub(crate) writes: bool,
    /// Whether the differences that a repair would make are shown instead of findings.
    pub(crate) diff: bool,
    /// Whether the status is 0 even if findings are denied.
    pub(crate) exit_zero: bool,
    /// Whether the status is 0 if there is nothing to check.
    pub(crate) allow_empty: bool,
}

/// Collects the results of a batch of checks in input order: reports findings, writes repaired files, and sets the exit status.
pub(crate) struct CheckReporter<'a> {
    how: CheckReport,
    global: &'a Global,
    errors: RecordErrors,
    /// The progress display.
    progress: Arc<Progress>,
    /// Where findings are written as they are found.
    report: Option<Box<dyn Write + Send>>,
    /// The result so far.
    outcome: CheckOutcome,
    /// The file and the place where each fingerprint was first seen.
    seen: HashMap<u128, (usize, FindingPlace)>,
    file: CheckedFile,
    scratch: Scratch,
    /// Whether differences of any file were printed.
    differs: bool,
    /// The findings of a baseline.
    known: Option<KnownFindings>,
}

/// The current file.
#[derive(Default)]
struct CheckedFile {
    state: FileState,
    /// By how many bytes repair has made it longer, before the current block.
    grown: isize,
    changed: bool,
    /// Whether a part of it is not UTF-8, so that it is not written.
    garbled: bool,
    /// The repaired file.
    sink: Option<FileSink>,
    /// What is found in it once the repaired file is written.
    findings: Vec<Finding>,
    /// What is found in it as it is.
    as_it_is: Vec<Finding>,
    /// How many findings are repaired once it is written.
    repaired: usize,
    /// Whether it was reported that a transcript in it could not be repaired.
    unrepaired: bool,
    /// Whether differences were printed.
    hunks: bool,
    /// Whether it was reported how it is read.
    described: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum FileState {
    /// None is open.
    #[default]
    Closed,
    /// It had no error.
    Sound,
    /// It had an error, and is counted as failed.
    Failed,
}

impl<'a> CheckReporter<'a> {
    pub(crate) fn new(
        how: CheckReport,
        global: &'a Global,
        outcome: CheckOutcome,
        known: Option<KnownFindings>,
        progress: Arc<Progress>,
    ) -> Self {
        let gradual = how.format.is_gradual() && !how.diff && !console::out_is_terminal();
        Self {
            how,
            global,
            errors: RecordErrors::default(),
            progress,
            report: gradual.then(|| Box::new(console::report()) as Box<dyn Write + Send>),
            outcome,
            seen: HashMap::new(),
            file: CheckedFile::default(),
            scratch: Scratch::default(),
            differs: false,
            known,
        }
    }

    /// Handles the next event.
    pub(crate) fn event(&mut self, event: Event<'_, Checked>) -> Flow {
        match event {
            Event::Opened(opened) => {
                self.outcome.files.push(opened.source.name.clone());
                if let Some(known) = &mut self.known {
                    known.begin(&opened.source.name);
                }
                let described = !self.global.verbose;
                self.file = CheckedFile { state: FileState::Sound, described, ..CheckedFile::default() };
                Flow::Continue
            }
            Event::Done { opened, out, .. } => self.done(opened, out),
            Event::Failed(failure) => {
                match self.file.state {
                    FileState::Closed => self.miss(&failure.error),
                    FileState::Sound | FileState::Failed => self.fail(&failure.error),
                }
                // A record that cannot be read cannot be written either.
                if failure.record.is_some() && !self.how.writes { Flow::Continue } else { self.drop_sink() }
            }
            Event::PassedOver(opened) => {
                self.progress.aside(|| remarks::passed_over(opened, self.global));
                Flow::Continue
            }
            Event::Closed { opened, complete } => {
                self.close(opened, complete);
                self.file = CheckedFile::default();
                Flow::Continue
            }
        }
    }

    /// Puts the repaired file in the place of the input, and adds what is found in the one that stands there now.
    fn close(&mut self, opened: &Opened, complete: bool) {
        let is_written = !self.file.changed || complete && self.replace(opened);
        let found = std::mem::take(if is_written { &mut self.file.findings } else { &mut self.file.as_it_is });
        if is_written {
            self.outcome.repaired += self.file.repaired;
        }
        let file = self.outcome.files.len() - 1;
        for finding in found {
            self.add(file, finding);
        }
        self.report_new(opened);
    }

    /// Writes the repaired file. Returns whether it could be written.
    fn replace(&mut self, opened: &Opened) -> bool {
        let Some(sink) = self.file.sink.take().filter(|_| !self.file.garbled) else { return false };
        match sink.commit(Replace::Input(opened.stamp.as_ref(), None), &self.scratch) {
            Ok(_) => {
                self.outcome.changed.push(opened.source.name.clone());
                true
            }
            Err(error) => {
                self.fail(&error);
                false
            }
        }
    }

    fn done(&mut self, opened: &Opened, checked: &mut Checked) -> Flow {
        let file = self.outcome.files.len() - 1;
        let grown = self.file.grown;
        self.file.grown += checked.grown;
        if !std::mem::replace(&mut self.file.described, true) {
            self.progress.aside(|| console::note(&remarks::reading(opened, checked.dialect, checked.mark.as_deref())));
        }
        self.file.changed |= checked.changed;
        self.file.garbled |= checked.is_garbled;
        self.outcome.transcripts += checked.transcripts;
        // The findings say it of each.
        let first = checked.unrepaired.drain(..).next().filter(|_| !self.file.unrepaired);
        if let Some(error) = first {
            self.file.unrepaired = true;
            self.progress.aside(|| console::warning(&error));
        }
        let found = checked.findings.drain(..).map(|finding| finding.moved(0, grown));
        if self.how.writes {
            self.file.findings.extend(found);
            self.file.as_it_is.append(&mut checked.as_it_is);
            self.file.repaired += checked.repaired;
        } else {
            self.outcome.repaired += checked.repaired;
            for finding in found {
                self.add(file, finding);
            }
        }
        for (print, finding) in checked.fingerprints.drain(..) {
            self.compare_with_earlier(print, file, finding.moved(0, grown));
        }
        self.report_new(opened);
        self.print_diff(opened, &checked.diff);
        if self.how.writes { self.keep(opened, &checked.text) } else { Flow::Continue }
    }

    /// Adds `finding` if an earlier transcript has the same fingerprint.
    fn compare_with_earlier(&mut self, print: u128, file: usize, mut finding: Finding) {
        let (first, place) = self.seen.entry(print).or_insert_with(|| (file, finding.at.clone()));
        let first = self.outcome.file(*first);
        let here = self.outcome.file(file);
        if (first, place.offset) != (here, finding.at.offset) {
            finding.message = format!("the transcript has the same messages as {first}:{}", place.line);
            self.add(file, finding);
        }
    }

    /// Adds a finding, unless a baseline lists it.
    fn add(&mut self, file: usize, finding: Finding) {
        let name = self.outcome.file(file);
        if !self.known.as_mut().is_some_and(|known| known.knows(name, &finding)) {
            self.outcome.add(file, finding);
        }
    }

    /// Writes the new findings, unless the report is written at the end. Findings of a live input are flushed at once.
    fn report_new(&mut self, opened: &Opened) {
        let Some(out) = &mut self.report else { return };
        let wrote = self.how.format.write_new(&mut self.outcome, out);
        let wrote = wrote.and_then(|()| if opened.stamp.is_none() { out.flush() } else { Ok(()) });
        if let Err(error) = wrote {
            self.report = Some(Box::new(std::io::sink()));
            self.report_failed(&error);
        }
    }

    fn print_diff(&mut self, opened: &Opened, diff: &str) {
        if !self.how.diff || diff.is_empty() {
            return;
        }
        self.differs = true;
        let name = one_line(&opened.source.name);
        let head = if std::mem::replace(&mut self.file.hunks, true) {
            String::new()
        } else {
            format!("--- {name}\n+++ {name}\n")
        };
        // A closed pipe is not an error.
        if let Err(error) = self.progress.aside(|| console::out_diff(&format!("{head}{diff}"))) {
            self.fail(&error);
        }
    }

    fn keep(&mut self, opened: &Opened, text: &str) -> Flow {
        let Some(path) = &opened.source.path else { return Flow::Continue };
        if let Some(table) = &opened.table {
            let name = table.format().name();
            let reason = format!("--fix cannot write {name} files; use `curtail repair --in-place`");
            self.fail(&FileError::new(ErrorKind::Usage, &opened.source.name, reason));
            return self.drop_sink();
        }
        if let Err(error) = self.sink(opened, path).and_then(|sink| sink.write(text.as_bytes())) {
            self.fail(&error);
            return self.drop_sink();
        }
        Flow::Continue
    }

    /// The repaired file at `path`, which the first block begins.
    fn sink(&mut self, opened: &Opened, path: &Path) -> Result<&mut FileSink, FileError> {
        let sink = match self.file.sink.take() {
            Some(sink) => sink,
            None => FileSink::create(path, opened.packing, Some(path), &self.scratch)?,
        };
        Ok(self.file.sink.insert(sink))
    }

    fn drop_sink(&mut self) -> Flow {
        self.file.sink = None;
        Flow::Leave
    }

    /// Reports an input that could not be found or opened; the check continues.
    pub(crate) fn miss(&mut self, error: &FileError) {
        self.outcome.missing += 1;
        self.outcome.failed += 1;
        self.fail(error);
    }

    /// Reports an error; the check continues.
    fn fail(&mut self, error: &FileError) {
        if self.file.state == FileState::Sound {
            self.file.state = FileState::Failed;
            self.outcome.failed += 1;
        }
        self.progress.aside(|| self.errors.print(error, None, self.global));
        self.outcome.add_error(error.clone());
    }

    /// Reports that the report could not be written, unless its reader closed the pipe.
    fn report_failed(&mut self, error: &std::io::Error) {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            self.fail(&FileError::system("standard output", error));
        }
    }

    /// Reports what was changed and silenced, for formats whose report does not contain it.
    fn note_rest(&self) {
        let changed = self.outcome.changed.iter().map(|file| format!("changed: {file}"));
        let silenced = self.outcome.silenced.iter().map(ToString::to_string);
        changed.chain(silenced).for_each(|line| console::note(&line));
    }

    /// Writes the report, or the rest of it. The status is 2 if anything could not be checked, and 1 if anything was denied.
    pub(crate) fn finish(mut self) -> ExitCode {
        self.progress.finish();
        for error in self.scratch.settle() {
            // Its old version is back.
            self.outcome.changed.retain(|file| Path::new(file).canonicalize().ok() != Some(PathBuf::from(&error.name)));
            self.fail(&error);
        }
        match self.known.as_ref().map(KnownFindings::finish).transpose() {
            Ok(known) => self.outcome.known = known,
            Err(error) => self.fail(&error),
        }
        let is_text = self.how.format.name == FORMATS[0].name;
        if !self.how.diff {
            let mut out = self.report.take().unwrap_or_else(|| Box::new(console::report()));
            let wrote = (self.how.format.write)(&self.outcome, &mut out).and_then(|()| out.flush());
            if let Err(error) = wrote {
                self.report_failed(&error);
            }
        }
        if self.how.diff || !is_text {
            self.note_rest();
        }
        // A configuration that skips all inputs asks for that.
        let is_skipped = self.outcome.silenced.as_ref().is_some_and(|silenced| silenced.skipped > 0);
        let nothing = self.outcome.transcripts == 0 && self.outcome.found() == 0 && !is_skipped;
        let failed = self.outcome.errors > 0;
        if nothing && !self.how.allow_empty && !failed {
            console::error(&"nothing to check: the input contains no transcript; pass --allow-empty to accept that");
            return ExitCode::from(2);
        }
        let denied = self.differs || self.outcome.denied() > 0;
        ExitCode::from(if failed { 2 } else { u8::from(denied && !self.how.exit_zero) })
    }
}
