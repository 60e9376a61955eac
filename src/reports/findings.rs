//! Writes findings for people, for programs, or for a CI, which shows them beside a change or as tests.
//!
//! To add a format: a [`Format`], and a line in [`FORMATS`]. The command line and its help read the list.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::reports::screen::{COUNT, NAME, Screen};
use curtail_core::checks::{ALL, Finding, FindingPlace, Level, Rule};
use curtail_core::digest::fnv1a_128;
use curtail_core::numbers::number_of;
use curtail_core::visible::{JsonWriter, lines, one_line, printed};

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
    /// The number of findings of each rule, by its code.
    counts: BTreeMap<&'static str, Count>,
}

/// What a baseline removes from a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Known {
    /// The name of the file.
    pub(crate) baseline: String,
    /// The number of findings that it lists.
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
        let files = number_of(self.skipped, "file");
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
        }
    }

    /// The findings that are shown, without those that [`Format::write_new`] has written.
    pub(crate) fn shown(&self) -> &[FileFinding] {
        &self.unwritten
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

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// The name of the format, a value of `--output-format`.
    pub name: &'static str,
    /// What the format is for; the help of `--output-format` shows it.
    pub summary: &'static str,
    /// Writes the report, without findings that [`Format::write_new`] has written.
    pub(crate) write: fn(&CheckOutcome, &mut dyn Write) -> io::Result<()>,
    /// Writes one finding, if a report in this format begins with its findings.
    finding: Option<fn(&CheckOutcome, &FileFinding, &mut dyn Write) -> io::Result<()>>,
}

impl Format {
    /// Whether findings can be written before the check ends.
    pub(crate) const fn is_gradual(&self) -> bool {
        self.finding.is_some()
    }

    /// Writes the findings that are new in `outcome`, if the format is gradual; `outcome` keeps only their number.
    ///
    /// # Errors
    /// What `out` returns.
    pub(crate) fn write_new(&self, outcome: &mut CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
        if let Some(write) = self.finding {
            outcome.shown().iter().try_for_each(|finding| write(outcome, finding, out))?;
            outcome.written += outcome.unwritten.len();
            outcome.unwritten.clear();
        }
        Ok(())
    }
}

/// Every format; the first is the default.
pub static FORMATS: &[Format] = &[TEXT, JSON, GITHUB, GITLAB, SARIF, JUNIT];

// For people: what is wrong, an excerpt of the line, and what to do.

const TEXT: Format = Format { name: "text", summary: "For people", write: write_text, finding: Some(write_finding) };

/// The styles of a report.
#[derive(Default)]
struct Styles {
    error: Style,
    warning: Style,
    frame: Style,
    message: Style,
    name: Style,
    count: Style,
}

impl Styles {
    fn new(colors: bool) -> Self {
        if !colors {
            return Self::default();
        }
        let [error, warning, frame] =
            [AnsiColor::Red, AnsiColor::Yellow, AnsiColor::Blue].map(|color| color.on_default().bold());
        Self { error, warning, frame, message: Style::new().bold(), name: NAME, count: COUNT }
    }
}

fn write_text(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    outcome.shown().iter().try_for_each(|finding| write_finding(outcome, finding, out))?;
    if outcome.is_quiet {
        return Ok(());
    }
    let hidden = outcome.hidden();
    if hidden > 0 && !outcome.only_counts {
        writeln!(out, "… and {hidden} more, not shown (--max-findings)\n")?;
    }
    if outcome.only_counts || outcome.found() > 0 {
        write_counts(&outcome.by_rule(), &Styles::new(outcome.colors), out)?;
    }
    for file in &outcome.changed {
        writeln!(out, "changed: {}", one_line(file))?;
    }
    writeln!(out, "{}", outcome.screen.wrapped(&summary(outcome), 2))
}

fn write_finding(
    outcome: &CheckOutcome,
    FileFinding { file, finding }: &FileFinding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = text_of(&one_line(outcome.file(*file)), finding, outcome.colors, outcome.screen);
    out.write_all(printed(&text).as_bytes())
}

/// A finding as people read it.
pub(super) fn text_of(file: &str, finding: &Finding, colors: bool, screen: Screen) -> String {
    let Styles { error, warning, frame, message: bold, .. } = &Styles::new(colors);
    let (label, style) = match finding.level {
        Level::Deny => ("error", error),
        Level::Warn | Level::Allow => ("warning", warning),
    };
    let rule = finding.rule;
    let at = &finding.at;
    let message = one_line(&finding.message);
    let head = format!("{style}{label}[{}]{style:#}{bold}: {message}{bold:#} ({})\n", rule.code, rule.name);
    let mut out = screen.wrapped(&head, 2);
    let number = at.line.to_string();
    let gutter = " ".repeat(number.len());
    let path = at.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    let path = path.map_or_else(String::new, |pointer| format!(" {}", one_line(pointer)));
    let message = at.message.map_or_else(String::new, |message| format!(" (message {message})"));
    out += &format!("{gutter}{frame}-->{frame:#} {file}:{}:{}{message}{path}\n", at.line, at.column);
    let excerpt = &finding.excerpt;
    let before = number.len() + 3;
    let shown = one_line(&excerpt.text);
    out += &format!("{gutter} {frame}|{frame:#}\n{frame}{number} |{frame:#} {}\n", screen.cut(&shown, before));
    let pad = " ".repeat(excerpt.before);
    let most = screen.room(before + excerpt.before).unwrap_or(usize::MAX);
    let carets = "^".repeat(excerpt.width.min(most));
    out += &format!("{gutter} {frame}|{frame:#} {pad}{style}{carets}{style:#}\n");
    let other = finding.other.as_ref().map(|other| format!("its counterpart: {file}:{}:{}", other.line, other.column));
    let answer = finding.answer.map(|answer| format!("the provider answers: {answer}"));
    for about in other.into_iter().chain(answer).chain([format!("help: {}", finding.help)]) {
        out += &screen.wrapped(&format!("{gutter} {frame}={frame:#} {about}\n"), 2);
    }
    out + "\n"
}

fn write_counts(counts: &[Count], Styles { name, count: figures, .. }: &Styles, out: &mut dyn Write) -> io::Result<()> {
    let width = counts.iter().map(|count| count.rule.name.len()).max().unwrap_or_default();
    for Count { rule, denied, warned } in counts {
        let levels = [(*denied, "denied"), (*warned, "warned")];
        let levels = levels
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{figures}{count:>6}{figures:#} {word}"));
        let levels = levels.collect::<Vec<_>>().join(", ");
        writeln!(out, "{} {name}{:width$}{name:#} {levels}", rule.code, rule.name)?;
    }
    Ok(())
}

/// The result of the check in one line.
fn summary(outcome: &CheckOutcome) -> String {
    let found = match (outcome.denied(), outcome.warned()) {
        (0, 0) => String::from("no findings"),
        (denied, 0) => number_of(denied, "error"),
        (0, warned) => number_of(warned, "warning"),
        (denied, warned) => format!("{}, {}", number_of(denied, "error"), number_of(warned, "warning")),
    };
    let total = outcome.files.len() + outcome.missing;
    let files = number_of(total, "file");
    let transcripts = number_of(outcome.transcripts, "transcript");
    let checked = format!("checked {} of {files}: {}", total - outcome.failed, number_of(outcome.errors, "error"));
    let mut line = match (outcome.transcripts, outcome.found(), outcome.errors) {
        (0, 0, 0) => format!("nothing was checked: no transcript in {files}"),
        (0, 0, _) => checked,
        (0, _, 0) => format!("{found} in {files}"),
        (0, _, _) => format!("{found}; {checked}"),
        (_, _, 0) => format!("{found} in {transcripts} of {files}"),
        (_, _, _) => format!("{found} in {transcripts}; {checked}"),
    };
    if outcome.repaired > 0 {
        line += &format!("; {} repaired", outcome.repaired);
    }
    if let Some(silenced) = &outcome.silenced {
        line += &format!("; {}", one_line(&silenced.to_string()));
    }
    if let Some(known) = &outcome.known {
        line += &format!("; {}", one_line(&known.to_string()));
    }
    line
}

// For programs: one JSON document whose `version` identifies its schema.

/// Raised when a member is removed or changes its meaning; new members do not raise it.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'o> {
    version: u32,
    findings: Vec<FindingEntry<'o>>,
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

const JSON: Format = Format { name: "json", summary: "One JSON document", write: write_json, finding: None };

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
    let document = Document { version: VERSION, findings: findings.collect(), summary };
    serde_json::to_writer_pretty(JsonWriter(&mut *out), &document)?;
    writeln!(out)
}

// For services that show findings beside a change or as tests.

/// Workflow commands of GitHub.
///
/// Control characters, which a log would obey, are shown by their codes. Escapes follow the toolkit's `core.issueCommand`: `%`, CR
/// and LF everywhere, in properties also `:` and `,`.
const GITHUB: Format = Format {
    name: "github",
    summary: "Workflow commands: GitHub shows them beside the lines of a change",
    write: |outcome, out| outcome.shown().iter().try_for_each(|finding| write_command(outcome, finding, out)),
    finding: Some(write_command),
};

fn write_command(
    outcome: &CheckOutcome,
    FileFinding { file, finding }: &FileFinding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = if finding.level == Level::Deny { "error" } else { "warning" };
    let rule = finding.rule;
    let at = &finding.at;
    let answer = answer(finding, "\nThe provider answers: ", "");
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

pub(crate) fn data(text: &str) -> String {
    one_line(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// What the provider answers to a request with the finding, between `before` and `after`; nothing if that is unknown.
fn answer(finding: &Finding, before: &str, after: &str) -> String {
    finding.answer.map_or_else(String::new, |answer| format!("{before}{answer}{after}"))
}

/// A Code Quality report of GitLab, which shows it in merge requests and beside the lines of a change.
const GITLAB: Format = Format {
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

/// SARIF 2.1.0 (OASIS), which code-scanning services read.
const SARIF: Format =
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

fn write_sarif(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
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
    let path = path.replace('\\', "/");
    let escaped: String = path
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if escaped.starts_with('/') { format!("file://{escaped}") } else { escaped }
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

/// JUnit XML, which CI servers show as tests: a suite per file, a failed test per denied finding.
const JUNIT: Format = Format { name: "junit", summary: "JUnit XML", write: write_suites, finding: None };

type Xml<'w> = Writer<&'w mut dyn Write>;

fn write_suites(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
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
    fn of_each_file(outcome: &'o CheckOutcome) -> Vec<Self> {
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
    let rule = finding.rule;
    let at = &finding.at;
    let answer = answer(finding, "\nthe provider answers: ", "");
    let file = one_line(file);
    let message = one_line(&finding.message);
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
