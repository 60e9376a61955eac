//! Which flags have an effect only beside others: as data, in one list, with one check for the command line, for policies and for
//! configurations. A flag without effect is an error, because whoever passes it believes that it does something.

use std::ffi::OsString;

use Need::{Absent, Given, Not, Only, Value};
use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// Flags that need others.
#[derive(Debug)]
struct Modifier {
    /// The commands that have the flags; all of them if empty.
    commands: &'static [&'static str],
    /// The flags, by their long names.
    flags: &'static [&'static str],
    /// What the flags need: one of these.
    needs: &'static [Need],
    /// What to call the needs in a message; by default they are listed.
    kind: &'static str,
    /// What to do instead, if that is not obvious.
    advice: &'static str,
    /// Whether it does no harm that the flag has no effect, so that it is only reported.
    is_harmless: bool,
}

/// Something that a flag needs.
#[derive(Debug, Clone, Copy)]
enum Need {
    /// One of these flags.
    Given(&'static [&'static str]),
    /// One of these values of a flag, which may be the default.
    Value(&'static str, &'static [&'static str]),
    /// None of these flags.
    Absent(&'static [&'static str]),
    /// Not these values of a flag.
    Not(&'static str, &'static [&'static str]),
    /// No other flag than these, and no path.
    Only(&'static [&'static str]),
}

const fn modifier(
    commands: &'static [&'static str],
    flags: &'static [&'static str],
    needs: &'static [Need],
) -> Modifier {
    Modifier { commands, flags, needs, kind: "", advice: "", is_harmless: false }
}

impl Modifier {
    /// Whether the command at `path` has the flags.
    fn applies_to(&self, path: &str) -> bool {
        self.commands.is_empty() || self.commands.contains(&path)
    }

    const fn with_advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    const fn harmless(self) -> Self {
        Self { is_harmless: true, ..self }
    }

    const fn with_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }
}

/// All commands.
const EVERY: &[&str] = &[];

/// Any value.
const NO_VALUES: &[&str] = &[];

/// The commands that write transcripts.
const CUTS: &[&str] = &["window", "filter", "limit", "split", "summarize", "repair", "run", "memory recall"];

const FILTER: &[&str] = &["filter"];

/// The flags of `filter` that clear results.
const CLEAR: &[&str] = &["keep-last-results", "protect-tokens", "supersede-reads", "dedupe-results"];

const CAP: &[&str] = &["cap-result", "cap-tool"];

const TOOLS: &[&str] = &["exclude-tool", "include-tool"];

/// The flags of `filter` that choose what to change, without those that choose calls by their tools.
const OTHER_SELECTIONS: &[&str] = &[
    "role", "strip", "keep-last-results", "protect-tokens", "supersede-reads", "dedupe-results", "cap-result",
    "cap-tool", "keep-last-media", "max-media-bytes", "max-media-pixels", "range", "drop", "drop-turn",
    "drop-records-with",
];

const ALL_CALLS: &str = "-x '*' drops the calls of all tools, and -k GLOB those of all others";

const RULES_COUNT: &str =
    "it applies to rules of --drop-records-with, and all other flags of `filter` count in o200k_base";

const MODELS: Need = Value("summarizer", &["openai", "anthropic"]);

const EXTERNAL: &[Need] = &[Value("summarizer", &["openai", "anthropic", "command"]), Given(&["summarizer-cmd"])];

/// The flags of `summarize` that say how transcripts are written.
const WRITTEN: &[&str] =
    &["repair", "explain", "stats", "fail-on-change", "output", "output-dir", "as-new-session", "in-place", "rejects"];

/// The flags that need others, or that others make useless. Whether an input needs a flag, such as `--glob` with a file that was
/// named, is not known here.
const MODIFIERS: &[Modifier] = &[
    modifier(&["window"], &["max-expansion", "cap-in-flight"], &[Value("strategy", &["history"])]),
    modifier(FILTER, &["persist-results"], &[Given(TOOLS), Absent(OTHER_SELECTIONS)]).with_advice(ALL_CALLS),
    modifier(FILTER, &["step"], &[Given(&["keep-last-results"])]),
    modifier(FILTER, &["read-tool"], &[Given(&["supersede-reads"])]),
    modifier(FILTER, &["placeholder", "clear-inputs", "clear-tool", "trigger", "clear-at-least"], &[Given(CLEAR)])
        .with_advice(ALL_CALLS),
    modifier(FILTER, &["exempt-tool"], &[Given(CLEAR), Given(CAP)]).with_advice(ALL_CALLS),
    modifier(FILTER, &["cap-keep"], &[Given(CAP)]).with_advice(ALL_CALLS),
    modifier(FILTER, &["tokenizer", "model", "overhead", "reserve", "template"], &[Given(&["max-tokens"])])
        .with_advice(RULES_COUNT),
    modifier(FILTER, &["pin"], &[Given(&["role", "range", "drop", "drop-turn"])]).with_advice(ALL_CALLS),
    modifier(FILTER, &["repair", "live", "thinking", "usage"], &[Given(TOOLS), Given(OTHER_SELECTIONS)])
        .with_kind("a flag that chooses what to drop")
        .with_advice(ALL_CALLS),
    modifier(CUTS, &["repair-pending"], &[Given(&["repair"])]),
    modifier(&["check"], &["repair-pending", "unsafe-fixes"], &[Given(&["fix", "diff"])]),
    modifier(&["check"], &["follow-links"], &[Given(&["fix"])]),
    modifier(&["check"], &["max-findings", "follow-links"], &[Absent(&["diff"])]),
    modifier(&["check"], &["statistics"], &[Value("output-format", &["text", "json"])]),
    modifier(&["check"], &["statistics", "max-findings"], &[Absent(&["write-baseline"])]),
    modifier(CUTS, &["follow-links"], &[Given(&["in-place"])]),
    modifier(CUTS, &["resume"], &[Given(&["output-dir", "in-place"])]),
    modifier(CUTS, &["no-sync"], &[Given(&["output", "output-dir", "in-place", "as-new-session"])]).harmless(),
    modifier(CUTS, &["force"], &[Given(&["output", "output-dir", "in-place", "rejects", "map"])]).harmless(),
    modifier(&["view"], &["force"], &[Given(&["output", "output-dir"])]).harmless(),
    modifier(&["view"], &["full"], &[Given(&["text"])]),
    modifier(&["show"], &["live"], &[Absent(&["message"])]),
    modifier(&["count"], &["usage"], &[Value("output-format", &["table", "json"])]),
    modifier(&["sessions"], &["tokens"], &[Value("output-format", &["table", "json"])]),
    modifier(&["sessions"], &["paths"], &[Value("output-format", &["table"])]),
    modifier(&["memory show"], &["output-format", "schema", "template", "read-only"], &[Absent(&["set-aside"])]),
    modifier(&["memory show"], &["read-only"], &[]).with_advice("nothing is updated").harmless(),
    modifier(&["memory set"], &["template"], &[]).with_advice("the state is the one that is given").harmless(),
    modifier(&["memory recall"], &["template", "read-only"], &[Absent(&["state"])]).harmless(),
    modifier(&["memory apply"], &["template"], &[Absent(&["state"])]).harmless(),
    modifier(
        &["check"],
        &[
            "stateful", "profile", "exit-zero", "allow-empty", "live", "tokenizer", "model", "overhead", "reserve",
            "template",
        ],
        &[Absent(&["error"])],
    ),
    modifier(&["view"], &["network", "agent"], &[Given(&["config"])]),
    modifier(&["run"], &["preset"], &[Absent(&["network", "agent", "config", "no-config", "trust"])]),
    modifier(&["run"], &["list-presets"], &[Only(&[])]),
    modifier(&["run"], &["print"], &[Only(&["network", "agent", "preset", "config", "no-config", "trust"])]),
    modifier(&["summarize"], &["print-prompt"], &[Only(&["prompt"])]),
    modifier(&["run", "check", "config show"], &["no-config"], &[Absent(&["config"])]),
    modifier(&["split"], &["on-overflow", "reserve"], &[Given(&["max-tokens"])]),
    modifier(EVERY, &["messages-key"], &[Value("framing", &["auto", "records", "document"])]),
    modifier(EVERY, &["tools", "add-generation-prompt"], &[Given(&["template"])]),
    modifier(
        &["sessions"],
        &["tokenizer", "model", "overhead", "reserve"],
        &[Given(&["tokens"]), Value("sort", &["tokens"])],
    ),
    modifier(&["verify", "view", "sessions", "replay"], &["reserve"], &[])
        .with_advice("it is a part of a budget, and this command has none")
        .harmless(),
    modifier(&["verify"], &["live"], &[]).with_advice("what the model still reads is compared in any case").harmless(),
    modifier(&["replay"], &["columns"], &[Value("output-format", &["text"])]),
    modifier(&["replay"], &["missing"], &[Value("output-format", &["text", "json"])]),
    modifier(&["replay"], &["allow-summarizer"], &[Given(&["policy", "sweep", "config"])]),
    modifier(&["summarize"], &["retry-with-missing"], &[Given(&["verify"])]),
    modifier(&["verify"], &["as"], &[Given(&["give-back"])]),
    modifier(&["verify"], &["output-format"], &[Absent(&["give-back"])]),
    modifier(&["summarize"], &["store", "from", "rewind"], &[Given(&["thread"])]),
    modifier(&["summarize"], &["handoff", "dry-run", "on-error"], &[Absent(&["thread", "follow"])]),
    // The numbers of messages in a handoff and in a state are those of the whole log.
    modifier(&["summarize"], &["live"], &[Absent(&["handoff", "thread", "follow"])]),
    modifier(&["summarize"], &["live", "thinking", "usage"], &[Not("emit", &["state"])]),
    modifier(&["summarize"], WRITTEN, &[Absent(&["handoff", "thread", "follow"])]),
    modifier(&["summarize"], WRITTEN, &[Not("emit", &["state"])]),
    modifier(&["summarize"], &["explain", "stats", "fail-on-change"], &[Absent(&["dry-run"])]),
    modifier(&["summarize"], &["thinking", "usage"], &[Absent(&["handoff", "dry-run"])]),
    modifier(
        &["summarize"],
        &["window", "max-summaries", "unit", "trigger-tokens", "summary-role"],
        &[Absent(&["handoff"])],
    )
    .harmless(),
    modifier(
        &["summarize"],
        &["api-key-file", "ca-file", "allow-http", "endpoint", "summary-model", "extra-body", "retries"],
        &[MODELS],
    ),
    modifier(&["summarize"], &["prompt"], &[MODELS, Given(&["print-prompt"])]),
    modifier(&["summarize"], &["summarizer-cmd"], &[Value("summarizer", &["command"]), Absent(&["summarizer"])]),
    modifier(&["summarize"], &["timeout", "concurrency", "cache", "on-summary-error"], EXTERNAL),
];

/// A flag without effect.
#[derive(Debug)]
pub(crate) struct Ineffective {
    /// Its long name.
    pub(crate) flag: &'static str,
    /// The flags of which it needs one, each with its values.
    needs: Vec<(&'static str, &'static [&'static str])>,
    /// The flag beside which it has no effect, with the value of it.
    rival: Option<(&'static str, &'static [&'static str])>,
    modifier: &'static Modifier,
}

impl Ineffective {
    /// What is wrong, on the command line.
    pub(crate) fn on_command_line(&self) -> String {
        self.described(|flag| format!("--{flag}"), self.modifier.advice)
    }

    /// What is wrong, in a file whose keys are flags.
    pub(crate) fn in_file(&self) -> String {
        self.described(|flag| format!("`{flag}`"), "")
    }

    fn described(&self, named: impl Fn(&str) -> String, advice: &str) -> String {
        let Modifier { kind, is_harmless, .. } = *self.modifier;
        let flag = named(self.flag);
        let lacks = if is_harmless { "has no effect without" } else { "needs" };
        let excludes = if is_harmless { "has no effect with" } else { "cannot be used with" };
        let advice = if advice.is_empty() { String::new() } else { format!("; {advice}") };
        match (self.rival, self.modifier.needs) {
            (_, []) => format!("{flag} has no effect{advice}"),
            (_, [Only([])]) => format!("{flag} takes no other flag and no file"),
            (_, [Only(flags)]) => {
                format!("{flag} takes no file, and no other flag than {}", listed(flags.iter().map(|flag| named(flag))))
            }
            (Some(rival), _) if self.needs.is_empty() => format!("{flag} {excludes} {}", described(&rival, &named)),
            _ if !kind.is_empty() => format!("{flag} {lacks} {kind}{advice}"),
            _ => format!("{flag} {lacks} {}{advice}", listed(self.needs.iter().map(|need| described(need, &named)))),
        }
    }
}

/// A flag, and the values of it that are needed.
fn described((flag, values): &(&str, &[&str]), named: impl Fn(&str) -> String) -> String {
    match values.is_empty() {
        true => named(flag),
        false => format!("{} {}", named(flag), listed(values.iter().map(|value| (*value).to_owned()))),
    }
}

/// `a`, `a or b`, `a, b or c`.
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// The first flag that was given and has no effect in the command at `path`, of which `matches` were read.
pub(crate) fn ineffective(path: &str, command: &Command, matches: &ArgMatches) -> Option<Ineffective> {
    let modifiers = MODIFIERS.iter().filter(|modifier| modifier.applies_to(path));
    let (harmless, harmful): (Vec<_>, Vec<_>) = modifiers.partition(|modifier| modifier.is_harmless);
    harmful.into_iter().chain(harmless).find_map(|modifier| {
        let given = Flags { command, matches };
        let flag = modifier.flags.iter().find(|flag| given.has(flag))?;
        if modifier.needs.iter().any(|need| given.meets(need, flag)) {
            return None;
        }
        Some(Ineffective { flag, needs: given.listed(modifier.needs), rival: given.rival(modifier.needs), modifier })
    })
}

/// The first of `flags` that the user passed.
pub(crate) fn given<'f>(matches: &ArgMatches, flags: &[&'f str]) -> Option<&'f str> {
    flags.iter().find(|flag| is_given(matches, flag)).copied()
}

/// Whether the user passed the flag: a default or a variable, which is set for other runs as well, is no such intention.
fn is_given(matches: &ArgMatches, flag: &str) -> bool {
    let id = id(flag);
    matches.try_contains_id(&id).is_ok() && matches.value_source(&id) == Some(ValueSource::CommandLine)
}

/// The flags that were given.
#[derive(Clone, Copy)]
struct Flags<'m> {
    command: &'m Command,
    matches: &'m ArgMatches,
}

impl Flags<'_> {
    fn has(self, flag: &str) -> bool {
        is_given(self.matches, flag)
    }

    /// Whether the command has such a flag.
    fn knows(self, flag: &str) -> bool {
        self.matches.try_contains_id(&id(flag)).is_ok()
    }

    fn meets(self, need: &Need, flag: &&str) -> bool {
        match need {
            Given(flags) => flags.iter().any(|flag| self.has(flag)),
            Value(flag, values) => self.has_value(flag, values),
            Absent(flags) => !flags.iter().any(|flag| self.has(flag)),
            Not(flag, values) => !self.has_value(flag, values),
            Only(flags) => self.command.get_arguments().all(|arg| {
                let is_allowed = arg.get_long().is_some_and(|long| long == *flag || flags.contains(&long));
                is_allowed || arg.is_global_set() || !self.has(arg.get_id().as_str())
            }),
        }
    }

    /// Whether the flag has one of these values, which may be the default.
    fn has_value(self, flag: &str, values: &[&str]) -> bool {
        let given = self.matches.try_get_raw(&id(flag)).ok().flatten();
        given.is_some_and(|mut given| given.any(|given| values.iter().any(|value| given == *value)))
    }

    /// The flags in `needs` that the command has, each with its values.
    fn listed(self, needs: &[Need]) -> Vec<(&'static str, &'static [&'static str])> {
        let listed = needs.iter().flat_map(|need| match *need {
            Given(flags) => flags.iter().filter(|flag| self.knows(flag)).map(|flag| (*flag, NO_VALUES)).collect(),
            Value(flag, values) => vec![(flag, values)],
            Absent(_) | Not(..) | Only(_) => Vec::new(),
        });
        listed.collect()
    }

    /// The flag that must not be given and is, with the value that it must not have.
    fn rival(self, needs: &[Need]) -> Option<(&'static str, &'static [&'static str])> {
        needs.iter().find_map(|need| match *need {
            Absent(flags) => flags.iter().find(|flag| self.has(flag)).map(|flag| (*flag, NO_VALUES)),
            Not(flag, values) => Some((flag, values)),
            _ => None,
        })
    }
}

/// The name that clap has for a flag.
fn id(flag: &str) -> String {
    flag.replace('-', "_")
}

// Values that are separated from their flags by a space, where they follow `=`.

/// What is wrong with `--stats json` or `--fix drop`, where the value follows `=`: the word after the flag is one of its values,
/// and would be read as the name of a file. Nothing if there is such a file.
fn detached_value(command: &Command, given: &[OsString]) -> Option<String> {
    let words: Vec<&str> = given.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let flags: Vec<_> = command.get_arguments().filter(|arg| arg.is_require_equals_set()).collect();
    words.windows(2).find_map(|pair| {
        let [flag, value] = pair else { return None };
        let arg = flags.iter().find(|arg| arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long)))?;
        let values = arg.get_possible_values();
        let is_value = values.iter().map(PossibleValue::get_name).any(|name| name == *value);
        let is_file = std::path::Path::new(value).exists();
        (is_value && !is_file).then(|| format!("{flag} {value}: the value follows `=`, as in {flag}={value}"))
    })
}

/// Refuses flags without effect, and values that would be read as files. Returns what to report about a flag without effect
/// that does no harm.
///
/// # Errors
/// The first one in the command line `given`, from which `root` read `matches`.
pub(crate) fn check(root: &Command, matches: &ArgMatches, given: &[OsString]) -> Result<Option<String>, clap::Error> {
    let mut command = root;
    let mut matches = matches;
    let mut path = String::new();
    while let Some((name, inner)) = matches.subcommand() {
        command = command.find_subcommand(name).unwrap_or(command);
        path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
        matches = inner;
    }
    let reason = match (detached_value(command, given), ineffective(&path, command, matches)) {
        (Some(reason), _) => reason,
        (None, Some(flag)) if flag.modifier.is_harmless => return Ok(Some(flag.on_command_line())),
        (None, Some(flag)) => flag.on_command_line(),
        (None, None) => return Ok(None),
    };
    Err(clap::Error::raw(ErrorKind::ArgumentConflict, format!("{reason}\n")))
}

#[cfg(test)]
mod tests {
    use super::{Absent, EVERY, Given, MODIFIERS, Not, Only, Value, id};

    /// The command at `path`.
    fn command_at(path: &str) -> clap::Command {
        let mut all = crate::cli::command();
        all.build();
        path.split(' ').fold(all, |command, name| command.find_subcommand(name).expect(path).clone())
    }

    fn has(command: &clap::Command, flag: &str) -> bool {
        command.get_arguments().any(|arg| arg.get_long() == Some(flag) && arg.get_id().as_str() == id(flag))
    }

    #[test]
    fn every_name_is_that_of_a_flag() {
        for modifier in MODIFIERS {
            let commands = if modifier.commands == EVERY { &["count", "limit"] } else { modifier.commands };
            for path in commands {
                let command = command_at(path);
                for flag in modifier.flags {
                    // `split --map`, for example, is a flag of one command among several.
                    assert!(has(&command, flag) || modifier.commands.len() > 1, "{path} --{flag}");
                }
                let is_known = modifier.needs.iter().any(|need| match need {
                    Given(flags) => flags.iter().any(|flag| has(&command, flag)),
                    Value(flag, _) | Not(flag, _) => has(&command, flag),
                    Absent(flags) | Only(flags) => flags.iter().all(|flag| has(&command, flag)),
                });
                assert!(is_known || modifier.needs.is_empty(), "{path}: {:?}", modifier.flags);
            }
        }
    }
}
