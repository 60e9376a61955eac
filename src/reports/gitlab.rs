//! Findings as a Code Quality report of GitLab, which shows them in merge requests and beside the lines of a change.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{FileFinding, Format, Outcome};
use curtail_core::checks::{Finding, Level};
use curtail_core::digest::fnv1a_128;
use curtail_core::visible::JsonWriter;

/// One finding, in the members of Code Climate that GitLab reads.
#[derive(Serialize)]
struct Issue<'o> {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: GitlabLocation<'o>,
}

#[derive(Serialize)]
struct GitlabLocation<'o> {
    path: &'o str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
}

pub(super) const FORMAT: Format =
    Format { name: "gitlab", summary: "Code Quality of GitLab: findings in merge requests", write, finding: None };

fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let issues =
        outcome.shown().iter().map(|FileFinding { file, finding }| issue(outcome.file(*file), finding, &mut seen));
    serde_json::to_writer_pretty(JsonWriter(&mut *out), &issues.collect::<Vec<_>>())?;
    writeln!(out)
}

fn issue<'o>(file: &'o str, finding: &Finding, seen: &mut HashMap<String, usize>) -> Issue<'o> {
    let (rule, path) = (finding.rule, file.strip_prefix("./").unwrap_or(file));
    // The fingerprint must not change when lines above the finding are added or removed, so it contains no line number. Equal
    // findings are distinguished by their order.
    let identity = format!("{path}\n{}\n{}\n{}", rule.code, finding.message, finding.excerpt.text);
    let nth = seen.entry(identity.clone()).and_modify(|count| *count += 1).or_default();
    let fingerprint = format!("{:032x}", fnv1a_128(format!("{identity}\n{nth}").bytes()));
    let answer = finding.answer.map_or_else(String::new, |answer| format!(" (the provider answers: {answer})"));
    Issue {
        description: format!("{}{answer}", finding.message),
        check_name: rule.name,
        fingerprint,
        severity: if finding.level == Level::Deny { "major" } else { "minor" },
        location: GitlabLocation { path, lines: Lines { begin: finding.at.line } },
    }
}
