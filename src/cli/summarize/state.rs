//! `--emit state`: one line of JSON per transcript.

use std::process::ExitCode;

use super::super::input::{Cutting, Global};
use super::clock::Clock;
use crate::batch::{Unit, Work};
use curtail_core::dialects::ReadError;
use curtail_core::processors::{OnSummary, ProcessorError};
use curtail_core::transcript::Message;
use curtail_memory::rolling::RollingSummary;
use curtail_memory::rolling::state;

/// Writes the state of every transcript's rolling memory.
pub(super) fn run(flags: &Cutting, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    let now = Clock::new(global.environment).now();
    let at_once = summary.summarizer.concurrency();
    super::lines::write(flags, global, (at_once, false), |on_summary| States { summary, on_summary, now })
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
            let last = rolling.interaction(made.range.span.end).and_then(|interaction| interaction.said.last());
            made.ts = last.and_then(|&at| time(at));
        }
        let seen = rolling.seen();
        rolling.memory.advance(self.summary.rolling, seen, fresh);
        Ok(state(messages, &rolling, self.summary.held(&rolling), time))
    }
}
