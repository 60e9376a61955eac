//! Builds and tests in .NET.

use super::{Outcome, is_compiler_error, number_after};
use crate::ledger::facts::Verdict;

/// Reads `Failed Namespace.Test [12 ms]`, `Failed!  - Failed: 1, Passed: 2`, xUnit's `[FAIL]` and the build's last words.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("dotnet");
    let mut error = None;
    for line in output.lines() {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix("Failed ").and_then(timed) {
            outcome.fail(name);
        } else if let Some(name) = trimmed.strip_prefix("Passed ").and_then(timed) {
            outcome.pass(name);
        } else if let Some(name) = xunit(trimmed) {
            outcome.fail(name);
        } else if trimmed.starts_with("Failed!  - ") || trimmed.starts_with("Passed!  - ") {
            outcome.counted(number_after(trimmed, "Failed:").unwrap_or(0));
        } else if trimmed.starts_with("Test summary: total:") {
            outcome.counted(number_after(trimmed, "failed:").unwrap_or(0));
        } else if trimmed == "Test Run Failed." || trimmed == "Build FAILED." {
            outcome.verdict = Verdict::Failed;
        } else if trimmed == "Test Run Successful." || trimmed == "Build succeeded." {
            outcome.counted(0);
        } else if error.is_none() && is_compiler_error(trimmed) {
            error = Some(trimmed.to_owned());
        }
    }
    if outcome.verdict == Verdict::Failed && outcome.failed.is_empty() {
        outcome.error = error;
    }
    outcome.known()
}

/// `Shop.Tests.CartTests.Adds(a: 1) [12 ms]`
fn timed(text: &str) -> Option<&str> {
    let (name, time) = text.strip_suffix(']')?.rsplit_once(" [")?;
    let ends = time.ends_with("ms") || time.ends_with(" s") || time.ends_with(" m");
    (ends && time.contains(|c: char| c.is_ascii_digit())).then_some(name)
}

/// `[xUnit.net 00:00:00.52]     Shop.Tests.CartTests.Adds [FAIL]`
fn xunit(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("[xUnit.net ")?.strip_suffix(" [FAIL]")?;
    rest.split_once(']').map(|(_, name)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::super::read_output;
    use super::super::tests::{failing, passing};

    #[test]
    fn tests_and_builds_of_dotnet() {
        failing(
            "[xUnit.net 00:00:00.52]     Shop.Tests.CartTests.Adds [FAIL]\n  Failed Shop.Tests.CartTests.Adds [12 ms]\n\
             \x20 Error Message:\n   Assert.Equal() Failure\n  Stack Trace:\n     at Shop.Tests.CartTests.Adds() in /r/CartTests.cs:line 9\n\n\
             Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 12 ms - Shop.Tests.dll (net8.0)",
            "dotnet",
            &["Shop.Tests.CartTests.Adds"],
        );
        passing(
            "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 9 ms - A.dll (net8.0)",
            "dotnet",
        );
        passing("Build succeeded.\n    0 Warning(s)\n    0 Error(s)", "dotnet");
        let outcome = read_output("/r/Cart.cs(12,5): error CS1002: ; expected [/r/Shop.csproj]\n\nBuild FAILED.\n");
        let outcome = outcome.unwrap_or_default();
        assert_eq!(outcome.runner, "dotnet");
        assert_eq!(outcome.error.as_deref(), Some("/r/Cart.cs(12,5): error CS1002: ; expected [/r/Shop.csproj]"));
    }
}
