//! `--policy`: processors written as on a command line, with `|` between them.

use std::ffi::OsString;

use anyhow::{Context as _, anyhow, bail};

use crate::options::PROCESSOR_SPECS;
use crate::options::config::{Config, ConfigStep};
use crate::options::files::Reads;
use crate::options::keys::{Parsed, ProcessorSpec, first_line};
use crate::options::processor::Options;
use curtail_core::pipeline::{Chain, Processors};
use curtail_core::suggest::unknown;

/// A command of a policy.
#[derive(Clone)]
pub(crate) struct PolicyCommand {
    spec: &'static ProcessorSpec,
    /// Its flags and their values.
    pub(crate) flags: Vec<String>,
}

/// Which summarizers a policy may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summarizers {
    /// The built-in one.
    BuiltIn,
    /// The built-in one, unless the user passes `--allow-summarizer`.
    IfAllowed,
    /// All of them.
    All,
}

/// What a command refuses in a policy.
pub(crate) struct PolicyRules {
    /// The command that takes the policy.
    pub(crate) command: &'static str,
    /// Whether it takes summarizers that run a program or ask a server.
    pub(crate) summarizers: Summarizers,
}

impl PolicyRules {
    /// The chain of a dry run of `commands`, if a policy may have them.
    pub(crate) fn check_commands(&self, commands: &[PolicyCommand]) -> anyhow::Result<Chain> {
        let chain = chain_of(commands, true)?;
        self.check_summarizers(&chain)?;
        Ok(chain)
    }

    /// Refuses the steps of a configuration that a policy may not have.
    pub(crate) fn check_steps(&self, config: &Config, steps: &[ConfigStep<'_>]) -> anyhow::Result<()> {
        for step in steps {
            let place = format!("{}:{}", config.file, step.entry.place.line);
            if step.entry.spec.name == "memory" {
                bail!("{place}: a policy of `{}` has no `memory`; remove it from the configuration", self.command);
            }
            self.check_summarizers(&config.chain(std::slice::from_ref(step), true)?).context(place)?;
        }
        Ok(())
    }

    /// Refuses every summarizer but the built-in one, unless all are allowed: the others run a program or send the transcript
    /// to a server.
    fn check_summarizers(&self, chain: &Chain) -> anyhow::Result<()> {
        let is_refused = chain.stages.iter().any(|stage| stage.processor.traits().sends);
        let remedy = match self.summarizers {
            Summarizers::BuiltIn => "",
            Summarizers::IfAllowed => ", or pass --allow-summarizer",
            Summarizers::All => return Ok(()),
        };
        if is_refused {
            bail!("a {} sends nothing and runs no program; use `--summarizer extractive`{remedy}", self.command);
        }
        Ok(())
    }
}

/// The chain that `text` describes, such as `filter -x 'debug_*' | limit -t 60k`, and the files that it reads.
pub(crate) fn chain(text: &str, rules: &PolicyRules) -> anyhow::Result<(Chain, Reads)> {
    let built = parse(text).and_then(|commands| Ok((rules.check_commands(&commands)?, files_of(&commands))));
    built.with_context(|| format!("--policy `{text}`"))
}

/// The chain of `commands`, or what replaces it in a dry run.
pub(crate) fn chain_of(commands: &[PolicyCommand], dry_run: bool) -> anyhow::Result<Chain> {
    commands.iter().try_fold(Chain::default(), |chain, command| Ok(chain.at("", command.processors(dry_run)?)))
}

/// The files that `commands` read.
pub(crate) fn files_of(commands: &[PolicyCommand]) -> Reads {
    let mut reads = Reads::default();
    reads.extend(commands.iter().map(PolicyCommand::files));
    reads
}

/// The commands of `text`. A name of a preset stands for its commands.
pub(crate) fn parse(text: &str) -> anyhow::Result<Vec<PolicyCommand>> {
    let commands = split(text).map_err(anyhow::Error::msg)?.into_iter().map(commands_of);
    Ok(commands.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The command of `words`, or those of the preset that they name.
fn commands_of(words: Vec<String>) -> anyhow::Result<Vec<PolicyCommand>> {
    match words.first().and_then(|name| preset_named(name)) {
        None => Ok(vec![PolicyCommand::from_words(words)?]),
        Some(preset) if words.len() == 1 => parse(preset.command),
        Some(preset) => bail!("`{}` takes no flags; it stands for `{}`", preset.name, preset.command),
    }
}

impl PolicyCommand {
    fn from_words(words: Vec<String>) -> anyhow::Result<Self> {
        let mut words = words.into_iter();
        let Some(name) = words.next() else { bail!("a command is missing") };
        let flags: Vec<String> = words.collect();
        let mut specs = PROCESSOR_SPECS.iter().filter(|spec| spec.name != "memory");
        let Some(spec) = specs.clone().find(|spec| spec.name == name) else {
            let names: Vec<&str> =
                specs.by_ref().map(|spec| spec.name).chain(PRESETS.iter().map(|preset| preset.name)).collect();
            bail!(unknown("there is no policy", &name, &names));
        };
        Ok(Self { spec, flags })
    }

    /// Its name and its flags.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.spec.name).chain(self.flags.iter().map(String::as_str))
    }

    /// The same command with other flags.
    pub(crate) fn with_flags(&self, flags: Vec<String>) -> Self {
        Self { spec: self.spec, flags }
    }

    /// The processors of the command, or what replaces them in a dry run.
    pub(crate) fn processors(&self, dry_run: bool) -> anyhow::Result<Processors> {
        let parsed = self.parsed().map_err(|error| anyhow!(first_line(&error)))?;
        if let Some(flag) = parsed.ineffective {
            bail!(flag.on_command_line());
        }
        parsed.options.processors(dry_run)
    }

    /// The files that its processors read; none if its flags are invalid.
    fn files(&self) -> Reads {
        self.parsed().map_or_else(|_| Reads::default(), |parsed| parsed.options.files())
    }

    fn parsed(&self) -> Result<Parsed<Box<dyn Options>>, clap::Error> {
        self.spec.parse(&self.flags.iter().map(OsString::from).collect::<Vec<_>>())
    }
}

/// The words of each command, split as in a shell: at white space outside quotes.
pub(crate) fn split(text: &str) -> Result<Vec<Vec<String>>, &'static str> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            // Before a line break, it goes with the break.
            ('\\', None | Some('"')) if chars.next_if_eq(&'\n').is_some() => {}
            ('\\', None) => word.get_or_insert_default().extend(chars.next()),
            ('\\', Some('"')) => {
                let escaped = chars.next_if(|next| "$`\"\\".contains(*next));
                word.get_or_insert_default().push(escaped.unwrap_or('\\'));
            }
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('|', None) => {
                end_word(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            (c, None) if c.is_whitespace() => end_word(&mut word, &mut commands),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quotation mark is not closed");
    }
    end_word(&mut word, &mut commands);
    Ok(commands)
}

/// Adds the word that ends to the last command, which may begin with the name of the program.
fn end_word(word: &mut Option<String>, commands: &mut [Vec<String>]) {
    if let (Some(word), Some(command)) = (word.take(), commands.last_mut())
        && !(command.is_empty() && word == "curtail")
    {
        command.push(word);
    }
}

// Presets: names that stand for commands, wherever a policy is accepted.

/// A policy with a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preset {
    /// Its name.
    pub(crate) name: &'static str,
    /// The commands that it stands for, with their flags.
    pub(crate) command: &'static str,
    /// What it does, in a line.
    about: &'static str,
    /// Whether `replay` compares it by default.
    pub(crate) usual: bool,
}

const fn preset(name: &'static str, command: &'static str, about: &'static str, usual: bool) -> Preset {
    Preset { name, command, about, usual }
}

/// Every preset. Each has a page in `docs/presets`.
pub(crate) const PRESETS: &[Preset] = &[
    preset("keep-40", "window -n 40", "the last 40 items, with whole exchanges", true),
    preset(
        "last-items-40",
        "window --strategy sliding -n 40 --pin none --preserve-system",
        "the last 40 items, as sessions of the OpenAI Agents SDK do",
        false,
    ),
    preset("limit-50%", "limit -t 50%", "half of the tokens", true),
    preset(
        "trim-messages",
        "limit -t 50% --pin none --preserve-system --on-overflow empty | window --strategy sliding -n 1000000 --start-on user",
        "half of the tokens, from a user message on, as LangChain's trim_messages does",
        false,
    ),
    preset("clear-results-3", "filter --keep-last-results 3", "only the last 3 tool results", true),
    preset(
        "clear-tool-uses",
        "filter --keep-last-results 3 --trigger 100k",
        "the same above 100k tokens, as Anthropic's clear_tool_uses does",
        false,
    ),
    preset("mask-10", "filter --keep-last-results 10", "only the last 10 tool results: observation masking", false),
    preset(
        "mask-10-steps",
        "filter --keep-last-results 10 --step 10",
        "the same, 10 results at a time, so that prompts stay cached",
        false,
    ),
    preset("cap-2k", "filter --cap-result 2k", "each tool result shortened to 2k tokens", false),
    preset("rolling-21", "summarize -n 21", "the last 21 interactions and 3 summaries", true),
    preset(
        "mask-and-summarize",
        "filter --keep-last-results 10 | summarize -n 43",
        "the last 10 results, and summaries before the last 43 interactions",
        false,
    ),
];

/// The preset with this name.
pub(crate) fn preset_named(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// A row for each preset: its name, its command, and what it does.
pub(crate) fn list() -> Vec<[&'static str; 3]> {
    PRESETS.iter().map(|preset| [preset.name, preset.command, preset.about]).collect()
}

#[cfg(test)]
mod tests {
    use super::{PolicyRules, Summarizers, chain, split};

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let split_up = split(r#"curtail filter -x 'debug *' "a\"b\n" c\ d ''|limit  -t 8k"#).unwrap_or_default();
        assert_eq!(split_up, [vec!["filter", "-x", "debug *", "a\"b\\n", "c d", ""], vec!["limit", "-t", "8k"]]);
        let continued = split("limit \\\n-t 8\\\nk \"a\\\nb\" 'c\\\nd'").unwrap_or_default();
        assert_eq!(continued, [["limit", "-t", "8k", "ab", "c\\\nd"]]);
        assert!(split("limit 'x").is_err());
    }

    #[test]
    fn policies_are_chains() {
        let rules = PolicyRules { command: "view", summarizers: Summarizers::BuiltIn };
        assert_eq!(chain("filter -x a | limit -t 8k", &rules).map(|(chain, _)| chain.stages.len()).ok(), Some(2));
        let named = chain("mask-and-summarize | limit -t 8k", &rules).map(|(chain, _)| chain.stages.len()).ok();
        assert_eq!(named, Some(3), "a preset stands for its commands");
        for (text, words) in [
            ("keep-40 -n 3", "`keep-40` takes no flags; it stands for `window -n 40`"),
            ("limt -t 8k", "did you mean `limit`"),
            ("kep-40", "did you mean `keep-40`"),
            ("limit", "--max-tokens"),
            ("", "a command is missing"),
            ("limit -t 8k |", "a command is missing"),
            ("summarize --summarizer=openai", "a view sends nothing"),
            ("summarize --summarizer-cmd wc", "a view sends nothing and runs no program"),
            ("memory", "there is no policy"),
        ] {
            let error = chain(text, &rules).err().map(|error| format!("{error:#}")).unwrap_or_default();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
