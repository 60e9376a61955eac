//! Findings → words for a terminal, a program, a CI. One format per file; none looks for anything.

mod github;
mod json;
mod junit;
mod sarif;
mod text;

use std::io::{self, Write};

use crate::checks::{ALL, Finding, Level, Rule};

/// All that came of a check.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The files that were read, in order.
    pub files: Vec<String>,
    /// The findings, in order, each with the index of its file.
    pub findings: Vec<(usize, Finding)>,
    /// How many transcripts were examined.
    pub transcripts: usize,
    /// How many findings were mended.
    pub mended: usize,
    /// How many findings are told at most.
    pub limit: Option<usize>,
    /// Whether findings are only counted.
    pub only_counts: bool,
}

/// How often a rule was broken.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// The rule.
    pub rule: &'static Rule,
    /// How many of its findings fail the check.
    pub denied: usize,
    /// How many do not.
    pub warned: usize,
}

impl Outcome {
    /// The findings that are told.
    #[must_use]
    pub fn told(&self) -> &[(usize, Finding)] {
        let limit = if self.only_counts { Some(0) } else { self.limit };
        &self.findings[..limit.unwrap_or(usize::MAX).min(self.findings.len())]
    }

    /// How many findings have this level.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|(_, finding)| finding.level == level).count()
    }

    /// How often each rule was broken, the most broken first.
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

    /// The name of the file of a finding.
    #[must_use]
    pub fn file(&self, index: usize) -> &str {
        self.files.get(index).map_or("", String::as_str)
    }
}

/// A way to tell an outcome.
pub struct Format {
    /// Its name, as `--output-format` takes it.
    pub name: &'static str,
    /// Tells the outcome.
    pub write: fn(&Outcome, &mut dyn Write) -> io::Result<()>,
}

/// Every format.
pub const ALL_FORMATS: &[Format] = &[
    Format { name: "text", write: text::write },
    Format { name: "json", write: json::write },
    Format { name: "github", write: github::write },
    Format { name: "sarif", write: sarif::write },
    Format { name: "junit", write: junit::write },
];

/// The format called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    ALL_FORMATS.iter().find(|format| format.name == name)
}
