//! Counts as a table, as JSON, or as comma-separated values.

use comfy_table::{CellAlignment, Table, presets};

use super::tally::{Amount, Tally};
use super::{By, Format};

const PERCENTILES: [usize; 4] = [50, 90, 99, 100];

/// The counts in that format, with a line end.
pub(super) fn print(tally: &Tally, format: Format) -> String {
    match format {
        Format::Table => table(tally),
        Format::Json => format!("{}\n", json(tally)),
        Format::Csv => csv(tally),
    }
}

/// The columns that say something for rows of this kind.
fn columns(by: By) -> &'static [(&'static str, fn(&Amount) -> usize)] {
    match by {
        By::File => &[
            ("transcripts", |a| a.transcripts),
            ("messages", |a| a.messages),
            ("calls", |a| a.calls),
            ("tokens", |a| a.tokens),
        ],
        By::Transcript | By::Role => &[("messages", |a| a.messages), ("calls", |a| a.calls), ("tokens", |a| a.tokens)],
        By::Tool => &[("calls", |a| a.calls), ("tokens", |a| a.tokens)],
    }
}

const fn title(by: By) -> &'static str {
    match by {
        By::File => "file",
        By::Transcript => "transcript",
        By::Role => "role",
        By::Tool => "tool",
    }
}

fn table(tally: &Tally) -> String {
    let columns = columns(tally.by);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once(title(tally.by)).chain(columns.iter().map(|(name, _)| *name)));
    let row = |name: &str, amount: &Amount| {
        let cells: Vec<String> = columns.iter().map(|(_, of)| of(amount).to_string()).collect();
        std::iter::once(name.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    for (name, amount) in &tally.rows {
        table.add_row(row(name, amount));
    }
    // Tools are but a part of all that is counted: a total below them would be no sum.
    if tally.rows.len() != 1 && tally.by != By::Tool {
        table.add_row(row("total", &tally.total));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
    format!("{}\n{}\n", lines.join("\n"), footer(tally))
}

fn footer(tally: &Tally) -> String {
    let about = if tally.exact { "" } else { ", an estimate" };
    let counted = format!("counted with {}{about}", tally.tokenizer);
    let Some(longest) = tally.longest.as_ref().filter(|_| tally.total.transcripts > 1) else { return counted };
    let [half, most, nearly, _] = PERCENTILES.map(|percent| tally.percentile(percent));
    format!(
        "tokens a transcript: {half} at most in half of them, {most} in 90 %, {nearly} in 99 %; the longest, {}:{}, has {}\n{counted}",
        longest.file, longest.line, longest.tokens
    )
}

fn json(tally: &Tally) -> serde_json::Value {
    let amount = |amount: &Amount| {
        let cells = columns(tally.by).iter().map(|(name, of)| ((*name).to_owned(), of(amount).into()));
        cells.collect::<serde_json::Map<String, serde_json::Value>>()
    };
    let rows = tally.rows.iter().map(|(name, own)| {
        let mut row = serde_json::Map::from_iter([(title(tally.by).to_owned(), name.as_str().into())]);
        row.extend(amount(own));
        serde_json::Value::Object(row)
    });
    let percentiles = PERCENTILES.map(|percent| (format!("p{percent}"), tally.percentile(percent).into()));
    let longest = tally
        .longest
        .as_ref()
        .map(|longest| serde_json::json!({"file": longest.file, "line": longest.line, "tokens": longest.tokens}));
    serde_json::json!({
        "tokenizer": tally.tokenizer,
        "exact": tally.exact,
        "transcripts": tally.total.transcripts,
        "messages": tally.total.messages,
        "calls": tally.total.calls,
        "tokens": tally.total.tokens,
        "percentiles": serde_json::Map::from_iter(percentiles),
        "longest": longest,
        "by": title(tally.by),
        "rows": rows.collect::<Vec<_>>(),
    })
}

fn csv(tally: &Tally) -> String {
    let columns = columns(tally.by);
    let header = std::iter::once(title(tally.by)).chain(columns.iter().map(|(name, _)| *name));
    let mut text = header.collect::<Vec<_>>().join(",") + "\n";
    for (name, amount) in &tally.rows {
        let cells = columns.iter().map(|(_, of)| of(amount).to_string());
        text.push_str(&std::iter::once(quoted(name)).chain(cells).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

/// A field as RFC 4180 wants it.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
