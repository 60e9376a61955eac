//! `curtail rule`: what a rule detects, and why it matters.

use std::process::ExitCode;

use crate::console;
use curtail_core::checks::{ALL, Rule, rule_named};

/// Show a rule's documentation, or list all rules
#[derive(Debug, clap::Args)]
pub(super) struct RuleArgs {
    /// Code or name of the rule; without it, all rules are listed
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

/// Prints the page or the list.
pub(super) fn run(args: &RuleArgs) -> anyhow::Result<ExitCode> {
    if let Some(key) = &args.rule {
        let rule = rule_named(key)?;
        console::out(&rule.page())?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = |rule: &Rule| format!("{}  {:<22}  {:<5}  {}\n", rule.code, rule.name, rule.level.name(), rule.summary);
    console::out(&ALL.iter().map(|rule| line(rule)).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
