//! Findings for services that show them beside a change or as tests: GitHub, GitLab, code scanning (SARIF) and JUnit.

use std::collections::HashMap;
use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{FileFinding, Format, Outcome};
use curtail_core::checks::{ALL, Finding, FindingPlace, Level, Rule};
use curtail_core::digest::fnv1a_128;
use curtail_core::visible::{JsonWriter, lines, one_line};

/// Workflow commands of GitHub.
///
/// Control characters, which a log would obey, are shown by their codes. Escapes follow the toolkit's `core.issueCommand`: `%`, CR
/// and LF everywhere, in properties also `:` and `,`.
pub(super) const GITHUB: Format = Format {
    name: "github",
    summary: "Workflow commands: GitHub shows them beside the lines of a change",
    write: |outcome, out| outcome.shown().iter().try_for_each(|finding| write_command(outcome, finding, out)),
    finding: Some(write_command),
};

fn write_command(
    outcome: &Outcome,
    FileFinding { file, finding }: &FileFinding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = if finding.level == Level::Deny { "error" } else { "warning" };
    let (rule, at, answer) = (finding.rule, &finding.at, answer(finding, "\nThe provider answers: ", ""));
    let text = format!("{}{answer}\nHelp: {}", finding.message, finding.help);
    writeln!(
        out,
        "::{command} file={},line={},col={},title={}::{}",
        property(outcome.file(*file)),
        at.line,
        at.column,
        property(&format!("{} {}", rule.code, rule.name)),
        data(&text),
    )
}

fn data(text: &str) -> String {
    one_line(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// What the provider answers to a request with the finding, between `before` and `after`; nothing if that is unknown.
fn answer(finding: &Finding, before: &str, after: &str) -> String {
    finding.answer.map_or_else(String::new, |answer| format!("{before}{answer}{after}"))
}

/// A Code Quality report of GitLab, which shows it in merge requests and beside the lines of a change.
pub(super) const GITLAB: Format = Format {
    name: "gitlab",
    summary: "Code Quality of GitLab: findings in merge requests",
    write: write_issues,
    finding: None,
};

fn write_issues(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let shown = outcome.shown().iter();
    let issues = shown.map(|FileFinding { file, finding }| issue(outcome.file(*file), finding, &mut seen));
    serde_json::Serializer::pretty(JsonWriter(&mut *out)).collect_seq(issues)?;
    writeln!(out)
}

/// One finding, in the members of Code Climate that GitLab reads.
fn issue(file: &str, finding: &Finding, seen: &mut HashMap<String, usize>) -> Value {
    let (rule, path) = (finding.rule, file.strip_prefix("./").unwrap_or(file));
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

/// SARIF 2.1.0 (OASIS), which code-scanning services read.
pub(super) const SARIF: Format =
    Format { name: "sarif", summary: "SARIF 2.1.0, for code scanning", write: write_sarif, finding: None };

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

fn write_sarif(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let rules: Value = ALL.iter().map(|rule| rule_object(rule)).collect();
    let tool = json!({"driver": {"name": "curtail", "version": env!("CARGO_PKG_VERSION"), "rules": rules}});
    let results = Each(|| {
        outcome.shown().iter().map(|FileFinding { file, finding }| result_object(outcome.file(*file), finding))
    });
    let run = SarifRun { tool, column_kind: "unicodeCodePoints", results };
    let log = SarifLog { schema: SCHEMA, version: "2.1.0", runs: [run] };
    serde_json::to_writer_pretty(JsonWriter(&mut *out), &log)?;
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

/// An array whose items are made while it is written: a report may have millions of findings.
struct Each<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// JUnit XML, which CI servers show as tests: a suite per file, a failed test per denied finding.
pub(super) const JUNIT: Format = Format { name: "junit", summary: "JUnit XML", write: write_suites, finding: None };

type Xml<'w> = Writer<&'w mut dyn Write>;

fn write_suites(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 4);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = Suite::of_each_file(outcome);
    let tests = suites.iter().map(Suite::tests).sum();
    let failures = suites.iter().map(Suite::failures).sum();
    let root = xml.create_element("testsuites").with_attribute(("name", "curtail"));
    let root = root.with_attributes(borrowed(&counts(tests, failures)));
    root.write_inner_content(|xml| suites.iter().try_for_each(|suite| suite.write(xml)))?;
    writeln!(xml.get_mut())
}

/// A file and its findings.
struct Suite<'o> {
    file: &'o str,
    findings: Vec<&'o Finding>,
}

impl<'o> Suite<'o> {
    fn of_each_file(outcome: &'o Outcome) -> Vec<Self> {
        let mut suites: Vec<Self> = outcome.files.iter().map(|file| Self { file, findings: Vec::new() }).collect();
        for FileFinding { file, finding } in outcome.shown() {
            if let Some(suite) = suites.get_mut(*file) {
                suite.findings.push(finding);
            }
        }
        suites
    }

    /// A file without findings is one test that passes.
    fn tests(&self) -> usize {
        self.findings.len().max(1)
    }

    fn failures(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level == Level::Deny).count()
    }

    fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        let suite = xml.create_element("testsuite").with_attribute(("name", one_line(self.file).into_owned().as_str()));
        let suite = suite.with_attributes(borrowed(&counts(self.tests(), self.failures())));
        suite.write_inner_content(|xml| {
            if self.findings.is_empty() {
                xml.create_element("testcase").with_attribute(("name", "check")).write_empty()?;
            }
            self.findings.iter().try_for_each(|finding| test_case(xml, self.file, finding))
        })?;
        Ok(())
    }
}

fn counts(tests: usize, failures: usize) -> [(&'static str, String); 4] {
    [("tests", tests), ("skipped", 0), ("failures", failures), ("errors", 0)]
        .map(|(key, count)| (key, count.to_string()))
}

fn borrowed<'a>(attributes: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(key, value)| (*key, value.as_str()))
}

fn test_case(xml: &mut Xml<'_>, file: &str, finding: &Finding) -> io::Result<()> {
    let (rule, at) = (finding.rule, &finding.at);
    let answer = answer(finding, "\nthe provider answers: ", "");
    let (file, message) = (one_line(file), one_line(&finding.message));
    let text = printable(&format!("{file}:{}:{}: {message}{answer}\nhelp: {}", at.line, at.column, finding.help));
    let name = format!("{} at {}:{}", rule.name, at.line, at.column);
    let element = xml.create_element("testcase").with_attribute(("name", name.as_str()));
    element.write_inner_content(|xml| {
        if finding.level == Level::Deny {
            let failure = xml.create_element("failure").with_attribute(("message", &*message));
            failure.with_attribute(("type", rule.code)).write_text_content(BytesText::new(&text))?;
        } else {
            let warning = format!("warning: {text}");
            xml.create_element("system-out").write_text_content(BytesText::new(&warning))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The text without the characters that XML 1.0 does not allow, even escaped.
fn printable(text: &str) -> String {
    lines(text).chars().filter(|c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)).collect()
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
