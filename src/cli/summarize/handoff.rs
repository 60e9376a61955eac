//! `--handoff`: a page in Markdown from which the next session goes on.

use std::process::ExitCode;

use super::super::input::{Cutting, Global};
use crate::batch::{Unit, Work};
use curtail_core::dialects::ReadError;
use curtail_core::processors::OnSummary;
use curtail_core::transcript::Message;
use curtail_memory::rolling::RollingSummary;
use curtail_memory::summarizers::{Budget, Failure, Speaker, Utterance};

/// Writes a page for every transcript.
pub(super) fn run(flags: &Cutting, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    super::lines::write(flags, global, (summary.summarizer.concurrency(), false), |on_summary| Pages {
        summary,
        on_summary,
    })
}

struct Pages<'s> {
    summary: &'s RollingSummary,
    on_summary: OnSummary,
}

impl Work for Pages<'_> {
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

impl Pages<'_> {
    fn page(&self, messages: &[Message<'_>]) -> Result<String, Failure> {
        let (ledger, mut said) = self.summary.whole(messages);
        said.insert(0, Utterance::new(Speaker::Facts, ledger.handoff("")));
        let count = |text: &str| self.summary.tokenizer.count(text);
        let notes = self.summary.summarizer.summarize(&said, &Budget { tokens: self.summary.tokens, count: &count })?;
        self.on_summary.call(None);
        Ok(ledger.handoff(&notes))
    }
}
