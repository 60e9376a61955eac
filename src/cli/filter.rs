//! `curtail filter`: drops tools, roles and parts, whatever the size.

use std::process::ExitCode;

use anyhow::bail;

use super::cut::{self, Job};
use super::input::{Cutting, Global};
use crate::batch::Checking;
use crate::cli::options::{FilterOptions, Options as _};
use curtail_core::checks::{Inspection, Levels, Table};
use curtail_core::pipeline::Chain;

/// Drop tool calls with their results, strip parts, clear old results
///
/// Without --exclude-tool and --include-tool, the calls of all tools are dropped, unless another flag says what to drop or
/// clear: --role, --strip, --keep-last-results, --supersede-reads, --dedupe-results, --range,
/// --drop, --drop-turn or --drop-records-with.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    options: FilterOptions,

    /// Drop records with a finding of these rules or groups of `check`
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    drop_records_with: Vec<String>,

    #[command(flatten)]
    cutting: Cutting,
}

impl Args {
    /// Runs the command.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let drops = (!self.drop_records_with.is_empty()).then(|| self.checking()).transpose()?;
        let processors = match drops.is_some() && !self.options.selects() {
            true => Vec::new(),
            false => self.options.processors()?,
        };
        let chain = self.cutting.with_repair(Chain::default().at("", processors));
        let options = format!("{:?} {:?}", self.options, self.drop_records_with);
        let (counting, reads) = (self.options.counting()?, self.options.files());
        cut::run(&self.cutting, global, Job { chain, counting, options, reads, drops, ..Job::default() })
    }

    /// Looks for the findings of --drop-records-with, and for no others.
    fn checking(&self) -> anyhow::Result<Checking> {
        let rules = &self.drop_records_with;
        if let Some(long) = rules.iter().find(|rule| ["D002", "too-long"].contains(&rule.as_str())) {
            bail!(
                "--drop-records-with {long}: how long is too long is not given; `curtail split -t` splits such records"
            );
        }
        let is_all = rules.iter().any(|rule| rule == "all");
        let allow = if is_all { Vec::new() } else { vec![String::from("all")] };
        let levels =
            Levels::new(&Table { allow, ..Table::default() }, &Table { deny: rules.clone(), ..Table::default() })?;
        let live = self.cutting.input.live;
        Ok(Checking { inspection: Inspection::default(), live, levels, counting: None, repair: None })
    }
}
