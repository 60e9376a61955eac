//! `--dry-run`: what would be summarized and sent to a server.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use super::super::input::{Cutting, Global};
use super::super::report;
use crate::batch::{Batch, Event, Flow, Unit, Work};
use crate::dialects::ReadError;
use crate::error::{Error, ErrorKind};
use crate::io::Progress;
use crate::processors::{OnSummary, Processor as _, RollingSummary};
use crate::summarizers::{Budget, Request};
use crate::transcript::Transcript;

/// Writes for every due summary the request, its address and its number of tokens.
pub(super) fn run(flags: &Cutting, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    write(flags, global, summary, &Requests { summary })
}

struct Requests<'s> {
    summary: &'s RollingSummary,
}

impl Work for Requests<'_> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), ReadError> {
        let document = unit.read()?;
        for (_, transcript) in unit.transcripts(&document)? {
            let line = unit.place(transcript.span.start as usize).line;
            self.transcript(&format!("{}:{line}", unit.opened.source.name), &transcript, out);
        }
        Ok(())
    }
}

impl Requests<'_> {
    fn transcript(&self, place: &str, transcript: &Transcript<'_>, out: &mut String) {
        let (summary, messages) = (self.summary, &transcript.messages);
        let rolling = summary.rolling_view(messages, None);
        let count = |text: &str| summary.tokenizer.count(text);
        let budget = Budget { tokens: summary.tokens, count: &count };
        let due = summary.due(&rolling);
        if due.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{place}: nothing to summarize, {} interactions", rolling.seen());
        }
        for span in due {
            let utterances = summary.told(messages, &rolling, span);
            let (name, words) =
                (summary.summarizer.name(), utterances.iter().map(|said| count(&said.text)).sum::<usize>());
            let range = format!("{place}: {name} summarizes {} to {}", span.start, span.end);
            let _ = match summary.summarizer.request(&utterances, &budget) {
                None => writeln!(out, "{range}, {words} tokens, and sends nothing"),
                Some(Request { to, body }) => {
                    writeln!(out, "{range}, {words} tokens, and sends {} tokens to {to}:\n{body}", count(&body))
                }
            };
        }
    }
}

/// Runs `work` over the input and writes the results in input order.
pub(super) fn write<W: Work<Out = String>>(
    flags: &Cutting,
    global: &Global,
    summary: &RollingSummary,
    work: &W,
) -> anyhow::Result<ExitCode> {
    let (sources, missing) = flags.input.sources(None)?;
    missing.iter().for_each(report::error);
    let mut status = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let (input_options, on_error) = (flags.input.input_options()?, flags.output.on_error.policy());
    let progress = Arc::new(Progress::new(global.show(true), &sources));
    let counted = Arc::clone(&progress);
    summary.on_summary(&(Arc::new(move || counted.summary()) as OnSummary));
    let mut stdout = std::io::stdout().lock();
    let batch =
        Batch { jobs: global.jobs, input_options, on_error, progress: Arc::clone(&progress), ..Batch::default() };
    batch.run(sources, work, |event| {
        let failure = match event {
            Event::Done { out, .. } => {
                let written = progress.aside(|| stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()));
                written.err().map(|error| Error::system("stdout", &error))
            }
            Event::Failed(failure) => Some(failure.error.clone()),
            Event::Opened(_) | Event::Closed { .. } => None,
        };
        match failure {
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
