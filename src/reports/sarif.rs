//! Findings as SARIF 2.1.0 (OASIS), which code-scanning services read.

use std::io::{self, Write};

use serde::Serialize;

use super::{FileFinding, Format, Outcome};
use curtail_core::checks::{ALL, Finding, FindingPlace, Level, Rule};
use curtail_core::visible::JsonWriter;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

#[derive(Serialize)]
struct Log<'o> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'o>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'o> {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<ResultObject<'o>>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Description>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    id: &'static str,
    name: &'static str,
    short_description: Message<'static>,
    full_description: Message<'static>,
    help: Message<'static>,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    enabled: bool,
    level: &'static str,
}

#[derive(Serialize)]
struct Message<'o> {
    text: &'o str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultObject<'o> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: OwnedMessage,
    locations: [Location<'o>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'o>>,
}

#[derive(Serialize)]
struct OwnedMessage {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'o> {
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<'static>>,
    physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical<'o>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    byte_offset: usize,
    byte_length: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical<'o> {
    fully_qualified_name: &'o str,
    kind: &'static str,
}

pub(super) const FORMAT: Format =
    Format { name: "sarif", summary: "SARIF 2.1.0, for code scanning", write, finding: None };

fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let driver = Driver {
        name: "curtail",
        version: env!("CARGO_PKG_VERSION"),
        rules: ALL.iter().map(|rule| describe(rule)).collect(),
    };
    let results =
        outcome.shown().iter().map(|FileFinding { file, finding }| result(outcome.file(*file), finding)).collect();
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    serde_json::to_writer_pretty(JsonWriter(&mut *out), &Log { schema: SCHEMA, version: "2.1.0", runs: [run] })?;
    writeln!(out)
}

fn describe(rule: &'static Rule) -> Description {
    Description {
        id: rule.code,
        name: rule.name,
        short_description: Message { text: rule.summary },
        full_description: Message { text: rule.why },
        help: Message { text: rule.help },
        default_configuration: Configuration { enabled: rule.level != Level::Allow, level: level(rule.level) },
    }
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Allow => "none",
    }
}

fn result<'o>(file: &str, finding: &'o Finding) -> ResultObject<'o> {
    let answer = finding.answer.map_or_else(String::new, |answer| format!(" The provider answers: {answer}"));
    ResultObject {
        rule_id: finding.rule.code,
        rule_index: finding.rule.index(),
        level: level(finding.level),
        message: OwnedMessage { text: format!("{}.{answer}", finding.message) },
        locations: [location(file, &finding.at, None)],
        related_locations: finding.other.iter().map(|other| location(file, other, Some("the counterpart"))).collect(),
    }
}

fn location<'o>(file: &str, place: &'o FindingPlace, message: Option<&'static str>) -> Location<'o> {
    let region = Region {
        start_line: place.line,
        start_column: place.column,
        byte_offset: place.offset,
        byte_length: place.length,
    };
    let pointer = place.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    Location {
        message: message.map(|text| Message { text }),
        physical_location: Physical { artifact_location: Artifact { uri: uri(file) }, region },
        logical_locations: pointer
            .map(|pointer| Logical { fully_qualified_name: pointer, kind: "element" })
            .into_iter()
            .collect(),
    }
}

/// A path as a relative reference or a `file:` URI (RFC 3986).
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let path = path.replace('\\', "/");
    let escaped: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if escaped.starts_with('/') { format!("file://{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_uris() {
        let cases = [("a/b c.jsonl", "a/b%20c.jsonl"), ("/tmp/ä.json", "file:///tmp/%C3%A4.json"), ("x:y", "x%3Ay")];
        for (path, expected) in cases {
            assert_eq!(uri(path), expected);
        }
    }
}
