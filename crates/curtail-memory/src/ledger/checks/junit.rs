//! Tests on the JVM: Maven, Gradle, and reports in JUnit's XML.

use super::{Outcome, number_after};
use crate::ledger::facts::Verdict;

/// Reads `Tests run: …`, `[ERROR] Class.test:12`, `Class > test FAILED`, `BUILD …` and `<testcase>`.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("junit");
    let mut case = None;
    let mut why = false;
    for line in output.lines() {
        let trimmed = line.trim();
        let error = trimmed.strip_prefix("[ERROR]").map(str::trim);
        if trimmed.contains("Tests run: ") {
            let count = |word| number_after(trimmed, word).unwrap_or(0);
            outcome.counted(count("Failures:") + count("Errors:"));
        } else if let Some(name) = error.and_then(maven_test) {
            fail_once(&mut outcome, &name);
        } else if let Some(name) = trimmed.strip_suffix(" FAILED").filter(|name| name.contains(" > ")) {
            outcome.fail(name);
        } else if trimmed.contains("BUILD SUCCESS") {
            outcome.counted(0);
        } else if trimmed.contains("BUILD FAILURE") || trimmed.contains("BUILD FAILED") {
            outcome.verdict = Verdict::Failed;
        } else if trimmed.starts_with("<testcase ") {
            case = Some(trimmed);
            if trimmed.ends_with("/>") {
                outcome.counted(0);
            }
        } else if let Some(found) = case.filter(|_| trimmed.starts_with("<failure") || trimmed.starts_with("<error")) {
            outcome.fail(&case_name(found));
            case = None;
        }
        if why && outcome.error.is_none() {
            outcome.error = Some(trimmed.to_owned());
        }
        why = trimmed == "* What went wrong:";
        if outcome.error.is_none() && error.is_some_and(|error| error.contains(".java:") || error.contains(".kt:")) {
            outcome.error = error.map(str::to_owned);
        }
    }
    if !outcome.failed.is_empty() || outcome.verdict != Verdict::Failed {
        outcome.error = None;
    }
    outcome.known()
}

/// Adds a test, unless it was named with its package before.
fn fail_once(outcome: &mut Outcome, name: &str) {
    let known = |test: &String| test.strip_suffix(name).is_some_and(|package| package.ends_with('.'));
    if !outcome.failed.iter().any(known) {
        outcome.fail(name);
    }
}

/// The test that a line behind `[ERROR]` names.
fn maven_test(text: &str) -> Option<String> {
    timed_name(text).or_else(|| maven_name(text).map(str::to_owned))
}

/// `com.x.CalcTest.adds -- Time elapsed: 0.01 s <<< FAILURE!`, or with the class behind: `adds(com.x.CalcTest)`.
fn timed_name(text: &str) -> Option<String> {
    let (name, rest) = text.split_once("Time elapsed:")?;
    if !rest.contains("<<< FAILURE!") && !rest.contains("<<< ERROR!") {
        return None;
    }
    let name = name.trim().trim_end_matches("--").trim();
    let behind = name.strip_suffix(')').and_then(|name| name.split_once('(')).filter(|(_, class)| class.contains('.'));
    Some(behind.map_or_else(|| name.to_owned(), |(test, class)| format!("{class}.{test}")))
}

/// `CalcTest.adds:12 expected …`, `CalcTest.adds » NullPointer`
fn maven_name(text: &str) -> Option<&str> {
    if let Some((name, _)) = text.split_once(" » ").filter(|(name, _)| !name.contains([' ', ':', '/'])) {
        return name.contains('.').then_some(name);
    }
    let (name, rest) = text.split_once(':')?;
    let is_test = name.contains('.') && !name.contains([' ', '/']) && rest.starts_with(|c: char| c.is_ascii_digit());
    let is_file = matches!(name.rsplit('.').next(), Some("java" | "kt"));
    (is_test && !is_file).then_some(name)
}

fn case_name(tag: &str) -> String {
    let value = |key: &str| tag.split_once(key).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| value);
    match (value("classname=\""), value(" name=\"")) {
        (Some(class), Some(name)) => format!("{class}.{name}"),
        (_, name) => name.unwrap_or_default().to_owned(),
    }
}
