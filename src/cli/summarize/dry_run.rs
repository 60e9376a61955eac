//! `--dry-run`: the ranges that would be summarized, and the requests that would be sent.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::super::input::{Cutting, Global};
use crate::batch::{Unit, Work};
use curtail_core::dialects::ReadError;
use curtail_core::transcript::Transcript;
use curtail_core::visible::one_line;
use curtail_memory::rolling::{RollingSummary, SummaryInput};
use curtail_memory::summarizers::{Budget, Request};

/// Writes, for every summary that is due, the request, its destination and its size in tokens.
pub(super) fn run(flags: &Cutting, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    super::lines::write(flags, global, (None, true), |_| Requests { summary })
}

struct Requests<'s> {
    summary: &'s RollingSummary,
}

impl Work for Requests<'_> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let mut lines = unit.line_counter();
        for (_, transcript) in unit.writable_transcripts(&document)? {
            let line = lines.line_at(transcript.layout.span.start as usize);
            self.transcript(&format!("{}:{line}", one_line(&unit.opened.source.name)), &transcript, out);
        }
        Ok(())
    }
}

impl Requests<'_> {
    fn transcript(&self, place: &str, transcript: &Transcript<'_>, out: &mut String) {
        let (summary, messages) = (self.summary, &transcript.messages);
        let rolling = summary.rolling_view(messages, None);
        let count = |text: &str| summary.tokenizer.count(text);
        let due = summary.due(&rolling);
        if due.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{place}: nothing to summarize, {} interactions", rolling.seen());
        }
        for SummaryInput { span, utterances: input, tokens, .. } in summary.inputs(messages, &rolling, &due) {
            let budget = Budget { tokens, count: &count };
            let (name, tokens) = (summary.summarizer.name(), input.iter().map(|said| count(&said.text)).sum::<usize>());
            let range = format!("{place}: {name} summarizes {} to {}", span.start, span.end);
            let _ = match summary.summarizer.request(&input, &budget) {
                None => writeln!(out, "{range}, {tokens} tokens, and sends nothing"),
                Some(Request { to, body }) => {
                    writeln!(out, "{range}, {tokens} tokens, and sends {} tokens to {to}:\n{body}", count(&body))
                }
            };
        }
    }
}
