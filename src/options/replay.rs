//! The policies of a replay: presets, commands with their flags, grids of them, and configuration files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};

use crate::options::config::Config;
use crate::options::numbers::Tokens;
use crate::options::policy;
use crate::options::policy::{PRESETS, PolicyCommand, PolicyRules, Summarizers};
use crate::options::variables::Variables;
use curtail_core::counting::Tokenizer;
use curtail_core::pipeline::Chain;
use curtail_core::processors::Counting;
use curtail_core::visible;
use curtail_lab::replay::{Policy, PolicyChain, Remembered, remembering};

/// The policies to replay.
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyFlags {
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

/// Maximum number of policies of a sweep.
const MAX_SWEPT: usize = 200;

/// `as recorded`, and the policies of the flags; the usual presets if there are none.
pub(crate) fn all_policies(flags: &PolicyFlags, counting: &Counting) -> anyhow::Result<Vec<Policy>> {
    let summarizers = if flags.allow_summarizer { Summarizers::All } else { Summarizers::IfAllowed };
    let settings = PolicySettings { counting, rules: PolicyRules { command: "replay", summarizers } };
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
    rules: PolicyRules,
}

fn policy(text: &str, swept: bool, settings: &PolicySettings<'_>) -> anyhow::Result<Policy> {
    let name = text.trim().to_owned();
    let flag = if swept { "--sweep" } else { "--policy" };
    let commands = policy::parse(&name).with_context(|| format!("{flag} `{name}`"))?;
    let lines: Vec<String> = commands.iter().map(|command| shell_words(command.words())).collect();
    let chain = policy_chain(commands, settings).with_context(|| format!("{flag} `{name}`"))?;
    Ok(Policy { name, command: lines.join(" | "), chain, swept })
}

fn policy_chain(commands: Vec<PolicyCommand>, settings: &PolicySettings<'_>) -> anyhow::Result<PolicyChain> {
    let commands: Vec<PolicyCommand> = commands.into_iter().map(with_summary_cache).collect();
    let is_scaled = commands.iter().any(|command| scaled(&command.flags, 0) != command.flags);
    // A usage error is reported before any input is read.
    let largest = if is_scaled { 1_000_000 } else { 0 };
    settings.rules.check_commands(&scaled_commands(&commands, largest))?;
    let fixed = chain(&commands, largest, settings.counting).map_err(anyhow::Error::msg)?;
    if !is_scaled {
        return Ok(PolicyChain::Fixed(fixed));
    }
    let counting = settings.counting.clone();
    Ok(PolicyChain::Scaled(Box::new(move |largest| Ok(chain(&commands, largest, &counting)?))))
}

/// The command with a cache folder for its summaries, so that a second replay sends no request.
fn with_summary_cache(command: PolicyCommand) -> PolicyCommand {
    let sends = command.processors(true).is_ok_and(|stages| stages.iter().any(|stage| stage.traits().sends));
    let has_cache = command.flags.iter().any(|flag| flag == "--cache" || flag.starts_with("--cache="));
    match Variables::of_process().cache_folder("summaries").filter(|_| sends && !has_cache) {
        Some(folder) => {
            let cache = [String::from("--cache"), folder.display().to_string()];
            command.with_flags(command.flags.iter().cloned().chain(cache).collect())
        }
        None => command,
    }
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
            processor.or_else(|| remembering(&*stage.processor)).unwrap_or_else(|| Arc::clone(&stage.processor));
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
    let command = format!("run -c {}", visible::word(&config.file));
    Ok(Policy { name: config.file.clone(), command, chain: PolicyChain::Fixed(chain), swept: false })
}

/// The command line that applies `policy`, with shares of `largest` as numbers of tokens.
pub(crate) fn command_line(policy: &Policy, largest: u64) -> String {
    let commands = policy::split(&policy.command).unwrap_or_default();
    let mut stages = commands.iter().map(|words| {
        let words = scaled(words, largest);
        format!("curtail {}", shell_words(words.iter().map(String::as_str)))
    });
    let first = stages.next().map(|stage| stage + " FILE").unwrap_or_default();
    std::iter::once(first).chain(stages).collect::<Vec<_>>().join(" | ")
}

/// The words of a command as a shell takes them.
fn shell_words<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(shell_word).collect::<Vec<_>>().join(" ")
}

/// A word of a command as a shell takes it.
fn shell_word(word: &str) -> String {
    let bare = word.trim_start_matches('-');
    let dashes = &word[..word.len() - bare.len()];
    if bare.is_empty() && !word.is_empty() { word.to_owned() } else { format!("{dashes}{}", visible::word(bare)) }
}

/// The flag that a word begins with, if it has its value as well, and the value: `--max-tokens=50%`, `-t50%` or `50%`.
fn flag_and_value(word: &str) -> (&str, &str) {
    let end = match word.rfind('=') {
        Some(at) => at + 1,
        None if word.starts_with("-t") => "-t".len(),
        None => 0,
    };
    word.split_at(end)
}

/// Flags whose values are no numbers of tokens, whatever they look like.
const OTHER_SHARES: [&str; 2] = ["--verify", "--placeholder"];

/// The share of tokens in a word such as `50%` or `--max-tokens=50%`, which follows `before`.
fn share(before: &str, word: &str) -> Option<f64> {
    let own = word.split_once('=').map(|(flag, _)| flag);
    if OTHER_SHARES.iter().any(|flag| before == *flag || own == Some(*flag)) {
        return None;
    }
    let number = flag_and_value(word).1.strip_suffix('%')?;
    number.parse().ok().filter(|share: &f64| (0.0..=1000.0).contains(share))
}

/// `words` with numbers of tokens instead of shares of `largest`.
fn scaled(words: &[String], largest: u64) -> Vec<String> {
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    before.zip(words).map(|(before, word)| scaled_word(before, word, largest)).collect()
}

/// `word`, which follows `before`, with a number of tokens instead of a share of `largest`.
#[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
fn scaled_word(before: &str, word: &str, largest: u64) -> String {
    let Some(share) = share(before, word) else { return word.to_owned() };
    let tokens = (largest as f64 * share / 100.0).floor();
    format!("{}{tokens}", flag_and_value(word).0)
}

/// The budgets of `policy` that are numbers of tokens, each with its flag as it is written there.
pub(crate) fn budgets(policy: &Policy) -> Vec<(String, u64)> {
    let words = policy::split(&policy.command).unwrap_or_default().concat();
    let separate = words.windows(2).filter(|pair| matches!(&*pair[0], "-t" | "--max-tokens"));
    let joined = words.iter().map(|word| (word, flag_and_value(word)));
    let joined = joined.filter(|(_, (flag, _))| matches!(*flag, "--max-tokens=" | "-t=" | "-t"));
    let budgets =
        separate.map(|pair| (pair.join(" "), &*pair[1])).chain(joined.map(|(word, (_, value))| (word.clone(), value)));
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
        let extended = commands
            .iter()
            .flat_map(|command| values.split(',').map(move |value| format!("{command}{before}{}", value.trim())));
        commands = extended.collect();
        if commands.len() > MAX_SWEPT {
            bail!("--sweep '{sweep}': more than {MAX_SWEPT} combinations");
        }
        rest = after;
    }
    Ok(commands.into_iter().map(|command| command + rest).collect())
}

#[cfg(test)]
mod tests {
    use super::{Policy, PolicyChain, PolicySettings, budgets, command_line, grid, policy, scaled, scaled_word};
    use crate::options::policy::{PolicyRules, Summarizers};
    use curtail_core::processors::Counting;
    use curtail_tokens::tokenizers::tokenizer_by_name;

    #[test]
    fn a_policy_is_a_command_line() {
        let command = "filter -x debug | limit -t 50%".to_owned();
        let policy = Policy { name: String::new(), command, chain: PolicyChain::Recorded, swept: false };
        assert_eq!(command_line(&policy, 1001), "curtail filter -x debug FILE | curtail limit -t 500");
        let command = "filter -x 'a|b' | limit -t50%".to_owned();
        let policy = Policy { command, ..policy };
        assert_eq!(command_line(&policy, 1001), "curtail filter -x 'a|b' FILE | curtail limit -t500");
        for command in ["limit -t60k", "limit '-t60k'"] {
            let policy =
                Policy { name: String::new(), command: command.to_owned(), chain: PolicyChain::Recorded, swept: false };
            assert_eq!(budgets(&policy), [("-t60k".to_owned(), 60_000)], "{command}");
        }
    }

    #[test]
    fn a_preset_in_a_chain_is_its_commands() {
        let counting = Counting::new(tokenizer_by_name("o200k_base").unwrap());
        let rules = PolicyRules { command: "replay", summarizers: Summarizers::IfAllowed };
        let settings = PolicySettings { counting: &counting, rules };
        let made = policy("limit-50% | filter -x 'a b'", false, &settings).unwrap();
        assert_eq!(command_line(&made, 1000), "curtail limit -t 500 FILE | curtail filter -x 'a b'");
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
        let words = ["50%", "--max-tokens=10%", "5k"].map(|word| scaled_word("", word, 1001));
        assert_eq!(words, ["500", "--max-tokens=100", "5k"]);
        let others = ["--verify", "90%", "--verify=90%", "--placeholder=50%"].map(str::to_owned);
        assert_eq!(scaled(&others, 1001), others, "shares of something else");
    }
}
