//! `curtail filter`: drops tools, roles and parts, whatever the size.

use anyhow::{bail, ensure};

use crate::cutting::{Cuts, Job, JobIdentity};
use crate::options::counting::{CountingOptions, TemplateOptions};
use crate::options::cut::CutFlags;
use crate::options::filter::FilterOptions;
use crate::options::numbers::Tokens;
use crate::options::processor::Options as _;
use crate::works::check::Checking;
use curtail_core::checks::{ALL, Budget, Inspection, Level, Levels, Table, first_that_needs_budget};
use curtail_core::pipeline::Chain;

/// Drop tool calls with results, strip parts, clear old results
///
/// Without a flag that chooses what to drop, clear, shorten or remove, the calls of all tools are dropped.
///
/// Tokens of results and transcripts are always those of `o200k_base`. --tokenizer, --model and the other flags of counting
/// apply only to --max-tokens.
#[derive(Debug, clap::Args)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    options: FilterOptions,

    /// Drop records with a finding of these rules or groups of `check`
    #[arg(long, value_name = "RULE", value_delimiter = ',', hide_short_help = true)]
    drop_records_with: Vec<String>,

    /// Tokens that a record may have, for rules of --drop-records-with (8k = 8,000; 1m = 1,000,000)
    #[arg(short = 't', long, value_name = "N", requires = "drop_records_with", hide_short_help = true)]
    max_tokens: Option<Tokens>,

    // Only for `max_tokens`: the processors always count with the default tokenizer.
    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,

    #[command(flatten)]
    cutting: CutFlags,
}

impl FilterArgs {
    /// A check that reports only the findings of --drop-records-with.
    fn checking(&self) -> anyhow::Result<Checking> {
        let rules = &self.drop_records_with;
        if let (None, Some(rule)) = (self.max_tokens, first_that_needs_budget(rules)) {
            bail!("--drop-records-with {rule}: this rule needs the number of tokens that a record may have; pass -t N");
        }
        let is_all = rules.iter().any(|rule| rule == "all");
        let allow = if is_all { Vec::new() } else { vec![String::from("all")] };
        let levels =
            Levels::new(&Table { allow, ..Table::default() }, &Table { deny: rules.clone(), ..Table::default() })?;
        let budget = self.max_tokens.map(|budget| self.budget(budget, &levels)).transpose()?;
        let inspection = Inspection { live: self.cutting.input.live, budget, ..Inspection::default() };
        Ok(Checking { inspection, levels, repair: None, verbose: false })
    }

    /// What a record may have, for the rules that need a budget.
    fn budget(&self, budget: Tokens, levels: &Levels) -> anyhow::Result<Budget> {
        let verdicts = levels.for_path("");
        ensure!(
            ALL.iter().any(|rule| rule.needs_budget() && verdicts.level_of(rule) > Level::Allow),
            "--max-tokens applies to rules of --drop-records-with that need a limit, such as too-long; none is named"
        );
        self.template.budget(&self.counting, budget)
    }
}

impl Cuts for FilterArgs {
    fn flags(&self) -> &CutFlags {
        &self.cutting
    }

    fn job(&self) -> anyhow::Result<Job> {
        let drops = (!self.drop_records_with.is_empty()).then(|| self.checking()).transpose()?;
        let processors = match drops {
            Some(_) => self.options.chosen()?,
            None => self.options.processors(self.cutting.dry_run)?,
        };
        let chain = self.cutting.with_repair(Chain::default().at("", processors));
        let identity = JobIdentity::of(&[
            &self.options, &self.drop_records_with, &self.max_tokens, &self.counting, &self.template,
        ]);
        let reads = self.template.files(&self.counting);
        Ok(Job { chain, identity, reads, drops, ..Job::default() })
    }
}
