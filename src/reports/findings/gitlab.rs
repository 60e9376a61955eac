//! A Code Quality report of GitLab, which shows it in merge requests and beside the lines of a change.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serializer as _;
use serde_json::{Value, json};

use super::{CheckOutcome, FileFinding, Format, answer};
use curtail_core::checks::{Finding, Level};
use curtail_core::digest::fnv1a_128;
use curtail_core::visible::JsonWriter;

pub(super) const GITLAB: Format = Format {
    name: "gitlab",
    summary: "Code Quality of GitLab: findings in merge requests",
    write: write_issues,
    finding: None,
};

fn write_issues(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let shown = outcome.shown().iter();
    let issues = shown.map(|FileFinding { file, finding }| issue(outcome.file(*file), finding, &mut seen));
    serde_json::Serializer::pretty(JsonWriter(&mut *out)).collect_seq(issues)?;
    writeln!(out)
}

/// One finding, in the members of Code Climate that GitLab reads.
fn issue(file: &str, finding: &Finding, seen: &mut HashMap<String, usize>) -> Value {
    let rule = finding.rule;
    let path = file.strip_prefix("./").unwrap_or(file);
    // The fingerprint must not change when lines above the finding are added or removed, so it contains no line number. Equal
    // findings are distinguished by their order.
    let identity = format!("{path}\n{}\n{}\n{}", rule.code, finding.message, finding.excerpt.text);
    let nth = seen.entry(identity.clone()).and_modify(|count| *count += 1).or_default();
    json!({
        "description": format!("{}{}", finding.message, answer(finding, " (the provider answers: ", ")")),
        "check_name": rule.name,
        "fingerprint": format!("{:032x}", fnv1a_128(format!("{identity}\n{nth}").bytes())),
        "severity": if finding.level == Level::Deny { "major" } else { "minor" },
        "location": {"path": path, "lines": {"begin": finding.at.line}},
    })
}
