//! Builds: make, ninja, and compilers that name a place in a file.

use super::{Outcome, is_compiler_error};
use crate::ledger::facts::Verdict;

/// Reads `make: *** …`, `ninja: build stopped`, `a.c:3:4: error: …` and `a.ts(3,4): error …`.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("make");
    let stops = |line: &str| {
        line.starts_with("make") && line.contains(": *** ")
            || line.starts_with("ninja: build stopped")
            || line.starts_with("FAILED: ")
    };
    let compiler = output.lines().find(|line| is_compiler_error(line));
    let stopped = output.lines().find(|line| stops(line));
    if let Some(line) = compiler.or(stopped) {
        outcome.verdict = Verdict::Failed;
        outcome.error = Some(line.trim().to_owned());
    }
    outcome.known()
}
