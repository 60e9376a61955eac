//! The columns of the table and their meanings.

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};

use crate::view::{ReplayColumn, figure};
use curtail_lab::replay::{PolicyTotal, TotalReport};

/// `--columns`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Column {
    /// Every column
    All,
    /// Input of all requests
    Tokens,
    /// The same as a share of what was recorded
    Share,
    /// Share of the input that is read from the cache
    Cache,
    /// Price of the input
    Cost,
    /// Requests that change something sent before
    Breaks,
    /// Breaks whose cost later requests save
    PaidBack,
    /// References that the model used and that were sent
    References,
    /// The same of those that the arguments of calls used
    InCalls,
    /// References that were not sent, and that a result soon showed again
    ShownAgain,
    /// Last instruction, edited file, failing test and to-do list that were sent
    Probes,
    /// Recorded calls that repeat a call whose result was not sent
    Calls,
    /// Recorded reads of a file whose earlier content was not sent
    Files,
    /// Signed thoughts that the policy makes invalid
    Thoughts,
    /// Tokens of the largest request
    Largest,
    /// Requests for summaries that a model or a command wrote
    Summaries,
}

struct NamedColumn {
    column: Column,
    shown: ReplayColumn,
}

const fn column(
    column: Column,
    title: &'static str,
    cell: fn(&PolicyTotal, &PolicyTotal) -> String,
    meaning: &'static str,
) -> NamedColumn {
    NamedColumn { column, shown: ReplayColumn { title, cell, meaning } }
}

/// The columns without `--columns`.
const DEFAULT_COLUMNS: &[Column] =
    &[Column::Tokens, Column::Share, Column::Cache, Column::Cost, Column::Breaks, Column::References];

const COLUMNS: &[NamedColumn] = &[
    column(Column::Tokens, "tokens sent", |total, _| figure(total.tokens_sent), ""),
    column(Column::Share, "of recorded", of_recorded, "tokens sent, as a share of those in the first row"),
    column(
        Column::Cache,
        "from cache",
        |total, _| percent(total.read_share()),
        "share that the provider reads from its cache",
    ),
    column(Column::Cost, "cost", |total, _| total.cost.map_or_else(|| String::from("?"), dollars), ""),
    column(
        Column::Breaks,
        "breaks",
        |total, _| figure(total.prefix_breaks),
        "requests that change what was sent before, so that all after the change is written to the cache again",
    ),
    column(
        Column::PaidBack,
        "paid back",
        |total, _| figure(total.breaks_paid_back),
        "breaks whose cost later requests save",
    ),
    column(
        Column::References,
        "kept references",
        |total, _| percent(total.kept_share()),
        "share of the names, paths and numbers that the model used again and that were still sent",
    ),
    column(
        Column::InCalls,
        "kept in calls",
        |total, _| percent(total.kept_in_calls_share()),
        "the same share of those that the model used in the arguments of calls",
    ),
    column(
        Column::ShownAgain,
        "shown again",
        |total, _| figure(total.losses.shown_again),
        "references that were not sent, and that a result of the next five requests showed again",
    ),
    column(
        Column::Probes,
        "probes",
        |total, _| percent(total.losses.probes.sent_share()),
        "share of what the model had to know and was sent: last instruction, edited file, failing test, open to-do list",
    ),
    column(
        Column::Calls,
        "repeated calls",
        |total, _| figure(total.losses.repeated_calls),
        "recorded calls that repeat a call whose result was not sent",
    ),
    column(
        Column::Files,
        "files read again",
        |total, _| figure(total.losses.files_read_again),
        "recorded reads of a file whose earlier content was not sent",
    ),
    column(
        Column::Thoughts,
        "thoughts",
        |total, _| figure(total.losses.thoughts_invalidated),
        "signed thoughts that were sent after a prefix that differs from the original one",
    ),
    column(Column::Largest, "largest", |total, _| figure(total.largest_request), "tokens of the largest request"),
    column(
        Column::Summaries,
        "summaries",
        |total, _| figure(total.summary_requests),
        "requests for summaries, each once; the cost includes their input",
    ),
];

/// The policies of `total`, with the columns that `asked` names, or the default ones.
pub(super) fn table(total: &TotalReport, asked: &[Column]) -> Vec<String> {
    let Some(recorded) = total.policies.first().map(|policy| &policy.total) else { return Vec::new() };
    let columns = shown(asked);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once("policy").chain(columns.iter().map(|column| column.title)));
    for policy in &total.policies {
        let mark = if policy.pareto == Some(true) { " *" } else { "" };
        let cells = columns.iter().map(|column| match policy.failed_sessions {
            0 => (column.cell)(&policy.total, recorded),
            _ => String::from("-"),
        });
        table.add_row(std::iter::once(format!("{}{mark}", policy.name)).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim().to_owned()).collect()
}

/// A line for each column whose title does not explain it.
pub(super) fn legend(asked: &[Column]) -> Vec<String> {
    let explained = |column: &&ReplayColumn| {
        (!column.meaning.is_empty()).then(|| format!("  {}: {}", column.title, column.meaning))
    };
    shown(asked).iter().filter_map(explained).collect()
}

/// The columns that `asked` names, or the default ones.
fn shown(asked: &[Column]) -> Vec<&'static ReplayColumn> {
    let asked = if asked.is_empty() { DEFAULT_COLUMNS } else { asked };
    let is_shown = |named: &&NamedColumn| asked.contains(&named.column) || asked.contains(&Column::All);
    COLUMNS.iter().filter(is_shown).map(|named| &named.shown).collect()
}

/// Every column.
pub(super) fn all() -> Vec<&'static ReplayColumn> {
    shown(&[Column::All])
}

/// `$1,234.56`
pub(super) fn dollars(cost: f64) -> String {
    let text = format!("{cost:.2}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    format!("${}.{cents}", whole.parse::<u64>().map_or_else(|_| whole.to_owned(), figure))
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
fn of_recorded(total: &PolicyTotal, recorded: &PolicyTotal) -> String {
    match recorded.tokens_sent {
        0 => String::from("?"),
        all => percent(total.tokens_sent as f64 / all as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([0.194, 1234.5].map(dollars), ["$0.19", "$1,234.50"]);
    }
}
