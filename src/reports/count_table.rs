//! Counts as a table, as JSON, or as comma-separated values.

use clap::ValueEnum;

use crate::console;
use crate::reports::counts::Counts;
use crate::reports::csv::csv_field;
use crate::reports::screen::Screen;
use crate::reports::table::{Kind, Table};
use crate::works::count::By;
use crate::works::count_rows::CountRow;
use curtail_core::numbers::{counted, figure};
use curtail_core::visible::one_line;
use curtail_io::FileError;

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountFormat {
    /// A table
    Table,
    /// One JSON object
    Json,
    /// CSV with a header line
    Csv,
}

/// Writes rows that need not wait for the others, or leaves out some of many.
pub(crate) fn flush(counts: &mut Counts) -> Result<(), FileError> {
    if !counts.gradual {
        counts.leave_out_rows();
        return Ok(());
    }
    let rows = csv_rows(counts);
    counts.rows.kept.clear();
    console::out(&rows)
}

/// Writes the counts, without the rows that were written while the input was read.
pub(crate) fn write_counts(counts: &Counts, format: CountFormat) -> anyhow::Result<()> {
    match format {
        CountFormat::Table => console::out(&table(counts, Screen::of_stdout()))?,
        CountFormat::Json => console::out_json(&format!("{}\n", json(counts)))?,
        CountFormat::Csv if counts.gradual => {}
        CountFormat::Csv => console::out(&(csv_header(counts) + &csv_rows(counts)))?,
    }
    Ok(())
}

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

/// The name of what is neither a call nor a result, in a table of tools.
const OUTSIDE_TOOLS: &str = "(no tool)";

/// What the rows of tools leave of the total; nothing for rows of another kind.
fn outside_tools(counts: &Counts) -> Option<CountRow> {
    let total = counts.sums.total;
    let mut tools = counts.rows.left_out_sum;
    counts.rows.kept.iter().for_each(|(_, row)| tools.add(*row));
    (counts.by == By::Tool).then(|| CountRow {
        tokens: total.tokens.saturating_sub(tools.tokens),
        live: total.live.saturating_sub(tools.live),
        estimated: total.estimated.saturating_sub(tools.estimated),
        ..CountRow::default()
    })
}

fn table(counts: &Counts, screen: Screen) -> String {
    let columns = table_columns(counts);
    let row = |name: &str, amount: &CountRow| {
        let cells = columns.iter().map(|column| {
            let is_estimated = amount.estimated > 0 && [TOKENS, LIVE].contains(&column.title);
            let mark = if is_estimated { ESTIMATE } else { "" };
            format!("{mark}{}", screen.number((column.value)(amount)))
        });
        let share = share(counts, amount.tokens).map(|share| format!("{}.{} %", share / 10, share % 10));
        std::iter::once(name.to_owned()).chain(cells).chain(share).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = counts.rows.kept.iter().map(|(name, amount)| row(name, amount)).collect();
    if counts.rows.left_out > 0 {
        rows.push(row(&format!("{} more", counts.rows.left_out), &counts.rows.left_out_sum));
    }
    rows.extend(outside_tools(counts).map(|rest| row(OUTSIDE_TOOLS, &rest)));
    if rows.len() != 1 {
        rows.push(row("total", &counts.sums.total));
    }
    let first = if matches!(counts.by, By::Role | By::Tool) { Kind::Name } else { Kind::Path };
    let numbers = titles(counts, &columns).into_iter().map(|title| (title, Kind::Count));
    let table = Table::new(std::iter::once((title(counts.by), first)).chain(numbers)).with(rows);
    format!("{}{}\n", table.text(screen), screen.note(&footer(counts, screen)))
}

fn footer(counts: &Counts, screen: Screen) -> String {
    let precision = if counts.exact { "" } else { ", an estimate" };
    let reserved = match counts.reserve {
        0 => String::new(),
        reserve => format!("; {} reserved for the reply are not included", counted(reserve, "token")),
    };
    let about = format!(
        "counted with {}{precision}{}{reserved}",
        counts.tokenizer,
        opaque(counts.sums.opaque) + &estimated(counts)
    ) + &usage(counts);
    let Some(longest) = counts.longest.as_ref().filter(|_| counts.sums.total.transcripts > 1) else { return about };
    let [p50, p90, p99] = PERCENTILES.map(|percent| screen.number(counts.percentile(percent)));
    format!(
        "tokens per transcript: p50 {p50}, p90 {p90}, p99 {p99}, max {} ({}:{})\n{about}",
        screen.number(longest.tokens),
        one_line(&longest.file),
        longest.line
    )
}

/// The provider's count and ours, on a line of its own; the calibrated one, if it differs.
fn usage(counts: &Counts) -> String {
    let usage = counts.usage;
    let last = match usage.transcripts {
        0 => return shared(usage.shared),
        1 => String::from("the last request"),
        more => format!("the last requests of {}", counted(more, "transcript")),
    };
    let calibrated = match usage.calibrated == usage.provider {
        true => String::new(),
        false => format!("; --tokenizer usage counts {}", figure(usage.calibrated)),
    };
    format!(
        "\nprovider's count of {last}: {} (ours: {} in {}; {} of instructions and tools are not in the log){calibrated}",
        figure(usage.provider),
        figure(usage.counted),
        counts.tokenizer.strip_prefix("usage:").unwrap_or(&counts.tokenizer),
        figure(usage.hidden),
    ) + &dropped(usage.dropped)
        + &shared(usage.shared)
}

/// How many requests were left out, on a line of its own.
fn shared(requests: usize) -> String {
    match requests {
        0 => String::new(),
        _ => format!("\nshared: {} repeated from earlier files, which count once", counted(requests, "request")),
    }
}

/// Why the two counts of the last request differ, on a line of its own.
fn dropped(transcripts: usize) -> String {
    if transcripts == 0 {
        return String::new();
    }
    format!(
        "\nshorter than logged: {}, in which the provider counted less from some request on, although the log records no cut; \
         our count contains what was left out",
        counted(transcripts, "transcript")
    )
}

fn estimated(counts: &Counts) -> String {
    match counts.sums.total.estimated {
        0 => String::new(),
        tokens => {
            format!("; {ESTIMATE}{} of the tokens are an estimate: their text has an unknown type", figure(tokens))
        }
    }
}

fn opaque(boundaries: usize) -> String {
    match boundaries {
        0 => String::new(),
        _ => format!("; without {}, whose tokens are unknown", counted(boundaries, "encrypted compaction")),
    }
}

fn json(counts: &Counts) -> serde_json::Value {
    let rows = counts.rows.kept.iter().map(|(name, counted)| {
        let mut row = serde_json::Map::from_iter([(title(counts.by).to_owned(), name.as_str().into())]);
        row.extend(columns(counts.by).iter().map(|column| (column.title.to_owned(), (column.value)(counted).into())));
        row.extend(share(counts, counted.tokens).map(|share| (SHARE.to_owned(), fraction(share).into())));
        serde_json::Value::Object(row)
    });
    let percentiles = PERCENTILES.map(|percent| (format!("p{percent}"), counts.percentile(percent).into()));
    let usage = Some(counts.usage).filter(|usage| usage.transcripts + usage.shared > 0);
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
        "more": {"rows": counts.rows.left_out, "tokens": counts.rows.left_out_sum.tokens},
    })
}

/// The header of comma-separated values. Programs read them, so the columns depend only on the kind of row.
pub(crate) fn csv_header(counts: &Counts) -> String {
    let header = std::iter::once(title(counts.by)).chain(titles(counts, columns(counts.by)));
    header.collect::<Vec<_>>().join(",") + "\n"
}

pub(crate) fn csv_rows(counts: &Counts) -> String {
    let columns = columns(counts.by);
    let mut text = String::new();
    for (name, amount) in &counts.rows.kept {
        let cells = columns.iter().map(|column| (column.value)(amount).to_string());
        let share = share(counts, amount.tokens).map(|share| format!("{:.3}", fraction(share)));
        text.push_str(&std::iter::once(csv_field(name)).chain(cells).chain(share).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "a share is at most 1000 thousandths")]
fn fraction(thousandths: usize) -> f64 {
    thousandths as f64 / 1000.0
}
