//! `curtail count`: numbers of tokens, messages and calls.

mod counts;

use std::process::ExitCode;

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};

use super::input::{Global, Input};
use super::{csv, report};
use crate::batch::{Batch, Event, Flow, OnError, Unit, Work};
use crate::cli::options::{CountingOptions, TemplateOptions};
use crate::console;
use counts::{BlockCounts, CountRow, CountedTranscript, Counts};
use curtail_core::counting::REFUSED;
use curtail_core::dialects::{Dialect, ReadError};
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::Transcript;
use curtail_core::visible::one_line;
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
        let counted =
            unit.transcripts(&document)?.into_iter().map(|(dialect, transcript)| self.counted(dialect, transcript));
        for counted in counted.collect::<Result<Vec<_>, _>>()? {
            out.add(self.by, &counted, |offset| lines.line_at(offset));
        }
        Ok(())
    }
}

impl Counter {
    fn counted<'t>(
        &self,
        dialect: &dyn Dialect,
        mut transcript: Transcript<'t>,
    ) -> Result<CountedTranscript<'t>, ReadError> {
        let offset = transcript.layout.span.start as usize;
        let is_calibrated = self.counting.by_usage.is_some();
        let mut each: Vec<usize> = transcript.messages.iter().map(|message| self.counting.message(message)).collect();
        // A template counts exactly what the model reads, so there is nothing to calibrate.
        let compared = self.counting.template.is_none() && (self.usage || is_calibrated);
        let fit = || Figures::from_transcript(dialect, &transcript, &self.counting, |index| each[index] as u64);
        let usage = compared.then(fit).flatten();
        let counting = match usage {
            _ if !is_calibrated => self.counting.clone(),
            Some(usage) => usage.calibrate(&self.counting),
            None => return Err(ReadError { offset, what: NO_FIGURES.to_owned() }),
        };
        if self.live {
            transcript.keep_live();
        }
        if self.live || is_calibrated {
            each = transcript.messages.iter().map(|message| counting.message(message)).collect();
        }
        let view = View::of_layout(&transcript.layout, &transcript.messages);
        let tokens = match counting.template {
            Some(_) => {
                counting.total(&view).map_err(|error| ReadError { offset, what: format!("{REFUSED}: {error}") })?
            }
            None => counting.outside(&view) + each.iter().sum::<usize>(),
        };
        Ok(CountedTranscript { dialect: dialect.name(), transcript, counting, each, tokens, usage })
    }
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
    if counts.sums.total.transcripts > 0 || status == ExitCode::SUCCESS || args.output_format != CountFormat::Table {
        write_counts(&counts, args.output_format)?;
    }
    Ok(status)
}

fn write_counts(counts: &Counts, format: CountFormat) -> anyhow::Result<()> {
    match format {
        CountFormat::Table => console::out(&table(counts))?,
        CountFormat::Json => console::out_json(&format!("{}\n", json(counts)))?,
        CountFormat::Csv => console::out(&comma_separated(counts))?,
    }
    Ok(())
}

// Counts as a table, as JSON, or as comma-separated values.

const PERCENTILES: [usize; 3] = [50, 90, 99];

/// A column of numbers.
#[derive(Clone, Copy)]
struct CountColumn {
    title: &'static str,
    value: fn(&CountRow) -> usize,
}

/// The columns of the table: live tokens only if they differ, and no estimated ones, which have a mark instead.
fn table_columns(counts: &Counts) -> Vec<CountColumn> {
    let differ = counts.sums.total.live != counts.sums.total.tokens;
    let columns = columns(counts.by).iter().copied();
    columns.filter(|column| column.title != ESTIMATED && (column.title != LIVE || differ)).collect()
}

/// The title of the tokens of content of unknown type, which are estimated.
const ESTIMATED: &str = "estimated";

/// The mark of numbers of tokens that are partly estimated.
const ESTIMATE: &str = "~";

/// The title of all tokens.
const TOKENS: &str = "tokens";

/// The title of the tokens that the model still reads.
const LIVE: &str = "live";

/// All columns. The first ones apply only to rows of whole files or transcripts.
const COLUMNS: [CountColumn; 7] = [
    CountColumn { title: "transcripts", value: |row| row.transcripts },
    CountColumn { title: "turns", value: |row| row.turns },
    CountColumn { title: "messages", value: |row| row.messages },
    CountColumn { title: "calls", value: |row| row.calls },
    CountColumn { title: TOKENS, value: |row| row.tokens },
    CountColumn { title: ESTIMATED, value: |row| row.estimated },
    CountColumn { title: LIVE, value: |row| row.live },
];

/// The columns that apply to rows of this kind.
fn columns(by: By) -> &'static [CountColumn] {
    let first = match by {
        By::File => 0,
        By::Transcript => 1,
        By::Role => 2,
        By::Message | By::Tool => 3,
    };
    &COLUMNS[first..]
}

const fn title(by: By) -> &'static str {
    match by {
        By::File => "file",
        By::Transcript => "transcript",
        By::Message => "message",
        By::Role => "role",
        By::Tool => "tool",
    }
}

/// The title of the share of all tokens, a column of rows that are parts of a transcript.
const SHARE: &str = "share";

/// The share of `tokens` in all tokens, in thousandths, if rows of this kind have one.
fn share(counts: &Counts, tokens: usize) -> Option<usize> {
    let total = counts.sums.total.tokens;
    let has_share = matches!(counts.by, By::Message | By::Role | By::Tool);
    has_share.then(|| (tokens * 1000 + total / 2).checked_div(total).unwrap_or_default())
}

/// The titles of all columns but the first.
fn titles(counts: &Counts, columns: &[CountColumn]) -> Vec<&'static str> {
    let share = share(counts, 0).map(|_| SHARE);
    columns.iter().map(|column| column.title).chain(share).collect()
}

fn table(counts: &Counts) -> String {
    let columns = table_columns(counts);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once(title(counts.by)).chain(titles(counts, &columns)));
    let row = |name: &str, amount: &CountRow| {
        let mark = |title: &str| {
            let estimated = amount.estimated > 0 && (title == TOKENS || title == LIVE);
            if estimated { ESTIMATE } else { "" }
        };
        let cells = columns.iter().map(|column| format!("{}{}", mark(column.title), (column.value)(amount)));
        let share = share(counts, amount.tokens).map(|share| format!("{}.{} %", share / 10, share % 10));
        std::iter::once(one_line(name).into_owned()).chain(cells).chain(share).collect::<Vec<_>>()
    };
    for (name, amount) in counts.rows() {
        table.add_row(row(name, amount));
    }
    let (left_out, sum) = &counts.left_out;
    if *left_out > 0 {
        table.add_row(row(&format!("{left_out} more"), sum));
    }
    // Tools account for only part of the tokens: a total below them would not be their sum.
    if counts.rows().len() + left_out != 1 && counts.by != By::Tool {
        table.add_row(row("total", &counts.sums.total));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
    format!("{}\n{}\n", lines.join("\n"), footer(counts))
}

fn footer(counts: &Counts) -> String {
    let about = if counts.exact { "" } else { ", an estimate" };
    let reserved = match counts.reserve {
        0 => String::new(),
        reserve => format!("; {reserve} tokens reserved for the reply are not included"),
    };
    let counted = format!(
        "counted with {}{about}{}{reserved}",
        counts.tokenizer,
        opaque(counts.sums.opaque) + &estimated(counts)
    ) + &usage(counts);
    let Some(longest) = counts.longest.as_ref().filter(|_| counts.sums.total.transcripts > 1) else { return counted };
    let [p50, p90, p99] = PERCENTILES.map(|percent| counts.percentile(percent));
    format!(
        "tokens per transcript: p50 {p50}, p90 {p90}, p99 {p99}, max {} ({}:{})\n{counted}",
        longest.tokens,
        one_line(&longest.file),
        longest.line
    )
}

/// The provider's count and our calibrated count, on a line of its own.
fn usage(counts: &Counts) -> String {
    let usage = counts.sums.usage;
    let last = match usage.transcripts {
        0 => return String::new(),
        1 => String::from("the last request"),
        more => format!("the last requests of {more} transcripts"),
    };
    format!(
        "\nthe provider counted {} tokens in {last}; --tokenizer usage counts {}: {} that the log does not contain, and {} for \
         {} by {}",
        usage.provider,
        usage.calibrated,
        usage.hidden,
        usage.calibrated - usage.hidden.min(usage.calibrated),
        usage.counted,
        counts.tokenizer.strip_prefix("usage:").unwrap_or(&counts.tokenizer)
    ) + &dropped(usage.dropped)
}

/// Why the two counts of the last request differ, on a line of its own.
fn dropped(transcripts: usize) -> String {
    let transcripts = match transcripts {
        0 => return String::new(),
        1 => String::from("1 transcript"),
        more => format!("{more} transcripts"),
    };
    format!(
        "\ncut by the program without a record in the log: {transcripts}; the provider's count falls, and ours contains what \
         was dropped"
    )
}

fn estimated(counts: &Counts) -> String {
    match counts.sums.total.estimated {
        0 => String::new(),
        tokens => format!("; {ESTIMATE}{tokens} of the tokens are an estimate: their text has an unknown type"),
    }
}

fn opaque(boundaries: usize) -> String {
    match boundaries {
        0 => String::new(),
        1 => String::from("; without 1 encrypted compaction, whose tokens are unknown"),
        more => format!("; without {more} encrypted compactions, whose tokens are unknown"),
    }
}

fn json(counts: &Counts) -> serde_json::Value {
    let amount = |amount: &CountRow| {
        let cells = columns(counts.by).iter().map(|column| (column.title.to_owned(), (column.value)(amount).into()));
        cells.collect::<serde_json::Map<String, serde_json::Value>>()
    };
    let rows = counts.rows().iter().map(|(name, counted)| {
        let mut row = serde_json::Map::from_iter([(title(counts.by).to_owned(), name.as_str().into())]);
        row.extend(amount(counted));
        row.extend(share(counts, counted.tokens).map(|share| (SHARE.to_owned(), fraction(share).into())));
        serde_json::Value::Object(row)
    });
    let percentiles = PERCENTILES.map(|percent| (format!("p{percent}"), counts.percentile(percent).into()));
    let usage = Some(counts.sums.usage).filter(|usage| usage.transcripts > 0);
    let (left_out, sum) = &counts.left_out;
    serde_json::json!({
        "tokenizer": counts.tokenizer,
        "exact": counts.exact,
        "transcripts": counts.sums.total.transcripts,
        "turns": counts.sums.total.turns,
        "messages": counts.sums.total.messages,
        "calls": counts.sums.total.calls,
        "tokens": counts.sums.total.tokens,
        "estimated": counts.sums.total.estimated,
        "live": counts.sums.total.live,
        "reserve": counts.reserve,
        "unknown_compactions": counts.sums.opaque,
        "usage": usage,
        "percentiles": serde_json::Map::from_iter(percentiles),
        "longest": counts.longest,
        "by": title(counts.by),
        "rows": rows.collect::<Vec<_>>(),
        "more": {"rows": left_out, "tokens": sum.tokens},
    })
}

/// Comma-separated values. Programs read them, so the columns depend only on the kind of row.
fn comma_separated(counts: &Counts) -> String {
    let columns = columns(counts.by);
    let header = std::iter::once(title(counts.by)).chain(titles(counts, columns));
    let mut text = header.collect::<Vec<_>>().join(",") + "\n";
    for (name, amount) in counts.rows() {
        let cells = columns.iter().map(|column| (column.value)(amount).to_string());
        let share = share(counts, amount.tokens).map(|share| format!("{:.3}", fraction(share)));
        text.push_str(&std::iter::once(csv::field(name)).chain(cells).chain(share).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "a share is at most 1000 thousandths")]
fn fraction(thousandths: usize) -> f64 {
    thousandths as f64 / 1000.0
}
