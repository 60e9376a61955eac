//! Tests that write TAP (`ok 1 - name`, `not ok 2 - name`), and Node's own runner.

use super::{Outcome, number_after};

/// Reads the lines of the protocol, which ends or begins with the plan `1..N`, or with counts.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("tap");
    let mut framed = false;
    for line in output.lines() {
        let trimmed = line.trim();
        let test = |state: &str| {
            let (number, name) = trimmed.strip_prefix(state)?.split_once(' ')?;
            number.parse::<usize>().ok()?;
            Some(name.trim_start_matches("- "))
        };
        if let Some(name) = test("not ok ") {
            if !name.contains("# TODO") && !name.contains("# SKIP") {
                outcome.fail(name);
            }
        } else if let Some(name) = test("ok ") {
            outcome.pass(name);
            outcome.counted(0);
        }
        if let Some(name) = trimmed.strip_prefix("✖ ").and_then(|rest| rest.strip_suffix("ms)")) {
            outcome.fail(name.rsplit_once(" (").map_or(name, |(name, _)| name));
        } else if trimmed.starts_with("ℹ fail ") {
            framed = true;
            outcome.counted(number_after(trimmed, "fail").unwrap_or(0));
        }
        let plan = trimmed.strip_prefix("1..").is_some_and(|count| count.parse::<usize>().is_ok());
        framed |= plan || trimmed.starts_with("TAP version") || trimmed.starts_with("# pass");
    }
    outcome.known().filter(|_| framed)
}
