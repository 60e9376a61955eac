//! SARIF 2.1.0 (OASIS), which code-scanning services read.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{CheckOutcome, FileFinding, Format, NOT_CHECKED, answer, in_repository};
use curtail_core::checks::{ALL, Finding, FindingPlace, Level, Rule};
use curtail_core::visible::JsonWriter;
use curtail_io::FileError;

pub(super) const SARIF: Format =
    Format { name: "sarif", summary: "SARIF 2.1.0, for code scanning", write: write_sarif, found: None };

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

#[derive(Serialize)]
struct SarifLog<R> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [R; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun<R> {
    tool: Value,
    column_kind: &'static str,
    results: R,
}

fn write_sarif(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    let rules: Value = ALL.iter().map(|rule| rule_object(rule)).chain([error_rule()]).collect();
    let tool = json!({"driver": {"name": "curtail", "version": env!("CARGO_PKG_VERSION"), "rules": rules}});
    let results = Each(|| {
        let findings = outcome.shown().iter();
        let findings = findings.map(|FileFinding { file, finding }| result_object(outcome.file(*file), finding));
        findings.chain(outcome.shown_errors().iter().map(error_object))
    });
    let run = SarifRun { tool, column_kind: "unicodeCodePoints", results };
    let log = SarifLog { schema: SCHEMA, version: "2.1.0", runs: [run] };
    serde_json::to_writer_pretty(JsonWriter::new(&mut *out), &log)?;
    writeln!(out)
}

fn rule_object(rule: &Rule) -> Value {
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.help},
        "defaultConfiguration": {"enabled": rule.level != Level::Allow, "level": level(rule.level)},
    })
}

/// The rule of what was not checked. A viewer shows results, but no notifications of an invocation.
fn error_rule() -> Value {
    json!({
        "id": NOT_CHECKED,
        "shortDescription": {"text": "a file or a record was not checked"},
        "help": {"text": "Correct or remove what cannot be read; the check fails until then."},
        "defaultConfiguration": {"level": "error"},
    })
}

fn error_object(error: &FileError) -> Value {
    let region = match error.place {
        Some(at) => json!({"startLine": at.line, "startColumn": at.column}),
        None => json!({"startLine": 1}),
    };
    json!({
        "ruleId": NOT_CHECKED,
        "ruleIndex": ALL.len(),
        "level": "error",
        "message": {"text": error.what},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(&error.name)}, "region": region}}],
    })
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Allow => "none",
    }
}

fn result_object(file: &str, finding: &Finding) -> Value {
    let answer = answer(finding, " The provider answers: ", "");
    let mut result = json!({
        "ruleId": finding.rule.code,
        "ruleIndex": finding.rule.index(),
        "level": level(finding.level),
        "message": {"text": format!("{}.{answer}", finding.message)},
        "locations": [location(file, &finding.at, json!({}))],
    });
    if let Some(other) = &finding.other {
        result["relatedLocations"] = json!([location(file, other, json!({"message": {"text": "the counterpart"}}))]);
    }
    result
}

/// Adds a place in `file` to `location`.
fn location(file: &str, place: &FindingPlace, mut location: Value) -> Value {
    location["physicalLocation"] = json!({
        "artifactLocation": {"uri": uri(file)},
        "region": {
            "startLine": place.line,
            "startColumn": place.column,
            "byteOffset": place.offset,
            "byteLength": place.length,
        },
    });
    if let Some(pointer) = place.pointer.as_deref().filter(|pointer| !pointer.is_empty()) {
        location["logicalLocations"] = json!([{"fullyQualifiedName": pointer, "kind": "element"}]);
    }
    location
}

/// A path as a relative reference or a `file:` URI (RFC 3986 and RFC 8089).
fn uri(path: &str) -> String {
    let path = in_repository(path);
    // Elsewhere, a name may contain a backslash.
    if cfg!(windows) { windows_uri(path) } else { escaped(path, if path.starts_with('/') { "file://" } else { "" }) }
}

/// As [`uri`], for a path of Windows: one on a drive begins with its letter, and one on a server with two slashes.
fn windows_uri(path: &str) -> String {
    let path = path.replace('\\', "/").replacen("//?/UNC/", "//", 1).replacen("//?/", "", 1);
    match path.split_once(":/") {
        Some((drive, rest)) if drive.len() == 1 => escaped(rest, &format!("file:///{drive}:/")),
        _ if path.starts_with("//") => escaped(&path, "file:"),
        _ if path.starts_with('/') => escaped(&path, "file://"),
        _ => escaped(&path, ""),
    }
}

/// A path behind the beginning of its URI.
fn escaped(path: &str, begin: &str) -> String {
    let bytes = path.bytes();
    let bytes = bytes.map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    std::iter::once(begin.to_owned()).chain(bytes).collect()
}

/// Whether a URI has this byte as it is.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte)
}

/// An array whose items are made while it is written: a report may have millions of findings.
struct Each<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

#[cfg(test)]
mod tests {
    use super::{uri, windows_uri};

    #[test]
    fn paths_become_uris() {
        let cases = [("a/b c.jsonl", "a/b%20c.jsonl"), ("/tmp/ä.json", "file:///tmp/%C3%A4.json"), ("x:y", "x%3Ay")];
        for (path, expected) in cases {
            assert_eq!(uri(path), expected);
        }
    }

    #[test]
    fn paths_of_windows_become_uris() {
        for (path, expected) in [
            (r"a\b c.jsonl", "a/b%20c.jsonl"),
            (r"C:\a b\c.jsonl", "file:///C:/a%20b/c.jsonl"),
            (r"\\?\C:\a.jsonl", "file:///C:/a.jsonl"),
            (r"\\server\share\a.jsonl", "file://server/share/a.jsonl"),
            (r"\\?\UNC\server\share\a.jsonl", "file://server/share/a.jsonl"),
            ("x:y", "x%3Ay"),
        ] {
            assert_eq!(windows_uri(path), expected);
        }
    }
}
