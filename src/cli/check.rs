//! `curtail check`: what is wrong with transcripts, where, and what the provider would say.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;

use super::check_reporter::CheckReporter;
use super::config::ConfigFlags;
use super::input::{Global, Input};
use super::interrupt::Interrupt;
use crate::batch::{Batch, Checking, Mend, OnError};
use crate::checks::{Inspection, Levels, Profile, Table};
use crate::dialects;
use crate::io::Progress;
use crate::pipeline::options::{CountingOptions, RepairHow, Tokens};
use crate::pipeline::{Chain, Cutter};
use crate::reports::{self, Outcome};
use crate::suggest::unknown;

/// Find broken tool pairs and other faults; exit with 1 if any is denied
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Fail on findings of a rule, a group (pairing, shape, turn, dataset) or all
    #[arg(short = 'D', long, value_name = "RULE", help_heading = "Rules")]
    deny: Vec<String>,

    /// Only report findings of a rule or group
    #[arg(short = 'W', long, value_name = "RULE", help_heading = "Rules")]
    warn: Vec<String>,

    /// Do not look for a rule or group
    #[arg(short = 'A', long, value_name = "RULE", help_heading = "Rules")]
    allow: Vec<String>,

    /// Fail on warnings, too
    #[arg(long, help_heading = "Rules")]
    strict: bool,

    /// The provider holds earlier items: results may answer calls that are not here
    #[arg(long, help_heading = "Rules")]
    stateful: bool,

    /// Judge by the rules of this provider, named by its dialect, instead of the transcript's own
    #[arg(long, value_name = "NAME", help_heading = "Rules")]
    profile: Option<String>,

    /// Fail on transcripts with more tokens; `k` and `m` are thousands and millions
    #[arg(short = 't', long, value_name = "N", help_heading = "Rules")]
    max_tokens: Option<Tokens>,

    #[command(flatten)]
    config: ConfigFlags,

    /// Mend broken pairs in place, whole files or nothing, and report what is left
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "drop", conflicts_with = "profile", help_heading = "Repair")]
    fix: Option<RepairHow>,

    /// Mend calls that are still pending at the end, too
    #[arg(long, help_heading = "Repair")]
    repair_pending: bool,

    /// Write nothing; show how mended files would differ, and exit with 1 if any would
    #[arg(long, conflicts_with_all = ["output_format", "profile", "statistics"], help_heading = "Repair")]
    diff: bool,

    /// How findings are told
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", help_heading = "Report")]
    output_format: FormatFlag,

    /// Tell at most this many findings; all are counted
    #[arg(long, value_name = "N", help_heading = "Report")]
    max_findings: Option<usize>,

    /// Tell only how often each rule was broken
    #[arg(long, conflicts_with = "max_findings", help_heading = "Report")]
    statistics: bool,

    /// Exit with 0 even if findings are denied
    #[arg(long, help_heading = "Report")]
    exit_zero: bool,

    /// Do not fail where there is nothing to check
    #[arg(long, help_heading = "Report")]
    allow_empty: bool,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    input: Input,
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatFlag {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// Workflow commands that GitHub shows beside the lines
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML
    Junit,
}

impl FormatFlag {
    const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Github => "github",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
        }
    }
}

/// Checks the input and tells what was found.
pub(super) fn run(args: &Args, global: &Global) -> anyhow::Result<ExitCode> {
    let input_options = args.input.input_options()?;
    let (sources, missing) = args.input.sources(None)?;
    if args.writes() && sources.iter().any(|source| source.path.is_none()) {
        bail!("standard input cannot be mended in place: name files, or pipe it through `curtail repair`");
    }
    let checking = args.checking()?;
    let interrupt = Interrupt::watch(args.writes())?;
    // CheckReporter are told at the end: nothing else wants the terminal until then, unless differences are shown.
    let progress = Arc::new(Progress::new(global.show(args.diff), &sources));
    let outcome = Outcome { limit: args.max_findings, only_counts: args.statistics, ..Outcome::default() };
    let mut findings = CheckReporter::new(outcome, args.writes(), args.diff, Arc::clone(&progress));
    missing.iter().for_each(|error| findings.fail(error));
    let batch = Batch { jobs: global.jobs, input_options, on_error: OnError::Skip, stop: interrupt.flag(), progress };
    batch.run(sources, &checking, |event| findings.event(event));
    let format = reports::find(args.output_format.name()).context("the format is in the list")?;
    let status = findings.finish(format, args.allow_empty, args.exit_zero);
    Ok(interrupt.status().map_or(status, ExitCode::from))
}

impl Args {
    /// Whether files are mended in place.
    const fn writes(&self) -> bool {
        self.fix.is_some() && !self.diff
    }

    fn checking(&self) -> anyhow::Result<Checking> {
        let profile = self.profile.as_deref().map(profile).transpose()?;
        let counting = self.max_tokens.map(|_| self.counting.counting()).transpose()?;
        let inspection =
            Inspection { profile, stateful: self.stateful, max_tokens: self.max_tokens.map(|budget| budget.0) };
        Ok(Checking { inspection, levels: self.levels()?, counting, mend: self.mend() })
    }

    fn levels(&self) -> anyhow::Result<Levels> {
        let config = self.config.load()?;
        let table = config.as_ref().map_or_else(|| Ok(Table::default()), |config| config.section("check"))?;
        if let Some(config) = &config {
            Levels::new(&table, &Table::default()).map_err(|what| config.wrong(what))?;
        }
        let flags = Table {
            deny: self.deny.clone(),
            warn: self.warn.clone(),
            allow: self.allow.clone(),
            strict: self.strict,
            ..Table::default()
        };
        Levels::new(&table, &flags).map_err(|words| anyhow!(words))
    }

    fn mend(&self) -> Option<Mend> {
        let how = self.fix.or(self.diff.then_some(RepairHow::Drop))?;
        let chain = Chain::default().at("", how.processors(self.repair_pending));
        Some(Mend { cutter: Cutter { chain, explain: false, counting: None }, write: self.writes() })
    }
}

fn profile(name: &str) -> anyhow::Result<Profile> {
    let dialect = dialects::find(name).ok_or_else(|| {
        let names: Vec<&str> = dialects::ALL.iter().map(|dialect| dialect.name()).collect();
        anyhow!(unknown("no profile is called", name, &names))
    })?;
    Ok(Profile { pairing_rules: dialect.pairing_rules(), provider_rules: dialect.provider_rules() })
}
