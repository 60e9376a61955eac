//! The columns of the table of policies, and their meanings.

use std::collections::HashSet;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::reports::screen::Screen;
use crate::reports::table::{Kind, Table};
use curtail_core::numbers::figure;
use curtail_lab::replay::{NamedTotal, PolicyTotal, TotalReport};
use curtail_view::ReplayColumn;

/// The values of `--columns`.
pub(crate) type Asked<'a> = &'a [&'static [ReplayColumn]];

/// Reads a value of `--columns`: the name of a column, or `all`.
pub(crate) fn columns() -> impl TypedValueParser<Value = &'static [ReplayColumn]> {
    let all = PossibleValue::new("all").help("Every column");
    let named = COLUMNS.iter().map(|column| PossibleValue::new(column.name).help(column.help));
    PossibleValuesParser::new(std::iter::once(all).chain(named)).map(|name| {
        let named = COLUMNS.iter().find(|column| column.name == name);
        named.map_or(COLUMNS, std::slice::from_ref)
    })
}

/// The columns without `--columns`.
const DEFAULT_COLUMNS: [&str; 6] = ["tokens", "share", "cache", "cost", "breaks", "references"];

const fn column(
    name: &'static str,
    help: &'static str,
    title: &'static str,
    cell: fn(&PolicyTotal, &PolicyTotal) -> String,
    meaning: &'static str,
) -> ReplayColumn {
    ReplayColumn { name, help, title, cell, meaning }
}

/// The columns of the table, each under its name in `--columns`.
pub(crate) const COLUMNS: &[ReplayColumn] = &[
    column("tokens", "Input of all requests", "tokens sent", |total, _| figure(total.tokens_sent), ""),
    column(
        "share",
        "The same as a share of what was recorded",
        "of recorded",
        of_recorded,
        "tokens sent, as a share of those in the first row",
    ),
    column(
        "cache",
        "Share of the input that is read from the cache",
        "from cache",
        |total, _| percent(total.read_share()),
        "share that the provider reads from its cache",
    ),
    column(
        "cost",
        "Price of the requests",
        "cost",
        |total, _| total.cost.map_or_else(|| String::from("?"), dollars),
        "",
    ),
    column(
        "breaks",
        "Requests that change something sent before",
        "breaks",
        |total, _| figure(total.prefix_breaks),
        "requests that change what was sent before, so that all after the change is written to the cache again",
    ),
    column(
        "paid-back",
        "Breaks whose cost later requests save",
        "paid back",
        |total, _| figure(total.breaks_paid_back),
        "breaks whose cost later requests save",
    ),
    column(
        "references",
        "References that the model used and that were sent",
        "kept references",
        |total, _| percent(total.kept_share()),
        "share of the names, paths and numbers that the model used again and that were still sent",
    ),
    column(
        "in-calls",
        "The same of those that the arguments of calls used",
        "kept in calls",
        |total, _| percent(total.kept_in_calls_share()),
        "the same share of those that the model used in the arguments of calls",
    ),
    column(
        "shown-again",
        "References that were not sent, and that a result soon showed again",
        "shown again",
        |total, _| figure(total.losses.shown_again),
        "references that were not sent, and that a result of the next five requests showed again",
    ),
    column(
        "probes",
        "Last instruction, edited file, failing test and to-do list that were sent",
        "probes",
        |total, _| percent(total.losses.probes.sent_share()),
        "share of what the model had to know and was sent: last instruction, edited file, failing test, open to-do list",
    ),
    column(
        "calls",
        "Recorded calls that repeat a call whose result was not sent",
        "repeated calls",
        |total, _| figure(total.losses.repeated_calls),
        "recorded calls that repeat a call whose result was not sent",
    ),
    column(
        "files",
        "Recorded reads of a file whose earlier content was not sent",
        "files read again",
        |total, _| figure(total.losses.files_read_again),
        "recorded reads of a file whose earlier content was not sent",
    ),
    column(
        "thoughts",
        "Signed thoughts that the policy makes invalid",
        "thoughts",
        |total, _| figure(total.losses.thoughts_invalidated),
        "signed thoughts that were sent after a prefix that differs from the original one",
    ),
    column(
        "largest",
        "Tokens of the largest request",
        "largest",
        |total, _| figure(total.largest_request),
        "tokens of the largest request",
    ),
    column(
        "summaries",
        "Requests for summaries that a model or a command wrote",
        "summaries",
        |total, _| figure(total.summary_requests),
        "requests for summaries, each once; the cost includes their input",
    ),
];

/// The policies of `total`, with the columns that `asked` names, or the default ones.
pub(crate) fn policy_table(total: &TotalReport, asked: Asked<'_>, screen: Screen) -> Vec<String> {
    let Some(recorded) = total.policies.first().map(|policy| &policy.total) else { return Vec::new() };
    let columns = shown(asked);
    let rows = total.policies.iter().map(|policy| {
        let mark = if policy.pareto == Some(true) { " *" } else { "" };
        let cells = columns.iter().map(|column| match policy.failed_sessions {
            0 => screen.cell((column.cell)(&policy.total, recorded)),
            _ => String::from("-"),
        });
        std::iter::once(format!("{}{mark}", policy.name)).chain(cells)
    });
    let counts = columns.iter().map(|column| (column.title, Kind::Count));
    Table::new(std::iter::once(("policy", Kind::Name)).chain(counts)).with(rows).lines(screen)
}

/// A line for each column whose title does not explain it, if it says something about these policies.
pub(crate) fn legend(total: &TotalReport, asked: Asked<'_>) -> Vec<String> {
    let Some(recorded) = total.policies.first().map(|policy| &policy.total) else { return Vec::new() };
    let compared: Vec<&NamedTotal> = total.policies.iter().filter(|policy| policy.failed_sessions == 0).collect();
    let mut explained = shown(asked);
    explained.retain(|column| {
        let cells: Vec<String> = compared.iter().map(|policy| (column.cell)(&policy.total, recorded)).collect();
        !column.meaning.is_empty() && cells.windows(2).any(|pair| pair[0] != pair[1])
    });
    explained.iter().map(|column| format!("  {}: {}", column.title, column.meaning)).collect()
}

/// The columns that `asked` names, in this order and each once, or the default ones.
pub(crate) fn shown(asked: Asked<'_>) -> Vec<&'static ReplayColumn> {
    if asked.is_empty() {
        return COLUMNS.iter().filter(|column| DEFAULT_COLUMNS.contains(&column.name)).collect();
    }
    let mut names = HashSet::new();
    asked.iter().copied().flatten().filter(|column| names.insert(column.name)).collect()
}

/// `$1,234.56`
pub(crate) fn dollars(cost: f64) -> String {
    let text = format!("{cost:.2}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    format!("${}.{cents}", whole.parse::<u64>().map_or_else(|_| whole.to_owned(), figure))
}

pub(crate) fn percent(share: f64) -> String {
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
