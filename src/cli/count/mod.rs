//! `curtail count`: numbers of tokens, messages and calls.

mod counts;
mod print;

use std::process::ExitCode;

use clap::ValueEnum;

use super::input::{Global, Input};
use super::report;
use crate::batch::{Batch, Event, Flow, OnError, Unit, Work};
use crate::cli::options::{CountingOptions, TemplateOptions};
use crate::console;
use counts::{BlockCounts, Counts, Sum};
use curtail_core::counting::{REFUSED, TemplateError};
use curtail_core::dialects::{Dialect, ReadError};
use curtail_core::processors::Counting;
use curtail_core::transcript::Transcript;
use curtail_lab::calibration::{Figures, NO_FIGURES};

/// Count tokens, messages and calls
///
/// The count covers the text of every part, tool names, arguments and results. Arguments and results that are not strings
/// count as JSON without white space between its tokens. An image or a file counts as 765 tokens.
#[derive(Debug, clap::Args)]
pub(super) struct CountArgs {
    /// Unit of a row
    #[arg(long, value_enum, default_value = "file")]
    by: By,

    /// Show only the N rows with the most tokens [default: all, or 20 messages]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Compare with the provider's counts, where the log contains them
    ///
    /// The provider's counts are fitted to the messages, which takes about as long as counting. `--tokenizer usage` shows them
    /// as well.
    #[arg(long)]
    usage: bool,

    /// Format of the counts
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    output_format: CountFormat,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,

    #[command(flatten)]
    input: Input,
}

/// How many of the largest messages are shown by default.
const LARGEST: usize = 20;

/// The unit of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// One row per file
    File,
    /// One row per transcript
    Transcript,
    /// One row per message, the largest first
    Message,
    /// One row per role
    Role,
    /// One row per tool, for its calls and results, the largest first
    Tool,
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CountFormat {
    /// A table
    Table,
    /// One JSON object
    Json,
    /// CSV with a header line
    Csv,
}

struct Counter {
    counting: Counting,
    by: By,
    /// Whether only what the model still reads is counted.
    live: bool,
    /// Whether the provider's counts are shown.
    usage: bool,
}

impl Work for Counter {
    type Out = BlockCounts;

    fn unit(&self, unit: &Unit<'_>, out: &mut BlockCounts) -> Result<(), ReadError> {
        let document = unit.parse()?;
        // White space contains no transcript.
        if document.roots().len() == 0 {
            return Ok(());
        }
        let mut lines = unit.line_counter();
        let sums = unit.transcripts(&document)?.into_iter().map(|(dialect, mut transcript)| {
            let counted = self.counted(dialect, &transcript)?;
            let counting = &counted.counting;
            let mut each = counted.each;
            if self.live {
                transcript.keep_live();
            }
            if self.live || self.counting.by_usage.is_some() {
                each = transcript.messages.iter().map(|message| counting.message(message)).collect();
            }
            let line = lines.line_at(transcript.layout.span.start as usize);
            let sum = Sum::from_transcript(&transcript, line, counting, &each);
            let mut sum = sum.map_err(|error| refused(transcript.layout.span.start as usize, &error))?;
            sum.usage = counted.usage;
            sum.dialect = (!transcript.messages.is_empty()).then(|| dialect.name());
            Ok(sum.with_rows(self.by, &transcript, counting, &each, |offset| lines.line_at(offset)))
        });
        let sums: Vec<Sum> = sums.collect::<Result<_, ReadError>>()?;
        sums.into_iter().for_each(|sum| out.add(self.by, sum));
        Ok(())
    }
}

/// How a transcript is counted.
struct Counted {
    counting: Counting,
    /// The count of each message, before any calibration.
    each: Vec<usize>,
    usage: Option<Figures>,
}

impl Counter {
    fn counted(&self, dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Result<Counted, ReadError> {
        let each: Vec<usize> = transcript.messages.iter().map(|message| self.counting.message(message)).collect();
        // A template counts exactly what the model reads, so there is nothing to calibrate.
        let compared = self.counting.template.is_none() && (self.usage || self.counting.by_usage.is_some());
        let fit = || Figures::from_transcript(dialect, transcript, &self.counting, |index| each[index] as u64);
        let usage = compared.then(fit).flatten();
        let counting = match (self.counting.by_usage.is_some(), usage) {
            (false, _) => self.counting.clone(),
            (true, Some(usage)) => usage.calibrate(&self.counting),
            (true, None) => {
                let offset = transcript.layout.span.start as usize;
                return Err(ReadError { offset, what: NO_FIGURES.to_owned() });
            }
        };
        Ok(Counted { counting, each, usage })
    }
}

fn refused(offset: usize, error: &TemplateError) -> ReadError {
    ReadError { offset, what: format!("{REFUSED}: {error}") }
}

/// Counts the input and writes the counts.
pub(super) fn run(args: &CountArgs, global: &Global) -> anyhow::Result<ExitCode> {
    let counting = args.template.counting(&args.counting)?;
    args.counting.note().iter().for_each(report::note);
    report::counted(&counting, global);
    let top = args.top.or((args.by == By::Message).then_some(LARGEST));
    let mut counts = Counts::new(args.by, top, &counting);
    // A reserve is a part of the budget, not of a transcript.
    let counting = Counting { reserve: 0, ..counting };
    let (sources, missing) = args.input.sources(None)?;
    report::warn_empty(sources.is_empty() && missing.is_empty(), global);
    missing.iter().for_each(report::error);
    let mut status = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let batch = Batch {
        jobs: global.jobs,
        input_options: args.input.input_options()?,
        on_error: OnError::Skip,
        ..Batch::default()
    };
    let counter = Counter { counting, by: args.by, live: args.input.live, usage: args.usage };
    batch.run(sources, &counter, |event| {
        match event {
            Event::Opened(opened) => counts.open(&opened.source.name),
            Event::Done { opened, out, .. } => {
                counts.describe(opened, out, global);
                counts.add(&opened.source.name, out);
            }
            Event::Failed(failure) => {
                report::record_error(&failure.error, None, global);
                status = ExitCode::from(2);
            }
            Event::PassedOver(opened) => report::passed_over(opened, global),
            Event::Closed { .. } => {}
        }
        Flow::Continue
    });
    counts.rank();
    // For a mistyped name, a table of zeros would say nothing.
    if counts.total.transcripts > 0 || status == ExitCode::SUCCESS || args.output_format != CountFormat::Table {
        write_counts(&counts, args.output_format)?;
    }
    Ok(status)
}

fn write_counts(counts: &Counts, format: CountFormat) -> anyhow::Result<()> {
    let text = print::print(counts, format);
    match format {
        CountFormat::Json => console::out_json(&text)?,
        CountFormat::Table | CountFormat::Csv => console::out(&text)?,
    }
    Ok(())
}
