//! Tests in C and C++: `ctest` and what is built on `googletest`.

use super::{Outcome, number_before};

/// Reads the list of failed tests and the counts of `ctest`, and `[  FAILED  ] Suite.Test`.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("ctest");
    let mut listed = false;
    for line in output.lines() {
        let trimmed = line.trim();
        if trimmed.contains("% tests passed, ") && trimmed.contains(" failed out of ") {
            let failed = number_before(trimmed, " tests failed").or_else(|| number_before(trimmed, " test failed"));
            outcome.counted(failed.unwrap_or(0));
        } else if trimmed == "The following tests FAILED:" {
            listed = true;
        } else if let Some(name) = listed.then(|| listed_name(trimmed)).flatten() {
            outcome.fail(name);
        } else if let Some(rest) = trimmed.strip_prefix("[  FAILED  ] ") {
            let name = rest.split([' ', ',']).next().unwrap_or_default();
            if name.contains('.') {
                outcome.fail(name);
            }
        } else if let Some(rest) = trimmed.strip_prefix("[  PASSED  ] ") {
            outcome.counted(usize::from(!rest.contains(" test")));
        }
    }
    outcome.known()
}

/// `2 - math (Failed)`
fn listed_name(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(" - ")?;
    number.parse::<usize>().ok()?;
    rest.split_once(" (").map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{failing, passing};

    #[test]
    fn tests_of_ctest_and_googletest() {
        failing(
            "    Start 1: unit\n1/2 Test #1: unit ....   Passed    0.01 sec\n2/2 Test #2: math ....***Failed    0.02 sec\n\n\
             50% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.03 sec\n\n\
             The following tests FAILED:\n\t  2 - math (Failed)\nErrors while running CTest",
            "ctest",
            &["math"],
        );
        passing("100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.03 sec", "ctest");
        failing(
            "[ RUN      ] Cart.Adds\na.cc:3: Failure\n[  FAILED  ] Cart.Adds (0 ms)\n[==========] 2 tests from 1 test suite ran.\n\
             [  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cart.Adds\n",
            "ctest",
            &["Cart.Adds"],
        );
        passing("[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests.", "ctest");
    }
}
