//! `curtail summarize`: the newest interactions verbatim, and summaries of the older ones.

mod ask;
mod thread;

use std::borrow::Cow;
use std::io::Write;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::ValueEnum;

use super::cut;
use super::input::{CutFlags, Global, iso_time};
use super::options::{Choice, Options, Reads, TokenizerFlag, Tokens, at_least_one, one_of};
use crate::batch::{Batch, Event, Flow, OnError, Unit, Work};
use crate::cli::report;
use crate::console;
use crate::progress::Progress;
use curtail_core::dialects::{Dialect, ReadError};
use curtail_core::pipeline::Processors;
use curtail_core::processors::{OnSummary, ProcessorError, View, without_taken_back};
use curtail_core::transcript::{Message, Role, Transcript};
use curtail_core::visible::{one_line, printed};
use curtail_io::{ErrorKind, FileError};
use curtail_memory::rolling::{Counted, Rolling, RollingSummary, SummaryInput, state};
use curtail_memory::summarizers::{Budget, Failure, Request, Speaker, Summarizer, Utterance};

/// Keep the newest interactions verbatim and summaries of the older ones
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
    pub(super) cutting: CutFlags,
}

/// Keep the newest interactions verbatim and summaries of the older ones
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SummarizeOptions {
    /// Number of newest interactions to keep verbatim
    #[arg(short = 'n', long, value_name = "N", default_value = "21", value_parser = at_least_one)]
    window: NonZeroUsize,

    /// Number of summaries to keep
    #[arg(long, value_name = "N", default_value = "3", value_parser = at_least_one)]
    max_summaries: NonZeroUsize,

    /// Unit of an interaction
    #[arg(long, value_parser = one_of(UNITS), default_value = "message")]
    unit: Counted,

    /// Role of the message with the summaries
    ///
    /// Summaries repeat what users and tools said. With `system` or `developer`, the model takes them for instructions.
    #[arg(long, value_parser = one_of(ROLES), value_name = "ROLE", default_value = "user", hide_short_help = true)]
    summary_role: Role,

    /// Summarize as soon as the window holds more than N tokens
    ///
    /// The window then keeps the newest interactions with at most N tokens, and at most --window of them.
    #[arg(long, value_name = "N")]
    trigger_tokens: Option<Tokens>,

    /// Maximum number of tokens per summary
    #[arg(long, value_name = "N", default_value_t = Tokens(400))]
    summary_tokens: Tokens,

    #[command(flatten)]
    tokenizer: TokenizerFlag,

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
        let (cutting, at_once) = (&self.cutting, summary.summarizer.concurrency());
        let output = TextOutput { at_once, for_people: false, whole_records: false };
        if self.handoff {
            let page = |of: &TranscriptAt<'_, '_>| {
                handoff(&summary, of).map_err(|failure| format!("cannot summarize: {failure}"))
            };
            return write_texts(cutting, global, output, page);
        }
        if cutting.dry_run {
            let output = TextOutput { at_once: None, for_people: true, ..output };
            return write_texts(cutting, global, output, |of| Ok(requests(&summary, of)));
        }
        if self.thread.is_given() {
            return self.thread.run(self, &global.environment, &summary);
        }
        if self.emit == Emit::Context {
            return cut::run_options(cutting, global, &self.options);
        }
        let now = iso_time(global.environment.now()?);
        let output = TextOutput { whole_records: true, ..output };
        let line = |of: &TranscriptAt<'_, '_>| state_line(&summary, &now, of).map_err(|error| error.to_string());
        write_texts(cutting, global, output, line)
    }

    /// Rejects flags of the cut and of its output if nothing is cut.
    fn refuse_unused_flags(&self) -> anyhow::Result<()> {
        let threaded = self.thread.is_given();
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
            ("--as-new-session", output.as_new_session),
            ("--in-place", output.in_place.is_some()),
            ("--rejects", output.rejects.is_some()),
            ("--on-error keep", output.on_error == OnError::Keep),
            ("--on-error report", output.on_error == OnError::Report),
        ];
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => bail!("{flag} cannot be used with --emit state, --handoff, --thread or --follow"),
            None => Ok(()),
        }
    }
}

impl Options for SummarizeOptions {
    fn processors(&self, dry_run: bool) -> anyhow::Result<Processors> {
        let summarizer = if dry_run { self.ask.dry_summarizer() } else { self.ask.summarizer()? };
        Ok(vec![Box::new(self.summary_by(summarizer)?)])
    }

    fn files(&self) -> Reads {
        let mut reads = self.ask.files();
        reads.content.extend(self.tokenizer.file());
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
            tokenizer: self.tokenizer.load()?,
            role: self.summary_role,
            given: None,
        })
    }
}

// Output other than transcripts: the text of each transcript on standard output, in input order.

/// How texts are made and written.
struct TextOutput {
    /// Minimum number of records in progress, as in [`Batch::at_once`].
    at_once: Option<usize>,
    /// Whether people read the texts, so that control characters must be made visible.
    for_people: bool,
    /// Whether a transcript that fails drops the texts of those before it in its record.
    whole_records: bool,
}

/// A transcript of the input.
struct TranscriptAt<'u, 't> {
    dialect: &'u dyn Dialect,
    transcript: &'u Transcript<'t>,
    /// Its file and line, for people.
    place: String,
    /// Is told of every summary.
    on_summary: &'u OnSummary,
}

struct Texts<T> {
    text: T,
    whole_records: bool,
    on_summary: OnSummary,
}

impl<T: Fn(&TranscriptAt<'_, '_>) -> Result<String, String> + Sync> Work for Texts<T> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let mut places = unit.locator();
        let before = out.len();
        for (dialect, transcript) in unit.writable_transcripts(&document)? {
            let offset = transcript.layout.span.start as usize;
            let place = format!("{}:{}", one_line(&unit.opened.source.name), places.place(offset).line);
            let (transcript, on_summary) = (&transcript, &self.on_summary);
            match (self.text)(&TranscriptAt { dialect, transcript, place, on_summary }) {
                Ok(text) => out.push_str(&text),
                Err(reason) => {
                    out.truncate(if self.whole_records { before } else { out.len() });
                    return Err(ReadError { offset, what: reason });
                }
            }
        }
        Ok(())
    }
}

/// Makes the `text` of every transcript and writes it.
fn write_texts(
    flags: &CutFlags,
    global: &Global,
    TextOutput { at_once, for_people, whole_records }: TextOutput,
    text: impl Fn(&TranscriptAt<'_, '_>) -> Result<String, String> + Sync,
) -> anyhow::Result<ExitCode> {
    let (sources, missing) = flags.input.sources(None, global)?;
    let progress = Arc::new(Progress::new(global.progress_display(true), &sources));
    let mut failures = report::Failures::of_missing(&missing, global).beside(&progress);
    let summaries = Arc::clone(&progress);
    let work = Texts { text, whole_records, on_summary: OnSummary::new(move |_| summaries.summary()) };
    let mut stdout = console::transcripts();
    let on_error = flags.output.on_error;
    let batch = Batch { at_once, on_error, progress: Arc::clone(&progress), ..flags.input.batch(global)? };
    batch.run(sources, &work, |event| {
        failures.note(&event);
        let Event::Done { out, .. } = event else { return Flow::Continue };
        match progress.aside(|| write_all(&mut stdout, out, for_people)) {
            Err(error) if error.kind == ErrorKind::BrokenPipe => return Flow::Stop,
            Err(error) => {
                progress.aside(|| report::error(&error));
                failures.status = ExitCode::from(2);
            }
            Ok(()) => {}
        }
        Flow::Continue
    });
    progress.finish();
    Ok(failures.status)
}

fn write_all(out: &mut impl Write, text: &str, for_people: bool) -> Result<(), FileError> {
    let text = if for_people { printed(text) } else { Cow::Borrowed(text) };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| FileError::system("stdout", &error))
}

/// The messages that are summarized: without turns that were taken back.
fn told<'a>(of: &TranscriptAt<'_, 'a>) -> Vec<Message<'a>> {
    without_taken_back(&View::of_layout(&of.transcript.layout, &of.transcript.messages))
}

/// `--dry-run`: for every summary that is due, its range, and the request that would be sent, with its destination and its size
/// in tokens.
fn requests(summary: &RollingSummary, of: &TranscriptAt<'_, '_>) -> String {
    let (messages, place) = (&told(of), &of.place);
    let rolling = summary.rolling_view(messages, None);
    let count = |text: &str| summary.tokenizer.count(text);
    let due = summary.due(&rolling);
    if due.is_empty() {
        return format!("{place}: nothing to summarize, {} interactions\n", rolling.seen());
    }
    let request = |SummaryInput { span, utterances, tokens, .. }: SummaryInput<'_>| {
        let budget = Budget { tokens, count: &count };
        let tokens: usize = utterances.iter().map(|utterance| count(&utterance.text)).sum();
        let name = summary.summarizer.name();
        let range = format!("{place}: {name} summarizes {} to {}, {tokens} tokens", span.start, span.end);
        match summary.summarizer.request(&utterances, &budget) {
            None => format!("{range}, and sends nothing\n"),
            Some(Request { to, body }) => format!("{range}, and sends {} tokens to {to}:\n{body}\n", count(&body)),
        }
    };
    summary.inputs(messages, &rolling, &due).into_iter().map(request).collect()
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
    let (ledger, mut utterances) = summary.whole(&of.transcript.messages);
    utterances.insert(0, Utterance::new(Speaker::Facts, ledger.handoff("")));
    let count = |text: &str| summary.tokenizer.count(text);
    let notes = summary.summarizer.summarize(&utterances, &Budget { tokens: summary.tokens, count: &count })?;
    of.on_summary.call(None);
    Ok(ledger.handoff(&notes))
}
