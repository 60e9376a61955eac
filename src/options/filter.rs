//! The options of `filter`, which drops tools, roles and parts, whatever the size.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use anyhow::ensure;

use crate::options::choices::{Choice, one_of};
use crate::options::numbers::{Bytes, Tokens, at_least_one};
use crate::options::pins::{PINS, Pin, pins};
use crate::options::processor::Options;
use curtail_core::numbers::counted;
use curtail_core::pipeline::Processors;
use curtail_core::processors::{
    CapKeep, CapResults, ClearResults, DropMessages, MediaLimits, MessageRange, NameGlobs, Pins, Processor,
    StaleResults, Strip, StripKind, ToolFilter, ToolGlobs,
};
use curtail_core::transcript::Role;
use curtail_tokens::tokenizers;

/// The values of `--role`.
const ROLES: &[Choice<Role>] = &[
    Choice::plain("system", Role::System),
    Choice::plain("developer", Role::Developer),
    Choice::plain("user", Role::User),
    Choice::plain("assistant", Role::Assistant),
    Choice::plain("tool", Role::Tool),
];

/// The values of `--strip`.
const STRIP_KINDS: &[Choice<StripKind>] = &[
    Choice::new("reasoning", StripKind::Reasoning, "Reasoning that no kept call depends on").with_alias("thinking"),
    Choice::new(
        "all-reasoning",
        StripKind::AllReasoning,
        "All reasoning, even where a provider requires it with a call",
    ),
    Choice::new("media", StripKind::Media, "Images, audio and files"),
    Choice::new("other", StripKind::Other, "Parts of unknown type"),
];

/// The values of `--cap-keep`.
const CAP_KEEPS: &[Choice<CapKeep>] =
    &[Choice::plain("head", CapKeep::Head), Choice::plain("tail", CapKeep::Tail), Choice::plain("both", CapKeep::Both)];

/// Drop tool calls with results, strip parts, clear old results
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FilterOptions {
    /// Drop only calls of tools that match GLOB
    #[arg(short = 'x', long, visible_alias = "exclude", value_name = "GLOB", conflicts_with = "include_tool")]
    exclude_tool: Vec<String>,

    /// Keep only calls of tools that match GLOB
    #[arg(short = 'k', long, visible_alias = "include", value_name = "GLOB")]
    include_tool: Vec<String>,

    /// Replace dropped calls with an assistant text that names their tools
    #[arg(long)]
    persist_results: bool,

    /// Keep only messages of these roles
    #[arg(long, value_parser = one_of(ROLES), value_delimiter = ',', value_name = "ROLE")]
    role: Vec<Role>,

    /// Strip parts of these kinds
    #[arg(long, value_parser = one_of(STRIP_KINDS), value_delimiter = ',', value_name = "KIND")]
    strip: Vec<StripKind>,

    /// Clear the content of all tool results except the last N
    #[arg(long, value_name = "N")]
    keep_last_results: Option<usize>,

    /// Clear N results at a time, so that prompts stay cached
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    step: Option<NonZeroUsize>,

    /// Do not clear the newest results that together have at most N tokens
    #[arg(long, value_name = "N", hide_short_help = true)]
    protect_tokens: Option<Tokens>,

    /// Clear the results of file reads that a later call repeats
    #[arg(long)]
    supersede_reads: bool,

    /// Tools that read files, for --supersede-reads; by default those of common coding agents
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    read_tool: Vec<String>,

    /// Clear results whose content a later result repeats
    #[arg(long)]
    dedupe_results: bool,

    /// Clear the arguments of the calls whose results are cleared as well
    #[arg(long, hide_short_help = true)]
    clear_inputs: bool,

    /// Content of a cleared result
    #[arg(long, value_name = "TEXT", default_value = "[cleared]", hide_short_help = true)]
    placeholder: String,

    /// Never clear or shorten results of tools that match GLOB
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    exempt_tool: Vec<String>,

    /// Clear only results of tools that match GLOB
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    clear_tool: Vec<String>,

    /// Clear nothing in a transcript of at most N tokens
    #[arg(long, value_name = "N", hide_short_help = true)]
    trigger: Option<Tokens>,

    /// Clear nothing unless N tokens are freed
    #[arg(long, value_name = "N", hide_short_help = true)]
    clear_at_least: Option<Tokens>,

    /// Shorten every tool result to N tokens
    #[arg(long, value_name = "N")]
    cap_result: Option<Tokens>,

    /// Shorten results of tools that match GLOB to N tokens
    #[arg(long, value_name = "GLOB=N", value_parser = tool_cap, hide_short_help = true)]
    cap_tool: Vec<ToolCap>,

    /// Which end of a shortened result to keep
    #[arg(long, value_parser = one_of(CAP_KEEPS), default_value = "both", hide_short_help = true)]
    cap_keep: CapKeep,

    /// Remove all images, audio and files except the last N
    #[arg(long, value_name = "N")]
    keep_last_media: Option<usize>,

    /// Remove images, audio and files above N bytes
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_media_bytes: Option<Bytes>,

    /// Remove images with a side above N pixels
    #[arg(long, value_name = "N", value_parser = at_least_one, hide_short_help = true)]
    max_media_pixels: Option<NonZeroUsize>,

    /// Keep only system messages and messages A to B-1 of `curtail show`
    #[arg(long, value_name = "A..B", value_parser = range, allow_hyphen_values = true, hide_short_help = true)]
    range: Option<RangeFlag>,

    /// Drop messages by their numbers in `curtail show`: 12..40,77
    #[arg(long, value_name = "NUMBERS", value_parser = numbers, value_delimiter = ',')]
    drop: Vec<Range<usize>>,

    /// Drop turns by their numbers in `curtail show`: 3..5
    #[arg(long, value_name = "NUMBERS", value_parser = numbers, value_delimiter = ',')]
    drop_turn: Vec<Range<usize>>,

    /// Messages that --role, --range, --drop and --drop-turn keep
    #[arg(long, value_parser = one_of(PINS), value_delimiter = ',', value_name = "WHICH", hide_short_help = true)]
    pin: Vec<Pin>,
}

/// Tools of coding agents that return a file, or a part of one, whose path is an argument.
const READ_TOOLS: &[&str] = &[
    "Read", "read", "read_file", "ReadFile", "readFile", "view", "view_file", "open_file", "*read_text_file",
    "str_replace_editor", "str_replace*edit*tool", "file_editor",
];

/// A range of message numbers: `A..B`, `A..` or `..B`.
#[derive(Debug, Clone, Copy)]
struct RangeFlag {
    from: usize,
    to: Option<usize>,
}

/// Reads a value of `--range`.
fn range(text: &str) -> Result<RangeFlag, String> {
    let range = bounds(text).ok_or("expected A..B, A.. or ..B with message numbers, such as 4..10")?;
    let from = range.from;
    match range.to {
        Some(to) if to < from => Err(format!("range {text} is empty: the start must not exceed the end")),
        Some(to) if to == from => Err(format!("range {text} is empty: message {to} is not part of it")),
        _ => Ok(range),
    }
}

/// The numbers in `A..B`, of which each may be missing.
fn bounds(text: &str) -> Option<RangeFlag> {
    let (from, to) = text.split_once("..")?;
    let from = if from.is_empty() { 0 } else { from.parse().ok()? };
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    Some(RangeFlag { from, to })
}

/// Reads numbers of messages or turns: `A..B`, without B, or one number.
fn numbers(text: &str) -> Result<Range<usize>, &'static str> {
    let wrong = "expected numbers such as 77, 12..40 (without 40) or 12..";
    let Some((from, to)) = text.split_once("..") else {
        let only: usize = text.parse().map_err(|_| wrong)?;
        return Ok(only..only.saturating_add(1));
    };
    let from: usize = from.parse().map_err(|_| wrong)?;
    let to = if to.is_empty() { usize::MAX } else { to.parse().map_err(|_| wrong)? };
    if from < to { Ok(from..to) } else { Err("this range is empty: the start must be below the end") }
}

/// The cap of some tools: `GLOB=N`.
#[derive(Debug, Clone)]
struct ToolCap {
    glob: String,
    tokens: Tokens,
}

/// Reads a value of `--cap-tool`.
fn tool_cap(text: &str) -> Result<ToolCap, String> {
    let wrong = "expected GLOB=N with a number of tokens, such as bash=2k; each number needs a --cap-tool";
    let (glob, tokens) = text.rsplit_once('=').filter(|(glob, _)| !glob.contains('=')).ok_or(wrong)?;
    Ok(ToolCap { glob: glob.to_owned(), tokens: tokens.parse()? })
}

impl Options for FilterOptions {
    fn processors(&self, _: bool) -> anyhow::Result<Processors> {
        let mut processors = self.chosen()?;
        if processors.is_empty() {
            let dropped = Some(Arc::default());
            processors.push(Box::new(ToolFilter {
                tools: ToolGlobs::All,
                persist_results: self.persist_results,
                dropped,
            }));
        }
        Ok(processors)
    }
}

impl FilterOptions {
    /// What the flags choose to drop, clear, shorten and remove; nothing without any.
    ///
    /// # Errors
    /// As [`Options::processors`].
    pub(crate) fn chosen(&self) -> anyhow::Result<Processors> {
        let mut processors = Processors::new();
        let pins = if self.pin.is_empty() { Pins::default() } else { pins(&self.pin)? };
        // First, so that message numbers are those of the input.
        if let Some(RangeFlag { from, to }) = self.range {
            processors.push(Box::new(MessageRange { from, to, pins, ..MessageRange::default() }));
        }
        if !self.drop.is_empty() || !self.drop_turn.is_empty() {
            let messages = self.drop.clone();
            let turns = self.drop_turn.clone();
            processors.push(Box::new(DropMessages { messages, turns, pins, ..DropMessages::default() }));
        }
        if let Some(tools) = self.tools()? {
            processors.push(Box::new(ToolFilter { tools, persist_results: self.persist_results, dropped: None }));
        }
        if !self.role.is_empty() || !self.strip.is_empty() {
            processors.push(Box::new(Strip { kinds: self.strip.clone(), roles: self.role.clone(), pins }));
        }
        for stale in self.stale_results()? {
            processors.push(Box::new(self.clearing(stale)?));
        }
        let media = MediaLimits {
            keep_last: self.keep_last_media,
            max_bytes: self.max_media_bytes.map(|bytes| bytes.0 as u64),
            max_pixels: self.max_media_pixels.map(NonZeroUsize::get),
        };
        if media.keep_last.is_some() || media.max_bytes.is_some() || media.max_pixels.is_some() {
            processors.push(Box::new(media));
        }
        processors.extend(self.caps()?.map(|caps| -> Box<dyn Processor> { Box::new(caps) }));
        Ok(processors)
    }

    fn tools(&self) -> anyhow::Result<Option<ToolGlobs>> {
        Ok(match (self.exclude_tool.as_slice(), self.include_tool.as_slice()) {
            ([], []) => None,
            ([], include) => Some(ToolGlobs::Include(globs(include)?)),
            (exclude, _) => Some(ToolGlobs::Exclude(globs(exclude)?)),
        })
    }

    /// Clears the results that `stale` describes.
    fn clearing(&self, stale: StaleResults) -> anyhow::Result<ClearResults> {
        let tokenizer = tokenizers::tokenizer_by_name(tokenizers::DEFAULT)?;
        let step = match (&stale, self.step) {
            (StaleResults::AllButLast(keep), Some(step)) => {
                ensure!(
                    step.get() <= *keep,
                    "--step {step} exceeds --keep-last-results {keep}: the newest results would be cleared"
                );
                step.get()
            }
            _ => 1,
        };
        Ok(ClearResults {
            placeholder: self.placeholder.clone(),
            clear_inputs: self.clear_inputs,
            exempt: globs(&self.exempt_tool)?,
            only: globs(&self.clear_tool)?,
            protected_tokens: self.protect_tokens.map_or(0, |tokens| tokens.0),
            trigger: self.trigger.map(|tokens| tokens.0),
            at_least: self.clear_at_least.map_or(0, |tokens| tokens.0),
            step,
            ..ClearResults::new(stale, tokenizer)
        })
    }

    /// Shortens results, if a flag requests it.
    fn caps(&self) -> anyhow::Result<Option<CapResults>> {
        if self.cap_result.is_none() && self.cap_tool.is_empty() {
            return Ok(None);
        }
        let least = CapResults::LEAST;
        let caps = self.cap_tool.iter().map(|cap| cap.tokens).chain(self.cap_result);
        for Tokens(cap) in caps {
            ensure!(
                cap >= least,
                "a result cannot be shortened to {}: the marker needs room; at least {least}",
                counted(cap, "token")
            );
        }
        let tools: anyhow::Result<Vec<_>> =
            self.cap_tool.iter().map(|cap| Ok((globs(&[&cap.glob])?, cap.tokens.0))).collect();
        Ok(Some(CapResults {
            max_tokens: self.cap_result.map(|tokens| tokens.0),
            tools: tools?,
            keep: self.cap_keep,
            exempt: globs(&self.exempt_tool)?,
            tokenizer: tokenizers::tokenizer_by_name(tokenizers::DEFAULT)?,
        }))
    }

    /// The results to clear, one step after another.
    fn stale_results(&self) -> anyhow::Result<Vec<StaleResults>> {
        let mut stale = Vec::new();
        if self.supersede_reads {
            let reads =
                if self.read_tool.is_empty() { globs(READ_TOOLS)?.unwritten() } else { globs(&self.read_tool)? };
            stale.push(StaleResults::SupersededReads(reads));
        }
        if self.dedupe_results {
            stale.push(StaleResults::Duplicates);
        }
        let keep = self.keep_last_results.or(self.protect_tokens.map(|_| 0));
        stale.extend(keep.map(StaleResults::AllButLast));
        Ok(stale)
    }
}

/// The globs of tools in `patterns`, each of which may be several, separated by commas: the name of a tool contains none.
fn globs<S: AsRef<str>>(patterns: &[S]) -> anyhow::Result<NameGlobs> {
    let each: Vec<&str> = patterns.iter().flat_map(|pattern| split_globs(pattern.as_ref())).collect();
    Ok(NameGlobs::compile(&each)?)
}

/// The globs in `text`, which commas separate, except in braces and brackets. A comma at an end separates nothing.
fn split_globs(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    if parts.iter().any(|part| !part.is_empty()) {
        parts.retain(|part| !part.is_empty());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::split_globs;

    #[test]
    fn commas_separate_globs() {
        for (text, globs) in [
            ("a, b", &["a", "b"][..]),
            ("a,", &["a"]),
            (",,a", &["a"]),
            ("{a,b},[,]x", &["{a,b}", "[,]x"]),
            // The empty glob matches no tool, and no glob at all would mean every tool.
            ("", &[""]),
        ] {
            assert_eq!(split_globs(text), globs, "{text}");
        }
    }
}
