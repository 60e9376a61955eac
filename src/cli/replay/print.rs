//! The report as a table, as JSON and as comma-separated values. Sessions are written as they are done.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use super::Format;
use crate::cli::csv;
use crate::console;
use crate::view::{replayed_page, replayed_session};
use curtail_core::visible::one_line;
use curtail_lab::replay::{NamedTotal, PolicyTotal, Replay, RequestReport, SessionReport, TotalReport};

/// Writes the report.
pub(super) struct Printer<'r> {
    format: Format,
    replay: &'r Replay,
    total: TotalReport,
    compacted: usize,
    dropped: usize,
    timeless: usize,
    unpriced: Vec<String>,
    missing: String,
    /// The sessions of a page.
    sections: Vec<String>,
}

impl<'r> Printer<'r> {
    pub(super) fn new(format: Format, replay: &'r Replay) -> Self {
        Self {
            format,
            replay,
            total: TotalReport::default(),
            compacted: 0,
            dropped: 0,
            timeless: 0,
            unpriced: Vec::new(),
            missing: String::new(),
            sections: Vec::new(),
        }
    }

    /// What precedes the sessions.
    pub(super) fn begin(&self) -> anyhow::Result<()> {
        match self.format {
            Format::Text | Format::Html => Ok(()),
            Format::Json => {
                let tokenizer = serde_json::to_string(self.replay.counting.tokenizer.name())?;
                let date = serde_json::to_string(&self.replay.prices.date)?;
                json(&format!("{{\"version\":1,\"tokenizer\":{tokenizer},\"prices\":{date},\"sessions\":["))
            }
            Format::Csv => text(&format!("{}\n", CSV.map(|(name, _)| name).join(","))),
        }
    }

    /// One session.
    pub(super) fn session(&mut self, session: &SessionReport) -> anyhow::Result<()> {
        let first = self.total.sessions == 0;
        self.total.add(session);
        self.compacted += usize::from(!session.compacted_before.is_empty());
        self.dropped += usize::from(!session.dropped_before.is_empty());
        self.timeless += usize::from(!session.times);
        if session.policies.iter().any(|policy| policy.total.cost.is_none()) {
            let name = session.model.clone().unwrap_or_else(|| String::from("no model"));
            if !self.unpriced.contains(&name) {
                self.unpriced.push(one_line(&name).into_owned());
            }
        }
        match self.format {
            Format::Text => {
                self.missing.push_str(&missing(session));
                Ok(())
            }
            Format::Json => json(&format!("{}{}", if first { "\n" } else { ",\n" }, serde_json::to_string(session)?)),
            Format::Csv => text(&csv(session)),
            Format::Html => {
                self.sections.push(replayed_session(session));
                Ok(())
            }
        }
    }

    /// What follows the sessions.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let swept: Vec<bool> = self.replay.policies.iter().map(|policy| policy.swept).collect();
        if swept.contains(&true) {
            self.total.mark_pareto(|nth| swept.get(nth).copied().unwrap_or(false));
        }
        match self.format {
            Format::Csv => Ok(()),
            Format::Html => {
                let notes = self.notes();
                let notes = notes.lines().filter(|line| !line.is_empty()).skip(1);
                let lines: Vec<&str> = sweep_note(&self.total).into_iter().chain(notes).collect();
                page(&replayed_page(&self.total, &lines, &self.sections))
            }
            Format::Json => json(&format!("\n],\"total\":{}}}\n", serde_json::to_string(&self.total)?)),
            Format::Text if self.total.sessions == 0 => text("no requests: no message of a model was found\n"),
            Format::Text => text(&format!("{}{}{}", table(&self.total), self.notes(), self.missing)),
        }
    }

    /// How much the figures differ from those of the logs.
    fn truth(&self) -> String {
        let mut text = String::new();
        match &self.total.truth {
            Some(truth) => {
                let _ = writeln!(
                    text,
                    "truth: input tokens within {} (median) and {} (90th percentile) of the log's figures, {} from cache \
                     where the log says {}, in {} that the fit did not see",
                    percent(truth.median_error),
                    percent(truth.p90_error),
                    percent(truth.cache_read_predicted),
                    percent(truth.cache_read_recorded),
                    counted(truth.requests, "request"),
                );
            }
            None => {
                let name = self.replay.counting.tokenizer.name();
                let _ = writeln!(
                    text,
                    "truth: too few figures of the provider in the logs; tokens are counted with {name}, without what the \
                     logs do not hold"
                );
            }
        }
        text
    }

    /// What the figures mean, and what they do not.
    fn notes(&self) -> String {
        let (total, replay) = (&self.total, self.replay);
        let mut text = format!("\n{}, {}\n", counted(total.sessions, "session"), counted(total.requests, "request"));
        text.push_str(&self.truth());
        text.push_str(&self.money());
        if self.compacted > 0 && !replay.live {
            let _ = writeln!(
                text,
                "compacted by the program: {}; policies also see what was said before (--live hides it)",
                counted(self.compacted, "session")
            );
        }
        if self.dropped > 0 {
            let _ = writeln!(
                text,
                "cut by the program although the log does not say so: {}; the provider's count falls",
                counted(self.dropped, "session")
            );
        }
        if self.timeless > 0 {
            let _ = writeln!(
                text,
                "{} without times: the lifetime of the cache is not applied",
                counted(self.timeless, "session")
            );
        }
        text + &losers(&total.policies)
    }

    fn money(&self) -> String {
        let date = &self.replay.prices.date;
        if self.unpriced.is_empty() {
            return format!(
                "cost: an estimate with prices of {date}, for input only; replies, tools, discounts and a summarizer's own \
                 requests are not included\n"
            );
        }
        let names = self.unpriced.join(", ");
        format!("cost: the table of {date} has no price for {names}; pass --price FILE or --price MODEL\n")
    }
}

/// Policies that cost more than what was recorded although they send less.
fn losers(policies: &[NamedTotal]) -> String {
    let Some((recorded, others)) = policies.split_first() else { return String::new() };
    let mut text = String::new();
    for policy in others {
        let (own, base) = (&policy.total, &recorded.total);
        if own.tokens_sent < base.tokens_sent && own.cost.zip(base.cost).is_some_and(|(own, base)| own > base) {
            let _ = writeln!(
                text,
                "{} sends less and costs more: {} of {} paid back by later requests",
                policy.name,
                own.breaks_paid_back,
                if own.prefix_breaks == 1 {
                    String::from("1 prefix break is")
                } else {
                    format!("{} prefix breaks are", own.prefix_breaks)
                }
            );
        }
    }
    text
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A column: its title, its cells, and whether it is shown only if a value is not 0.
type Column = (&'static str, fn(&PolicyTotal, &PolicyTotal) -> String, bool);

const COLUMNS: &[Column] = &[
    ("tokens sent", |own, _| own.tokens_sent.to_string(), false),
    ("of recorded", of_recorded, false),
    ("from cache", |own, _| percent(own.read_share()), false),
    ("cost", |own, _| own.cost.map_or_else(|| String::from("?"), |cost| format!("${cost:.2}")), false),
    ("breaks", |own, _| own.prefix_breaks.to_string(), false),
    ("paid back", |own, _| own.breaks_paid_back.to_string(), false),
    ("kept references", |own, _| percent(own.kept_share()), false),
    ("repeated calls", |own, _| own.repeated_calls.to_string(), true),
    ("files read again", |own, _| own.files_read_again.to_string(), true),
    ("thoughts", |own, _| own.thoughts_invalidated.to_string(), true),
    ("largest", |own, _| own.largest_request.to_string(), false),
];

#[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
fn of_recorded(own: &PolicyTotal, recorded: &PolicyTotal) -> String {
    percent(own.tokens_sent as f64 / recorded.tokens_sent.max(1) as f64)
}

fn table(total: &TotalReport) -> String {
    let Some(recorded) = total.policies.first().map(|policy| &policy.total) else { return String::new() };
    let is_shown =
        |column: &&Column| !column.2 || total.policies.iter().any(|policy| column.1(&policy.total, recorded) != "0");
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_shown).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once("policy").chain(columns.iter().map(|column| column.0)));
    for policy in &total.policies {
        let mark = if policy.pareto == Some(true) { " *" } else { "" };
        let cells = columns.iter().map(|column| column.1(&policy.total, recorded));
        table.add_row(std::iter::once(format!("{}{mark}", policy.name)).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
    lines.extend(sweep_note(total).map(str::to_owned));
    lines.join("\n") + "\n"
}

/// What the mark of a policy means, if any is marked.
fn sweep_note(total: &TotalReport) -> Option<&'static str> {
    let marked = total.policies.iter().any(|policy| policy.pareto == Some(true));
    marked.then_some("* of the sweep, none costs less and keeps as many references")
}

/// A line for every missing reference.
fn missing(session: &SessionReport) -> String {
    let mut text = String::new();
    for policy in &session.policies {
        for one in &policy.missing {
            let _ = writeln!(
                text,
                "{}: {}: request {} used {:?}, last in message {} ({}), not sent since request {}",
                session.name, policy.name, one.request, one.reference, one.message, one.role, one.dropped_at
            );
        }
    }
    text
}

/// A column of the comma-separated values, of a session, a policy and a request.
type CsvColumn = (&'static str, fn(&SessionReport, &str, &RequestReport) -> String);

const CSV: [CsvColumn; 19] = [
    ("session", |session, _, _| session.name.clone()),
    ("policy", |_, policy, _| policy.to_owned()),
    ("request", |_, _, own| own.number.to_string()),
    ("message", |_, _, own| own.message.to_string()),
    ("time", |_, _, own| own.time.clone().unwrap_or_default()),
    ("messages_sent", |_, _, own| own.messages_sent.to_string()),
    ("tokens_sent", |_, _, own| own.tokens_sent.to_string()),
    ("common_prefix", |_, _, own| own.common_prefix.to_string()),
    ("cache_read", |_, _, own| own.cache_read.to_string()),
    ("cache_write", |_, _, own| own.cache_write.to_string()),
    ("uncached", |_, _, own| own.uncached.to_string()),
    ("cost", |_, _, own| own.cost.map(|cost| format!("{cost:.6}")).unwrap_or_default()),
    ("prefix_break", |_, _, own| u8::from(own.prefix_break).to_string()),
    ("kept_references", |_, _, own| own.kept_references.to_string()),
    ("needed_references", |_, _, own| own.needed_references.to_string()),
    ("thoughts_invalidated", |_, _, own| own.thoughts_invalidated.to_string()),
    ("repeated_calls", |_, _, own| own.repeated_calls.to_string()),
    ("files_read_again", |_, _, own| own.files_read_again.to_string()),
    ("recorded_tokens", |_, _, own| own.recorded.map(|own| own.tokens_sent.to_string()).unwrap_or_default()),
];

fn csv(session: &SessionReport) -> String {
    let mut text = String::new();
    for policy in &session.policies {
        for request in &policy.requests {
            let cells: Vec<String> =
                CSV.iter().map(|column| csv::field(&column.1(session, &policy.name, request))).collect();
            text.push_str(&cells.join(","));
            text.push('\n');
        }
    }
    text
}

fn text(text: &str) -> anyhow::Result<()> {
    Ok(console::out(text)?)
}

fn json(text: &str) -> anyhow::Result<()> {
    Ok(console::out_json(text)?)
}

fn page(html: &str) -> anyhow::Result<()> {
    Ok(console::data(html)?)
}
