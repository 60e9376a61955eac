//! The options that drop tools, roles and parts.

use clap::Args;

use super::{Choice, Options, Processors, one_of};
use crate::processors::{ClearResults, Strip, StripKind, ToolFilter, ToolGlobs};
use crate::tokenizers;
use crate::transcript::Role;

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
    Choice::new("media", StripKind::Media, "Images, audio and files"),
    Choice::new("other", StripKind::Other, "Parts of unknown type"),
];

/// Drop tool calls with their results, strip parts, clear old results
#[derive(Debug, Clone, Args)]
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

    /// Content of a cleared result
    #[arg(long, value_name = "TEXT", default_value = "[cleared]", requires = "keep_last_results")]
    placeholder: String,

    /// Never clear results of tools that match GLOB
    #[arg(long, value_name = "GLOB", requires = "keep_last_results")]
    exempt_tool: Vec<String>,
}

impl Options for FilterOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        let mut processors = Processors::new();
        if let Some(tools) = self.tools()? {
            processors.push(Box::new(ToolFilter { tools, persist_results: self.persist_results }));
        }
        if !self.role.is_empty() || !self.strip.is_empty() {
            processors.push(Box::new(Strip { kinds: self.strip.clone(), roles: self.role.clone() }));
        }
        if let Some(keep) = self.keep_last_results {
            let exempt = globs(&self.exempt_tool)?;
            let tokenizer = tokenizers::tokenizer_by_name(tokenizers::DEFAULT)?;
            let placeholder = self.placeholder.clone();
            processors.push(Box::new(ClearResults { keep, placeholder, exempt, tokenizer }));
        }
        Ok(processors)
    }
}

impl FilterOptions {
    fn tools(&self) -> anyhow::Result<Option<ToolGlobs>> {
        if !self.exclude_tool.is_empty() {
            return Ok(Some(ToolGlobs::Exclude(globs(&self.exclude_tool)?)));
        }
        if !self.include_tool.is_empty() {
            return Ok(Some(ToolGlobs::Include(globs(&self.include_tool)?)));
        }
        let other_selection = !self.role.is_empty() || !self.strip.is_empty() || self.keep_last_results.is_some();
        Ok((!other_selection).then_some(ToolGlobs::All))
    }
}

fn globs(patterns: &[String]) -> anyhow::Result<globset::GlobSet> {
    Ok(ToolGlobs::compile(patterns)?)
}
