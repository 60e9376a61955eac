//! `curtail check`: what is wrong with transcripts, where, and what the provider would answer.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};

use super::config::{Config, ConfigFlags};
use super::input::{Global, Input};
use super::keys::TableSpec;
use super::options::{CountingOptions, TemplateOptions, Tokens, one_of};
use super::process::Interrupt;
use super::repair::{REPAIR_MODES, profile_named};
use super::report;
use crate::batch::{Batch, Checked, Checking, Event, Flow, Opened, TextRepair};
use crate::console;
use crate::progress::Progress;
use crate::reports::{FORMATS, Format, Outcome, Silenced};
use curtail_core::checks::{
    ALL, Budget, Finding, Group, Inspection, Levels, PathTable, Profile, Table, first_that_needs_budget,
};
use curtail_core::dialects::Dialect;
use curtail_core::processors::{Repair, RepairMode};
use curtail_core::transcript::PairingRules;
use curtail_core::visible::one_line;
use curtail_io::{ErrorKind, FileError};
use curtail_io::{FileSink, Replace, Scratch, Source};

/// Report broken tool pairs and other faults; exit with 1 if any is denied
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    rules: RuleOptions,

    #[command(flatten)]
    config: ConfigFlags,

    /// Repair broken pairs that were found, in place (default: move), and report what remains
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

// The options that are also keys of the table `[check]`.
#[derive(Debug, Clone, clap::Args)]
struct RuleOptions {
    /// Fail on findings of a rule, a group (pairing, shape, turn, dataset) or `all`
    #[arg(short = 'D', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    deny: Vec<String>,

    /// Report findings of a rule or a group without failing
    #[arg(short = 'W', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    warn: Vec<String>,

    /// Turn a rule or a group off
    #[arg(short = 'A', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    allow: Vec<String>,

    /// Fail on warnings as well
    #[arg(long, help_heading = "Rules")]
    strict: bool,

    /// Allow results whose calls the provider stores (Responses API)
    #[arg(long, hide_short_help = true, help_heading = "Rules")]
    stateful: bool,

    /// Apply the requirements of this provider, named by its dialect, instead of those of the transcript's dialect
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = "Rules")]
    profile: Option<String>,

    /// Report transcripts with more than N tokens, which `curtail split` splits (8k = 8,000; 1m = 1,000,000)
    #[arg(short = 't', long, value_name = "N", help_heading = "Rules")]
    max_tokens: Option<Tokens>,
}

/// The parser of `--output-format`: one value for each report format.
fn report_format() -> impl TypedValueParser<Value = &'static Format> {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.summary));
    PossibleValuesParser::new(values)
        .try_map(|name| FORMATS.iter().find(|format| format.name == name).ok_or("no such format"))
}

/// A table of `check.paths`: the levels for the files that a glob matches.
#[derive(Debug, Clone, clap::Args)]
struct PathOptions {
    /// A glob of files, or of folders with all that is below them, relative to the folder of this file
    #[arg(long, required = true)]
    path: String,

    /// Whether these files are not checked at all
    #[arg(long)]
    skip: bool,

    /// Rules and groups that fail the check
    #[arg(long, value_delimiter = ',')]
    deny: Vec<String>,

    /// Rules and groups that only warn
    #[arg(long, value_delimiter = ',')]
    warn: Vec<String>,

    /// Rules and groups that do not run
    #[arg(long, value_delimiter = ',')]
    allow: Vec<String>,
}

impl RuleOptions {
    /// The table of a configuration with these options.
    const TABLE: TableSpec<Self> = TableSpec::of("check", &["paths"]);

    /// The levels that these options set, without those of paths.
    fn table(&self) -> Table {
        let (deny, warn, allow) = (self.deny.clone(), self.warn.clone(), self.allow.clone());
        Table { deny, warn, allow, strict: self.strict, ..Table::default() }
    }

    /// The other options, where these do not set them.
    fn or(&self, other: Option<&Self>) -> Self {
        Self {
            stateful: self.stateful || other.is_some_and(|other| other.stateful),
            profile: self.profile.clone().or_else(|| other.and_then(|other| other.profile.clone())),
            max_tokens: self.max_tokens.or_else(|| other.and_then(|other| other.max_tokens)),
            ..self.clone()
        }
    }
}

impl PathOptions {
    /// The table of `check.paths` with these options.
    const TABLE: TableSpec<Self> = TableSpec::of("paths", &[]);
}

/// A JSON Schema of the table of a configuration.
pub(super) fn schema() -> Value {
    let groups = std::iter::once("all").chain(Group::ALL.iter().map(|group| group.name()));
    let names: Vec<&str> = groups.chain(ALL.iter().flat_map(|rule| [rule.name, rule.code])).collect();
    let with_names = |mut table: Value| {
        for key in ["deny", "warn", "allow"] {
            let values = &mut table["properties"][key]["anyOf"];
            values[0] = json!({"enum": names});
            values[1]["items"] = json!({"enum": names});
        }
        table
    };
    let paths = with_names(PathOptions::TABLE.schema(json!({}), &[]));
    let paths = json!({"description": "Levels for single paths", "type": "array", "items": paths});
    with_names(RuleOptions::TABLE.schema(json!({"paths": paths}), &[]))
}

impl From<PathOptions> for PathTable {
    fn from(PathOptions { path, skip, deny, warn, allow }: PathOptions) -> Self {
        Self { path, skip, deny, warn, allow }
    }
}

/// Whether `check.paths` skips an input; with `--verbose`, it is reported.
fn skips(levels: &Levels, source: &Source, global: &Global) -> bool {
    let skipped = source.path.is_some() && levels.skips(&source.name);
    if skipped && global.verbose {
        report::note(&format!("{}: skipped by check.paths", source.name));
    }
    skipped
}

impl CheckArgs {
    /// Checks the input and reports the findings.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let batch = self.input.batch(global)?;
        let (mut sources, missing) = match self.fix.is_some() && !self.follow_links {
            true => self.input.sources_in_place(global)?,
            false => self.input.sources(None, global)?,
        };
        if self.writes() && sources.iter().any(|source| source.path.is_none()) {
            bail!("standard input cannot be repaired in place; name files, or use `curtail repair` in the pipe");
        }
        let config = self.config.load()?;
        let table = config.as_ref().map(|config| config.table(&RuleOptions::TABLE)).transpose()?.flatten();
        let rules = self.rules.or(table.as_ref());
        let levels = self.levels(config.as_ref(), table.as_ref(), rules.max_tokens)?;
        let checking = self.checking(&rules, levels)?;
        if let Some(budget) = &checking.inspection.budget {
            report::counted(&budget.counting, global);
        }
        let found = sources.len();
        sources.retain(|source| !skips(&checking.levels, source, global));
        let silenced = config.map(|config| Silenced {
            config: config.file,
            lowered: sources.iter().any(|source| checking.levels.lowers(&source.name)),
            skipped: found - sources.len(),
        });
        let interrupt = Interrupt::watch(self.writes())?;
        // A terminal shows findings at the end: until then it is free for progress, unless differences are shown.
        let progress = Arc::new(Progress::new(global.progress_display(self.diff), &sources));
        let colors = console::out_has_colors();
        let mut outcome = Outcome::default();
        outcome.silenced = silenced.filter(Silenced::is_something);
        (outcome.limit, outcome.only_counts, outcome.colors) = (self.max_findings, self.statistics, colors);
        outcome.is_quiet = global.quiet && self.output_format.name == FORMATS[0].name;
        let mut reporter = CheckReporter::new(self, global, outcome, Arc::clone(&progress));
        missing.iter().for_each(|error| reporter.miss(error));
        let batch = Batch { stop: interrupt.flag(), progress, ..batch };
        batch.run(sources, &checking, |event| reporter.event(event));
        let status = reporter.finish();
        Ok(interrupt.status().map_or(status, ExitCode::from))
    }

    /// Whether files are repaired in place.
    const fn writes(&self) -> bool {
        self.fix.is_some() && !self.diff
    }

    fn checking(&self, rules: &RuleOptions, levels: Levels) -> anyhow::Result<Checking> {
        let profile = rules.profile.as_deref().map(profile_named).transpose()?;
        let repair = self.repair(profile.map(<dyn Dialect>::pairing_rules));
        let profile = profile.map(Profile::of_dialect);
        let max_tokens = rules.max_tokens;
        if max_tokens.is_none() && (self.counting.is_given() || self.template.is_given()) {
            bail!("tokens are counted only for a budget; pass --max-tokens");
        }
        max_tokens.map_or(Ok(()), |budget| self.counting.check_reserve(budget))?;
        let budget = |max_tokens: Tokens| {
            anyhow::Ok(Budget { max_tokens: max_tokens.0, counting: self.template.counting(&self.counting)? })
        };
        let budget = max_tokens.map(budget).transpose()?;
        let inspection = Inspection { profile, stateful: rules.stateful, live: self.input.live, budget };
        Ok(Checking { inspection, levels, repair })
    }

    /// The levels of the flags, and of the configuration if there is one.
    fn levels(
        &self,
        config: Option<&Config>,
        table: Option<&RuleOptions>,
        max_tokens: Option<Tokens>,
    ) -> anyhow::Result<Levels> {
        let flags = self.rules.table();
        let Some(config) = config else {
            let levels = Levels::new(&Table::default(), &flags)?;
            self.require_budget(max_tokens, None)?;
            return Ok(levels);
        };
        let paths = config.inner_tables("check", &PathOptions::TABLE)?;
        config.refuse_many_paths(paths.len())?;
        let paths = paths.into_iter().map(PathTable::from).collect();
        let table = Table { paths, ..table.map(RuleOptions::table).unwrap_or_default() };
        Levels::new(&table, &Table::default()).map_err(|error| config.error_about(error.culprit(), &error))?;
        let levels = Levels::new(&table, &flags)?;
        self.require_budget(max_tokens, Some((config.file.as_str(), &table)))?;
        Ok(levels.below(config.folder()))
    }

    /// Refuses rules that need a token limit where there is none, and notes those of the configuration.
    fn require_budget(&self, max_tokens: Option<Tokens>, config: Option<(&str, &Table)>) -> anyhow::Result<()> {
        if max_tokens.is_some() {
            return Ok(());
        }
        for (flag, rules) in [("--deny", &self.rules.deny), ("--warn", &self.rules.warn)] {
            if let Some(rule) = first_that_needs_budget(rules) {
                bail!("{flag} {rule}: this rule needs the number of tokens that a transcript may have; pass -t N");
            }
        }
        if let Some((file, table)) = config {
            let paths = table.paths.iter().flat_map(|path| [&path.deny, &path.warn]);
            let mut lists = [&table.deny, &table.warn].into_iter().chain(paths);
            if let Some(rule) = lists.find_map(|rules| first_that_needs_budget(rules)) {
                report::note(&format!("{file}: {rule} does not run without the number of tokens to allow; pass -t N"));
            }
        }
        Ok(())
    }

    fn repair(&self, profile: Option<PairingRules>) -> Option<TextRepair> {
        let mode = self.fix.or(self.diff.then(RepairMode::default))?;
        let repair = Repair { mode, pending: self.repair_pending };
        Some(TextRepair { repair, profile, write: self.writes() })
    }
}

/// Collects the results of a batch of checks in input order: reports findings, writes repaired files, and sets the exit status.
struct CheckReporter<'a> {
    args: &'a CheckArgs,
    global: &'a Global,
    /// The progress display.
    progress: Arc<Progress>,
    /// Where findings are written as they are found.
    report: Option<Box<dyn Write + Send>>,
    /// The result so far.
    outcome: Outcome,
    /// The file and the line where each fingerprint was first seen.
    seen: HashMap<u128, (usize, usize)>,
    file: CheckedFile,
    scratch: Scratch,
    /// Whether differences of any file were printed.
    differs: bool,
}

/// The state of the current file.
#[derive(Default)]
struct CheckedFile {
    /// By how many bytes repair has made it longer, before the current block.
    grown: isize,
    changed: bool,
    /// Whether a part of it is not UTF-8, so that it is not written.
    garbled: bool,
    /// The repaired file.
    sink: Option<FileSink>,
    /// Whether differences were printed.
    hunks: bool,
    /// Whether it was reported how it is read.
    described: bool,
    /// Whether it had an error; `None` between files.
    failed: Option<bool>,
}

impl<'a> CheckReporter<'a> {
    fn new(args: &'a CheckArgs, global: &'a Global, outcome: Outcome, progress: Arc<Progress>) -> Self {
        let gradual = args.output_format.is_gradual() && !args.diff && !console::out_is_terminal();
        Self {
            args,
            global,
            progress,
            report: gradual.then(|| Box::new(console::report()) as Box<dyn Write + Send>),
            outcome,
            seen: HashMap::new(),
            file: CheckedFile::default(),
            scratch: Scratch::default(),
            differs: false,
        }
    }

    /// Handles the next event.
    fn event(&mut self, event: Event<'_, Checked>) -> Flow {
        match event {
            Event::Opened(opened) => {
                self.outcome.files.push(opened.source.name.clone());
                let described = !self.global.verbose;
                self.file = CheckedFile { described, failed: Some(false), ..CheckedFile::default() };
                Flow::Continue
            }
            Event::Done { opened, out, .. } => self.done(opened, out),
            Event::Failed(failure) => {
                match self.file.failed {
                    Some(_) => self.fail(&failure.error),
                    None => self.miss(&failure.error),
                }
                // A record that cannot be read cannot be written either.
                if failure.record.is_some() && !self.args.writes() { Flow::Continue } else { self.drop_sink() }
            }
            Event::PassedOver(opened) => {
                self.progress.aside(|| report::passed_over(opened, self.global));
                Flow::Continue
            }
            Event::Closed { opened, complete } => {
                let is_written = complete && self.file.changed && !self.file.garbled;
                if let Some(sink) = self.file.sink.take().filter(|_| is_written) {
                    match sink.commit(Replace::Input(opened.stamp.as_ref(), None), &self.scratch) {
                        Ok(_) => self.outcome.changed.push(opened.source.name.clone()),
                        Err(error) => self.fail(&error),
                    }
                }
                self.file = CheckedFile::default();
                Flow::Continue
            }
        }
    }

    fn done(&mut self, opened: &Opened, checked: &mut Checked) -> Flow {
        let file = self.outcome.files.len() - 1;
        let grown = self.file.grown;
        self.file.grown += checked.grown;
        if !std::mem::replace(&mut self.file.described, true) {
            self.progress.aside(|| report::note(&report::reading(opened, checked.dialect)));
        }
        self.file.changed |= checked.changed;
        self.file.garbled |= checked.is_garbled;
        self.outcome.transcripts += checked.transcripts;
        self.outcome.repaired += checked.repaired;
        for finding in checked.findings.drain(..) {
            self.outcome.add(file, finding.moved(0, grown));
        }
        for (print, finding) in checked.fingerprints.drain(..) {
            self.compare_with_earlier(print, file, finding.moved(0, grown));
        }
        self.report_new(opened);
        self.print_diff(opened, &checked.diff);
        if self.args.writes() { self.keep(opened, &checked.text) } else { Flow::Continue }
    }

    /// Adds `finding` if an earlier transcript has the same fingerprint.
    fn compare_with_earlier(&mut self, print: u128, file: usize, mut finding: Finding) {
        let (first, line) = *self.seen.entry(print).or_insert((file, finding.at.line));
        let (first, here) = (self.outcome.file(first), self.outcome.file(file));
        if (first, line) != (here, finding.at.line) {
            finding.message = format!("the transcript has the same messages as {first}:{line}");
            self.outcome.add(file, finding);
        }
    }

    /// Writes the new findings, unless the report is written at the end. Findings of a live input are flushed at once.
    fn report_new(&mut self, opened: &Opened) {
        let Some(out) = &mut self.report else { return };
        let wrote = self.args.output_format.write_new(&mut self.outcome, out);
        let wrote = wrote.and_then(|()| if opened.stamp.is_none() { out.flush() } else { Ok(()) });
        if let Err(error) = wrote {
            self.report = Some(Box::new(std::io::sink()));
            self.report_failed(&error);
        }
    }

    fn print_diff(&mut self, opened: &Opened, diff: &str) {
        if !self.args.diff || diff.is_empty() {
            return;
        }
        self.differs = true;
        let name = one_line(&opened.source.name);
        let head = if std::mem::replace(&mut self.file.hunks, true) {
            String::new()
        } else {
            format!("--- {name}\n+++ {name}\n")
        };
        // A closed pipe is not an error.
        if let Err(error) = self.progress.aside(|| console::out_json(&format!("{head}{diff}"))) {
            self.fail(&error);
        }
    }

    fn keep(&mut self, opened: &Opened, text: &str) -> Flow {
        let Some(path) = &opened.source.path else { return Flow::Continue };
        if let Some(table) = &opened.table {
            let name = table.format().name();
            let reason = format!("--fix cannot write {name} files; use `curtail repair --in-place`");
            self.fail(&FileError::new(ErrorKind::Usage, &opened.source.name, reason));
            return self.drop_sink();
        }
        if let Err(error) = self.sink(opened, path).and_then(|sink| sink.write(text.as_bytes())) {
            self.fail(&error);
            return self.drop_sink();
        }
        Flow::Continue
    }

    /// The repaired file at `path`, which the first block begins.
    fn sink(&mut self, opened: &Opened, path: &Path) -> Result<&mut FileSink, FileError> {
        let sink = match self.file.sink.take() {
            Some(sink) => sink,
            None => FileSink::create(path, opened.packing, Some(path), &self.scratch)?,
        };
        Ok(self.file.sink.insert(sink))
    }

    fn drop_sink(&mut self) -> Flow {
        self.file.sink = None;
        Flow::Leave
    }

    /// Reports an input that could not be found or opened; the check continues.
    fn miss(&mut self, error: &FileError) {
        self.outcome.missing += 1;
        self.outcome.failed += 1;
        self.fail(error);
    }

    /// Reports an error; the check continues.
    fn fail(&mut self, error: &FileError) {
        self.outcome.errors += 1;
        if self.file.failed == Some(false) {
            self.file.failed = Some(true);
            self.outcome.failed += 1;
        }
        self.progress.aside(|| report::record_error(error, None, self.global));
    }

    /// Reports that the report could not be written, unless its reader closed the pipe.
    fn report_failed(&mut self, error: &std::io::Error) {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            self.fail(&FileError::system("standard output", error));
        }
    }

    /// Reports what was changed and silenced, for formats whose report does not contain it.
    fn note_rest(&self) {
        let changed = self.outcome.changed.iter().map(|file| format!("changed: {file}"));
        let silenced = self.outcome.silenced.iter().map(ToString::to_string);
        if !self.global.quiet {
            changed.chain(silenced).for_each(|line| report::note(&line));
        }
    }

    /// Writes the report, or the rest of it. The status is 2 if anything could not be checked, and 1 if anything was denied.
    fn finish(mut self) -> ExitCode {
        self.progress.finish();
        for error in self.scratch.settle() {
            self.fail(&error);
        }
        let is_text = self.args.output_format.name == FORMATS[0].name;
        if !self.args.diff {
            let mut out = self.report.take().unwrap_or_else(|| Box::new(console::report()));
            let wrote = (self.args.output_format.write)(&self.outcome, &mut out).and_then(|()| out.flush());
            if let Err(error) = wrote {
                self.report_failed(&error);
            }
        }
        if self.args.diff || !is_text {
            self.note_rest();
        }
        // A configuration that skips all inputs asks for that.
        let is_skipped = self.outcome.silenced.as_ref().is_some_and(|silenced| silenced.skipped > 0);
        let nothing = self.outcome.transcripts == 0 && self.outcome.found() == 0 && !is_skipped;
        let failed = self.outcome.errors > 0;
        if nothing && !self.args.allow_empty && !failed {
            report::error(&"nothing to check: the input contains no transcript; pass --allow-empty to accept that");
            return ExitCode::from(2);
        }
        let denied = self.differs || self.outcome.denied() > 0;
        ExitCode::from(if failed { 2 } else { u8::from(denied && !self.args.exit_zero) })
    }
}
