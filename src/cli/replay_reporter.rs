//! Reports a replay: as a table, as JSON, as comma-separated values or as a page. Sessions are written as soon as they are
//! replayed.

use std::fmt::Write as _;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::replay::{ReplayFormat, budgets, command_line};
use super::table::{self, Columns, csv_field, trimmed};
use crate::console;
use curtail_core::visible::{counted, figure, one_line};
use curtail_lab::replay::{
    Calibration, Group, NamedTotal, PolicyTotal, Prices, Replay, RequestReport, SeenRequests, SessionReport,
    TotalReport, Verdict, percentile,
};
use curtail_view::{ReplayColumn, replayed_page, replayed_session};

/// The difference, as a share of the input, from which on it is reported that the log read more or less from the cache than the
/// rules predict.
const CACHE_DIFFERENCE: f64 = 0.02;

/// Maximum number of outcomes that get a table each.
const MAX_OUTCOMES: usize = 8;

/// Writes the report.
pub(super) struct ReplayReporter<'r> {
    format: ReplayFormat,
    replay: &'r Replay,
    /// The share of references that a policy must keep to be recommended.
    keep: f64,
    columns: Asked<'r>,
    total: TotalReport,
    groups: Vec<Group>,
    notes: ReplayNotes,
    /// The first failure of each policy, if it has one.
    failures: Vec<Option<String>>,
    /// The sessions of a page.
    sections: Vec<String>,
    /// The requests of earlier sessions.
    earlier: SeenRequests,
}

/// What is noted of sessions, for the lines below the table.
#[derive(Default)]
struct ReplayNotes {
    /// The factor of each fitted session.
    factors: Vec<f64>,
    /// The tokens of each fitted session that its log does not contain.
    hidden: Vec<u64>,
    /// A line for each session whose token counts are inaccurate.
    inaccurate: String,
    compacted: usize,
    dropped: usize,
    /// Counts of requests that did not send the logged history.
    strays: usize,
    /// Whether the cost includes replies, and whether it lacks some.
    with_output: bool,
    without_output: bool,
    timeless: usize,
    models_changed: usize,
    /// The models without a price; `None` for sessions that name no model.
    unpriced: Vec<Option<String>>,
    missing: String,
}

impl ReplayNotes {
    /// Notes whether the cost of `session` includes the replies.
    fn add_output(&mut self, session: &SessionReport, prices: &Prices, model: Option<&str>) {
        let Some(recorded) = session.policies.first() else { return };
        let price = model.or(session.model.as_deref()).and_then(|name| prices.model(name));
        let is_priced = price.is_some_and(|price| price.output.is_some());
        for request in &recorded.requests {
            let is_included = is_priced && request.output_tokens > 0;
            self.with_output |= is_included;
            self.without_output |= !is_included;
        }
    }
}

impl<'r> ReplayReporter<'r> {
    pub(super) fn new(format: ReplayFormat, replay: &'r Replay, keep: f64, columns: Asked<'r>) -> Self {
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
    pub(super) fn begin(&self) -> anyhow::Result<()> {
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
    pub(super) fn session(&mut self, session: &mut SessionReport) -> anyhow::Result<()> {
        session.count_once(&mut self.earlier);
        let session = &*session;
        let first = self.total.sessions == 0;
        self.total.add(session, self.replay.keep_inaccurate);
        Group::add(&mut self.groups, session, self.replay.keep_inaccurate);
        self.note_fit(session);
        for (failure, policy) in self.failures.iter_mut().zip(&session.policies) {
            let first = policy.error.as_ref().map(|error| format!("{}: {error}", session.name));
            *failure = failure.take().or(first);
        }
        self.notes.compacted += usize::from(!session.compacted_before.is_empty());
        self.notes.dropped += usize::from(!session.dropped_before.is_empty());
        self.notes.strays += session.stray_counts.len();
        self.notes.add_output(session, &self.replay.prices, self.replay.model.as_deref());
        self.notes.timeless += usize::from(!session.times);
        self.notes.models_changed += usize::from(!session.model_changed_before.is_empty());
        if session.policies.iter().any(|policy| policy.total.cost.is_none()) {
            let name = session.model.as_ref().map(|name| one_line(name).into_owned());
            if !self.notes.unpriced.contains(&name) {
                self.notes.unpriced.push(name);
            }
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

    /// Notes how the tokens of `session` were counted.
    fn note_fit(&mut self, session: &SessionReport) {
        if let Some(accuracy) = session.accuracy.as_ref().filter(|_| session.inaccurate) {
            let left_out = match self.replay.keep_inaccurate {
                true => "",
                false => "; every policy counts as recorded there (--keep-inaccurate measures them)",
            };
            let error = percent(accuracy.p90_error);
            let _ = writeln!(
                self.notes.inaccurate,
                "inaccurate: {}: input tokens off by up to {error} (90th percentile){left_out}",
                session.name
            );
        } else if let Some(last) = session.calibration.last() {
            self.notes.factors.push(last.factor);
            self.notes.hidden.push(last.hidden_tokens.unsigned_abs());
        }
    }

    /// How the tokens of policies' budgets compare with those of the table.
    fn budgets(&self) -> Option<String> {
        let (mut factors, mut hidden) = (self.notes.factors.clone(), self.notes.hidden.clone());
        let factor = percentile(&mut factors, 50)?;
        hidden.sort_unstable();
        let hidden = hidden[(hidden.len() - 1) / 2];
        let calibration = Calibration { factor, ..Calibration::default() };
        let as_counted =
            |(word, tokens): (String, u64)| format!("{word} is {}", figure(hidden + calibration.apply(tokens, 0)));
        let mut budgets: Vec<String> = self.replay.policies.iter().flat_map(budgets).map(as_counted).collect();
        budgets.dedup();
        let outside = match hidden {
            0 => String::new(),
            hidden => format!(", with the {} of every request that the log does not contain", figure(hidden)),
        };
        let examples = match budgets.is_empty() {
            true => format!("1,000 of its tokens are {}", figure(hidden + calibration.apply(1000, 0))),
            false => budgets.join(", "),
        };
        let name = self.replay.counting.tokenizer.name();
        Some(format!("budgets: policies count with {name}; as the provider counts, {examples}{outside} (medians)\n"))
    }

    /// The policies that could not be applied to every session.
    fn failures(&self) -> String {
        let failed = self.total.policies.iter().zip(&self.failures);
        let line = |(policy, failure): (&NamedTotal, &Option<String>)| {
            let failure = failure.as_ref()?;
            let (name, sessions) = (one_line(&policy.name), counted(self.total.sessions, "session"));
            Some(format!(
                "not compared: {name} fails in {} of {sessions}: {}\n",
                policy.failed_sessions,
                one_line(failure)
            ))
        };
        failed.filter_map(line).collect()
    }

    /// The verdicts, and a table for each outcome.
    fn verdicts(&mut self) -> Vec<String> {
        self.groups.iter_mut().for_each(|group| group.decide(self.keep));
        verdict_lines(&self.groups, self.replay, self.keep)
    }

    /// A table for each outcome, if the sessions have several.
    fn by_outcome(&self) -> String {
        let outcomes = self.groups.iter().filter(|group| group.outcome.is_some()).count();
        if outcomes < 2 {
            return String::new();
        }
        if outcomes > MAX_OUTCOMES {
            return format!("\noutcomes: {outcomes}, too many for a table each; JSON has all of them\n");
        }
        let part = |group: &Group| format!("\n{}\n{}\n", heading(group), table(&group.total, self.columns).join("\n"));
        self.groups.iter().map(part).collect()
    }

    /// Writes what follows the sessions.
    pub(super) fn finish(mut self, failed: bool) -> anyhow::Result<()> {
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
                let verdicts = verdicts.iter().map(|line| line.trim());
                let lines: Vec<&str> = verdicts.chain(sweep_note(&self.total)).chain(notes).collect();
                console::data(&replayed_page(&self.total, &lines, &self.sections, &shown(&[COLUMNS])))?;
            }
            ReplayFormat::Json => {
                let (total, groups) = (serde_json::to_string(&self.total)?, serde_json::to_string(&self.groups)?);
                console::out_json(&format!("\n],\"total\":{total},\"groups\":{groups}}}\n"))?;
            }
            ReplayFormat::Text if self.total.sessions == 0 && failed => {}
            ReplayFormat::Text if self.total.sessions == 0 => {
                console::out("no requests: no message of a model was found\n")?;
            }
            ReplayFormat::Text => console::out(&self.page(&verdicts))?,
        }
        Ok(())
    }

    /// The report as text.
    fn page(&self, verdicts: &[String]) -> String {
        let mut lines = table(&self.total, self.columns);
        lines.extend(sweep_note(&self.total).map(str::to_owned));
        lines.extend(legend(&self.total, self.columns));
        if !verdicts.is_empty() {
            lines.push(String::new());
            lines.extend_from_slice(verdicts);
        }
        format!("{}\n{}{}{}", lines.join("\n"), self.by_outcome(), self.notes(), self.notes.missing)
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
        let (total, replay) = (&self.total, self.replay);
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

/// Policies that cost more than what was recorded although they send less.
fn costlier_policies(policies: &[NamedTotal]) -> String {
    let Some((recorded, others)) = policies.split_first() else { return String::new() };
    let mut text = String::new();
    for policy in others {
        let (total, base) = (&policy.total, &recorded.total);
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

/// A column of the comma-separated values, of a session, a policy and a request.
type CsvColumn = (&'static str, fn(&SessionReport, &str, &RequestReport) -> String);

const CSV: [CsvColumn; 24] = [
    ("session", |session, _, _| session.name.clone()),
    ("policy", |_, policy, _| policy.to_owned()),
    ("request", |_, _, request| request.number.to_string()),
    ("message", |_, _, request| request.message.to_string()),
    ("time", |_, _, request| request.time.clone().unwrap_or_default()),
    ("messages_sent", |_, _, request| request.messages_sent.to_string()),
    ("tokens_sent", |_, _, request| request.tokens_sent.to_string()),
    ("common_prefix", |_, _, request| request.common_prefix.to_string()),
    ("cache_read", |_, _, request| request.billed.read.to_string()),
    ("cache_write", |_, _, request| request.billed.write.to_string()),
    ("uncached", |_, _, request| request.billed.uncached.to_string()),
    ("output_tokens", |_, _, request| request.output_tokens.to_string()),
    ("cost", |_, _, request| request.cost.map(|cost| format!("{cost:.6}")).unwrap_or_default()),
    ("prefix_break", |_, _, request| u8::from(request.prefix_break).to_string()),
    ("changed", |_, _, request| u8::from(request.changed).to_string()),
    ("shared", |_, _, request| u8::from(request.shared).to_string()),
    ("kept_references", |_, _, request| request.losses.kept_references.to_string()),
    ("needed_references", |_, _, request| request.losses.needed_references.to_string()),
    ("thoughts_invalidated", |_, _, request| request.losses.thoughts_invalidated.to_string()),
    ("repeated_calls", |_, _, request| request.losses.repeated_calls.to_string()),
    ("files_read_again", |_, _, request| request.losses.files_read_again.to_string()),
    ("recorded_tokens", |_, _, request| {
        request.recorded.map(|recorded| recorded.tokens_sent.to_string()).unwrap_or_default()
    }),
    ("inaccurate", |session, _, _| u8::from(session.inaccurate).to_string()),
    ("outcome", |session, _, _| session.outcome.clone().unwrap_or_default()),
];

fn csv(session: &SessionReport) -> String {
    let requests =
        session.policies.iter().flat_map(|policy| policy.requests.iter().map(move |request| (policy, request)));
    let rows = requests.map(|(policy, request)| {
        CSV.map(|(_, cell)| csv_field(&cell(session, &policy.name, request))).join(",") + "\n"
    });
    rows.collect()
}

// The columns of the table and their meanings.

/// The values of `--columns`.
type Asked<'a> = &'a [&'static [ReplayColumn]];

/// Reads a value of `--columns`: the name of a column, or `all`.
pub(super) fn columns() -> impl TypedValueParser<Value = &'static [ReplayColumn]> {
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
const COLUMNS: &[ReplayColumn] = &[
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
fn table(total: &TotalReport, asked: Asked<'_>) -> Vec<String> {
    let Some(recorded) = total.policies.first().map(|policy| &policy.total) else { return Vec::new() };
    let columns = shown(asked);
    let rows = total.policies.iter().map(|policy| {
        let mark = if policy.pareto == Some(true) { " *" } else { "" };
        let cells = columns.iter().map(|column| match policy.failed_sessions {
            0 => (column.cell)(&policy.total, recorded),
            _ => String::from("-"),
        });
        std::iter::once(format!("{}{mark}", policy.name)).chain(cells)
    });
    let header = std::iter::once("policy").chain(columns.iter().map(|column| column.title));
    trimmed(&table::table(header, rows, Columns::Numbers))
}

/// A line for each column whose title does not explain it, if it says something about these policies.
fn legend(total: &TotalReport, asked: Asked<'_>) -> Vec<String> {
    let Some(recorded) = total.policies.first().map(|policy| &policy.total) else { return Vec::new() };
    let compared: Vec<&NamedTotal> = total.policies.iter().filter(|policy| policy.failed_sessions == 0).collect();
    let applies = |column: &ReplayColumn| {
        let cells: Vec<String> = compared.iter().map(|policy| (column.cell)(&policy.total, recorded)).collect();
        cells.windows(2).any(|pair| pair[0] != pair[1])
    };
    let explained = |column: &&ReplayColumn| {
        (!column.meaning.is_empty() && applies(column)).then(|| format!("  {}: {}", column.title, column.meaning))
    };
    shown(asked).iter().filter_map(explained).collect()
}

/// The columns that `asked` names, or the default ones.
fn shown(asked: Asked<'_>) -> Vec<&'static ReplayColumn> {
    let is_shown = |column: &&ReplayColumn| match asked {
        [] => DEFAULT_COLUMNS.contains(&column.name),
        asked => asked.iter().any(|asked| asked.iter().any(|asked| asked.name == column.name)),
    };
    COLUMNS.iter().filter(is_shown).collect()
}

/// `$1,234.56`
fn dollars(cost: f64) -> String {
    let text = format!("{cost:.2}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, "00"));
    format!("${}.{cents}", whole.parse::<u64>().map_or_else(|_| whole.to_owned(), figure))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
fn of_recorded(total: &PolicyTotal, recorded: &PolicyTotal) -> String {
    match recorded.tokens_sent {
        0 => String::from("?"),
        all => percent(total.tokens_sent as f64 / all as f64),
    }
}

// The verdict: which policy each group of sessions should have had, and the command to paste.

/// With fewer needed references, a policy's losses are not reliable.
const MIN_REFERENCES: usize = 20;

/// A line for each group, and one with the command if a policy is worth it.
fn verdict_lines(groups: &[Group], replay: &Replay, keep: f64) -> Vec<String> {
    if groups.is_empty() || replay.policies.len() < 2 {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "verdict: the cheapest policy that keeps at least {} % of the references, and of those that calls used",
        (keep * 1e4).round() / 100.0
    )];
    for group in groups {
        let (line, command) = verdict_line(group, replay);
        lines.push(format!("  {}: {line}", heading(group)));
        lines.extend(command.map(|command| format!("    {command}")));
    }
    lines
}

/// What the sessions of a group have in common.
fn heading(group: &Group) -> String {
    let outcome = group.outcome.as_ref().map(|outcome| format!(", outcome {}", one_line(outcome)));
    let sessions = counted(group.total.sessions, "session");
    format!("{}{} ({sessions})", group.dialect, outcome.unwrap_or_default())
}

fn verdict_line(group: &Group, replay: &Replay) -> (String, Option<String>) {
    let policies = &group.total.policies;
    let Some((verdict, recorded)) = group.verdict.as_ref().zip(policies.first()) else {
        return (String::from("nothing to compare"), None);
    };
    if recorded.total.tokens_sent == 0 {
        return (String::from("nothing was sent"), None);
    }
    if !verdict.changes {
        return (String::from("none of these changes a request"), None);
    }
    let Some(number) = verdict.number else {
        let line = format!(
            "none of these is worth it: none that changes a request keeps that many{}",
            runner_up(verdict, policies)
        );
        return (line, None);
    };
    let (name, unit) = (&policies[number].name, if verdict.by_cost { "of the cost" } else { "of the tokens" });
    if !verdict.worth_it {
        let instead = match verdict.saved {
            saved if saved > 0.0005 => format!("saves only {} {unit}{}", percent(saved), within_error(verdict)),
            saved if saved < -0.0005 => format!("costs {} more", percent(-saved)),
            _ => String::from("saves nothing"),
        };
        let runner_up = runner_up(verdict, policies);
        let line = format!("none of these is worth it: the cheapest of them, {}, {instead}{runner_up}", one_line(name));
        return (line, None);
    }
    let losses = losses(&policies[number].total);
    let line = format!("{} saves {} {unit}{losses}", one_line(name), percent(verdict.saved));
    (line, replay.policies.get(number).map(|policy| command_line(policy, group.largest_counted)))
}

/// The error of the cost or the tokens, if the saving of the policy is within it.
fn within_error(verdict: &Verdict) -> String {
    let error = verdict.error.filter(|error| *error > verdict.saved);
    error.map_or_else(String::new, |error| format!(", which is within the error of {}", percent(error)))
}

/// If no policy is worth it: what the best of those that save something saves and keeps.
fn runner_up(verdict: &Verdict, policies: &[NamedTotal]) -> String {
    let Some(policy) = verdict.next.and_then(|number| policies.get(number)) else { return String::new() };
    let unit = if verdict.by_cost { "of the cost" } else { "of the tokens" };
    format!(
        "; {} saves {} {unit} and keeps {} of the references, {} in calls",
        one_line(&policy.name),
        percent(verdict.next_saved),
        percent(policy.total.kept_share()),
        percent(policy.total.kept_in_calls_share()),
    )
}

/// What a policy loses.
fn losses(total: &PolicyTotal) -> String {
    let lost = total.losses.needed_references - total.losses.kept_references;
    let needed = counted(total.losses.needed_references, "reference");
    let references = match lost {
        0 if total.losses.needed_references == 0 => String::from("; no reference was needed"),
        0 => format!(", and keeps all {needed}"),
        _ => {
            let again = match total.losses.shown_again {
                0 => String::new(),
                again => format!(", of which results soon showed {again} again"),
            };
            format!(", and loses {lost} of {needed} ({}){again}", percent(1.0 - total.kept_share()))
        }
    };
    let few = match total.losses.needed_references {
        1..MIN_REFERENCES => ", which are too few to rely on",
        _ => "",
    };
    let repeated = match total.losses.repeated_calls {
        0 => String::new(),
        1 => String::from("; 1 recorded call fetches again what it dropped"),
        calls => format!("; {calls} recorded calls fetch again what it dropped"),
    };
    references + few + &repeated
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([0.194, 1234.5].map(dollars), ["$0.19", "$1,234.50"]);
    }
}
