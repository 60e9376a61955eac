//! The results of a check, in order: collects findings, writes repaired files, and sets the exit status.

use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use super::input::Global;
use super::report;
use crate::batch::{Checked, Event, Flow, Opened};
use crate::console;
use crate::progress::Progress;
use crate::reports::{FORMATS, Format, Outcome};
use curtail_core::checks::Finding;
use curtail_core::error::{Error, ErrorKind};
use curtail_core::visible::one_line;
use curtail_io::{FileSink, Replace, Scratch};

/// Collects the results of a batch of checks.
pub(super) struct CheckReporter<'g> {
    global: &'g Global,
    /// Whether repaired files are written.
    write: bool,
    /// Whether only the differences are printed.
    diff: bool,
    /// The progress display.
    progress: Arc<Progress>,
    format: &'static Format,
    /// Where findings are written as they are found.
    report: Option<Box<dyn Write + Send>>,
    /// The result so far.
    outcome: Outcome,
    /// The file and the line where each fingerprint was first seen.
    seen: HashMap<u128, (usize, usize)>,
    /// By how many bytes repair has made the current file longer, before the current block.
    grown: isize,
    changed: bool,
    /// Whether some of the current file is not UTF-8, so that it is not written.
    garbled: bool,
    /// The current repaired file.
    sink: Option<FileSink>,
    scratch: Scratch,
    hunks: bool,
    differs: bool,
    /// Whether it was reported how the current file is read.
    described: bool,
    /// Whether the current file had an error; `None` between files.
    failed: Option<bool>,
}

impl<'g> CheckReporter<'g> {
    /// A reporter in `format`; repaired files are written, or only the differences printed.
    pub(super) fn new(
        global: &'g Global,
        format: &'static Format,
        outcome: Outcome,
        (write, diff): (bool, bool),
        progress: Arc<Progress>,
    ) -> Self {
        let gradual = format.is_gradual() && !diff && !console::out_is_terminal();
        Self {
            global,
            write,
            diff,
            progress,
            format,
            report: gradual.then(|| Box::new(console::report()) as Box<dyn Write + Send>),
            outcome,
            seen: HashMap::new(),
            grown: 0,
            changed: false,
            garbled: false,
            sink: None,
            scratch: Scratch::default(),
            hunks: false,
            differs: false,
            described: false,
            failed: None,
        }
    }

    /// Handles the next event.
    pub(super) fn event(&mut self, event: Event<'_, Checked>) -> Flow {
        match event {
            Event::Opened(opened) => {
                self.outcome.files.push(opened.source.name.clone());
                (self.grown, self.changed, self.hunks, self.sink) = (0, false, false, None);
                self.garbled = false;
                (self.described, self.failed) = (!self.global.verbose, Some(false));
                Flow::Continue
            }
            Event::Done { opened, out, .. } => self.done(opened, out),
            Event::Failed(failure) => {
                match self.failed {
                    Some(_) => self.fail(&failure.error),
                    None => self.miss(&failure.error),
                }
                // A record that cannot be read cannot be written either.
                if failure.record.is_some() && !self.write { Flow::Continue } else { self.drop_sink() }
            }
            Event::PassedOver(opened) => {
                self.progress.aside(|| report::passed_over(opened, self.global));
                Flow::Continue
            }
            Event::Closed { opened, complete } => {
                if let Some(sink) = self.sink.take().filter(|_| complete && self.changed && !self.garbled) {
                    match sink.commit(Replace::Input(opened.stamp.as_ref(), None), &self.scratch) {
                        Ok(_) => self.outcome.changed.push(opened.source.name.clone()),
                        Err(error) => self.fail(&error),
                    }
                }
                self.failed = None;
                Flow::Continue
            }
        }
    }

    fn done(&mut self, opened: &Opened, checked: &mut Checked) -> Flow {
        let file = self.outcome.files.len() - 1;
        let grown = self.grown;
        self.grown += checked.grown;
        if !std::mem::replace(&mut self.described, true) {
            self.progress.aside(|| report::note(&report::reading(opened, checked.dialect)));
        }
        self.changed |= checked.changed;
        self.garbled |= checked.is_garbled;
        self.outcome.transcripts += checked.transcripts;
        self.outcome.repaired += checked.repaired;
        for finding in checked.findings.drain(..) {
            self.outcome.add(file, finding.moved(0, grown));
        }
        for (print, finding) in checked.prints.drain(..) {
            self.seen(print, file, finding.moved(0, grown));
        }
        self.report_new(opened);
        self.print_diff(opened, &checked.diff);
        if self.write { self.keep(opened, &checked.text) } else { Flow::Continue }
    }

    /// Compares a transcript with all before it.
    fn seen(&mut self, print: u128, file: usize, mut finding: Finding) {
        let (first, line) = *self.seen.entry(print).or_insert((file, finding.at.line));
        let (first, here) = (self.outcome.file(first), self.outcome.file(file));
        if (first, line) != (here, finding.at.line) {
            finding.message = format!("the transcript has the same messages as {first}:{line}");
            self.outcome.add(file, finding);
        }
    }

    /// Writes the new findings, unless the report is written at the end. Of an input that may stall, they appear at once.
    fn report_new(&mut self, opened: &Opened) {
        let Some(out) = &mut self.report else { return };
        let wrote = self.format.write_new(&mut self.outcome, out);
        let wrote = wrote.and_then(|()| if opened.stamp.is_none() { out.flush() } else { Ok(()) });
        if let Err(error) = wrote {
            self.report = Some(Box::new(std::io::sink()));
            self.broken(&error);
        }
    }

    fn print_diff(&mut self, opened: &Opened, diff: &str) {
        if !self.diff || diff.is_empty() {
            return;
        }
        self.differs = true;
        let name = one_line(&opened.source.name);
        let head =
            if std::mem::replace(&mut self.hunks, true) { String::new() } else { format!("--- {name}\n+++ {name}\n") };
        self.print(&format!("{head}{diff}"));
    }

    fn keep(&mut self, opened: &Opened, text: &str) -> Flow {
        let Some(path) = &opened.source.path else { return Flow::Continue };
        if let Some(table) = &opened.table {
            let name = table.format().name();
            let what = format!("--fix cannot write {name} files; use `curtail repair --in-place`");
            self.fail(&Error::new(ErrorKind::Usage, &opened.source.name, what));
            return self.drop_sink();
        }
        let wrote = match &mut self.sink {
            Some(sink) => sink.write(text.as_bytes()),
            None => FileSink::create(path, opened.packing, Some(path), &self.scratch).and_then(|mut sink| {
                sink.write(text.as_bytes())?;
                self.sink = Some(sink);
                Ok(())
            }),
        };
        match wrote {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.fail(&error);
                self.drop_sink()
            }
        }
    }

    fn drop_sink(&mut self) -> Flow {
        self.sink = None;
        Flow::Leave
    }

    /// Reports an input that could not be found or opened; the check continues.
    pub(super) fn miss(&mut self, error: &Error) {
        self.outcome.missing += 1;
        self.outcome.failed += 1;
        self.fail(error);
    }

    /// Reports an error; the check continues.
    fn fail(&mut self, error: &Error) {
        self.outcome.errors += 1;
        if self.failed == Some(false) {
            self.failed = Some(true);
            self.outcome.failed += 1;
        }
        self.progress.aside(|| report::record_error(error, self.global));
    }

    /// Prints lines of JSON to standard output; a closed pipe is not an error.
    fn print(&mut self, lines: &str) {
        let wrote = self.progress.aside(|| console::out_json(lines));
        if let Err(error) = wrote {
            self.fail(&error);
        }
    }

    fn broken(&mut self, error: &std::io::Error) {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            self.fail(&Error::system("standard output", error));
        }
    }

    /// Notes what was changed and silenced, where the report does not say it.
    fn note_rest(&self) {
        let changed = self.outcome.changed.iter().map(|file| format!("changed: {file}"));
        let silenced = self.outcome.silenced.iter().map(ToString::to_string);
        if !self.global.quiet {
            changed.chain(silenced).for_each(|line| report::note(&line));
        }
    }

    /// Writes the report, or the rest of it. The status is 2 if anything could not be checked, and 1 if anything was denied.
    pub(super) fn finish(mut self, allow_empty: bool, exit_zero: bool) -> ExitCode {
        self.progress.finish();
        for error in self.scratch.settle() {
            self.fail(&error);
        }
        if !self.diff {
            let mut out = self.report.take().unwrap_or_else(|| Box::new(console::report()));
            let wrote = (self.format.write)(&self.outcome, &mut out).and_then(|()| out.flush());
            if let Err(error) = wrote {
                self.broken(&error);
            }
        }
        if self.diff || self.format.name != FORMATS[0].name {
            self.note_rest();
        }
        let nothing = self.outcome.transcripts == 0 && self.outcome.found() == 0;
        let failed = self.outcome.errors > 0;
        if nothing && !allow_empty && !failed {
            report::error(&"nothing to check: the input contains no transcript; pass --allow-empty to accept that");
            return ExitCode::from(2);
        }
        let denied = self.differs || self.outcome.denied() > 0;
        ExitCode::from(if failed { 2 } else { u8::from(denied && !exit_zero) })
    }
}
