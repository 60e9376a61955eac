//! `curtail replay`: the cost and losses of policies on recorded sessions.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};

use crate::console;
use crate::options::choices::{Choice, one_of};
use crate::options::counting::CountingOptions;
use crate::options::files::read_text;
use crate::options::global::Global;
use crate::options::input::Input;
use crate::options::numbers::Share;
use crate::options::replay::{PolicyFlags, all_policies};
use crate::process::end_summarizers_first;
use crate::reports::progress::{Progress, Show};
use crate::reports::remarks;
use crate::reports::replay::columns::columns;
use crate::reports::replay::{ReplayFormat, ReplayReporter};
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::suggest::unknown;
use curtail_io::batch::{Batch, Event, Flow, Unit, Work};
use curtail_lab::replay::{Apply, ModelPrice, Prices, Remembered, Replay, SessionReport};
use curtail_view::ReplayColumn;

/// Replay sessions under other policies: tokens, cost, losses
///
/// Before each reply of the model, there is one request. Every policy is applied at every request, and the result is measured:
/// tokens sent, tokens that the provider would have read from its cache, the cost, and how many of the references that the reply
/// used were kept. A request that several files contain counts once. No transcript is written, and nothing is sent without
/// --allow-summarizer.
#[derive(Debug, clap::Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    policies: PolicyFlags,

    /// What a policy is applied to at each request
    #[arg(long, value_parser = one_of(APPLIED_TO), default_value = "view")]
    apply: Apply,

    /// Cache rules, by name; detected from the model and the dialect by default
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    cache: Option<String>,

    /// Price table in TOML, or the model whose price applies to every request
    #[arg(long, value_name = "FILE|MODEL")]
    price: Option<String>,

    /// List the references that a reply used and that would not have been sent
    #[arg(long)]
    missing: bool,

    /// Share of the references that a policy must keep to be recommended
    #[arg(long, value_name = "SHARE", default_value = "95%")]
    keep_references: Share,

    /// Measure policies on sessions whose error is above 10 % as well
    #[arg(long)]
    keep_inaccurate: bool,

    /// Split the results by the outcome at this JSON pointer of each record [default: known places, such as /reward]
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    outcome: Option<String>,

    /// Columns of the table
    #[arg(long, value_parser = columns(), value_name = "COLUMN", value_delimiter = ',')]
    columns: Vec<&'static [ReplayColumn]>,

    /// Format of the report
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: ReplayFormat,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    input: Input,
}

/// Reads a JSON pointer into a record.
fn pointer(text: &str) -> Result<String, &'static str> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err("expected a JSON pointer, such as /reward") }
}

/// The values of `--apply`.
const APPLIED_TO: &[Choice<Apply>] = &[
    Choice::new("view", Apply::View, "The whole recorded history"),
    Choice::new("rewrite", Apply::Rewrite, "Its own last output and the messages since, as compaction does"),
];

struct Replaying(Replay);

impl Work for Replaying {
    type Out = Vec<SessionReport>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Vec<SessionReport>) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let file = &unit.opened.source.name;
        let mut reports = Vec::new();
        let mut places = unit.locator();
        for (dialect, transcript) in unit.transcripts(&document)? {
            let offset = transcript.layout.span.start as usize;
            let is_one_of_many = unit.row.is_some() || unit.opened.reading.framing == Framing::Records;
            let name = if is_one_of_many { format!("{file}:{}", places.place(offset).line) } else { file.clone() };
            let replayed = self.0.transcript(&name, dialect, &transcript);
            reports.extend(replayed.map_err(|error| ReadError { offset, what: error.to_string() })?);
        }
        out.append(&mut reports);
        Ok(())
    }

    fn reset(&self, out: &mut Vec<SessionReport>) {
        out.clear();
    }
}

impl ReplayArgs {
    /// Replays the input and prints the report.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let replay = self.replay()?;
        remarks::counted(&replay.counting);
        let (sources, missing) = self.input.sources(None)?;
        let failures = remarks::Failures::of_inputs(&sources, &missing, global);
        end_summarizers_first()?;
        let progress =
            Arc::new(Progress::new(Show::chosen(global, self.output_format != ReplayFormat::Text), &sources));
        let mut failures = failures.beside(&progress);
        let batch = Batch { progress: Some(Arc::<Progress>::clone(&progress)), ..self.input.batch(global)? };
        let work = Replaying(replay);
        let mut reporter = ReplayReporter::new(self.output_format, &work.0, self.keep_references.0, &self.columns);
        let mut written = reporter.begin();
        batch.run(sources, &work, |event| {
            failures.note(&event);
            if let Event::Done { out, .. } = event {
                for session in out.iter_mut() {
                    if written.is_ok() {
                        written = reporter.session(session);
                    }
                }
            }
            if written.is_err() { Flow::Stop } else { Flow::Continue }
        });
        progress.finish();
        written?;
        let status = failures.status;
        reporter.finish(status != ExitCode::SUCCESS)?;
        Ok(status)
    }

    fn replay(&self) -> anyhow::Result<Replay> {
        let (prices, model) = self.prices()?;
        if let Some(name) = self.cache.as_ref().filter(|name| !prices.cache.contains_key(*name)) {
            let names: Vec<&str> = prices.cache.keys().map(String::as_str).collect();
            bail!(unknown("there are no cache rules", name, &names));
        }
        let mut counting = self.counting.without_reserve()?;
        if counting.by_usage.take().is_some() {
            console::note(&"--tokenizer usage has no effect; a replay is always calibrated with the usage in its log");
        }
        counting.tokenizer = Arc::new(Remembered::new(Arc::clone(&counting.tokenizer)));
        Ok(Replay {
            policies: all_policies(&self.policies, &counting)?,
            apply: self.apply,
            live: self.input.live,
            counting,
            prices,
            model,
            cache: self.cache.clone(),
            missing: self.missing,
            keep_inaccurate: self.keep_inaccurate,
            outcome: self.outcome.clone(),
        })
    }

    /// The table of prices, and the model whose price applies to every request.
    fn prices(&self) -> anyhow::Result<(Prices, Option<String>)> {
        let built_in = Prices::built_in()?;
        let Some(price) = &self.price else { return Ok((built_in, None)) };
        if built_in.model(price).is_some() {
            return Ok((built_in, Some(price.clone())));
        }
        if !Path::new(price).exists() {
            let names: Vec<&str> = built_in.models.iter().map(|model: &ModelPrice| model.name.as_str()).collect();
            bail!(unknown("--price: neither a file nor a model of the price table is called", price, &names));
        }
        let prices = Prices::parse(&read_text(Path::new(price))?).with_context(|| price.clone())?;
        Ok((prices, None))
    }
}
