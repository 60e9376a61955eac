//! Writes output other than transcripts to standard output, such as the state of every transcript.

use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use super::Clock;
use crate::batch::{Batch, Event, Flow, Unit, Work};
use crate::cli::input::{CutFlags, Global};
use crate::cli::report;
use crate::console;
use crate::progress::Progress;
use curtail_core::dialects::ReadError;
use curtail_core::error::{ErrorKind, FileError};
use curtail_core::processors::{OnSummary, ProcessorError};
use curtail_core::transcript::Message;
use curtail_core::visible::printed;
use curtail_memory::rolling::{RollingSummary, state};
use curtail_memory::summarizers::{Budget, Failure, Speaker, Utterance};

/// How the lines of a batch are made and written.
pub(super) struct LineOutput {
    /// Minimum number of records in progress, as in [`Batch::at_once`].
    pub(super) at_once: Option<usize>,
    /// Whether people read the text, so that control characters must be made visible.
    pub(super) for_people: bool,
}

/// Processes every input and writes the results in input order. `make` receives the observer that advances the progress display.
pub(super) fn write<W: Work<Out = String>>(
    flags: &CutFlags,
    global: &Global,
    LineOutput { at_once, for_people }: LineOutput,
    make: impl FnOnce(OnSummary) -> W,
) -> anyhow::Result<ExitCode> {
    let (sources, missing) = flags.input.sources(None)?;
    missing.iter().for_each(report::error);
    let mut status = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let (input_options, on_error) = (flags.input.input_options()?, flags.output.on_error);
    let progress = Arc::new(Progress::new(global.progress_display(true), &sources));
    let summaries = Arc::clone(&progress);
    let work = make(OnSummary::new(move |_| summaries.summary()));
    let mut stdout = console::transcripts();
    let batch = Batch {
        jobs: global.jobs,
        at_once,
        input_options,
        on_error,
        progress: Arc::clone(&progress),
        ..Batch::default()
    };
    batch.run(sources, &work, |event| {
        let error = match event {
            Event::Done { out, .. } => progress.aside(|| write_all(&mut stdout, out, for_people)).err(),
            Event::Failed(failure) => Some(failure.error.clone()),
            Event::PassedOver(opened) => {
                progress.aside(|| report::passed_over(opened, global));
                None
            }
            Event::Opened(_) | Event::Closed { .. } => None,
        };
        match error {
            None => Flow::Continue,
            Some(error) if error.kind == ErrorKind::BrokenPipe => Flow::Stop,
            Some(error) => {
                progress.aside(|| report::error(&error));
                status = ExitCode::from(2);
                Flow::Continue
            }
        }
    });
    progress.finish();
    Ok(status)
}

fn write_all(out: &mut impl Write, text: &str, for_people: bool) -> Result<(), FileError> {
    let text = if for_people { printed(text) } else { Cow::Borrowed(text) };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| FileError::system("stdout", &error))
}

// `--emit state`: one line of JSON per transcript.

/// Writes the state of every transcript's rolling memory.
pub(super) fn emit_states(flags: &CutFlags, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    let now = Clock::new(global.environment).now();
    let output = LineOutput { at_once: summary.summarizer.concurrency(), for_people: false };
    write(flags, global, output, |on_summary| States { summary, on_summary, now })
}

struct States<'s> {
    summary: &'s RollingSummary,
    on_summary: OnSummary,
    now: String,
}

impl Work for States<'_> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let mut lines = String::new();
        for (dialect, transcript) in unit.writable_transcripts(&document)? {
            let messages = &transcript.messages;
            let time = |at: usize| {
                let value = messages.get(at).and_then(Message::value)?;
                Some(dialect.time(value).unwrap_or_else(|| self.now.clone()))
            };
            let line = self.state(messages, &time);
            lines += &line.map_err(|error| ReadError {
                offset: transcript.layout.span.start as usize,
                what: error.to_string(),
            })?;
            lines.push('\n');
        }
        out.push_str(&lines);
        Ok(())
    }
}

impl States<'_> {
    fn state(
        &self,
        messages: &[Message<'_>],
        time: &dyn Fn(usize) -> Option<String>,
    ) -> Result<String, ProcessorError> {
        let mut rolling = self.summary.rolling_view(messages, None);
        let due = self.summary.due(&rolling);
        let mut fresh = self.summary.summarize(messages, &rolling, &due, Some(&self.on_summary))?;
        for made in &mut fresh {
            let last = rolling.interaction(made.range.span.end).and_then(|interaction| interaction.utterances.last());
            made.ts = last.and_then(|&at| time(at));
        }
        let seen = rolling.seen();
        rolling.memory.advance(self.summary.rolling, seen, fresh);
        Ok(state(messages, &rolling, self.summary.held(&rolling), time))
    }
}

// `--handoff`: a page in Markdown for the next session.

/// Writes a page for every transcript.
pub(super) fn emit_handoffs(flags: &CutFlags, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    let output = LineOutput { at_once: summary.summarizer.concurrency(), for_people: false };
    write(flags, global, output, |on_summary| Handoffs { summary, on_summary })
}

struct Handoffs<'s> {
    summary: &'s RollingSummary,
    on_summary: OnSummary,
}

impl Work for Handoffs<'_> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), ReadError> {
        let document = unit.parse()?;
        for (_, transcript) in unit.writable_transcripts(&document)? {
            let page = self.page(&transcript.messages);
            let offset = transcript.layout.span.start as usize;
            *out += &page.map_err(|failure| ReadError { offset, what: format!("cannot summarize: {failure}") })?;
        }
        Ok(())
    }
}

impl Handoffs<'_> {
    fn page(&self, messages: &[Message<'_>]) -> Result<String, Failure> {
        let (ledger, mut utterances) = self.summary.whole(messages);
        utterances.insert(0, Utterance::new(Speaker::Facts, ledger.handoff("")));
        let count = |text: &str| self.summary.tokenizer.count(text);
        let notes =
            self.summary.summarizer.summarize(&utterances, &Budget { tokens: self.summary.tokens, count: &count })?;
        self.on_summary.call(None);
        Ok(ledger.handoff(&notes))
    }
}
