//! Tests in Python: pytest, unittest and what is built on it.

use super::{Outcome, number_after, number_before};

/// Reads pytest's lines: `FAILED path::test - reason` and the summary with its counts.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("pytest");
    let is_test = |name: &str| name.contains("::") || name.rsplit('.').next() == Some("py");
    for line in output.lines() {
        let line = line.trim();
        let named = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
        if let Some(rest) = named {
            let name = rest.split_once(" - ").map_or(rest, |(name, _)| name);
            if is_test(name.trim_start_matches("collecting ")) {
                outcome.fail(name.trim_start_matches("collecting "));
            }
        } else if let Some((name, state)) = line.split_once(' ').filter(|(name, _)| name.contains("::")) {
            match state.split(' ').next() {
                Some("FAILED" | "ERROR") => outcome.fail(name),
                Some("PASSED") => outcome.pass(name),
                _ => {}
            }
        } else if let Some((_, failed)) = counts(line).filter(|(passed, failed)| passed + failed > 0) {
            outcome.counted(failed);
        }
    }
    outcome.known()
}

/// Numbers of passed and failed tests of a summary such as `== 1 failed, 2 passed in 0.1s ==`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let line = line.trim_matches('=').trim();
    let (counts, time) = line.rsplit_once(" in ")?;
    let timed = time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('s');
    let begins = counts.starts_with(|c: char| c.is_ascii_digit());
    let (passed, failed) = (number_before(counts, " passed"), number_before(counts, " failed"));
    let errors = number_before(counts, " error");
    (timed && begins && (passed.is_some() || failed.is_some() || errors.is_some()))
        .then(|| (passed.unwrap_or(0), failed.unwrap_or(0) + errors.unwrap_or(0)))
}

/// Reads unittest's lines: `FAIL: test (case)`, `Ran 3 tests`, `OK`.
pub(super) fn read_unittest(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("unittest");
    let mut ran = false;
    for line in output.lines() {
        let named = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
        if let Some(name) = named.filter(|name| name.contains(" (") && name.contains(')')) {
            outcome.fail(name.split_once(") ").map_or(name, |(name, _)| name));
        } else if line.starts_with("Ran ") && number_after(line, "Ran").is_some() && line.contains(" test") {
            ran = true;
        } else if ran && (line == "OK" || line.starts_with("OK (")) {
            outcome.counted(0);
        } else if ran && line.starts_with("FAILED (") {
            outcome.counted(1);
        }
    }
    outcome.known().filter(|_| ran)
}
