//! Writes findings for people (`text`), for programs (`json`) or for a CI (`ci`), and has the only list of formats.
//!
//! To add a format: a [`Format`] in one of these files, and a line in [`FORMATS`]. The command line and its help read the list.

mod ci;
mod json;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use curtail_core::checks::{ALL, Finding, Level, Rule};

/// The result of a check. Its default is a check of nothing.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The files that were read, in order.
    pub files: Vec<String>,
    /// Number of transcripts that were examined.
    pub transcripts: usize,
    /// Number of findings that repair removed.
    pub repaired: usize,
    /// Number of inputs or records that could not be read or written.
    pub errors: usize,
    /// Number of files that had an error.
    pub failed: usize,
    /// Number of files that could not be found. They are not in [`Outcome::files`].
    pub missing: usize,
    /// The files that a repair changed.
    pub changed: Vec<String>,
    /// What a configuration silenced, if anything.
    pub silenced: Option<Silenced>,
    /// Maximum number of findings to show; all by default.
    pub limit: Option<usize>,
    /// Whether findings are counted and not shown.
    pub only_counts: bool,
    /// Whether the report may contain colors.
    pub colors: bool,
    /// The findings that are shown and not yet written, in order.
    unwritten: Vec<FileFinding>,
    /// How many findings are written.
    written: usize,
    /// The number of findings of each rule, by its code.
    counts: BTreeMap<&'static str, Count>,
}

/// What a configuration removes from a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Silenced {
    /// The name of the file.
    pub config: String,
    /// Whether it lowers the level of a rule for a file that was checked.
    pub lowered: bool,
    /// The number of files that it skips.
    pub skipped: usize,
}

impl Silenced {
    /// Whether it removes anything.
    #[must_use]
    pub const fn is_something(&self) -> bool {
        self.lowered || self.skipped > 0
    }
}

impl fmt::Display for Silenced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = if self.skipped == 1 { "file" } else { "files" };
        match (self.lowered, self.skipped) {
            (true, 0) => write!(f, "levels lowered by {}", self.config),
            (true, skipped) => write!(f, "levels lowered and {skipped} {files} skipped by {}", self.config),
            (false, skipped) => write!(f, "{skipped} {files} skipped by {}", self.config),
        }
    }
}

/// A finding about a file.
#[derive(Debug, Clone)]
pub struct FileFinding {
    /// The index of the file in [`Outcome::files`].
    pub file: usize,
    /// The finding.
    pub finding: Finding,
}

/// The number of findings of a rule.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// The rule.
    pub rule: &'static Rule,
    /// Findings that fail the check.
    pub denied: usize,
    /// Findings that only warn.
    pub warned: usize,
}

impl Outcome {
    /// Adds a finding about the file with this index in [`Outcome::files`]. Every finding is counted, but one that is not shown
    /// is not stored.
    pub fn add(&mut self, file: usize, finding: Finding) {
        let none = Count { rule: finding.rule, denied: 0, warned: 0 };
        let count = self.counts.entry(finding.rule.code).or_insert(none);
        match finding.level {
            Level::Deny => count.denied += 1,
            Level::Warn | Level::Allow => count.warned += 1,
        }
        let limit = if self.only_counts { 0 } else { self.limit.unwrap_or(usize::MAX) };
        if self.written + self.unwritten.len() < limit {
            self.unwritten.push(FileFinding { file, finding });
        }
    }

    /// The findings that are shown, without those that [`Format::write_new`] has written.
    #[must_use]
    pub fn shown(&self) -> &[FileFinding] {
        &self.unwritten
    }

    /// The number of findings.
    #[must_use]
    pub fn found(&self) -> usize {
        self.denied() + self.warned()
    }

    /// The number of findings that are not shown.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.found() - self.written - self.unwritten.len()
    }

    /// The number of findings that fail the check.
    #[must_use]
    pub fn denied(&self) -> usize {
        self.counts.values().map(|count| count.denied).sum()
    }

    /// The number of findings that only warn.
    #[must_use]
    pub fn warned(&self) -> usize {
        self.counts.values().map(|count| count.warned).sum()
    }

    /// The number of findings of each rule that has any, the largest first.
    #[must_use]
    pub fn by_rule(&self) -> Vec<Count> {
        let mut counts: Vec<Count> = ALL.iter().filter_map(|rule| self.counts.get(rule.code).copied()).collect();
        counts.sort_by_key(|count| std::cmp::Reverse((count.denied, count.warned)));
        counts
    }

    /// The name of a file, by its index in [`Outcome::files`].
    #[must_use]
    pub fn file(&self, index: usize) -> &str {
        self.files.get(index).map_or("", String::as_str)
    }
}

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// The name of the format, a value of `--output-format`.
    pub name: &'static str,
    /// What the format is for; the help of `--output-format` shows it.
    pub summary: &'static str,
    /// Writes the report, without findings that [`Format::write_new`] has written.
    pub write: fn(&Outcome, &mut dyn Write) -> io::Result<()>,
    /// Writes one finding, if a report in this format begins with its findings.
    finding: Option<fn(&Outcome, &FileFinding, &mut dyn Write) -> io::Result<()>>,
}

impl Format {
    /// Whether findings can be written before the check ends.
    #[must_use]
    pub const fn is_gradual(&self) -> bool {
        self.finding.is_some()
    }

    /// Writes the findings that are new in `outcome`, if the format is gradual; `outcome` keeps only their number.
    ///
    /// # Errors
    /// What `out` returns.
    pub fn write_new(&self, outcome: &mut Outcome, out: &mut dyn Write) -> io::Result<()> {
        if let Some(write) = self.finding {
            outcome.shown().iter().try_for_each(|finding| write(outcome, finding, out))?;
            outcome.written += outcome.unwritten.len();
            outcome.unwritten.clear();
        }
        Ok(())
    }
}

/// Every format; the first is the default.
pub static FORMATS: &[Format] = &[text::FORMAT, json::FORMAT, ci::GITHUB, ci::GITLAB, ci::SARIF, ci::JUNIT];
