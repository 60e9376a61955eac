//! `curtail check`: what is wrong with transcripts, where, and what the provider would answer.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::check_reporter::CheckReporter;
use super::config::Config;
use super::config_command::ConfigFlags;
use super::input::{Global, Input};
use super::interrupt::Interrupt;
use super::report;
use crate::batch::{Batch, Checking, OnError, TextRepair};
use crate::cli::options::{CountingOptions, REPAIR_MODES, TemplateOptions, Tokens, one_of, profile_named};
use crate::console;
use crate::progress::Progress;
use crate::reports::{self, FORMATS, Format, Outcome, Silenced};
use curtail_core::checks::{Inspection, Levels, Profile, Table};
use curtail_core::dialects::Dialect;
use curtail_core::processors::{Repair, RepairMode};
use curtail_core::transcript::PairingRules;
use curtail_io::Source;

/// Report broken tool pairs and other faults; exit with 1 if any is denied
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Fail on findings of a rule, a group (pairing, shape, turn, dataset) or `all`
    #[arg(short = 'D', long, value_name = "RULE", help_heading = "Rules")]
    deny: Vec<String>,

    /// Report findings of a rule or a group without failing
    #[arg(short = 'W', long, value_name = "RULE", help_heading = "Rules")]
    warn: Vec<String>,

    /// Turn a rule or a group off
    #[arg(short = 'A', long, value_name = "RULE", help_heading = "Rules")]
    allow: Vec<String>,

    /// Fail on warnings as well
    #[arg(long, help_heading = "Rules")]
    strict: bool,

    /// Allow results whose calls the provider stores (Responses API)
    #[arg(long, help_heading = "Rules")]
    stateful: bool,

    /// Apply the requirements of this provider, named by its dialect, instead of those of the transcript's dialect
    #[arg(long, value_name = "NAME", help_heading = "Rules")]
    profile: Option<String>,

    /// Report transcripts with more than N tokens, which `curtail split` splits (8k = 8,000; 1m = 1,000,000)
    #[arg(short = 't', long, value_name = "N", help_heading = "Rules")]
    max_tokens: Option<Tokens>,

    #[command(flatten)]
    config: ConfigFlags,

    /// Repair broken pairs that were found, in place (default: move), and report what remains
    #[arg(long, value_parser = one_of(REPAIR_MODES), value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "move", help_heading = "Repair")]
    fix: Option<RepairMode>,

    /// Also repair calls that are pending at the end
    #[arg(long, help_heading = "Repair")]
    repair_pending: bool,

    /// Show what a repair would change, write nothing, and exit with 1 if anything would change
    #[arg(long, conflicts_with_all = ["output_format", "statistics"], help_heading = "Repair")]
    diff: bool,

    /// With --fix, also repair files that symbolic links in directories lead to
    #[arg(long, requires = "fix", hide_short_help = true, help_heading = "Repair")]
    follow_links: bool,

    /// Format of the report
    #[arg(long, value_parser = report_format(), value_name = "FORMAT", default_value = FORMATS[0].name, help_heading = "Report")]
    output_format: &'static Format,

    /// Limit reported findings to N; all are counted
    #[arg(long, value_name = "N", help_heading = "Report")]
    max_findings: Option<usize>,

    /// Report only the number of findings of each rule
    #[arg(long, conflicts_with = "max_findings", help_heading = "Report")]
    statistics: bool,

    /// Exit with 0 even if findings are denied
    #[arg(long, help_heading = "Report")]
    exit_zero: bool,

    /// Exit with 0 if there is nothing to check
    #[arg(long, help_heading = "Report")]
    allow_empty: bool,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,

    #[command(flatten)]
    input: Input,
}

/// The parser of `--output-format`: one value for each report format.
fn report_format() -> impl TypedValueParser<Value = &'static Format> {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.summary));
    PossibleValuesParser::new(values).try_map(|name| reports::format_named(&name).ok_or("no such format"))
}

/// Checks the input and reports the findings.
pub(super) fn run(args: &Args, global: &Global) -> anyhow::Result<ExitCode> {
    let input_options = args.input.input_options()?;
    let (mut sources, missing) = match args.fix.is_some() && !args.follow_links {
        true => args.input.sources_in_place(global)?,
        false => args.input.sources(None)?,
    };
    if args.writes() && sources.iter().any(|source| source.path.is_none()) {
        bail!("standard input cannot be repaired in place; name files, or use `curtail repair` in the pipe");
    }
    let (levels, config) = args.levels()?;
    let checking = args.checking(levels)?;
    let named = sources.len();
    sources.retain(|source| !skips(&checking.levels, source, global));
    let silenced = config.map(|config| Silenced {
        config,
        lowered: sources.iter().any(|source| checking.levels.lowers(&source.name)),
        skipped: named - sources.len(),
    });
    let interrupt = Interrupt::watch(args.writes())?;
    // A terminal shows findings at the end: until then it is free for progress, unless differences are shown.
    let progress = Arc::new(Progress::new(global.progress_display(args.diff), &sources));
    let colors = console::out_has_colors();
    let mut outcome = Outcome::default();
    outcome.silenced = silenced.filter(Silenced::is_something);
    (outcome.limit, outcome.only_counts, outcome.colors) = (args.max_findings, args.statistics, colors);
    let mut findings =
        CheckReporter::new(global, args.output_format, outcome, (args.writes(), args.diff), Arc::clone(&progress));
    missing.iter().for_each(|error| findings.miss(error));
    let batch = Batch {
        jobs: global.jobs,
        at_once: None,
        input_options,
        on_error: OnError::Skip,
        stop: interrupt.flag(),
        progress,
    };
    batch.run(sources, &checking, |event| findings.event(event));
    let status = findings.finish(args.allow_empty, args.exit_zero);
    Ok(interrupt.status().map_or(status, ExitCode::from))
}

/// Whether `check.paths` skips an input; with `--verbose`, it is reported.
fn skips(levels: &Levels, source: &Source, global: &Global) -> bool {
    let skipped = source.path.is_some() && levels.skips(&source.name);
    if skipped && global.verbose {
        report::note(&format!("{}: skipped by check.paths", source.name));
    }
    skipped
}

impl Args {
    /// Whether files are repaired in place.
    const fn writes(&self) -> bool {
        self.fix.is_some() && !self.diff
    }

    fn checking(&self, levels: Levels) -> anyhow::Result<Checking> {
        let profile = self.profile.as_deref().map(profile_named).transpose()?;
        let repair = self.repair(profile.map(Dialect::pairing_rules));
        let profile = profile.map(|dialect| Profile {
            pairing_rules: dialect.pairing_rules(),
            provider_rules: dialect.provider_rules(),
        });
        let counting = self.max_tokens.map(|_| self.template.counting(&self.counting)).transpose()?;
        let inspection =
            Inspection { profile, stateful: self.stateful, max_tokens: self.max_tokens.map(|budget| budget.0) };
        Ok(Checking { inspection, live: self.input.live, levels, counting, repair })
    }

    /// The levels, and the name of the configuration that some of them are from.
    fn levels(&self) -> anyhow::Result<(Levels, Option<String>)> {
        let config = self.config.load()?;
        let table = config.as_ref().map_or_else(|| Ok(Table::default()), |config| config.section("check"))?;
        if let Some(config) = &config {
            config.refuse_many_paths(table.paths.len())?;
            Levels::new(&table, &Table::default()).map_err(|error| config.error_at(error.culprit(), &error))?;
        }
        let folder = config.as_ref().map(Config::folder);
        let flags = Table {
            deny: self.deny.clone(),
            warn: self.warn.clone(),
            allow: self.allow.clone(),
            strict: self.strict,
            ..Table::default()
        };
        let levels = Levels::new(&table, &flags)?;
        let levels = folder.map_or(levels.clone(), |folder| levels.below(folder));
        Ok((levels, config.map(|config| config.file)))
    }

    fn repair(&self, profile: Option<PairingRules>) -> Option<TextRepair> {
        let mode = self.fix.or(self.diff.then(RepairMode::default))?;
        let repair = Repair { mode, pending: self.repair_pending };
        Some(TextRepair { repair, profile, write: self.writes() })
    }
}
