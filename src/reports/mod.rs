//! Findings, written for a terminal, a program or a CI: one format per file, and the only list of formats.
//!
//! To add a format: a file here, a line in [`FORMATS`]. The command line and its help read the list.

mod github;
mod gitlab;
mod json;
mod junit;
mod sarif;
mod text;

use std::io::{self, Write};

use crate::checks::{ALL, Finding, Level, Rule};

/// The result of a check. Its default is a check of nothing.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The files that were read, in order.
    pub files: Vec<String>,
    /// The findings, in order, each with the index of its file.
    pub findings: Vec<(usize, Finding)>,
    /// Number of transcripts that were examined.
    pub transcripts: usize,
    /// Number of findings that repair removed.
    pub repaired: usize,
    /// Number of errors: what could not be read or written was not checked.
    pub errors: usize,
    /// How many findings are shown at most; all by default.
    pub limit: Option<usize>,
    /// Whether findings are counted and not shown.
    pub only_counts: bool,
    /// How many findings [`Format::write_new`] has written.
    pub written: usize,
    /// Whether the report may contain colors.
    pub colors: bool,
}

/// The number of findings of a rule.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Count {
    /// The rule.
    pub rule: &'static Rule,
    /// Findings that fail the check.
    pub denied: usize,
    /// Findings that only warn.
    pub warned: usize,
}

impl Outcome {
    /// The findings that are shown.
    #[must_use]
    pub fn shown(&self) -> &[(usize, Finding)] {
        let limit = if self.only_counts { Some(0) } else { self.limit };
        &self.findings[..limit.unwrap_or(usize::MAX).min(self.findings.len())]
    }

    /// The findings that are shown and were not written before.
    fn new_findings(&self) -> &[(usize, Finding)] {
        self.shown().get(self.written..).unwrap_or_default()
    }

    /// The number of findings that are not shown.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.findings.len() - self.shown().len()
    }

    /// The number of findings of this level.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|(_, finding)| finding.level == level).count()
    }

    /// The number of findings of each rule that has any, the largest first.
    #[must_use]
    pub fn by_rule(&self) -> Vec<Count> {
        let count = |rule: &'static Rule, level| {
            let own = self.findings.iter().filter(|(_, finding)| finding.rule.code == rule.code);
            own.filter(|(_, finding)| finding.level == level).count()
        };
        let counts =
            ALL.iter().map(|&rule| Count { rule, denied: count(rule, Level::Deny), warned: count(rule, Level::Warn) });
        let mut counts: Vec<Count> = counts.filter(|count| count.denied + count.warned > 0).collect();
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
#[non_exhaustive]
pub struct Format {
    /// The format's name, as `--output-format` spells it.
    pub name: &'static str,
    /// What the format is for; the help of `--output-format` shows it.
    pub summary: &'static str,
    /// Writes the report, or what is missing of it.
    pub write: fn(&Outcome, &mut dyn Write) -> io::Result<()>,
    /// Writes one finding, if a report in this format begins with its findings.
    finding: Option<fn(&Outcome, &(usize, Finding), &mut dyn Write) -> io::Result<()>>,
}

impl Format {
    /// Whether findings can be written before the check ends.
    #[must_use]
    pub const fn is_gradual(&self) -> bool {
        self.finding.is_some()
    }

    /// Writes the findings that are new in `outcome`, if the format is gradual.
    ///
    /// # Errors
    /// What `out` returns.
    pub fn write_new(&self, outcome: &mut Outcome, out: &mut dyn Write) -> io::Result<()> {
        if let Some(write) = self.finding {
            outcome.new_findings().iter().try_for_each(|finding| write(outcome, finding, out))?;
            outcome.written = outcome.shown().len();
        }
        Ok(())
    }
}

/// Every format; the first is the default.
pub static FORMATS: &[Format] =
    &[text::FORMAT, json::FORMAT, github::FORMAT, gitlab::FORMAT, sarif::FORMAT, junit::FORMAT];

/// The format called `name`.
#[must_use]
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
