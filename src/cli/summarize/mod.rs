//! `curtail summarize`: the newest interactions verbatim, and summaries of the older ones.

mod follow;
mod input_text;
mod thread;
mod thread_memory;

use std::process::ExitCode;

use anyhow::bail;
use clap::ValueEnum;

use crate::cutting::{Cuts, Job};
use crate::options::cut::CutFlags;
use crate::options::global::{Global, iso_time};
use crate::options::summarize::SummarizeOptions;
use crate::reports::texts::{TextOutput, TranscriptAt, write_texts};
use crate::{console, cutting};
use curtail_core::numbers::counted;
use curtail_core::processors::{ProcessorError, View, without_rolled_back};
use curtail_core::transcript::Message;
use curtail_io::batch::OnError;
use curtail_memory::rolling::{RollingSummary, Shown, SummaryInput, state};
use curtail_memory::summarizers::{Budget, Failure, Request, Speaker, Utterance};

/// Keep the newest interactions, and summaries of the older ones
///
/// The first summary is made when interaction N+1 arrives, and covers interactions 2 to N+1; another one follows after every N
/// further interactions, of the newest N. Only the newest summaries are kept.
#[derive(Debug, clap::Args)]
pub(super) struct SummarizeArgs {
    #[command(flatten)]
    options: SummarizeOptions,

    /// Output to write
    #[arg(long, value_enum, default_value = "context", help_heading = None)]
    emit: Emit,

    /// Write one summary of the whole transcript as Markdown, for the next session
    ///
    /// The page lists the goal, requests, changed files, commits, checks and open items of the transcript, and ends with notes by
    /// the summarizer.
    #[arg(long, conflicts_with_all = ["emit", "dry_run"], hide_short_help = true, help_heading = "Summaries")]
    handoff: bool,

    /// Print the instructions for the summary model and exit
    #[arg(long, hide_short_help = true, help_heading = "Summaries")]
    print_prompt: bool,

    #[command(flatten)]
    thread: thread::ThreadFlags,

    #[command(flatten)]
    cutting: CutFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// The context for a model: instructions, summaries and window
    Context,
    /// The rolling memory as JSON, one line per transcript
    State,
}

impl SummarizeArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.print_prompt {
            console::out(self.options.ask.prompt()?.as_str())?;
            return Ok(ExitCode::SUCCESS);
        }
        let summary = self.options.summary()?;
        let cutting = &self.cutting;
        let at_once = summary.summarizer.concurrency();
        let output = TextOutput { at_once, for_people: false, whole_records: false };
        if self.handoff {
            self.refuse_kept_records()?;
            return write_texts(cutting, global, output, |of| {
                handoff(&summary, of).map_err(|failure| format!("cannot summarize: {failure}"))
            });
        }
        if cutting.dry_run {
            let output = TextOutput { at_once: None, for_people: true, ..output };
            return write_texts(cutting, global, output, |of| Ok(requests(&summary, of)));
        }
        if self.thread.given().is_some() {
            let shown = match self.emit {
                Emit::State => Shown::State,
                Emit::Context => cutting.shown_context(),
            };
            return self.thread.run(&cutting.input, shown, &global.environment, &summary);
        }
        if self.emit == Emit::Context {
            return cutting::run(self, global);
        }
        self.refuse_kept_records()?;
        let now = iso_time(global.environment.now()?);
        let output = TextOutput { whole_records: true, ..output };
        write_texts(cutting, global, output, |of| state_line(&summary, &now, of).map_err(|error| error.to_string()))
    }

    /// Refuses to keep or report a record that fails where no record is written.
    fn refuse_kept_records(&self) -> anyhow::Result<()> {
        let what = match self.cutting.output.on_error {
            OnError::Keep => "keep",
            OnError::Report => "report",
            OnError::Fail | OnError::Skip => return Ok(()),
        };
        bail!("--on-error {what} cannot be used with {}", if self.handoff { "--handoff" } else { "--emit state" })
    }
}

impl Cuts for SummarizeArgs {
    fn flags(&self) -> &CutFlags {
        &self.cutting
    }

    fn job(&self) -> anyhow::Result<Job> {
        if self.emit == Emit::State || self.handoff || self.print_prompt || self.thread.given().is_some() {
            bail!("--emit state, --handoff, --print-prompt, --thread and --follow write no transcript");
        }
        cutting::job_of(&self.cutting, &self.options)
    }
}

/// The messages that are summarized: without turns that were rolled back.
fn told<'a>(of: &TranscriptAt<'_, 'a>) -> Vec<Message<'a>> {
    without_rolled_back(&View::of_layout(&of.transcript.layout, &of.transcript.messages))
}

/// `--dry-run`: for every summary that is due, its range, and the request that would be sent, with its destination and its size
/// in tokens.
fn requests(summary: &RollingSummary, of: &TranscriptAt<'_, '_>) -> String {
    let messages = &told(of);
    let place = &of.place;
    let rolling = summary.rolling_view(messages, None);
    let due = summary.due(&rolling);
    if due.is_empty() {
        return format!("{place}: nothing to summarize, {}\n", counted(rolling.seen(), "interaction"));
    }
    let inputs = summary.inputs(messages, &rolling, &due).into_iter();
    inputs.map(|input| request(summary, place, input)).collect()
}

/// The range of one summary, and the request for it.
fn request(summary: &RollingSummary, place: &str, input: SummaryInput<'_>) -> String {
    let SummaryInput { span, utterances, tokens, .. } = input;
    let tokenizer = &summary.tokenizer;
    let budget = Budget { tokens, count: &|text| tokenizer.count(text) };
    let tokens: usize = utterances.iter().map(|utterance| tokenizer.count(&utterance.text)).sum();
    let name = summary.summarizer.name();
    let range = format!("{place}: {name} summarizes {} to {}, {tokens} tokens", span.start, span.end);
    match summary.summarizer.request(&utterances, &budget) {
        None => format!("{range}, and sends nothing\n"),
        Some(Request { to, body }) => {
            format!("{range}, and sends {} tokens to {to}:\n{body}\n", tokenizer.count(&body))
        }
    }
}

/// `--emit state`: the state of the rolling memory, as one line of JSON; `now` is the time of messages without a timestamp.
fn state_line(summary: &RollingSummary, now: &str, of: &TranscriptAt<'_, '_>) -> Result<String, ProcessorError> {
    let messages = &told(of);
    let time = |at: usize| {
        let value = messages.get(at).and_then(Message::value)?;
        Some(of.dialect.time(value).unwrap_or_else(|| now.to_owned()))
    };
    let mut rolling = summary.rolling_view(messages, None);
    let due = summary.due(&rolling);
    let mut fresh = summary.summarize(messages, &rolling, &due, Some(of.on_summary))?;
    for made in &mut fresh {
        let last = rolling.interaction(made.range.span.end).and_then(|interaction| interaction.utterances.last());
        made.ts = last.and_then(|&at| time(at));
    }
    let seen = rolling.seen();
    rolling.memory.advance(summary.rolling, seen, fresh);
    Ok(state(messages, &rolling, summary.held(&rolling), &time) + "\n")
}

/// `--handoff`: a page in Markdown for the next session.
fn handoff(summary: &RollingSummary, of: &TranscriptAt<'_, '_>) -> Result<String, Failure> {
    let (facts, mut utterances) = summary.whole(&of.transcript.messages);
    utterances.insert(0, Utterance::new(Speaker::Facts, facts.handoff("")));
    let budget = Budget { tokens: summary.tokens, count: &|text| summary.tokenizer.count(text) };
    let notes = summary.summarizer.summarize(&utterances, &budget)?;
    of.on_summary.call(None);
    Ok(facts.handoff(&notes))
}
