//! Builds and tests in Go.

use super::Outcome;
use crate::ledger::facts::Verdict;

/// Reads `--- FAIL: TestA (0.00s)`, `ok  pkg`, `FAIL pkg` and the compiler's lines.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("go");
    let mut error = None;
    for line in output.lines() {
        let trimmed = line.trim_start();
        let name = |rest: &str| rest.split_once(" (").map_or(rest, |(name, _)| name).to_owned();
        if let Some(rest) = trimmed.strip_prefix("--- FAIL: ") {
            outcome.fail(&name(rest));
        } else if let Some(rest) = trimmed.strip_prefix("--- PASS: ") {
            outcome.pass(&name(rest));
        } else if line.starts_with("FAIL\t") {
            outcome.verdict = Verdict::Failed;
        } else if line.starts_with("ok  \t") || line.starts_with("ok \t") {
            outcome.counted(0);
        } else if error.is_none() && is_place(line) {
            error = Some(line.trim().to_owned());
        }
    }
    if outcome.verdict == Verdict::Unknown && error.is_some() && output.lines().any(|line| line.starts_with("# ")) {
        outcome.verdict = Verdict::Failed;
    }
    if outcome.verdict == Verdict::Failed && outcome.failed.is_empty() {
        outcome.error = error;
    }
    outcome.known()
}

/// `./a.go:3:4: …`
fn is_place(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(".go:") else { return false };
    !path.contains(' ') && rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(": ")
}
