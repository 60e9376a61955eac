//! The policies of the command line: presets, commands with their flags, grids of them, and configuration files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};

use crate::cli::PROCESSOR_SPECS;
use crate::cli::config::{Config, Variables};
use crate::cli::policy::{self, Command, Rules};
use crate::counting::Tokenizer;
use crate::pipeline::Chain;
use crate::processors::Counting;
use crate::replay::{PRESETS, Policy, PolicyChain, Remembered};

/// The most policies that a sweep may have.
const MOST: usize = 200;

/// `as recorded`, and the policies of the flags; every preset if there are none.
pub(super) fn all(
    commands: &[String],
    sweeps: &[String],
    configs: &[PathBuf],
    counting: &Counting,
) -> anyhow::Result<Vec<Policy>> {
    let mut policies = vec![Policy::recorded()];
    for command in commands {
        policies.push(policy(command, false, counting)?);
    }
    for sweep in sweeps {
        for command in grid(sweep)? {
            policies.push(policy(&command, true, counting)?);
        }
    }
    for path in configs {
        policies.push(configured(path, counting)?);
    }
    if policies.len() == 1 {
        for preset in PRESETS {
            policies.push(policy(preset.name, false, counting)?);
        }
    }
    Ok(policies)
}

/// What a policy may be here.
const RULES: Rules<'_> = Rules { command: "replay", others: &[] };

fn policy(text: &str, swept: bool, counting: &Counting) -> anyhow::Result<Policy> {
    let name = text.trim().to_owned();
    let preset = PRESETS.iter().find(|preset| preset.name == name);
    let names: Vec<&'static str> = PRESETS.iter().map(|preset| preset.name).collect();
    let rules = Rules { others: &names, ..RULES };
    let commands = policy::parse(preset.map_or(&name, |preset| preset.command), &rules)?;
    let wrong = |what: String| anyhow!("--policy `{name}`: {what}");
    let chain = if commands.iter().flat_map(|command| &command.flags).any(|word| share(word).is_some()) {
        // A usage error is reported before any input is read.
        chain(&commands, 1_000_000, counting).map_err(wrong)?;
        let counting = counting.clone();
        PolicyChain::Scaled(Box::new(move |largest| Ok(chain(&commands, largest, &counting)?)))
    } else {
        PolicyChain::Fixed(chain(&commands, 0, counting).map_err(wrong)?)
    };
    Ok(Policy { name, chain, swept })
}

/// The chain of commands, with shares of `largest` as numbers of tokens.
fn chain(commands: &[Command], largest: u64, counting: &Counting) -> Result<Chain, String> {
    let stages = commands.iter().map(|command| {
        let command = command.with_flags(scaled(&command.flags, largest));
        command.processors(false).map_err(|error| format!("{error:#}"))
    });
    let chain = stages.into_iter().try_fold(Chain::default(), |chain, stage| stage.map(|stage| chain.at("", stage)))?;
    remembering(chain, counting)
}

/// Lets the processors of `chain` count each text once, and make each summary once.
fn remembering(mut chain: Chain, counting: &Counting) -> Result<Chain, String> {
    for stage in &mut chain.stages {
        let counted = stage.processor.counting().map(|own| remembering_counts(own, counting)).transpose()?;
        let processor = counted.and_then(|own| stage.processor.with_counting(own));
        stage.processor =
            processor.or_else(|| stage.processor.remembering()).unwrap_or_else(|| Arc::clone(&stage.processor));
    }
    Ok(chain)
}

/// `own`, which counts each text once: with the tokenizer of `counting` if it has the same name.
fn remembering_counts(own: &Counting, counting: &Counting) -> Result<Counting, String> {
    if own.by_usage.is_some() {
        return Err(String::from("the budget of a replayed policy cannot be counted with --tokenizer usage"));
    }
    let tokenizer: Arc<dyn Tokenizer> = match own.tokenizer.name() == counting.tokenizer.name() {
        true => Arc::clone(&counting.tokenizer),
        false => Arc::new(Remembered::new(Arc::clone(&own.tokenizer))),
    };
    Ok(Counting { tokenizer, ..own.clone() })
}

fn configured(path: &Path, counting: &Counting) -> anyhow::Result<Policy> {
    let config = Config::load(path, PROCESSOR_SPECS, &Variables::of_process())?;
    let steps = config.steps(None, None)?;
    for step in &steps {
        let summarizer = step.entry.values.iter().find(|value| value.name == "summarizer");
        if step.entry.spec.name == "memory" || summarizer.is_some_and(|value| !value.value.contains("extractive")) {
            bail!("{}:{}: {}", config.file, step.entry.place.0, RULES.sends_nothing());
        }
    }
    let chain = remembering(config.chain(&steps, false)?, counting);
    let chain = chain.map_err(|error| anyhow::anyhow!("{}: {error}", config.file))?;
    Ok(Policy { name: config.file.clone(), chain: PolicyChain::Fixed(chain), swept: false })
}

/// The share that a word such as `50%` or `--max-tokens=50%` names.
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

/// Every combination of the values in braces.
fn grid(sweep: &str) -> anyhow::Result<Vec<String>> {
    let mut commands = vec![String::new()];
    let mut rest = sweep;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((values, after)) = after.split_once('}') else {
            bail!("--sweep '{sweep}': the brace {{ is not closed");
        };
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        let with =
            |command: &String| values.iter().map(|value| format!("{command}{before}{value}")).collect::<Vec<_>>();
        commands = commands.iter().flat_map(with).collect();
        if commands.len() > MOST {
            bail!("--sweep '{sweep}': more than {MOST} combinations");
        }
        rest = after;
    }
    Ok(commands.into_iter().map(|command| command + rest).collect())
}

#[cfg(test)]
mod tests {
    use super::{grid, scaled};

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
        let own = |word: &str| scaled(&[word.to_owned()], 1001).concat();
        assert_eq!(
            (own("50%"), own("--max-tokens=10%"), own("5k")),
            ("500".into(), "--max-tokens=100".into(), "5k".into())
        );
    }
}
