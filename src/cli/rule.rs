//! `curtail rule`: what a rule looks for, and why.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::anyhow;

use crate::checks::{ALL, named};

/// Print a rule's page, or list all rules
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The rule's code or name; nothing for the list
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

/// Prints what was asked for.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    if let Some(key) = &args.rule {
        let rule = named(key).map_err(|words| anyhow!(words))?;
        write!(out, "{}", rule.page())?;
        return Ok(ExitCode::SUCCESS);
    }
    for rule in ALL {
        writeln!(out, "{}  {:<22}  {:<5}  {}", rule.code, rule.name, rule.level.name(), rule.summary)?;
    }
    Ok(ExitCode::SUCCESS)
}
