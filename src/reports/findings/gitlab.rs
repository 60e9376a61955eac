//! A Code Quality report of GitLab, which shows it in merge requests and beside the lines of a change.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serializer as _;
use serde_json::{Value, json};

use super::{CheckOutcome, FileFinding, Format, NOT_CHECKED, answer, identity, in_repository};
use curtail_core::checks::Level;
use curtail_core::digest::fnv1a_128;
use curtail_core::visible::JsonWriter;

pub(super) const GITLAB: Format = Format {
    name: "gitlab",
    summary: "Code Quality of GitLab: findings in merge requests",
    write: write_issues,
    found: None,
};

fn write_issues(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let findings = outcome.shown().iter().map(|FileFinding { file, finding }| Issue {
        file: outcome.file(*file),
        line: finding.at.line,
        check: finding.rule.name,
        severity: if finding.level == Level::Deny { "major" } else { "minor" },
        description: format!("{}{}", finding.message, answer(finding, " (the provider answers: ", ")")),
        identity: identity(finding),
    });
    let errors = outcome.shown_errors().iter().map(|error| Issue {
        file: &error.name,
        // An issue without a line is refused.
        line: error.place.map_or(1, |at| at.line),
        check: NOT_CHECKED,
        severity: "critical",
        description: error.what.clone(),
        identity: format!("{NOT_CHECKED}\n{}", error.what),
    });
    let issues = findings.chain(errors).map(|issue| issue.object(&mut seen));
    serde_json::Serializer::pretty(JsonWriter::new(&mut *out)).collect_seq(issues)?;
    writeln!(out)
}

/// What an issue is about.
struct Issue<'o> {
    file: &'o str,
    line: usize,
    check: &'static str,
    severity: &'static str,
    description: String,
    /// What tells it from other issues of its file.
    identity: String,
}

impl Issue<'_> {
    /// The issue in the members of Code Climate that GitLab reads.
    fn object(self, seen: &mut HashMap<String, usize>) -> Value {
        let path = in_repository(self.file);
        // The fingerprint must not change when lines above the issue are added or removed, so it contains no line number. Equal
        // issues are distinguished by their order.
        let identity = format!("{path}\n{}", self.identity);
        let nth = seen.entry(identity.clone()).and_modify(|count| *count += 1).or_default();
        json!({
            "description": self.description,
            "check_name": self.check,
            "fingerprint": format!("{:032x}", fnv1a_128(format!("{identity}\n{nth}").bytes())),
            "severity": self.severity,
            "location": {"path": path, "lines": {"begin": self.line}},
        })
    }
}
