//! `curtail rule`: what a rule looks for, and why.

use std::process::ExitCode;

use anyhow::anyhow;

use super::out;
use crate::checks::{ALL, Rule, named};

/// Print a rule's page, or list all rules
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The rule's code or name; nothing for the list
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

/// Prints what was asked for.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(key) = &args.rule {
        let rule = named(key).map_err(|words| anyhow!(words))?;
        out::print(&rule.page())?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = |rule: &Rule| format!("{}  {:<22}  {:<5}  {}\n", rule.code, rule.name, rule.level.name(), rule.summary);
    out::print(&ALL.iter().map(|rule| line(rule)).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
