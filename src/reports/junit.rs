//! Findings as JUnit XML, which CI servers show as tests: a suite per file, a failed test per finding that was denied.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::Outcome;
use crate::checks::{Finding, Level};

pub(super) fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut report = Report::new("curtail");
    for (index, name) in outcome.files.iter().enumerate() {
        let mut suite = TestSuite::new(name.as_str());
        let own = outcome.told().iter().filter(|(file, _)| *file == index);
        suite.add_test_cases(own.map(|(_, finding)| case(name, finding)));
        if suite.test_cases.is_empty() {
            suite.add_test_case(TestCase::new("check", TestCaseStatus::success()));
        }
        report.add_test_suite(suite);
    }
    report.serialize(&mut *out).map_err(io::Error::other)?;
    Ok(())
}

fn case(file: &str, finding: &Finding) -> TestCase {
    let (rule, at) = (finding.rule, &finding.at);
    let answer = finding.answer.map_or_else(String::new, |answer| format!("\nthe provider answers: {answer}"));
    let words = format!("{file}:{}:{}: {}{answer}\nhelp: {}", at.line, at.column, finding.words, rule.help);
    let name = format!("{} at {}:{}", rule.name, at.line, at.column);
    if finding.level == Level::Deny {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(rule.code).set_message(finding.words.as_str()).set_description(words);
        return TestCase::new(name, status);
    }
    let mut case = TestCase::new(name, TestCaseStatus::success());
    case.set_system_out(format!("warning: {words}"));
    case
}
