//! JUnit XML, which CI servers show as tests: a suite per file, a failed test per denied finding, and a test with an error for
//! what was not checked.

use std::collections::HashMap;
use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::ElementWriter;

use super::{CheckOutcome, FileFinding, Format, NOT_CHECKED, answer};
use curtail_core::checks::{Finding, Level};
use curtail_core::visible::{lines, one_line};
use curtail_io::FileError;

pub(super) const JUNIT: Format = Format { name: "junit", summary: "JUnit XML", write: write_suites, found: None };

type Xml<'w> = Writer<&'w mut dyn Write>;

fn write_suites(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 4);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let suites = suites_of(outcome);
    let counts =
        suites.iter().map(Suite::counts).fold([0; 4], |sum, suite| [0, 1, 2, 3].map(|nth| sum[nth] + suite[nth]));
    let root = xml.create_element("testsuites").with_attribute(("name", "curtail"));
    let root = root.with_attributes(borrowed(&attributes(counts)));
    root.write_inner_content(|xml| suites.iter().try_for_each(|suite| suite.write(xml)))?;
    writeln!(xml.get_mut())
}

/// A file, its findings, and what of it was not checked.
#[derive(Default)]
struct Suite<'o> {
    file: &'o str,
    findings: Vec<&'o Finding>,
    errors: Vec<&'o FileError>,
    /// Whether some of its findings fail the check and are not shown, so that it has not passed.
    fails_unshown: bool,
}

/// A suite for each file, first for those that were read.
fn suites_of(outcome: &CheckOutcome) -> Vec<Suite<'_>> {
    let files = outcome.files.iter().enumerate().map(|(nth, file)| {
        let fails_unshown = outcome.failing_unshown.contains(&nth);
        Suite { file, fails_unshown, ..Suite::default() }
    });
    let mut suites: Vec<Suite> = files.collect();
    for FileFinding { file, finding } in outcome.shown() {
        if let Some(suite) = suites.get_mut(*file) {
            suite.findings.push(finding);
        }
    }
    let mut of_name: HashMap<&str, usize> = suites.iter().enumerate().map(|(nth, suite)| (suite.file, nth)).collect();
    for error in outcome.shown_errors() {
        let nth = *of_name.entry(&error.name).or_insert(suites.len());
        if nth == suites.len() {
            suites.push(Suite { file: &error.name, ..Suite::default() });
        }
        suites[nth].errors.push(error);
    }
    suites
}

impl Suite<'_> {
    /// Whether it is one test of the whole file: it passes, or is skipped.
    const fn is_one_test(&self) -> bool {
        self.findings.is_empty() && self.errors.is_empty()
    }

    /// The numbers of tests, of those that are skipped, and of failures and errors.
    fn counts(&self) -> [usize; 4] {
        let failures = self.findings.iter().filter(|finding| finding.level == Level::Deny).count();
        let skipped = usize::from(self.is_one_test() && self.fails_unshown);
        [(self.findings.len() + self.errors.len()).max(1), skipped, failures, self.errors.len()]
    }

    fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        let file = printable(&one_line(self.file));
        let suite = xml.create_element("testsuite").with_attribute(("name", &*file));
        let suite = suite.with_attributes(borrowed(&attributes(self.counts())));
        let mut cases = TestCases { file: &file, seen: HashMap::new() };
        suite.write_inner_content(|xml| {
            match (self.is_one_test(), self.fails_unshown) {
                (true, true) => drop(cases.element(xml, "check").write_inner_content(|xml| {
                    xml.create_element("skipped")
                        .with_attribute(("message", "its findings are not shown"))
                        .write_empty()?;
                    Ok(())
                })?),
                (true, false) => drop(cases.element(xml, "check").write_empty()?),
                (false, _) => {}
            }
            self.findings.iter().try_for_each(|finding| finding_case(xml, &mut cases, finding))?;
            self.errors.iter().try_for_each(|error| error_case(xml, &mut cases, error))
        })?;
        Ok(())
    }
}

/// The test cases of a file. A CI keys them by class and name and shows only one of those with the same key.
struct TestCases<'f> {
    file: &'f str,
    /// How many cases have a name.
    seen: HashMap<String, usize>,
}

impl TestCases<'_> {
    /// The element of a test case: its class is the file, and cases after the first of a name are numbered.
    fn element<'x, 'w>(&mut self, xml: &'x mut Xml<'w>, name: &str) -> ElementWriter<'x, &'w mut dyn Write> {
        let count = self.seen.entry(name.to_owned()).or_default();
        *count += 1;
        let unique = if *count == 1 { name.to_owned() } else { format!("{name} ({count})") };
        xml.create_element("testcase").with_attributes([("classname", self.file), ("name", &*unique)])
    }
}

fn attributes([tests, skipped, failures, errors]: [usize; 4]) -> [(&'static str, String); 4] {
    [("tests", tests), ("skipped", skipped), ("failures", failures), ("errors", errors)]
        .map(|(key, count)| (key, count.to_string()))
}

fn borrowed<'a>(attributes: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(key, value)| (*key, value.as_str()))
}

fn error_case(xml: &mut Xml<'_>, cases: &mut TestCases<'_>, error: &FileError) -> io::Result<()> {
    let place = error.place.map_or_else(String::new, |at| format!(" at {}:{}", at.line, at.column));
    cases.element(xml, &format!("{NOT_CHECKED}{place}")).write_inner_content(|xml| {
        let message = printable(&one_line(&error.what));
        let element = xml.create_element("error").with_attributes([("message", &*message), ("type", NOT_CHECKED)]);
        element.write_text_content(BytesText::new(&printable(&error.to_string())))?;
        Ok(())
    })?;
    Ok(())
}

fn finding_case(xml: &mut Xml<'_>, cases: &mut TestCases<'_>, finding: &Finding) -> io::Result<()> {
    let rule = finding.rule;
    let at = &finding.at;
    let answer = answer(finding, "\nthe provider answers: ", "");
    let message = printable(&one_line(&finding.message));
    let text =
        printable(&format!("{}:{}:{}: {message}{answer}\nhelp: {}", cases.file, at.line, at.column, finding.help));
    let name = format!("{} at {}:{}", rule.name, at.line, at.column);
    cases.element(xml, &name).write_inner_content(|xml| {
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
    use std::collections::HashMap;
    use std::io::Write;

    use super::{TestCases, Xml};

    #[test]
    fn test_cases_with_one_name_are_numbered() {
        let mut text = Vec::new();
        let mut xml = Xml::new(&mut text as &mut dyn Write);
        let mut cases = TestCases { file: "a&b", seen: HashMap::new() };
        for name in ["orphan-result at 1:1", "orphan-result at 1:1", "check"] {
            cases.element(&mut xml, name).write_empty().unwrap();
        }
        let expected = ["orphan-result at 1:1", "orphan-result at 1:1 (2)", "check"]
            .map(|name| format!(r#"<testcase classname="a&amp;b" name="{name}"/>"#));
        assert_eq!(String::from_utf8(text).unwrap(), expected.concat());
    }
}
