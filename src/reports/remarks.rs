//! Remarks about the inputs of a run, on standard error: what failed, what was passed over, and how each was read.

use std::borrow::Cow;
use std::fmt::Display;
use std::process::ExitCode;
use std::sync::Arc;

use crate::console;
use crate::options::global::Global;
use crate::reports::progress::Progress;
use crate::reports::repeats::{Repeated, Repeats};
use curtail_core::counting::REFUSED;
use curtail_core::numbers;
use curtail_core::processors::Counting;
use curtail_io::batch::{Event, Opened};
use curtail_io::{FileError, Source};

/// How many repeated errors of a kind are printed without `--verbose`.
const MAX_PRINTED: usize = 5;

/// How many kinds of errors are counted; of further ones, all are printed.
const MAX_KINDS: usize = 1000;

/// The errors of the records of a run, by what they say without its numbers, and by what became of the record. At the end, those
/// that were not printed are counted.
#[derive(Default)]
pub(crate) struct RecordErrors(Repeats);

impl RecordErrors {
    /// Prints an error that ends the reading of a file, or a warning if the run goes on with what became of the record, its
    /// `fate`. Without `--verbose`, only some warnings of a kind are printed.
    pub(crate) fn print(&mut self, error: &FileError, fate: Option<&'static str>, global: &Global) {
        match is_of_record(error, fate) {
            true => self.print_some(error, fate, global),
            false => error_with_fate(error, fate),
        }
    }

    /// Prints an error of which a file can have one for every line. Without `--verbose`, only some of a kind are printed, and
    /// without a fate, some of each file.
    pub(crate) fn print_some(&mut self, error: &FileError, fate: Option<&'static str>, global: &Global) {
        let is_printed = global.verbose || {
            let file = if is_of_record(error, fate) { "" } else { &error.name };
            let kind = format!("{} {file} {}", fate.unwrap_or_default(), without_numbers(&error.what));
            self.0.count(kind, fate, error, MAX_KINDS).is_none_or(|before| before < most_printed(error))
        };
        if is_printed {
            error_with_fate(error, fate);
        }
    }
}

impl Drop for RecordErrors {
    fn drop(&mut self) {
        for Repeated { first, label, count, differ } in &self.0.kinds {
            let more = count.saturating_sub(most_printed(first));
            if more > 0 {
                let more = match is_of_record(first, *label) {
                    true => numbers::counted(more, "more transcript"),
                    false => format!("{}: {}", first.name, numbers::counted(more, "more error")),
                };
                let what = if *differ { Cow::Owned(without_numbers(&first.what)) } else { Cow::Borrowed(&*first.what) };
                error_with_fate(&format!("{more}: {what} (--verbose lists them)"), *label);
            }
        }
    }
}

/// How many errors of the kind of this one are printed. One of a chat template is printed once: usually the template is wrong,
/// and then every record has the error.
fn most_printed(error: &FileError) -> usize {
    if error.what.starts_with(REFUSED) { 1 } else { MAX_PRINTED }
}

/// Whether an error is about a record among others, and not about a file or what is lost of it.
fn is_of_record(error: &FileError, fate: Option<&str>) -> bool {
    fate.is_some() || most_printed(error) == 1
}

/// `text` with `…` for each number.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('…') {
            out.push('…');
        }
    }
    out
}

fn error_with_fate(message: &impl Display, fate: Option<&str>) {
    match fate {
        Some(fate) => console::warning(&format!("{message} ({fate})")),
        None => console::error(message),
    }
}

/// What fails while a command only reads its inputs: it is reported, and the command goes on.
pub(crate) struct Failures<'g> {
    global: &'g Global,
    progress: Arc<Progress>,
    errors: RecordErrors,
    /// The exit status: 2 if anything failed.
    pub(crate) status: ExitCode,
}

impl<'g> Failures<'g> {
    /// Reports inputs that were not found, or that there is none.
    pub(crate) fn of_inputs(sources: &[Source], missing: &[FileError], global: &'g Global) -> Self {
        warn_empty(sources.is_empty() && missing.is_empty());
        Self::of_missing(missing, global)
    }

    /// Reports inputs that were not found.
    pub(crate) fn of_missing(missing: &[FileError], global: &'g Global) -> Self {
        missing.iter().for_each(console::error);
        let status = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
        Self { global, progress: Arc::default(), errors: RecordErrors::default(), status }
    }

    /// The same for a command that shows its progress.
    pub(crate) fn beside(self, progress: &Arc<Progress>) -> Self {
        Self { progress: Arc::clone(progress), ..self }
    }

    /// Reports that a record was dropped.
    pub(crate) fn note_dropped(&mut self, error: &FileError) {
        self.progress.aside(|| self.errors.print(error, Some("dropped"), self.global));
    }

    /// Reports an error, and with `--verbose` that a file was passed over.
    pub(crate) fn note<Out>(&mut self, event: &Event<'_, Out>) {
        match event {
            Event::Failed(failure) => {
                self.progress.aside(|| match failure.is_loss || failure.record.is_some() {
                    true => self.errors.print_some(&failure.error, None, self.global),
                    false => self.errors.print(&failure.error, None, self.global),
                });
                if !failure.is_loss {
                    self.status = ExitCode::from(2);
                }
            }
            Event::PassedOver(opened) => self.progress.aside(|| passed_over(opened, self.global)),
            Event::Opened(_) | Event::Done { .. } | Event::Closed { .. } => {}
        }
    }
}

/// Warns that there is nothing to read: a directory without transcripts is not an error, but rarely intended.
pub(crate) fn warn_empty(is_empty: bool) {
    if is_empty {
        console::warning(&"no transcripts found (*.jsonl, *.ndjson, *.json, or one of these with .gz or .zst)");
    }
}

/// How an input was read: its framing and dialect, and the member that decided the dialect.
pub(crate) fn reading(opened: &Opened, dialect: Option<&str>, mark: Option<&str>) -> String {
    let framing = opened.reading.framing.name();
    let by = mark.map_or_else(String::new, |mark| format!(", by {mark}"));
    format!("{}: {framing}, {}{by}", opened.source.name, dialect.unwrap_or("no message"))
}

/// Prints what the tokenizer remarks about its counts.
pub(crate) fn counted(counting: &Counting) {
    counting.tokenizer.remark().iter().for_each(console::note);
}

/// With `--verbose`, reports that a file in a directory was passed over.
pub(crate) fn passed_over(opened: &Opened, global: &Global) {
    if global.verbose {
        console::note(&format!("{}: contains no messages; skipped", opened.source.name));
    }
}
