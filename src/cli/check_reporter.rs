//! What comes of a check, in order: findings to be told, mended files to their place, and the status at the end.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use super::report;
use crate::batch::{Checked, Event, Flow, Opened};
use crate::checks::{Finding, Level};
use crate::error::Error;
use crate::io::{FileSink, Progress, Replace};
use crate::reports::{Format, Outcome};

/// Takes what a batch of checks comes to.
pub(super) struct CheckReporter {
    /// Whether mended files are written.
    write: bool,
    /// Whether only the differences are told.
    diff: bool,
    /// What is shown while the batch goes on.
    progress: Arc<Progress>,
    /// What was found so far.
    outcome: Outcome,
    /// Whether anything could not be read or written.
    failed: bool,
    /// Where each fingerprint was first seen.
    seen: HashMap<u128, String>,
    /// By how many bytes mending made the file at hand longer, before the block at hand.
    grown: isize,
    changed: bool,
    /// The mended file at hand.
    sink: Option<FileSink>,
    hunks: bool,
    differs: bool,
}

impl CheckReporter {
    pub(super) fn new(outcome: Outcome, write: bool, diff: bool, progress: Arc<Progress>) -> Self {
        Self {
            write,
            diff,
            progress,
            outcome,
            failed: false,
            seen: HashMap::new(),
            grown: 0,
            changed: false,
            sink: None,
            hunks: false,
            differs: false,
        }
    }

    /// Takes the next event.
    pub(super) fn event(&mut self, event: Event<'_, Checked>) -> Flow {
        match event {
            Event::Opened(opened) => {
                self.outcome.files.push(opened.source.name.clone());
                (self.grown, self.changed, self.hunks, self.sink) = (0, false, false, None);
                Flow::Continue
            }
            Event::Done { opened, out, .. } => self.done(opened, out),
            Event::Failed(failure) => {
                self.fail(&failure.error);
                // A record that cannot be read cannot be written either.
                if failure.record.is_some() && !self.write { Flow::Continue } else { self.drop_sink() }
            }
            Event::Closed { complete, .. } => {
                if let Some(sink) = self.sink.take().filter(|_| complete && self.changed)
                    && let Err(error) = sink.commit(Replace::Yes)
                {
                    self.fail(&error);
                }
                Flow::Continue
            }
        }
    }

    fn done(&mut self, opened: &Opened, checked: &mut Checked) -> Flow {
        let file = self.outcome.files.len() - 1;
        let grown = self.grown;
        self.grown += checked.grown;
        self.changed |= checked.changed;
        self.outcome.transcripts += checked.transcripts;
        self.outcome.mended += checked.mended;
        let findings = checked.findings.drain(..).map(|finding| (file, finding.moved(0, grown)));
        self.outcome.findings.extend(findings);
        for (print, finding) in checked.prints.drain(..) {
            self.seen(print, file, finding.moved(0, grown));
        }
        self.tell_diff(opened, &checked.diff);
        if self.write { self.keep(opened, &checked.text) } else { Flow::Continue }
    }

    /// Compares a transcript with all before it.
    fn seen(&mut self, print: u128, file: usize, mut finding: Finding) {
        let here = format!("{}:{}", self.outcome.file(file), finding.at.line);
        let first = self.seen.entry(print).or_insert_with(|| here.clone());
        if *first != here {
            finding.message = format!("the transcript has the same messages as {first}");
            self.outcome.findings.push((file, finding));
        }
    }

    fn tell_diff(&mut self, opened: &Opened, diff: &str) {
        if !self.diff || diff.is_empty() {
            return;
        }
        self.differs = true;
        let name = &opened.source.name;
        let head =
            if std::mem::replace(&mut self.hunks, true) { String::new() } else { format!("--- {name}\n+++ {name}\n") };
        self.print(format!("{head}{diff}").as_bytes());
    }

    fn keep(&mut self, opened: &Opened, text: &str) -> Flow {
        let Some(path) = &opened.source.path else { return Flow::Continue };
        let wrote = match &mut self.sink {
            Some(sink) => sink.write(text.as_bytes()),
            None => FileSink::create(path, opened.packing, Some(path)).and_then(|mut sink| {
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

    /// Says what could not be done; the rest goes on.
    pub(super) fn fail(&mut self, error: &Error) {
        self.failed = true;
        self.progress.aside(|| report::error(error));
    }

    /// Whether a reader that goes away is the end of it.
    fn print(&mut self, bytes: &[u8]) {
        let wrote = self.progress.aside(|| std::io::stdout().lock().write_all(bytes));
        if let Err(error) = wrote {
            self.broken(&error);
        }
    }

    fn broken(&mut self, error: &std::io::Error) {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            self.fail(&Error::system("standard output", error));
        }
    }

    /// Tells what was found and what status that is: 2 if anything could not be checked, 1 if anything was denied.
    pub(super) fn finish(mut self, format: &Format, allow_empty: bool, exit_zero: bool) -> ExitCode {
        self.progress.finish();
        if !self.diff {
            let told = {
                let mut out = anstream::stdout().lock();
                (format.write)(&self.outcome, &mut out).and_then(|()| out.flush())
            };
            if let Err(error) = told {
                self.broken(&error);
            }
        }
        let nothing = self.outcome.transcripts == 0 && self.outcome.findings.is_empty();
        if nothing && !allow_empty && !self.failed {
            anstream::eprintln!(
                "curtail: nothing to check: no input holds a transcript (--allow-empty lets that pass)"
            );
            return ExitCode::from(2);
        }
        let denied = self.differs || self.outcome.count(Level::Deny) > 0;
        ExitCode::from(if self.failed { 2 } else { u8::from(denied && !exit_zero) })
    }
}
