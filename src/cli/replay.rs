//! `curtail replay`: the cost and losses of policies on recorded sessions.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;

use super::config::Config;
use super::input::{Global, Input};
use super::keys::Variables;
use super::options::{Choice, CountingOptions, Tokens, one_of, read_text};
use super::policy::{self, PRESETS, PolicyCommand, Rules, Summarizers};
use super::process::Interrupt;
use super::replay_reporter::{self, ReplayReporter};
use super::report;
use crate::batch::{Batch, Event, Flow, Unit, Work};
use crate::progress::Progress;
use curtail_core::counting::Tokenizer;
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::pipeline::Chain;
use curtail_core::processors::Counting;
use curtail_core::suggest::unknown;
use curtail_lab::replay::{Apply, ModelPrice, Policy, PolicyChain, Prices, Remembered, Replay, SessionReport};
use curtail_view::ReplayColumn;

/// Replay recorded sessions under other policies: tokens, cache, cost and lost references
///
/// Before each reply of the model, there is one request. Every policy is applied at every request, and the result is
/// measured: tokens sent, tokens that the provider would have read from its cache, the cost, and how many of the
/// references that the reply used were kept. A request that several files contain counts once. No transcript is written, and nothing is sent without --allow-summarizer.
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
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = parse_share)]
    keep_references: f64,

    /// Measure policies on sessions whose error is above 10 % as well
    #[arg(long)]
    keep_inaccurate: bool,

    /// Split the results by the outcome at this JSON pointer of each record [default: known places, such as /reward]
    #[arg(long, value_name = "POINTER")]
    outcome: Option<String>,

    /// Columns of the table
    #[arg(long, value_parser = replay_reporter::columns(), value_name = "COLUMN", value_delimiter = ',')]
    columns: Vec<&'static [ReplayColumn]>,

    /// Format of the report
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: ReplayFormat,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    input: Input,
}

/// The policies to replay.
#[derive(Debug, clap::Args)]
struct PolicyFlags {
    /// Policy: a preset, or commands with their flags, such as 'limit -t 60k' [default: the usual presets]
    ///
    /// Commands are applied in order, with `|` between them. `curtail run --list-presets` lists the presets. N% of tokens is a
    /// share of the largest recorded request of each session.
    #[arg(id = "policy", short, long, value_name = "COMMAND")]
    policies: Vec<String>,

    /// Policies for every combination of the values in braces, such as 'limit -t {20k,40k}'
    #[arg(id = "sweep", long, value_name = "COMMAND")]
    sweeps: Vec<String>,

    /// Policy: the processors of a configuration file
    #[arg(
        id = "config",
        short = 'c',
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Configuration"
    )]
    configs: Vec<PathBuf>,

    /// Let `summarize` run its command or ask its server, once for each new summary of each policy
    #[arg(long)]
    allow_summarizer: bool,
}

/// The values of `--apply`.
const APPLIED_TO: &[Choice<Apply>] = &[
    Choice::new("view", Apply::View, "The whole recorded history"),
    Choice::new("rewrite", Apply::Rewrite, "Its own last output and the messages since, as compaction does"),
];

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReplayFormat {
    /// A table of all sessions together
    Text,
    /// One JSON object with every request
    Json,
    /// CSV with a row for every request
    Csv,
    /// A page with the tokens of every request as curves
    Html,
}

/// `95%`, or `95`.
fn parse_share(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().trim_end_matches('%').trim().parse().ok();
    let share = number.filter(|number| (0.0..=100.0).contains(number));
    share.map(|percent| percent / 100.0).ok_or_else(|| String::from("expected a share from 0% to 100%"))
}

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
        report::counted(&replay.counting, global);
        let (sources, missing) = self.input.sources(None, global)?;
        report::warn_empty(sources.is_empty() && missing.is_empty(), global);
        let failures = report::Failures::of_missing(&missing, global);
        let interrupt = Interrupt::watch(false)?;
        let progress =
            Arc::new(Progress::new(global.progress_display(self.output_format != ReplayFormat::Text), &sources));
        let mut failures = failures.beside(&progress);
        let batch = Batch { stop: interrupt.flag(), progress: Arc::clone(&progress), ..self.input.batch(global)? };
        let work = Replaying(replay);
        let mut reporter = ReplayReporter::new(self.output_format, &work.0, self.keep_references, &self.columns);
        let mut written = reporter.begin();
        batch.run(sources, &work, |event| {
            failures.note(&event);
            if let Event::Done { out, .. } = event {
                for session in out.iter_mut() {
                    written = std::mem::replace(&mut written, Ok(())).and_then(|()| reporter.session(session));
                }
            }
            if written.is_err() { Flow::Stop } else { Flow::Continue }
        });
        progress.finish();
        written?;
        let status = failures.status;
        reporter.finish(status != ExitCode::SUCCESS)?;
        Ok(interrupt.status().map_or(status, ExitCode::from))
    }

    fn replay(&self) -> anyhow::Result<Replay> {
        let (prices, model) = self.prices()?;
        if let Some(name) = self.cache.as_ref().filter(|name| !prices.cache.contains_key(*name)) {
            let names: Vec<&str> = prices.cache.keys().map(String::as_str).collect();
            bail!(unknown("there are no cache rules", name, &names));
        }
        // A replay is always calibrated with the provider's counts in the log.
        let mut counting = Counting { by_usage: None, ..self.counting.counting()? };
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
            bail!(
                "--price: `{price}` is neither a file nor a model of the price table; the models are {}",
                names.join(", ")
            );
        }
        let prices = Prices::parse(&read_text(Path::new(price))?).with_context(|| price.clone())?;
        Ok((prices, None))
    }
}

// The policies of the command line: presets, commands with their flags, grids of them, and configuration files.

/// Maximum number of policies of a sweep.
const MAX_SWEPT: usize = 200;

/// `as recorded`, and the policies of the flags; the usual presets if there are none.
fn all_policies(flags: &PolicyFlags, counting: &Counting) -> anyhow::Result<Vec<Policy>> {
    let summarizers = if flags.allow_summarizer { Summarizers::All } else { Summarizers::IfAllowed };
    let settings = PolicySettings { counting, rules: Rules { command: "replay", summarizers } };
    let mut policies = vec![Policy::recorded()];
    for command in &flags.policies {
        policies.push(policy(command, false, &settings)?);
    }
    for sweep in &flags.sweeps {
        for command in grid(sweep)? {
            policies.push(policy(&command, true, &settings)?);
        }
    }
    for path in &flags.configs {
        policies.push(config_policy(path, &settings)?);
    }
    if policies.len() == 1 {
        for preset in PRESETS.iter().filter(|preset| preset.usual) {
            policies.push(policy(preset.name, false, &settings)?);
        }
    }
    Ok(policies)
}

/// What all policies of a replay share.
struct PolicySettings<'c> {
    counting: &'c Counting,
    /// What a replayed policy may contain.
    rules: Rules,
}

fn policy(text: &str, swept: bool, settings: &PolicySettings<'_>) -> anyhow::Result<Policy> {
    let name = text.trim().to_owned();
    let commands = policy::parse(&name)?;
    let wrong = |reason: String| anyhow!("--policy `{name}`: {reason}");
    let commands: Vec<PolicyCommand> = commands.into_iter().map(with_summary_cache).collect();
    let is_scaled = commands.iter().flat_map(|command| &command.flags).any(|word| share(word).is_some());
    // A usage error is reported before any input is read.
    let largest = if is_scaled { 1_000_000 } else { 0 };
    settings.rules.check_commands(&scaled_commands(&commands, largest)).map_err(|error| wrong(format!("{error:#}")))?;
    let fixed = chain(&commands, largest, settings.counting).map_err(wrong)?;
    let chain = if is_scaled {
        let counting = settings.counting.clone();
        PolicyChain::Scaled(Box::new(move |largest| Ok(chain(&commands, largest, &counting)?)))
    } else {
        PolicyChain::Fixed(fixed)
    };
    let command = policy::preset_named(&name).map_or(&*name, |preset| preset.command).to_owned();
    Ok(Policy { name, command, chain, swept })
}

/// The command with a cache folder for its summaries, so that a second replay sends no request.
fn with_summary_cache(command: PolicyCommand) -> PolicyCommand {
    let sends = command.processors(true).is_ok_and(|stages| stages.iter().any(|stage| stage.traits().sends));
    let has_cache = command.flags.iter().any(|flag| flag == "--cache" || flag.starts_with("--cache="));
    match summaries_folder().filter(|_| sends && !has_cache) {
        Some(folder) => {
            let cache = [String::from("--cache"), folder.display().to_string()];
            command.with_flags(command.flags.iter().cloned().chain(cache).collect())
        }
        None => command,
    }
}

/// `curtail/summaries` in the user's cache folder (XDG Base Directory Specification 0.8).
fn summaries_folder() -> Option<PathBuf> {
    Some(Variables::of_process().user_folder("XDG_CACHE_HOME", ".cache")?.join("curtail/summaries"))
}

/// `commands`, with numbers of tokens instead of shares of `largest`.
fn scaled_commands(commands: &[PolicyCommand], largest: u64) -> Vec<PolicyCommand> {
    commands.iter().map(|command| command.with_flags(scaled(&command.flags, largest))).collect()
}

/// The chain of commands, with shares of `largest` as numbers of tokens.
fn chain(commands: &[PolicyCommand], largest: u64, counting: &Counting) -> Result<Chain, String> {
    let chain = policy::chain_of(&scaled_commands(commands, largest), false);
    without_repetition(chain.map_err(|error| format!("{error:#}"))?, counting)
}

/// Makes the processors of `chain` count each text once, and make each summary once.
fn without_repetition(mut chain: Chain, counting: &Counting) -> Result<Chain, String> {
    for stage in &mut chain.stages {
        let counted = stage.processor.counting().map(|budget| remembering_counts(budget, counting)).transpose()?;
        let processor = counted.and_then(|budget| stage.processor.with_counting(budget));
        stage.processor =
            processor.or_else(|| stage.processor.remembering()).unwrap_or_else(|| Arc::clone(&stage.processor));
    }
    Ok(chain)
}

/// The counting `budget` of a processor, which then counts each text once: with the tokenizer of `counting` if it has the same
/// name.
fn remembering_counts(budget: &Counting, counting: &Counting) -> Result<Counting, String> {
    if budget.by_usage.is_some() {
        return Err(String::from("the budget of a replayed policy cannot be counted with --tokenizer usage"));
    }
    let tokenizer: Arc<dyn Tokenizer> = match budget.tokenizer.name() == counting.tokenizer.name() {
        true => Arc::clone(&counting.tokenizer),
        false => Arc::new(Remembered::new(Arc::clone(&budget.tokenizer))),
    };
    Ok(Counting { tokenizer, ..budget.clone() })
}

fn config_policy(path: &Path, settings: &PolicySettings<'_>) -> anyhow::Result<Policy> {
    let config = Config::named(path)?;
    let steps = config.steps(None, None)?;
    settings.rules.check_steps(&config, &steps)?;
    let chain = without_repetition(config.chain(&steps, false)?, settings.counting);
    let chain = chain.map_err(|error| anyhow!("{}: {error}", config.file))?;
    let command = format!("run -c {}", config.file);
    Ok(Policy { name: config.file.clone(), command, chain: PolicyChain::Fixed(chain), swept: false })
}

/// The command line that applies `policy`, with shares of `largest` as numbers of tokens.
pub(super) fn command_line(policy: &Policy, largest: u64) -> String {
    let words: Vec<String> = policy.command.split(' ').map(str::to_owned).collect();
    let command = scaled(&words, largest).join(" ");
    let mut stages = command.split('|').map(|stage| format!("curtail {}", stage.trim()));
    let first = stages.next().map(|stage| stage + " FILE").unwrap_or_default();
    std::iter::once(first).chain(stages).collect::<Vec<_>>().join(" | ")
}

/// The share in a word such as `50%` or `--max-tokens=50%`.
fn share(word: &str) -> Option<f64> {
    let number = word.rsplit('=').next()?.strip_suffix('%')?;
    number.parse().ok().filter(|share: &f64| (0.0..=1000.0).contains(share))
}

/// `words` with numbers of tokens instead of shares of `largest`.
fn scaled(words: &[String], largest: u64) -> Vec<String> {
    let scale = |word: &String| match share(word) {
        #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
        Some(share) => {
            let tokens = (largest as f64 * share / 100.0).floor();
            let before = word.rfind('=').map_or("", |at| &word[..=at]);
            format!("{before}{tokens}")
        }
        None => word.clone(),
    };
    words.iter().map(scale).collect()
}

/// The budgets of `policy` that are numbers of tokens, each with its flag as it is written there.
pub(super) fn budgets(policy: &Policy) -> Vec<(String, u64)> {
    let words: Vec<&str> = policy.command.split_whitespace().collect();
    let separate = words.windows(2).filter(|pair| matches!(pair[0], "-t" | "--max-tokens"));
    let joined = words.iter().filter_map(|word| Some((*word, word.strip_prefix("--max-tokens=")?)));
    let budgets =
        separate.map(|pair| (pair.join(" "), pair[1])).chain(joined.map(|(word, value)| (word.to_owned(), value)));
    budgets.filter_map(|(word, value)| Some((word, value.parse::<Tokens>().ok()?.0 as u64))).collect()
}

/// Every combination of the values in braces.
fn grid(sweep: &str) -> anyhow::Result<Vec<String>> {
    let mut commands = vec![String::new()];
    let mut rest = sweep;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((values, after)) = after.split_once('}') else {
            bail!("--sweep '{sweep}': the brace {{ is not closed");
        };
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        let extended =
            |command: &String| values.iter().map(|value| format!("{command}{before}{value}")).collect::<Vec<_>>();
        commands = commands.iter().flat_map(extended).collect();
        if commands.len() > MAX_SWEPT {
            bail!("--sweep '{sweep}': more than {MAX_SWEPT} combinations");
        }
        rest = after;
    }
    Ok(commands.into_iter().map(|command| command + rest).collect())
}

#[cfg(test)]
mod tests {
    use super::{Policy, PolicyChain, command_line, grid, scaled};

    #[test]
    fn a_policy_is_a_command_line() {
        let command = "filter -x debug | limit -t 50%".to_owned();
        let policy = Policy { name: String::new(), command, chain: PolicyChain::Recorded, swept: false };
        assert_eq!(command_line(&policy, 1001), "curtail filter -x debug FILE | curtail limit -t 500");
    }

    #[test]
    fn a_sweep_is_every_combination() {
        let commands = grid("limit -t {1k,2k} --trigger {3k,4k}").unwrap_or_default();
        let expected = [
            "limit -t 1k --trigger 3k",
            "limit -t 1k --trigger 4k",
            "limit -t 2k --trigger 3k",
            "limit -t 2k --trigger 4k",
        ];
        assert_eq!(commands, expected);
        assert!(grid("limit -t {1k").is_err());
    }

    #[test]
    fn shares_become_tokens() {
        let scaled_word = |word: &str| scaled(&[word.to_owned()], 1001).concat();
        assert_eq!(
            (scaled_word("50%"), scaled_word("--max-tokens=10%"), scaled_word("5k")),
            ("500".into(), "--max-tokens=100".into(), "5k".into())
        );
    }
}
