//! Writes findings for people, for programs, or for a CI, which shows them beside a change or as tests.
//!
//! To add a format: a file with a [`Format`], and a line in [`FORMATS`]. The command line and its help read the list.

mod github;
mod gitlab;
mod json;
mod junit;
mod sarif;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Serialize;

use crate::reports::repeats::kind_of;
use crate::reports::screen::Screen;
use curtail_core::checks::{ALL, Finding, Level, Rule};
use curtail_core::numbers::counted;
use curtail_io::FileError;

pub(crate) use github::{data, property};
pub(crate) use json::json_of;
pub(super) use text::text_of;

/// The result of a check. Its default is a check of nothing.
#[derive(Debug, Default)]
pub(crate) struct CheckOutcome {
    /// The files that were read, in order.
    pub(crate) files: Vec<String>,
    /// Number of transcripts that were examined.
    pub(crate) transcripts: usize,
    /// Number of findings that repair removed.
    pub(crate) repaired: usize,
    /// Number of inputs or records that could not be read or written.
    pub(crate) errors: usize,
    /// Number of files that had an error.
    pub(crate) failed: usize,
    /// Number of files that could not be found. They are not in [`CheckOutcome::files`].
    pub(crate) missing: usize,
    /// The files that a repair changed.
    pub(crate) changed: Vec<String>,
    /// What a configuration silenced, if anything.
    pub(crate) silenced: Option<Silenced>,
    /// What a baseline lists, if there is one.
    pub(crate) known: Option<Known>,
    /// Maximum number of findings to show; all by default.
    pub(crate) limit: Option<usize>,
    /// Whether findings are counted and not shown.
    pub(crate) only_counts: bool,
    /// Whether only findings that fail the check are shown, without a summary.
    pub(crate) is_quiet: bool,
    /// Whether the report may contain colors.
    pub(crate) colors: bool,
    /// What a report for people is written to.
    pub(crate) screen: Screen,
    /// The findings that are shown and not yet written, in order.
    unwritten: Vec<FileFinding>,
    /// How many findings are written.
    written: usize,
    /// The errors that are not yet written, in order.
    unwritten_errors: Vec<FileError>,
    /// The number of findings of each rule, by its code.
    counts: BTreeMap<&'static str, Count>,
    /// The files with findings that fail the check and are not shown.
    failing_unshown: BTreeSet<usize>,
}

/// What a baseline removes from a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Known {
    /// The name of the file.
    pub(crate) baseline: String,
    /// The number of findings that it lists and that were found again, which the report leaves out.
    pub(crate) findings: usize,
    /// The number of findings that it lists and that are gone.
    pub(crate) stale: usize,
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} known by {}", self.findings, self.baseline)?;
        if self.stale > 0 {
            write!(f, ", and {} gone", self.stale)?;
        }
        Ok(())
    }
}

/// What a configuration removes from a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Silenced {
    /// The name of the file, or the names of several.
    pub(crate) config: String,
    /// Whether it lowers the level of a rule for a file that was checked.
    pub(crate) lowered: bool,
    /// The number of files that it skips.
    pub(crate) skipped: usize,
}

impl Silenced {
    /// Whether it removes anything.
    pub(crate) const fn is_something(&self) -> bool {
        self.lowered || self.skipped > 0
    }
}

impl fmt::Display for Silenced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = counted(self.skipped, "file");
        match (self.lowered, self.skipped) {
            (true, 0) => write!(f, "levels lowered by {}", self.config),
            (true, _) => write!(f, "levels lowered and {files} skipped by {}", self.config),
            (false, _) => write!(f, "{files} skipped by {}", self.config),
        }
    }
}

/// A finding about a file.
#[derive(Debug, Clone)]
pub(crate) struct FileFinding {
    /// The index of the file in [`CheckOutcome::files`].
    pub(crate) file: usize,
    /// The finding.
    pub(crate) finding: Finding,
}

/// The number of findings of a rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count {
    /// The rule.
    pub(crate) rule: &'static Rule,
    /// Findings that fail the check.
    pub(crate) denied: usize,
    /// Findings that only warn.
    pub(crate) warned: usize,
}

impl CheckOutcome {
    /// Adds a finding about the file with this index in [`CheckOutcome::files`]. Every finding is counted, but one that is not
    /// shown is not stored.
    pub(crate) fn add(&mut self, file: usize, finding: Finding) {
        let none = Count { rule: finding.rule, denied: 0, warned: 0 };
        let count = self.counts.entry(finding.rule.code).or_insert(none);
        match finding.level {
            Level::Deny => count.denied += 1,
            Level::Warn | Level::Allow => count.warned += 1,
        }
        let limit = if self.only_counts { 0 } else { self.limit.unwrap_or(usize::MAX) };
        let is_hidden = self.is_quiet && finding.level != Level::Deny;
        if !is_hidden && self.written + self.unwritten.len() < limit {
            self.unwritten.push(FileFinding { file, finding });
        } else if finding.level == Level::Deny {
            self.failing_unshown.insert(file);
        }
    }

    /// Adds an error: something that was not checked.
    pub(crate) fn add_error(&mut self, error: FileError) {
        self.errors += 1;
        self.unwritten_errors.push(error);
    }

    /// The findings that are shown, without those that [`Format::write_new`] has written.
    pub(crate) fn shown(&self) -> &[FileFinding] {
        &self.unwritten
    }

    /// The errors, without those that [`Format::write_new`] has written.
    fn shown_errors(&self) -> &[FileError] {
        &self.unwritten_errors
    }

    /// The number of findings.
    pub(crate) fn found(&self) -> usize {
        self.denied() + self.warned()
    }

    /// The number of findings that are not shown.
    pub(crate) fn hidden(&self) -> usize {
        self.found() - self.written - self.unwritten.len()
    }

    /// The number of findings that fail the check.
    pub(crate) fn denied(&self) -> usize {
        self.counts.values().map(|count| count.denied).sum()
    }

    /// The number of findings that only warn.
    pub(crate) fn warned(&self) -> usize {
        self.counts.values().map(|count| count.warned).sum()
    }

    /// The number of findings of each rule that has any, the largest first.
    pub(crate) fn by_rule(&self) -> Vec<Count> {
        let mut counts: Vec<Count> = ALL.iter().filter_map(|rule| self.counts.get(rule.code).copied()).collect();
        counts.sort_by_key(|count| std::cmp::Reverse((count.denied, count.warned)));
        counts
    }

    /// The name of a file, by its index in [`CheckOutcome::files`].
    pub(crate) fn file(&self, index: usize) -> &str {
        self.files.get(index).map_or("", String::as_str)
    }
}

/// The name of a file for a service that shows findings beside the files of a repository: a path in the working directory is
/// relative to it.
fn in_repository(name: &str) -> &str {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_dir().unwrap_or_default());
    let name = name.strip_prefix("./").unwrap_or(name);
    Path::new(name).strip_prefix(&*FOLDER).ok().and_then(Path::to_str).unwrap_or(name)
}

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// The name of the format, a value of `--output-format`.
    pub name: &'static str,
    /// What the format is for; the help of `--output-format` shows it.
    pub summary: &'static str,
    /// Writes the report, without what [`Format::write_new`] has written.
    pub(crate) write: fn(&CheckOutcome, &mut dyn Write) -> io::Result<()>,
    /// Writes what was found, if a report in this format begins with that.
    found: Option<fn(&CheckOutcome, &mut dyn Write) -> io::Result<()>>,
}

impl Format {
    /// Whether findings can be written before the check ends.
    pub(crate) const fn is_gradual(&self) -> bool {
        self.found.is_some()
    }

    /// Writes the findings and errors that are new in `outcome`, if the format is gradual; `outcome` keeps only their number.
    ///
    /// # Errors
    /// What `out` returns.
    pub(crate) fn write_new(&self, outcome: &mut CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
        if let Some(write) = self.found {
            write(outcome, out)?;
            outcome.written += outcome.unwritten.len();
            outcome.unwritten.clear();
            outcome.unwritten_errors.clear();
        }
        Ok(())
    }
}

/// What a report for programs calls an error, where a finding has the name of its rule.
const NOT_CHECKED: &str = "not-checked";

/// Every format; the first is the default.
pub static FORMATS: &[Format] = &[text::TEXT, json::JSON, github::GITHUB, gitlab::GITLAB, sarif::SARIF, junit::JUNIT];

/// What of a finding stays the same when its file gets other lines: the rule, what is wrong, and the text at the place.
pub(super) fn identity(finding: &Finding) -> String {
    format!("{}\n{}\n{}", finding.rule.code, kind_of(&finding.message), finding.excerpt.text)
}

/// What the provider answers to a request with the finding, between `before` and `after`; nothing if that is unknown.
fn answer(finding: &Finding, before: &str, after: &str) -> String {
    finding.answer.map_or_else(String::new, |answer| format!("{before}{answer}{after}"))
}
