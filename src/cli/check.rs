//! `curtail check`: what is wrong with transcripts, where, and what the provider would answer.

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{bail, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::console;
use crate::options::check::{CheckTables, RuleOptions};
use crate::options::choices::one_of;
use crate::options::config::{Config, ConfigFlags, FileConfigs};
use crate::options::counting::{CountingOptions, TemplateOptions};
use crate::options::files::written_path;
use crate::options::global::Global;
use crate::options::input::Input;
use crate::options::numbers::Tokens;
use crate::options::repair::REPAIR_MODES;
use crate::process::Interrupt;
use crate::reports::answer::{AnswerReporter, tell_about};
use crate::reports::baseline::KnownFindings;
use crate::reports::check::{CheckReport, CheckReporter};
use crate::reports::findings::{CheckOutcome, FORMATS, Format, Silenced};
use crate::reports::progress::{Progress, Show};
use crate::reports::remarks;
use crate::reports::screen::Screen;
use crate::works::answer::Diagnosing;
use crate::works::check::{Checking, CheckingByFile, TextRepair};
use curtail_core::checks::{Answer, Inspection, Levels, Profile, Table, first_that_needs_budget};
use curtail_core::processors::{Repair, RepairMode};
use curtail_core::small::{SMALL, read_small};
use curtail_core::transcript::PairingRules;
use curtail_io::batch::{Batch, Damage};
use curtail_io::{FileError, Source};

/// Report broken tool pairs and other faults; exit with 1 if denied
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Find what this answer of a provider means: TEXT, `-` for standard input, or @FILE
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with_all = ["fix", "diff", "output_format", "statistics", "max_findings", "max_tokens", "deny", "warn", "allow", "strict"]
    )]
    error: Option<String>,

    #[command(flatten)]
    rules: RuleOptions,

    /// Also report and repair what only some models refuse
    #[arg(long, conflicts_with = "error", hide_short_help = true, help_heading = "Rules")]
    refused: bool,

    #[command(flatten)]
    config: ConfigFlags,

    /// Mend what was found, in place, broken pairs as HOW says (default: move), and report what remains
    #[arg(
        long,
        value_parser = one_of(REPAIR_MODES),
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "move",
        help_heading = "Repair"
    )]
    fix: Option<RepairMode>,

    /// Also mend faults in ways that change what the transcript says
    #[arg(long, hide_short_help = true, help_heading = "Repair")]
    unsafe_fixes: bool,

    /// Also repair calls that are pending at the end
    #[arg(long, hide_short_help = true, help_heading = "Repair")]
    repair_pending: bool,

    /// Show what a repair would change, write nothing, and exit with 1 if anything would change
    #[arg(long, conflicts_with_all = ["output_format", "statistics"], help_heading = "Repair")]
    diff: bool,

    /// With --fix, also repair files that symbolic links in directories lead to
    #[arg(long, hide_short_help = true, help_heading = "Repair")]
    follow_links: bool,

    /// Format of the report
    #[arg(
        long,
        value_parser = report_format(),
        value_name = "FORMAT",
        default_value = FORMATS[0].name,
        help_heading = "Report"
    )]
    output_format: &'static Format,

    /// Limit reported findings to N; all are counted
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Report")]
    max_findings: Option<usize>,

    /// Report only the number of findings of each rule
    #[arg(long, conflicts_with = "max_findings", hide_short_help = true, help_heading = "Report")]
    statistics: bool,

    /// Report only findings that FILE does not list, and those of FILE that are gone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["error", "diff"], hide_short_help = true, help_heading = "Report")]
    baseline: Option<PathBuf>,

    /// Write the findings to FILE, for --baseline, and report none
    #[arg(
        long,
        value_name = "FILE",
        value_parser = written_path(),
        conflicts_with_all = ["baseline", "error", "diff", "fix"],
        hide_short_help = true,
        help_heading = "Report"
    )]
    write_baseline: Option<PathBuf>,

    /// Exit with 0 even if findings are denied
    #[arg(long, hide_short_help = true, help_heading = "Report")]
    exit_zero: bool,

    /// Exit with 0 if there is nothing to check
    #[arg(long, hide_short_help = true, help_heading = "Report")]
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
    PossibleValuesParser::new(values)
        .try_map(|name| FORMATS.iter().find(|format| format.name == name).ok_or("no such format"))
}

/// The text of an answer: as it was given, or what a file or standard input contains.
fn quoted(given: &str) -> Result<String, FileError> {
    let (name, read) = match given.strip_prefix('@') {
        _ if given == "-" => ("standard input", curtail_io::input().and_then(|input| read_small(input, SMALL))),
        Some(path) => (path, File::open(path).and_then(|file| read_small(file, SMALL))),
        None => return Ok(given.to_owned()),
    };
    let bytes = read.map_err(|error| FileError::system(name, &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Drops the inputs that configurations skip, which is reported with `--verbose`, and returns what they silence.
fn silence(checking: &CheckingByFile, configs: &FileConfigs, sources: &mut Vec<Source>, global: &Global) -> Silenced {
    let mut silenced = Silenced::default();
    let mut names = Vec::new();
    sources.retain(|source| {
        let nth = checking.index.of(source.path.as_deref());
        let levels = &checking.each[nth].levels;
        let is_skipped = source.path.is_some() && levels.skips(&source.name);
        if is_skipped && global.verbose {
            console::note(&format!("{}: skipped by check.paths", source.name));
        }
        let is_lowered = !is_skipped && levels.lowers(&source.name);
        silenced.skipped += usize::from(is_skipped);
        silenced.lowered |= is_lowered;
        let config = configs.each[nth].as_ref().filter(|_| is_skipped || is_lowered);
        let name = config.map(|config| config.file.clone()).filter(|name| !names.contains(name));
        names.extend(name);
        !is_skipped
    });
    silenced.config = names.join(", ");
    silenced
}

impl CheckArgs {
    /// Checks the input and reports the findings.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(text) = &self.error {
            return self.explain(text, global);
        }
        // It may describe the dialect of the input.
        let config = self.config.load()?;
        let batch = self.input.batch(global)?;
        let (mut sources, missing) = match self.fix.is_some() && !self.follow_links {
            true => self.input.sources_in_place(global)?,
            false => self.input.sources(None)?,
        };
        if self.writes() && sources.iter().any(|source| source.path.is_none()) {
            bail!("standard input cannot be repaired in place; name files, or use `curtail repair` in the pipe");
        }
        let configs = self.config.for_files(config, sources.iter().filter_map(|source| source.path.as_deref()))?;
        let each = configs.each.iter().map(|config| self.checking_by(config.as_ref(), global.verbose));
        let checking = CheckingByFile { each: each.collect::<Result<_, _>>()?, index: configs.index.clone() };
        if let Some(budget) = checking.each.iter().find_map(|checking| checking.inspection.budget.as_ref()) {
            remarks::counted(&budget.counting);
        }
        let silenced = silence(&checking, &configs, &mut sources, global);
        let interrupt = Interrupt::watch(self.writes())?;
        // A terminal shows findings at the end: until then it is free for progress, unless differences are shown.
        let progress = Arc::new(Progress::new(Show::chosen(global, self.diff), &sources));
        let outcome = self.outcome(silenced, global);
        let known = KnownFindings::open(self.baseline.as_deref(), self.write_baseline.as_deref())?;
        let mut reporter = CheckReporter::new(self.report(), global, outcome, known, Arc::clone(&progress));
        missing.iter().for_each(|error| reporter.miss(error));
        // What is damaged is a finding.
        let batch = Batch { stop: interrupt.flag(), progress: Some(progress), damage: Damage::Fail, ..batch };
        batch.run(sources, &checking, |event| reporter.event(event));
        let status = reporter.finish();
        Ok(interrupt.status().map_or(status, ExitCode::from))
    }

    /// How texts in memory are checked and read.
    ///
    /// # Errors
    /// As [`run`](Self::run), and flags that repair files.
    pub(super) fn of_texts(&self) -> anyhow::Result<(Checking, &Input)> {
        let config = self.config.load()?;
        let checking = self.checking_by(config.as_ref(), false)?;
        if self.error.is_some() || checking.repair.is_some() {
            bail!("--error, --fix and --diff do not list findings; run the program itself");
        }
        Ok((checking, &self.input))
    }

    /// Searches the input for what an answer of a provider means.
    fn explain(&self, text: &str, global: &Global) -> anyhow::Result<ExitCode> {
        const TAKEN: &str = "standard input is the answer; name the file of the transcript";
        let names_stdin = self.input.paths.iter().any(|path| path.as_os_str() == "-");
        ensure!(text != "-" || !names_stdin, TAKEN);
        let words = quoted(text)?;
        ensure!(!words.trim().is_empty(), "--error: the answer is empty; pass what the provider answered");
        let answer = Answer::read(&words);
        if let Some(diagnosis) = answer.unrelated() {
            return Ok(ExitCode::from(if tell_about(&diagnosis) { 2 } else { 0 }));
        }
        ensure!(text != "-" || !self.input.paths.is_empty(), TAKEN);
        // It may describe the dialect of the input.
        self.config.load()?;
        let batch = self.input.batch(global)?;
        let (sources, missing) = self.input.sources(None)?;
        let mut reporter = AnswerReporter::new(global);
        missing.iter().for_each(|error| reporter.miss(error));
        batch.run(sources, &Diagnosing { answer }, |event| reporter.event(event));
        Ok(reporter.finish())
    }

    /// A check of nothing yet, and what is shown of it.
    fn outcome(&self, silenced: Silenced, global: &Global) -> CheckOutcome {
        let mut outcome = CheckOutcome::default();
        outcome.silenced = Some(silenced).filter(Silenced::is_something);
        outcome.limit = self.max_findings;
        outcome.only_counts = self.statistics;
        outcome.colors = console::out_has_colors();
        outcome.screen = Screen::of_stdout();
        outcome.is_quiet = global.quiet && self.output_format.name == FORMATS[0].name;
        outcome
    }

    fn report(&self) -> CheckReport {
        CheckReport {
            format: self.output_format,
            writes: self.writes(),
            diff: self.diff,
            exit_zero: self.exit_zero,
            allow_empty: self.allow_empty,
        }
    }

    /// Whether files are repaired in place.
    const fn writes(&self) -> bool {
        self.fix.is_some() && !self.diff
    }

    /// What is checked by `config`, or without one.
    fn checking_by(&self, config: Option<&Config>, verbose: bool) -> anyhow::Result<Checking> {
        let tables = config.map(CheckTables::read).transpose()?;
        let rules = self.rules.or(tables.as_ref().and_then(CheckTables::options));
        let table = tables.map(|tables| tables.table()).unwrap_or_default();
        let levels = Levels::new(&table, &self.rules.table())?;
        self.require_budget(rules.max_tokens, config, &table)?;
        let levels = match config {
            Some(config) => levels.below(config.folder()),
            None => levels,
        };
        self.checking(&rules, levels, verbose)
    }

    fn checking(&self, rules: &RuleOptions, levels: Levels, verbose: bool) -> anyhow::Result<Checking> {
        let profile = rules.profile.as_deref().map(Profile::named).transpose()?;
        let repair = self.repair(profile.map(|profile| profile.pairing_rules));
        let max_tokens = rules.max_tokens;
        if max_tokens.is_none() && (self.counting.is_given() || self.template.is_given()) {
            bail!("tokens are counted only for a budget; pass --max-tokens");
        }
        let budget = max_tokens.map(|budget| self.template.budget(&self.counting, budget)).transpose()?;
        let inspection = Inspection {
            profile,
            stateful: rules.stateful,
            live: self.input.live,
            budget,
            is_refused: self.refused,
            ..Inspection::default()
        };
        Ok(Checking { inspection, levels, repair, verbose })
    }

    /// Refuses rules that need a token limit where there is none, and notes those of the configuration.
    fn require_budget(&self, max_tokens: Option<Tokens>, config: Option<&Config>, table: &Table) -> anyhow::Result<()> {
        if max_tokens.is_some() {
            return Ok(());
        }
        for (flag, rules) in [("--deny", &self.rules.levels.deny), ("--warn", &self.rules.levels.warn)] {
            if let Some(rule) = first_that_needs_budget(rules) {
                bail!("{flag} {rule}: this rule needs the number of tokens that a transcript may have; pass -t N");
            }
        }
        if let Some(Config { file, .. }) = config {
            let paths = table.paths.iter().flat_map(|path| [&path.deny, &path.warn]);
            let mut lists = [&table.deny, &table.warn].into_iter().chain(paths);
            if let Some(rule) = lists.find_map(|rules| first_that_needs_budget(rules)) {
                console::note(&format!("{file}: {rule} does not run without the number of tokens to allow; pass -t N"));
            }
        }
        Ok(())
    }

    fn repair(&self, profile: Option<PairingRules>) -> Option<TextRepair> {
        let mode = self.fix.or(self.diff.then(RepairMode::default))?;
        let repair = Repair { mode, pending: self.repair_pending };
        Some(TextRepair { repair, profile, with_unsafe: self.unsafe_fixes, write: self.writes() })
    }
}
