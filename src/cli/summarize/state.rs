//! `--emit state`: a line of JSON for each transcript.

use std::process::ExitCode;

use super::super::input::{Cutting, Global};
use crate::batch::{Trouble, Unit, Work};
use crate::processors::RollingSummary;
use crate::rolling::{now, state};
use crate::transcript::Message;

/// Writes the state of every transcript's rolling memory.
pub(super) fn run(flags: &Cutting, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    super::dry_run::write(flags, global, summary, &States { summary, now: now() })
}

struct States<'s> {
    summary: &'s RollingSummary,
    now: String,
}

impl Work for States<'_> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), Trouble> {
        let document = unit.read()?;
        let mut lines = String::new();
        for (dialect, transcript) in unit.transcripts(&document)? {
            let messages = &transcript.messages;
            let time = |at: usize| {
                let value = messages.get(at).and_then(|message: &Message<'_>| message.value)?;
                Some(dialect.time(value).unwrap_or_else(|| self.now.clone()))
            };
            let line = self.state(messages, &time);
            lines += &line.map_err(|what| Trouble { offset: transcript.span.start as usize, what })?;
            lines.push('\n');
        }
        out.push_str(&lines);
        Ok(())
    }
}

impl States<'_> {
    fn state(&self, messages: &[Message<'_>], time: &dyn Fn(usize) -> Option<String>) -> Result<String, String> {
        let mut outlook = self.summary.outlook(messages, None);
        let due = self.summary.due(&outlook);
        let mut fresh = self.summary.summarize(messages, &outlook, &due)?;
        for made in &mut fresh {
            let last = outlook.interaction(made.range.span.end).and_then(|interaction| interaction.said.last());
            made.ts = last.and_then(|&at| time(at));
        }
        let seen = outlook.seen();
        outlook.memory.advance(self.summary.rolling, seen, fresh);
        Ok(state(messages, &outlook, self.summary.rolling, time))
    }
}
