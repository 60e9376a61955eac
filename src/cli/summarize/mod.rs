//! `curtail summarize`: the newest interactions verbatim, and summaries of the older ones.

mod ask;
mod lines;
mod thread;

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;
use clap::{ValueEnum, ValueHint};

use super::cut;
use super::input::{CutFlags, Environment, Global};
use super::options::{Choice, Options, Reads, Tokens, at_least_one, one_of, tokenizer_file};
use crate::batch::{OnError, Unit, Work};
use curtail_core::dialects::{ReadError, iso_8601};
use curtail_core::pipeline::Processors;
use curtail_core::transcript::{Role, Transcript};
use curtail_core::visible::one_line;
use curtail_memory::rolling::{Counted, Rolling, RollingSummary, SummaryInput};
use curtail_memory::summarizers::{Budget, Failure, Request, Summarizer, Utterance, clip};
use curtail_tokens::tokenizers;

/// Keep the newest interactions verbatim and summaries of the older ones
///
/// The first summary is made when interaction N+1 arrives, and covers interactions 2 to N+1; another one follows after every N
/// further interactions, of the newest N. Only the newest summaries are kept.
#[derive(Debug, clap::Args)]
pub(super) struct SummarizeArgs {
    #[command(flatten)]
    options: SummarizeOptions,

    /// Output to write
    #[arg(long, value_enum, default_value = "context")]
    emit: Emit,

    /// Write one summary of the whole transcript as Markdown, for the next session
    ///
    /// The page lists the goal, requests, changed files, commits, checks and open items of the transcript, and ends with notes by
    /// the summarizer.
    #[arg(long, conflicts_with_all = ["emit", "dry_run"], help_heading = "Summaries")]
    handoff: bool,

    /// Print the instructions for the summary model and exit
    #[arg(long, help_heading = "Summaries")]
    print_prompt: bool,

    #[command(flatten)]
    thread: thread::ThreadFlags,

    #[command(flatten)]
    pub(super) cutting: CutFlags,
}

/// Keep the newest interactions verbatim and summaries of the older ones
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SummarizeOptions {
    /// Number of newest interactions to keep verbatim
    #[arg(short = 'n', long, value_name = "N", default_value = "21", value_parser = at_least_one::<NonZeroUsize>)]
    window: NonZeroUsize,

    /// Number of summaries to keep
    #[arg(long, value_name = "N", default_value = "3", value_parser = at_least_one::<NonZeroUsize>)]
    max_summaries: NonZeroUsize,

    /// Unit of an interaction
    #[arg(long, value_parser = one_of(UNITS), default_value = "message")]
    unit: Counted,

    /// Role of the message with the summaries
    ///
    /// Summaries repeat what users and tools said. With `system` or `developer`, the model takes them for instructions.
    #[arg(long, value_parser = one_of(ROLES), value_name = "ROLE", default_value = "user")]
    summary_role: Role,

    /// Summarize as soon as the window holds more than N tokens
    ///
    /// The window then keeps the newest interactions with at most N tokens, and at most --window of them.
    #[arg(long, value_name = "N")]
    trigger_tokens: Option<Tokens>,

    /// Maximum number of tokens per summary
    #[arg(long, value_name = "N", default_value_t = Tokens(400))]
    summary_tokens: Tokens,

    /// Tokenizer: an encoding, `approx[:ENCODING]` or the path of a `tokenizer.json`
    ///
    /// `curtail tokenizers` lists the encodings.
    #[arg(long, value_name = "NAME", default_value = tokenizers::DEFAULT, env = "CURTAIL_TOKENIZER", value_hint = ValueHint::FilePath)]
    tokenizer: String,

    #[command(flatten)]
    ask: ask::AskFlags,
}

/// The values of `--unit`.
const UNITS: &[Choice<Counted>] = &[
    Choice::new(Counted::Message.name(), Counted::Message, "One user or assistant message with text"),
    Choice::new(Counted::Exchange.name(), Counted::Exchange, "One user message and all answers to it"),
];

/// The values of `--summary-role`.
const ROLES: &[Choice<Role>] = &[
    Choice::new("user", Role::User, "The user, whose messages are not instructions"),
    Choice::new("system", Role::System, "The application, or the user in formats without this role"),
    Choice::new("developer", Role::Developer, "The application, as newer OpenAI formats call it"),
];

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
            return self.options.ask.print();
        }
        self.refuse_unused_flags()?;
        let summary = self.options.summary()?;
        if self.handoff {
            return lines::emit_handoffs(&self.cutting, global, &summary);
        }
        if self.cutting.dry_run {
            return dry_run(&self.cutting, global, &summary);
        }
        if self.thread.is_given() || self.thread.follow {
            return self.thread.run(self, Clock::new(global.environment), &summary);
        }
        match self.emit {
            Emit::State => lines::emit_states(&self.cutting, global, &summary),
            Emit::Context => cut::run_options(&self.cutting, global, &self.options),
        }
    }

    /// Rejects flags of the cut and of its output if nothing is cut.
    fn refuse_unused_flags(&self) -> anyhow::Result<()> {
        let threaded = self.thread.is_given() || self.thread.follow;
        if self.handoff && threaded {
            bail!("--handoff reads a whole transcript; it cannot be used with --thread or --follow");
        }
        if self.emit == Emit::Context && !threaded && !self.handoff {
            return Ok(());
        }
        let (cutting, output) = (&self.cutting, &self.cutting.output);
        let flags = [
            ("--repair", cutting.repair.is_some()),
            ("--explain", cutting.explain.is_some()),
            ("--stats", cutting.stats.is_some()),
            ("--fail-on-change", cutting.fail_on_change),
            ("--output", output.output.is_some()),
            ("--output-dir", output.output_dir.is_some()),
            ("--in-place", output.in_place.is_some()),
            ("--rejects", output.rejects.is_some()),
            ("--on-error keep", output.on_error == OnError::Keep),
            ("--on-error report", output.on_error == OnError::Report),
        ];
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                bail!("{flag} cannot be used with --emit state, --handoff, --thread or --follow")
            }
            None => Ok(()),
        }
    }
}

impl Options for SummarizeOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        Ok(vec![Box::new(self.summary()?)])
    }

    fn dry_processors(&self) -> anyhow::Result<Processors> {
        Ok(vec![Box::new(self.summary_by(self.ask.dry_summarizer()?)?)])
    }

    fn files(&self) -> Reads {
        let mut reads = self.ask.files();
        reads.content.extend(tokenizer_file(&self.tokenizer));
        reads
    }
}

impl SummarizeOptions {
    fn summary(&self) -> anyhow::Result<RollingSummary> {
        self.summary_by(self.ask.summarizer()?)
    }

    fn summary_by(&self, summarizer: Box<dyn Summarizer>) -> anyhow::Result<RollingSummary> {
        Ok(RollingSummary {
            rolling: Rolling { window: self.window, max_summaries: self.max_summaries },
            counted: self.unit,
            trigger: self.trigger_tokens.as_ref().map(|tokens| tokens.0),
            summarizer: Arc::from(summarizer),
            tokens: self.summary_tokens.0,
            tokenizer: tokenizers::tokenizer_by_name(&self.tokenizer)?,
            role: self.summary_role,
        })
    }
}

// `--dry-run`: the ranges that would be summarized, and the requests that would be sent.

/// Writes, for every summary that is due, the request, its destination and its size in tokens.
fn dry_run(flags: &CutFlags, global: &Global, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    lines::write(flags, global, lines::LineOutput { at_once: None, for_people: true }, |_| Requests { summary })
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
            let (name, tokens) =
                (summary.summarizer.name(), input.iter().map(|utterance| count(&utterance.text)).sum::<usize>());
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

// Summaries of a dry run: nothing runs, and nothing is sent.

/// Replaces a summarizer that would run a program or send a request.
struct DrySummarizer {
    /// The name of that summarizer.
    name: &'static str,
}

impl Summarizer for DrySummarizer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let text = format!("(dry run: {} would summarize {} texts)", self.name, utterances.len());
        Ok(clip(&text, budget))
    }

    fn request(&self, _utterances: &[Utterance<'_>], _budget: &Budget<'_>) -> Option<Request> {
        None
    }
}

// The current time, for messages without a timestamp.

/// The system's clock, or a clock that always shows the time that the environment sets.
#[derive(Debug, Clone, Copy)]
struct Clock {
    fixed: Option<u64>,
}

impl Clock {
    /// The clock of a run in `environment`.
    const fn new(environment: Environment) -> Self {
        Self { fixed: environment.source_date_epoch }
    }

    /// The current time in ISO 8601.
    fn now(self) -> String {
        iso_8601(self.fixed.map_or_else(milliseconds, |seconds| seconds.saturating_mul(1000)))
    }
}

/// Milliseconds since 1970; 0 if the clock is set to an earlier time.
fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
