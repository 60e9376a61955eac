//! `curtail count`: numbers of tokens, messages and calls.

use std::process::ExitCode;

use crate::console;
use crate::options::counting::{CountingOptions, TemplateOptions};
use crate::options::global::Global;
use crate::options::input::Input;
use crate::reports::count_table::{CountFormat, csv_header, flush, write_counts};
use crate::reports::counts::Counts;
use crate::reports::remarks;
use crate::works::count::{By, Counter};
use curtail_core::processors::Counting;
use curtail_io::batch::{Event, Flow};

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

impl CountArgs {
    /// How texts in memory are counted and read.
    ///
    /// # Errors
    /// As [`run`](Self::run), and flags for logs.
    pub(super) fn of_texts(&self) -> anyhow::Result<(Counting, &Input)> {
        // A reserve is a part of the budget, not of a transcript.
        let counting = Counting { reserve: 0, ..self.template.counting(&self.counting)? };
        anyhow::ensure!(
            counting.by_usage.is_none() && !self.input.live,
            "--tokenizer usage and --live are for logs; run the program itself"
        );
        Ok((counting, &self.input))
    }

    /// Counts the input and writes the counts.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let counting = self.template.counting(&self.counting)?;
        remarks::counted(&counting);
        let top = self.top.or((self.by == By::Message).then_some(LARGEST));
        let gradual = self.by == By::Transcript && top.is_none() && self.output_format == CountFormat::Csv;
        let mut counts = Counts::new(self.by, top, gradual, &counting);
        let status = self.read(&mut counts, counting, global)?;
        counts.finish();
        counts.note_missing_rows();
        // For a mistyped name, a table of zeros would say nothing.
        if counts.sums.total.transcripts > 0 || status == ExitCode::SUCCESS || self.output_format != CountFormat::Table
        {
            write_counts(&counts, self.output_format)?;
        }
        Ok(status)
    }

    /// Reads all inputs into `counts`, and writes the rows that can be written at once.
    fn read(&self, counts: &mut Counts, counting: Counting, global: &Global) -> anyhow::Result<ExitCode> {
        // A reserve is a part of the budget, not of a transcript.
        let counting = Counting { reserve: 0, ..counting };
        let (sources, missing) = self.input.sources(None)?;
        let mut failures = remarks::Failures::of_inputs(&sources, &missing, global);
        let counter =
            Counter { counting, by: self.by, live: self.input.live, usage: self.usage, verbose: global.verbose };
        let mut written = if counts.gradual { console::out(&csv_header(counts)) } else { Ok(()) };
        self.input.batch(global)?.run(sources, &counter, |event| {
            failures.note(&event);
            match event {
                Event::Opened(opened) => counts.open(&opened.source.name),
                Event::Done { opened, out, .. } => {
                    counts.describe(opened, out, global);
                    counts.add(&opened.source.name, out);
                    written = flush(counts);
                }
                Event::Failed(_) | Event::PassedOver(_) | Event::Closed { .. } => {}
            }
            if written.is_ok() { Flow::Continue } else { Flow::Stop }
        });
        written?;
        Ok(failures.status)
    }
}
