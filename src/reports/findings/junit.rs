//! JUnit XML, which CI servers show as tests: a suite per file, a failed test per denied finding.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::{CheckOutcome, FileFinding, Format, answer};
use curtail_core::checks::{Finding, Level};
use curtail_core::visible::{lines, one_line};

pub(super) const JUNIT: Format = Format { name: "junit", summary: "JUnit XML", write: write_suites, finding: None };

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
