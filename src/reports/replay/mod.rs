//! Reports a replay: as a table, as JSON, as comma-separated values or as a page. Sessions are written as soon as they are
//! replayed.

pub(crate) mod columns;
mod csv;
mod notes;
mod verdict;

use std::fmt::Write as _;

use clap::ValueEnum;

use crate::console;
use crate::options::replay::budgets;
use crate::reports::screen::Screen;
use columns::policy_table;
use columns::{Asked, COLUMNS, legend, percent, shown};
use csv::{CSV, csv};
use curtail_core::numbers::{counted, figure, tally};
use curtail_core::visible::one_line;
use curtail_lab::SeenRequests;
use curtail_lab::replay::{Calibration, NamedTotal, Replay, SessionGroup, SessionReport, TotalReport, percentile};
use curtail_view::{ReplayVerdict, ReplayVerdicts, replayed_page, replayed_session};
use notes::ReplayNotes;
use verdict::{heading, rule, verdict_lines, verdicts};

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayFormat {
    /// A table of all sessions together
    Text,
    /// One JSON object with every request
    Json,
    /// CSV with a row for every request
    Csv,
    /// A page with the tokens of every request as curves
    Html,
}

/// The difference, as a share of the input, from which on it is reported that the log read more or less from the cache than the
/// rules predict.
const CACHE_DIFFERENCE: f64 = 0.02;

/// Maximum number of outcomes that get a table each.
const MAX_OUTCOMES: usize = 8;

/// Writes the report.
pub(crate) struct ReplayReporter<'r> {
    format: ReplayFormat,
    replay: &'r Replay,
    /// The share of references that a policy must keep to be recommended.
    keep: f64,
    columns: Asked<'r>,
    total: TotalReport,
    groups: Vec<SessionGroup>,
    notes: ReplayNotes,
    /// The first failure of each policy, if it has one.
    failures: Vec<Option<String>>,
    /// The sessions of a page.
    sections: Vec<String>,
    /// The requests of earlier sessions.
    earlier: SeenRequests,
}

impl<'r> ReplayReporter<'r> {
    pub(crate) fn new(format: ReplayFormat, replay: &'r Replay, keep: f64, columns: Asked<'r>) -> Self {
        Self {
            format,
            replay,
            keep,
            columns,
            total: TotalReport::default(),
            groups: Vec::new(),
            notes: ReplayNotes::default(),
            failures: vec![None; replay.policies.len()],
            sections: Vec::new(),
            earlier: SeenRequests::default(),
        }
    }

    /// Writes what precedes the sessions.
    pub(crate) fn begin(&self) -> anyhow::Result<()> {
        match self.format {
            ReplayFormat::Text | ReplayFormat::Html => {}
            ReplayFormat::Json => {
                let tokenizer = serde_json::to_string(self.replay.counting.tokenizer.name())?;
                let date = serde_json::to_string(&self.replay.prices.date)?;
                console::out_json(&format!(
                    "{{\"version\":1,\"tokenizer\":{tokenizer},\"prices\":{date},\"sessions\":["
                ))?;
            }
            ReplayFormat::Csv => console::out(&format!("{}\n", CSV.map(|(name, _)| name).join(",")))?,
        }
        Ok(())
    }

    /// Adds a session, and writes it if the format does so.
    pub(crate) fn session(&mut self, session: &mut SessionReport) -> anyhow::Result<()> {
        session.count_once(&mut self.earlier);
        let session = &*session;
        let first = self.total.sessions == 0;
        self.total.add(session, self.replay.keep_inaccurate);
        SessionGroup::add(&mut self.groups, session, self.replay.keep_inaccurate);
        self.notes.add(session, self.replay);
        for (failure, policy) in self.failures.iter_mut().zip(&session.policies) {
            let first = policy.error.as_ref().map(|error| format!("{}: {error}", session.name));
            *failure = failure.take().or(first);
        }
        match self.format {
            ReplayFormat::Text => self.notes.missing.push_str(&missing(session)),
            ReplayFormat::Json => {
                let separator = if first { "\n" } else { ",\n" };
                console::out_json(&format!("{separator}{}", serde_json::to_string(session)?))?;
            }
            ReplayFormat::Csv => console::out(&csv(session))?,
            ReplayFormat::Html => self.sections.push(replayed_session(session, &shown(&[COLUMNS]))),
        }
        Ok(())
    }

    /// How the tokens of policies' budgets compare with those of the table.
    fn budgets(&self) -> Option<String> {
        let factor = percentile(&mut self.notes.factors.clone(), 50)?;
        let mut hidden = self.notes.hidden.clone();
        hidden.sort_unstable();
        let hidden = hidden[(hidden.len() - 1) / 2];
        let budgets: Vec<(String, u64)> = self.replay.policies.iter().flat_map(budgets).collect();
        let compared = compared_budgets(budgets, &Calibration { factor, ..Calibration::default() }, hidden);
        let name = self.replay.counting.tokenizer.name();
        Some(format!("budgets: policies count with {name}; as the provider counts, {compared} (medians)\n"))
    }

    /// The policies that could not be applied to every session.
    fn failures(&self) -> String {
        let failed = self.total.policies.iter().zip(&self.failures);
        let lines = failed.filter_map(|(policy, failure)| {
            let failure = failure.as_ref()?;
            let name = one_line(&policy.name);
            let sessions = counted(self.total.sessions, "session");
            Some(format!(
                "not compared: {name} fails in {} of {sessions}: {}\n",
                policy.failed_sessions,
                one_line(failure)
            ))
        });
        lines.collect()
    }

    /// The verdicts, and a table for each outcome.
    fn verdicts(&mut self) -> Vec<ReplayVerdict> {
        self.groups.iter_mut().for_each(|group| group.decide(self.keep));
        let share =
            format!("{} % of the references", percent(self.keep).trim_end_matches([' ', '%']).trim_end_matches(".0"));
        // In text, the line before says how many.
        let enough = if matches!(self.format, ReplayFormat::Html) { &share } else { "that many" };
        verdicts(&self.groups, self.replay, enough)
    }

    /// A table for each outcome, if the sessions have several.
    fn by_outcome(&self, screen: Screen) -> String {
        let outcomes = self.groups.iter().filter(|group| group.outcome.is_some()).count();
        if outcomes < 2 {
            return String::new();
        }
        if outcomes > MAX_OUTCOMES {
            return format!("\noutcomes: {outcomes}, too many for a table each; JSON has all of them\n");
        }
        let tables = self.groups.iter().map(|group| {
            format!("\n{}\n{}\n", heading(group), policy_table(&group.total, self.columns, screen).join("\n"))
        });
        tables.collect()
    }

    /// Writes what follows the sessions.
    pub(crate) fn finish(mut self, failed: bool) -> anyhow::Result<()> {
        let swept: Vec<bool> = self.replay.policies.iter().map(|policy| policy.swept).collect();
        if swept.contains(&true) {
            self.total.mark_pareto(|nth| swept.get(nth).copied().unwrap_or(false));
        }
        let verdicts = self.verdicts();
        match self.format {
            ReplayFormat::Csv => {}
            ReplayFormat::Html => {
                let notes = self.notes();
                let notes = notes.lines().filter(|line| !line.is_empty()).skip(1);
                let lines: Vec<&str> = sweep_note(&self.total).into_iter().chain(notes).collect();
                let rule = format!("The verdict is {}.", rule(self.keep));
                let verdicts = ReplayVerdicts { rule, groups: verdicts };
                console::data(&replayed_page(&self.total, &verdicts, &lines, &self.sections, &shown(&[COLUMNS])))?;
            }
            ReplayFormat::Json => {
                let total = serde_json::to_string(&self.total)?;
                let groups = serde_json::to_string(&self.groups)?;
                console::out_json(&format!("\n],\"total\":{total},\"groups\":{groups}}}\n"))?;
            }
            ReplayFormat::Text if self.total.sessions == 0 && failed => {}
            ReplayFormat::Text if self.total.sessions == 0 => {
                console::out("no requests: no message of a model was found\n")?;
            }
            ReplayFormat::Text => {
                console::out(&self.page(&verdict_lines(&verdicts, self.keep), Screen::of_stdout()))?;
            }
        }
        Ok(())
    }

    /// The report as text.
    fn page(&self, verdicts: &[String], screen: Screen) -> String {
        let mut lines = policy_table(&self.total, self.columns, screen);
        lines.extend(sweep_note(&self.total).map(|note| screen.note(note)));
        lines.extend(legend(&self.total, self.columns).iter().map(|line| screen.note(line)));
        if !verdicts.is_empty() {
            lines.push(String::new());
            lines.extend(verdicts.iter().map(|line| screen.wrapped(line, 2)));
        }
        let notes = self.notes();
        let notes = screen.note(notes.trim_end());
        let missing = screen.wrapped(&self.notes.missing, 2);
        format!("{}\n{}{notes}\n{missing}", lines.join("\n"), self.by_outcome(screen))
    }

    /// How well tokens and cost are predicted where the logs have the provider's counts.
    fn accuracy(&self) -> String {
        let Some(accuracy) = &self.total.accuracy else {
            return format!(
                "accuracy: unknown, because the logs have too few counts of the provider; tokens are counted with {}, \
                 excluding instructions and tools, which the log does not contain\n",
                self.replay.counting.tokenizer.name()
            );
        };
        let cost = accuracy.median_cost_error.zip(accuracy.p90_cost_error).map_or_else(String::new, |(median, p90)| {
            format!(", cost within {} and {}", percent(median), percent(p90))
        });
        let mut text = format!(
            "accuracy: input tokens within {} (median) and {} (90th percentile) of the log{cost}, in {} that the fit did \
             not see\n",
            percent(accuracy.median_error),
            percent(accuracy.p90_error),
            counted(accuracy.requests, "request"),
        );
        if accuracy.cache_read_error.abs() >= CACHE_DIFFERENCE {
            let _ = writeln!(
                text,
                "cache: {} read where its rules predict {}; where the log shows a miss, every policy misses",
                percent(accuracy.cache_read_recorded),
                percent(accuracy.cache_read_predicted),
            );
        }
        text
    }

    /// Notes on what the numbers include and how reliable they are.
    fn notes(&self) -> String {
        let total = &self.total;
        let replay = self.replay;
        let mut text = format!("\n{}, {}\n", counted(total.sessions, "session"), counted(total.requests, "request"));
        if total.shared_requests > 0 {
            let shared = counted(total.shared_requests, "more request");
            let _ = writeln!(text, "shared: {shared} repeated from earlier files, which count once");
        }
        text.push_str(&self.accuracy());
        text.push_str(&self.notes.inaccurate);
        text.push_str(&self.failures());
        text.extend(self.budgets());
        text.push_str(&self.cost_note());
        let compacted = if replay.live { 0 } else { self.notes.compacted };
        if self.notes.strays > 0 {
            let _ = writeln!(
                text,
                "{} of other requests than those logged, such as a review: ignored, and paid alike by every policy",
                counted(self.notes.strays, "count")
            );
        }
        for (sessions, before, after) in [
            (
                compacted,
                "compacted by the program: ",
                "; policies also see the messages before the boundary (--live hides them)",
            ),
            (
                self.notes.dropped,
                "shorter than logged: ",
                ", in which the provider counted less from some request on, although the log records no cut",
            ),
            (self.notes.models_changed, "answered by several models: ", "; a change begins a new cache"),
            (self.notes.timeless, "", " without times: the lifetime of the cache is not applied"),
        ] {
            if sessions > 0 {
                let _ = writeln!(text, "{before}{}{after}", counted(sessions, "session"));
            }
        }
        text + &costlier_policies(&total.policies)
    }

    fn cost_note(&self) -> String {
        let date = &self.replay.prices.date;
        let unpriced: Vec<&str> = self.notes.unpriced.iter().flatten().map(String::as_str).collect();
        if self.notes.unpriced.is_empty() {
            let included = match (self.notes.with_output, self.notes.without_output) {
                (true, false) => "; tools and discounts are not included",
                (true, true) => ", with replies where their tokens are known; tools and discounts are not included",
                (false, _) => ", for input only; replies, tools and discounts are not included",
            };
            return format!("cost: an estimate with prices of {date}{included}\n");
        }
        if unpriced.is_empty() {
            return String::from("cost: unknown, because the logs name no model; pass --price MODEL\n");
        }
        let names = unpriced.join(", ");
        format!("cost: the table of {date} has no price for {names}; pass --price FILE or --price MODEL\n")
    }
}

/// What `budgets` are as the provider counts, which adds `hidden` tokens to every request.
fn compared_budgets(budgets: Vec<(String, u64)>, calibration: &Calibration, hidden: i64) -> String {
    let provider = |tokens: u64| figure(hidden.saturating_add_unsigned(calibration.apply(tokens, 0)).max(0));
    let examples = budgets.into_iter().map(|(word, tokens)| format!("{word} is {}", provider(tokens)));
    let mut examples: Vec<String> = tally(examples).into_iter().map(|(example, _)| example).collect();
    if examples.is_empty() {
        examples.push(format!("1,000 of its tokens are {}", provider(1000)));
    }
    let outside = match hidden {
        0 => String::new(),
        1.. => format!(", with the {} of every request that the log does not contain", figure(hidden)),
        ..0 => format!(", without the {} of every request that only the log contains", figure(hidden.unsigned_abs())),
    };
    examples.join(", ") + &outside
}

/// Policies that cost more than what was recorded although they send less.
fn costlier_policies(policies: &[NamedTotal]) -> String {
    let Some((recorded, others)) = policies.split_first() else { return String::new() };
    let mut text = String::new();
    for policy in others {
        let total = &policy.total;
        let base = &recorded.total;
        if policy.failed_sessions == 0
            && total.tokens_sent < base.tokens_sent
            && total.cost.zip(base.cost).is_some_and(|(cost, base)| cost > base)
        {
            let _ = writeln!(
                text,
                "{} sends less and costs more: {} of {} paid back by later requests",
                policy.name,
                total.breaks_paid_back,
                if total.prefix_breaks == 1 {
                    String::from("1 prefix break is")
                } else {
                    format!("{} prefix breaks are", total.prefix_breaks)
                }
            );
        }
    }
    text
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
        for lost in &policy.missing {
            let _ = writeln!(
                text,
                "{}: {}: request {} used {:?}, last in message {} ({}), not sent since request {}",
                session.name, policy.name, lost.request, lost.reference, lost.message, lost.role, lost.dropped_at
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Calibration, compared_budgets};

    #[test]
    fn a_budget_is_compared_with_what_the_provider_counts() {
        let twice = Calibration { factor: 2.0, ..Calibration::default() };
        let budgets: Vec<(String, u64)> = [4, 1, 4].map(|k| (format!("-t {k}k"), k * 1000)).into();
        let more = "-t 4k is 8,500, -t 1k is 2,500, with the 500 of every request that the log does not contain";
        assert_eq!(compared_budgets(budgets.clone(), &twice, 500), more);
        let less = "-t 4k is 7,500, -t 1k is 1,500, without the 500 of every request that only the log contains";
        assert_eq!(compared_budgets(budgets, &twice, -500), less);
        assert_eq!(compared_budgets(Vec::new(), &twice, 0), "1,000 of its tokens are 2,000");
    }
}
