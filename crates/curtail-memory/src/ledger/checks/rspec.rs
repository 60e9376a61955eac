//! Tests in Ruby: `rspec` and Minitest.

use super::{Outcome, number_before};

/// Reads `rspec ./spec/a_spec.rb:12 # Cart adds`, `3 examples, 1 failure`, and Minitest's `CartTest#test_adds [a.rb:12]:` and counts.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let mut outcome = Outcome::from_runner("rspec");
    let mut counted = None;
    for line in output.lines() {
        let trimmed = line.trim();
        let number = |words: [&str; 2]| words.iter().find_map(|word| number_before(trimmed, word));
        if let Some(name) = trimmed.strip_prefix("rspec ").filter(|name| name.contains(" # ")) {
            outcome.fail(name);
        } else if let Some(failed) = number([" failures", " failure"])
            && (number([" examples,", " example,"]).is_some() || number([" runs,", " tests,"]).is_some())
        {
            let errors = number([" errors", " error"]).unwrap_or(0);
            counted = Some(failed + errors);
        } else if let Some((name, place)) = trimmed.split_once(" [").filter(|(name, _)| name.contains("#test_")) {
            if !name.contains(' ') && place.ends_with("]:") {
                outcome.fail(name);
            }
        } else if let Some(name) = trimmed.strip_suffix(':').filter(|name| name.contains("#test_")) {
            outcome.fail(name);
        }
    }
    outcome.counted(counted?);
    outcome.known()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{failing, passing};

    #[test]
    fn tests_of_rspec_and_minitest() {
        failing(
            "..F\n\nFailures:\n\n  1) Cart adds items\n     Failure/Error: expect(1).to eq(2)\n\n\
             Finished in 0.002 seconds (files took 0.1 seconds to load)\n3 examples, 1 failure\n\nFailed examples:\n\n\
             rspec ./spec/cart_spec.rb:12 # Cart adds items\n",
            "rspec",
            &["./spec/cart_spec.rb:12 # Cart adds items"],
        );
        passing("...\n\nFinished in 0.002 seconds\n3 examples, 0 failures, 1 pending", "rspec");
        failing(
            "  1) Failure:\nCartTest#test_adds [test/cart_test.rb:12]:\nExpected: 2\n\n  2) Error:\nCartTest#test_pays:\n\
             NoMethodError: x\n\n3 runs, 3 assertions, 1 failures, 1 errors, 0 skips",
            "rspec",
            &["CartTest#test_adds", "CartTest#test_pays"],
        );
        passing("3 runs, 3 assertions, 0 failures, 0 errors, 0 skips", "rspec");
    }
}
