//! Findings for programs: one JSON document whose `version` identifies its schema.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::{CheckOutcome, Count, FileFinding, Format};
use curtail_core::checks::{FindingPlace, Level};
use curtail_core::visible::JsonWriter;
use curtail_io::FileError;

/// Raised when a member is removed or changes its meaning; new members do not raise it.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'o> {
    version: u32,
    findings: Vec<FindingEntry<'o>>,
    errors: Vec<Value>,
    summary: Value,
}

#[derive(Serialize)]
struct FindingEntry<'o> {
    file: &'o str,
    code: &'static str,
    rule: &'static str,
    level: Level,
    message: &'o str,
    help: &'o str,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_answer: Option<&'static str>,
    at: &'o FindingPlace,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_half: Option<&'o FindingPlace>,
}

pub(super) const JSON: Format = Format { name: "json", summary: "One JSON document", write: write_json, found: None };

/// The report as one JSON document.
pub(crate) fn json_of(outcome: &CheckOutcome) -> String {
    let mut report = Vec::new();
    // Memory can be written.
    let _ = write_json(outcome, &mut report);
    String::from_utf8(report).unwrap_or_default()
}

fn write_json(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    let findings = outcome.shown().iter().map(|FileFinding { file, finding }| FindingEntry {
        file: outcome.file(*file),
        code: finding.rule.code,
        rule: finding.rule.name,
        level: finding.level,
        message: &finding.message,
        help: &finding.help,
        provider_answer: finding.answer,
        at: &finding.at,
        other_half: finding.other.as_ref(),
    });
    let counts = outcome.by_rule().into_iter().map(|Count { rule, denied, warned }| {
        json!({"code": rule.code, "rule": rule.name, "denied": denied, "warned": warned})
    });
    let mut summary = json!({
        "files": outcome.files.len(),
        "transcripts": outcome.transcripts,
        "denied": outcome.denied(),
        "warned": outcome.warned(),
        "repaired": outcome.repaired,
        "errors": outcome.errors,
        "not_told": outcome.hidden(),
        "changed": outcome.changed,
    });
    if let Some(silenced) = &outcome.silenced {
        summary["silenced"] = json!(silenced);
    }
    if let Some(known) = &outcome.known {
        summary["known"] = json!(known);
    }
    summary["rules"] = counts.collect();
    let errors = outcome.shown_errors().iter().map(error_object);
    let document = Document { version: VERSION, findings: findings.collect(), errors: errors.collect(), summary };
    serde_json::to_writer_pretty(JsonWriter::new(&mut *out), &document)?;
    writeln!(out)
}

fn error_object(error: &FileError) -> Value {
    let mut object = json!({"file": error.name, "message": error.what});
    if let Some(at) = error.place {
        object["line"] = at.line.into();
        object["column"] = at.column.into();
    }
    object
}
