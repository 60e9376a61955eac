//! Builds and tests in Rust: cargo and cargo-nextest.

use super::{Outcome, number_before};
use crate::ledger::facts::Verdict;

/// Reads `test a ... FAILED`, `test result: …`, compiler errors and `Finished`.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("cargo");
    let mut place = None;
    for line in output.lines() {
        let trimmed = line.trim();
        if let Some((name, state)) = trimmed.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
            match state.split([',', ' ']).next() {
                Some("FAILED") => outcome.fail(name),
                Some("ok") => outcome.pass(name),
                _ => {}
            }
        } else if let Some(result) = trimmed.strip_prefix("test result: ") {
            outcome.counted(usize::from(!result.starts_with("ok")));
        } else if let Some((time, name)) = trimmed.strip_prefix("FAIL [").and_then(|rest| rest.split_once(']')) {
            if time.trim().ends_with('s') {
                outcome.fail(name);
            }
        } else if trimmed.starts_with("Summary [") {
            outcome.counted(number_before(trimmed, " failed").unwrap_or(0));
        } else if is_error(line) && outcome.error.is_none() {
            outcome.error = Some(trimmed.to_owned());
        } else if let Some(found) = trimmed.strip_prefix("--> ").filter(|_| place.is_none() && outcome.error.is_some())
        {
            place = Some(found.to_owned());
        } else if line.starts_with("error: could not compile") {
            outcome.verdict = Verdict::Failed;
        } else if trimmed.starts_with("Finished ") && trimmed.contains("target(s) in") {
            outcome.counted(0);
        }
    }
    if outcome.verdict == Verdict::Unknown && outcome.error.as_ref().is_some_and(|_| place.is_some()) {
        outcome.verdict = Verdict::Failed;
    }
    let named = outcome.verdict == Verdict::Failed && outcome.failed.is_empty();
    outcome.error = outcome.error.take().filter(|_| named).map(|error| match place {
        Some(place) => format!("{error} ({place})"),
        None => error,
    });
    outcome.known()
}

/// An error of the compiler, but not cargo's last words.
fn is_error(line: &str) -> bool {
    let error = line.strip_prefix("error").is_some_and(|rest| rest.starts_with(": ") || rest.starts_with('['));
    error && !line.starts_with("error: could not compile") && !line.starts_with("error: test failed")
}
