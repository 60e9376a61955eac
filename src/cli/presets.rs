//! Policies with names: each is short for commands, wherever a policy is taken.

use std::fmt::Write as _;

/// A policy with a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preset {
    /// Its name.
    pub(super) name: &'static str,
    /// The commands that it is short for, with their flags.
    pub(super) command: &'static str,
    /// What it does, in a line.
    about: &'static str,
    /// Whether `replay` tries it without being asked: it decides about a request from the one before, not from the beginning.
    pub(super) usual: bool,
}

const fn preset(name: &'static str, command: &'static str, about: &'static str, usual: bool) -> Preset {
    Preset { name, command, about, usual }
}

/// Every preset. Each has a page in `docs/presets`.
pub(super) const PRESETS: &[Preset] = &[
    preset("keep-40", "window -n 40", "the last 40 items, with whole exchanges", true),
    preset(
        "last-items-40",
        "window --strategy sliding -n 40",
        "the last 40 items, as sessions of the OpenAI Agents SDK do",
        false,
    ),
    preset("limit-50%", "limit -t 50%", "half of the tokens", true),
    preset(
        "trim-messages",
        "limit -t 50% | window --strategy sliding -n 1000000 --start-on user",
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
pub(super) fn named(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// A line for each preset: its name, what it does, and the command.
pub(super) fn list() -> String {
    let width = |column: fn(&Preset) -> &str| PRESETS.iter().map(|preset| column(preset).len()).max().unwrap_or(0);
    let (names, commands) = (width(|preset| preset.name), width(|preset| preset.command));
    let mut text = String::new();
    for preset in PRESETS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:names$}  {:commands$}  {}", preset.name, preset.command, preset.about);
    }
    text
}
