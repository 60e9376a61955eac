//! Tests in PHP: `phpunit`.

use super::{Outcome, number_after};

/// Reads the numbered list of failed tests, `Tests: 3, Assertions: 4, Failures: 1.` and `OK (3 tests, 4 assertions)`.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let counts = |line: &&str| line.starts_with("Tests: ") && line.contains(", Assertions: ");
    let passed = |line: &&str| line.starts_with("OK (") && line.contains(" assertion");
    let result = output.lines().map(str::trim).rfind(|line| counts(line) || passed(line))?;
    let mut outcome = Outcome::from_runner("phpunit");
    let failed = ["Failures:", "Errors:"].iter().filter_map(|word| number_after(result, word)).sum::<usize>();
    if failed > 0 {
        output.lines().filter_map(numbered).for_each(|name| outcome.fail(name));
    }
    outcome.counted(failed);
    outcome.known()
}

/// `1) Tests\CartTest::testAdds`
fn numbered(line: &str) -> Option<&str> {
    let (number, name) = line.split_once(") ")?;
    number.parse::<usize>().ok()?;
    let method = name.split_once("::")?.0;
    (!method.contains(' ')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{failing, passing};

    #[test]
    fn tests_of_phpunit() {
        failing(
            "PHPUnit 10.5.1 by Sebastian Bergmann and contributors.\n\n..F   3 / 3 (100%)\n\nThere was 1 failure:\n\n\
             1) Tests\\CartTest::testAdds with data set #0 (1, 2)\nFailed asserting that 3 matches expected 2.\n\n\
             /app/tests/CartTest.php:12\n\nFAILURES!\nTests: 3, Assertions: 3, Failures: 1.",
            "phpunit",
            &["Tests\\CartTest::testAdds with data set #0 (1, 2)"],
        );
        failing(
            "There was 1 error:\n\n1) CartTest::testPays\nError: Call to undefined method\n\nERRORS!\nTests: 1, Assertions: 0, Errors: 1.",
            "phpunit",
            &["CartTest::testPays"],
        );
        passing("...   3 / 3 (100%)\n\nTime: 00:00.010\n\nOK (3 tests, 4 assertions)", "phpunit");
        passing("OK, but some tests were skipped!\nTests: 3, Assertions: 2, Skipped: 1.", "phpunit");
    }
}
