//! Counts as a table, as JSON, or as comma-separated values.

use comfy_table::{CellAlignment, Table, presets};

use super::counts::{CountRow, Counts};
use super::{By, CountFormat};
use crate::cli::csv;
use curtail_core::visible::one_line;

const PERCENTILES: [usize; 3] = [50, 90, 99];

/// The counts in `format`, with a final line end.
pub(super) fn print(counts: &Counts, format: CountFormat) -> String {
    match format {
        CountFormat::Table => table(counts),
        CountFormat::Json => format!("{}\n", json(counts)),
        CountFormat::Csv => csv(counts),
    }
}

/// A column of numbers.
#[derive(Clone, Copy)]
struct CountColumn {
    title: &'static str,
    value: fn(&CountRow) -> usize,
}

/// The columns of the table: live tokens only if they differ, and no estimated ones, which have a mark instead.
fn table_columns(counts: &Counts) -> Vec<CountColumn> {
    let differ = counts.total.live != counts.total.tokens;
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
    let total = counts.total.tokens;
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
        table.add_row(row("total", &counts.total));
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
    let counted =
        format!("counted with {}{about}{}{reserved}", counts.tokenizer, opaque(counts.opaque) + &estimated(counts))
            + &usage(counts);
    let Some(longest) = counts.longest.as_ref().filter(|_| counts.total.transcripts > 1) else { return counted };
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
    let usage = counts.usage;
    let last = match usage.transcripts {
        0 => return String::new(),
        1 => String::from("the last request"),
        more => format!("the last requests of {more} transcripts"),
    };
    format!(
        "\nthe provider counted {} tokens in {last}; --tokenizer usage counts {}: {} that the log does not contain, and {} for \
         {} by {}",
        usage.provider,
        usage.predicted,
        usage.hidden,
        usage.predicted - usage.hidden.min(usage.predicted),
        usage.ours,
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
    match counts.total.estimated {
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
    let usage = Some(counts.usage).filter(|usage| usage.transcripts > 0).map(|usage| {
        serde_json::json!({"transcripts": usage.transcripts, "provider": usage.provider, "calibrated": usage.predicted,
            "hidden": usage.hidden, "counted": usage.ours, "dropped": usage.dropped})
    });
    let (left_out, sum) = &counts.left_out;
    let longest = counts
        .longest
        .as_ref()
        .map(|longest| serde_json::json!({"file": longest.file, "line": longest.line, "tokens": longest.tokens}));
    serde_json::json!({
        "tokenizer": counts.tokenizer,
        "exact": counts.exact,
        "transcripts": counts.total.transcripts,
        "turns": counts.total.turns,
        "messages": counts.total.messages,
        "calls": counts.total.calls,
        "tokens": counts.total.tokens,
        "estimated": counts.total.estimated,
        "live": counts.total.live,
        "reserve": counts.reserve,
        "unknown_compactions": counts.opaque,
        "usage": usage,
        "percentiles": serde_json::Map::from_iter(percentiles),
        "longest": longest,
        "by": title(counts.by),
        "rows": rows.collect::<Vec<_>>(),
        "more": {"rows": left_out, "tokens": sum.tokens},
    })
}

/// Comma-separated values. Programs read them, so the columns depend only on the kind of row.
fn csv(counts: &Counts) -> String {
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
