//! Reads the output of builds and tests: the verdict, and which tests failed. One family of runners per file.
//! A reader knows the lines of its runner, not which command printed them.

mod cargo;
mod ctest;
mod dotnet;
mod exit;
mod go;
mod jest;
mod junit;
mod make;
mod phpunit;
mod pytest;
mod rspec;
mod tap;

pub(super) use exit::{code, unwrapped};

use super::facts::Verdict;

/// The outcome of a run, as its output shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The runner whose lines these are.
    pub(super) runner: &'static str,
    /// How it ended.
    pub(super) verdict: Verdict,
    /// Names of tests that failed, each once.
    pub(super) failed: Vec<String>,
    /// Names of tests that passed, where the output lists them.
    pub(super) passed: Vec<String>,
    /// The line that says why, where no test is named.
    pub(super) error: Option<String>,
}

/// Reads the output of one runner; `None` if the output is from another program.
type Reader = fn(&str) -> Option<Outcome>;

/// The most specific first: the output of a build tool may contain that of any runner above it.
const READERS: &[Reader] = &[
    ctest::read_output,
    phpunit::read_output,
    rspec::read_output,
    dotnet::read_output,
    pytest::read_output,
    cargo::read_output,
    go::read_output,
    jest::read_output,
    junit::read_output,
    tap::read_output,
    pytest::read_unittest,
    make::read_output,
];

/// The outcome in `output`, by the first reader that recognizes its lines.
pub(super) fn read_output(output: &str) -> Option<Outcome> {
    let plain = plain(output);
    READERS.iter().find_map(|reader| reader(&plain))
}

impl Outcome {
    /// An outcome of `runner` with nothing in it.
    const fn from_runner(runner: &'static str) -> Self {
        Self { runner, verdict: Verdict::Unknown, failed: Vec::new(), passed: Vec::new(), error: None }
    }

    /// Adds the name of a failing test.
    fn fail(&mut self, name: &str) {
        let name = super::quotes::one_line(name);
        if !name.is_empty() && name.len() < 300 && !self.failed.contains(&name) && self.failed.len() < 200 {
            self.failed.push(name);
        }
        self.verdict = Verdict::Failed;
    }

    /// Adds the name of a passing test.
    fn pass(&mut self, name: &str) {
        if self.passed.len() < 2000 {
            self.passed.push(name.trim().to_owned());
        }
    }

    /// Sets the verdict from the number of failures in a summary. It never overrides a failure that was seen.
    fn counted(&mut self, failed: usize) {
        if failed > 0 {
            self.verdict = Verdict::Failed;
        } else if self.verdict == Verdict::Unknown {
            self.verdict = Verdict::Passed;
        }
    }

    /// The outcome, if any line was recognized.
    fn known(self) -> Option<Self> {
        (self.verdict != Verdict::Unknown).then_some(self)
    }
}

/// The number before `word`: 3 in `3 failed, 4 passed`.
fn number_before(line: &str, word: &str) -> Option<usize> {
    let before = line[..line.find(word)?].trim_end();
    let start = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    before[start..].parse().ok()
}

/// The number after `word`: 3 in `Failures: 3`.
fn number_after(line: &str, word: &str) -> Option<usize> {
    let after = line[line.find(word)? + word.len()..].trim_start();
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    after[..end].parse().ok()
}

/// A place in a file in front of a message: `src/a.c:3:4: error: …` or `src/a.ts(3,4): error TS2322: …`.
fn is_compiler_error(line: &str) -> bool {
    let Some((place, _)) = line.split_once(": error").or_else(|| line.split_once(": fatal error")) else {
        return false;
    };
    let place = place.trim();
    !place.contains(' ') && place.contains('.') && place.ends_with(|c: char| c.is_ascii_digit() || c == ')')
}

/// The text without terminal escapes.
fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let sequence = part.strip_prefix('[').map(|rest| rest.trim_start_matches(|c: char| !('@'..='~').contains(&c)));
        plain.push_str(sequence.map_or(part, |rest| rest.get(1..).unwrap_or_default()));
    }
    plain.into()
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Verdict, read_output};

    /// Verdict, runner, failing tests and the error of an output.
    fn outcome_of(output: &str) -> (Verdict, &'static str, Vec<String>, Option<String>) {
        let Outcome { runner, verdict, failed, error, .. } = read_output(output).unwrap_or_default();
        (verdict, runner, failed, error)
    }

    pub(super) fn failing(output: &str, runner: &'static str, names: &[&str]) {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(outcome_of(output), (Verdict::Failed, runner, names, None), "{output}");
    }

    pub(super) fn passing(output: &str, runner: &'static str) {
        assert_eq!(outcome_of(output), (Verdict::Passed, runner, Vec::new(), None), "{output}");
    }

    #[test]
    fn python_tests() {
        failing(
            "collected 3 items\n.F.\nFAILED tests/a.py::test_x[1] - AssertionError: 1 != 2\nERROR tests/b.py\n==== 1 failed, 2 passed, 1 error in 0.1s ====",
            "pytest",
            &["tests/a.py::test_x[1]", "tests/b.py"],
        );
        failing(
            "tests/a.py::x FAILED [50%]\ntests/a.py::y PASSED [100%]\n1 failed, 1 passed in 1s",
            "pytest",
            &["tests/a.py::x"],
        );
        passing("=========== 12 passed, 1 warning in 3.21s ===========", "pytest");
        passing("\u{1b}[32m\u{1b}[1m12 passed\u{1b}[0m\u{1b}[32m in 0.1s\u{1b}[0m", "pytest");
        failing(
            "FAIL: test_x (app.tests.Case)\n----\nRan 2 tests in 0.1s\n\nFAILED (failures=1)",
            "unittest",
            &["test_x (app.tests.Case)"],
        );
        passing("..\n-----\nRan 2 tests in 0.001s\n\nOK", "unittest");
    }

    #[test]
    fn cargo_tests_and_builds() {
        failing(
            "test a::b ... FAILED\ntest a::c ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored",
            "cargo",
            &["a::b"],
        );
        passing("test a::c ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored", "cargo");
        passing("    Finished `dev` profile [unoptimized] target(s) in 0.1s", "cargo");
        failing(
            "        FAIL [   0.005s] my-crate tests::adds\n     Summary [ 0.1s] 2 tests run: 1 passed, 1 failed",
            "cargo",
            &["my-crate tests::adds"],
        );
        let error = outcome_of("error[E0308]: mismatched types\n --> src/a.rs:3:4\nerror: could not compile `x`");
        assert_eq!(
            error,
            (Verdict::Failed, "cargo", vec![], Some("error[E0308]: mismatched types (src/a.rs:3:4)".into()))
        );
    }

    #[test]
    fn go_tests_and_builds() {
        failing(
            "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\nFAIL\nFAIL\tx/y\t0.1s",
            "go",
            &["TestA", "TestA/sub"],
        );
        passing("ok  \tx/y\t0.1s\n?   \tx/z\t[no test files]", "go");
        let error = outcome_of("# x/y\n./a.go:3:4: undefined: z\nFAIL\tx/y [build failed]");
        assert_eq!(error, (Verdict::Failed, "go", vec![], Some("./a.go:3:4: undefined: z".into())));
    }

    #[test]
    fn javascript_tests() {
        failing(
            "FAIL src/a.test.ts\n  ● Cart › adds\n\n    expect(1)\n\nTests:       1 failed, 2 passed, 3 total",
            "jest",
            &["Cart › adds"],
        );
        failing(
            " FAIL  src/a.test.ts > Cart > adds\n Tests  1 failed | 2 passed (3)",
            "jest",
            &["src/a.test.ts > Cart > adds"],
        );
        failing(
            "FAIL src/a.test.ts\n  ● Test suite failed to run\nTests: 0 total\nTest Suites: 1 failed, 1 total",
            "jest",
            &["src/a.test.ts"],
        );
        passing("PASS src/a.test.ts\nTests:       3 passed, 3 total", "jest");
        failing("  3 passing (5ms)\n  1 failing\n\n  1) Cart\n       adds:\n     Error: x", "jest", &["Cart adds"]);
        failing(
            "  Cart\n    when empty\n      1) adds\n\n  0 passing (5ms)\n  1 failing\n\n  1) Cart\n       when empty\n         adds:\n\n      AssertionError",
            "jest",
            &["Cart when empty adds"],
        );
        failing(
            "▶ Cart\n  ✖ adds (1.2ms)\n✖ Cart (2.1ms)\nℹ tests 2\nℹ pass 0\nℹ fail 1\n\n✖ failing tests:\n\n✖ adds (1.2ms)\n  Error: x",
            "tap",
            &["adds", "Cart"],
        );
        passing("✔ adds (1.2ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0", "tap");
    }

    #[test]
    fn jvm_tap_and_make() {
        failing(
            "[ERROR]   CalcTest.adds:12 expected: <3>\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
            "junit",
            &["CalcTest.adds"],
        );
        failing(
            "CalcTest > adds() FAILED\n2 tests completed, 1 failed\nBUILD FAILED in 1s",
            "junit",
            &["CalcTest > adds()"],
        );
        failing(
            "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.02 s <<< FAILURE! -- in com.x.CalcTest\n[ERROR] com.x.CalcTest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Failures:\n[ERROR]   CalcTest.adds:12 expected: <3>\n[INFO] BUILD FAILURE",
            "junit",
            &["com.x.CalcTest.adds"],
        );
        failing(
            "[ERROR] adds(com.x.CalcTest)  Time elapsed: 0.01 s  <<< ERROR!\n[ERROR] Errors:\n[ERROR]   OtherTest.pays » NullPointer\n[ERROR] Tests run: 2, Failures: 0, Errors: 2, Skipped: 0",
            "junit",
            &["com.x.CalcTest.adds", "OtherTest.pays"],
        );
        let error = outcome_of(
            "FAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not resolve x:y:1.\n\nBUILD FAILED in 1s",
        );
        assert_eq!(error, (Verdict::Failed, "junit", vec![], Some("Could not resolve x:y:1.".into())));
        passing("BUILD SUCCESSFUL in 1s", "junit");
        failing(
            "<testcase classname=\"C\" name=\"adds\">\n<failure message=\"x\"/>\n</testcase>",
            "junit",
            &["C.adds"],
        );
        failing("TAP version 13\nok 1 - a\nnot ok 2 - b c\n1..2", "tap", &["b c"]);
        passing("ok 1 - a\n1..1", "tap");
        let error = outcome_of("cc a.c\na.c:3:4: error: expected ';'\nmake: *** [Makefile:3: a.o] Error 1");
        assert_eq!(error, (Verdict::Failed, "make", vec![], Some("a.c:3:4: error: expected ';'".into())));
        let error = outcome_of("src/a.ts(3,4): error TS2322: Type 'x'.");
        assert_eq!(error.3.as_deref(), Some("src/a.ts(3,4): error TS2322: Type 'x'."));
    }

    #[test]
    fn other_texts_say_nothing() {
        for text in ["", "drwxr-xr-x 2 root", "3 files changed", "All is well", "fn test() -> Result<(), Error>", "ok"]
        {
            assert_eq!(read_output(text), None, "{text}");
        }
    }
}
