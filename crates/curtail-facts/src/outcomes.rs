//! Reads the output of builds and tests: the verdict, and which tests failed. `runners.toml` says how each family of runners prints
//! them; this file only interprets that table.

use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex};
use serde::Deserialize;

use super::Verdict;
use curtail_core::visible::without_escapes;

/// The outcome of a run, as its output shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RunOutcome {
    /// The runner whose lines these are.
    pub(super) runner: &'static str,
    /// How it ended.
    pub(super) verdict: Verdict,
    /// Names of tests that failed, each once.
    pub(super) failed: Vec<String>,
    /// Whether the output says how many tests ran.
    pub(super) ran_tests: bool,
    /// Names of tests that passed, where the output lists them.
    pub(super) passed: Vec<String>,
    /// The line that says why it failed, if no test is named.
    pub(super) error: Option<String>,
}

/// The most names of one outcome, of tests that failed and of tests that passed.
const MAX_FAILED: usize = 200;
const MAX_PASSED: usize = 2000;

/// The longest name of a test, in bytes.
const LONGEST_NAME: usize = 300;

static TABLE: LazyLock<Table> = LazyLock::new(|| toml::from_str(include_str!("runners.toml")).unwrap_or_default());

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    errors: Vec<String>,
    complaints: Patterns,
    passed: Patterns,
    failed: Patterns,
    none_failed: Patterns,
    doubts: Patterns,
    ran: Patterns,
    /// The families of runners, in the order of the table.
    runner: Vec<Runner>,
}

/// Lines of an output that say why it failed: those that begin with the name of an error.
static ERROR_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = TABLE.errors.join("|");
    Regex::new(&format!(r"(?m)^[^\S\n]*(?:[\w.:/-]+: )?(?:{names})\s*[:：].*$")).ok()
});

/// A family of runners; `runners.toml` describes the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Runner {
    name: String,
    signs: Vec<String>,
    #[serde(default)]
    framed: bool,
    #[serde(default)]
    fail: Patterns,
    #[serde(default)]
    otherwise: Patterns,
    #[serde(default)]
    pass: Patterns,
    #[serde(default)]
    count: Patterns,
    #[serde(default)]
    passed: Patterns,
    #[serde(default)]
    failed: Patterns,
    #[serde(default)]
    frame: Patterns,
    #[serde(default)]
    error: Patterns,
    #[serde(default)]
    broken: Patterns,
    #[serde(default)]
    except: Vec<String>,
}

/// Regular expressions, compiled when they are first needed.
#[derive(Default, Deserialize)]
#[serde(from = "Vec<String>")]
struct Patterns {
    sources: Vec<String>,
    compiled: OnceLock<Vec<Regex>>,
}

impl From<Vec<String>> for Patterns {
    fn from(sources: Vec<String>) -> Self {
        Self { sources, compiled: OnceLock::new() }
    }
}

impl Patterns {
    /// The patterns, in which `^` and `$` match at lines.
    fn all(&self) -> &[Regex] {
        self.compiled.get_or_init(|| {
            let compiled = self.sources.iter().map(|source| Regex::new(&format!("(?m){source}")));
            compiled.filter_map(Result::ok).collect()
        })
    }

    fn match_in(&self, output: &str) -> bool {
        self.all().iter().any(|pattern| pattern.is_match(output))
    }

    /// The names that they find, in the order of the output.
    fn names(&self, output: &str) -> Vec<String> {
        let mut found: Vec<(usize, String)> = self.all().iter().flat_map(|pattern| names(pattern, output)).collect();
        found.sort();
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// The largest number of failures that they find; `None` if they match nothing.
    fn failures(&self, output: &str) -> Option<usize> {
        let counts = self.all().iter().flat_map(|pattern| pattern.captures_iter(output));
        counts.map(|captures| numbers(&captures).sum()).max()
    }

    /// The first line that says why a run failed, with its place.
    fn reason(&self, output: &str) -> Option<String> {
        let captures = self.all().iter().find_map(|pattern| pattern.captures(output))?;
        let error = captures.name("error")?.as_str().trim();
        Some(match captures.name("place") {
            Some(place) => format!("{error} ({})", place.as_str()),
            None => error.to_owned(),
        })
    }
}

/// The names that a pattern finds, each with its place.
fn names<'o>(pattern: &'o Regex, output: &'o str) -> impl Iterator<Item = (usize, String)> + 'o {
    pattern.captures_iter(output).filter_map(|captures| {
        let name = captures.name("name")?;
        Some((name.start(), full_name(&captures, name.as_str())))
    })
}

/// A name on one line, after the class of its test.
fn full_name(captures: &Captures<'_>, name: &str) -> String {
    let name = super::quotes::one_line(name);
    match captures.name("class") {
        Some(class) => format!("{}.{name}", class.as_str()),
        None => name,
    }
}

fn numbers(captures: &Captures<'_>) -> impl Iterator<Item = usize> {
    captures.iter().skip(1).flatten().filter_map(|number| number.as_str().parse().ok())
}

/// The label of a task, such as `[lint:go]` or `web:test:`, with which a program that runs several begins each line of their outputs.
static TASK_LABEL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:\[[\w@/-]+(?::[\w-]+)*\]|[\w@/-]+(?::[\w-]+)+:) ").ok());

/// The outcome in `output`, by the first family of runners that recognizes it.
pub(super) fn read_output(output: &str) -> Option<RunOutcome> {
    let plain = without_escapes(output).replace('\r', "");
    read_by_runner(&plain).or_else(|| {
        let label = TASK_LABEL.as_ref().filter(|label| label.is_match(&plain))?;
        read_by_runner(&label.replace_all(&plain, ""))
    })
}

fn read_by_runner(output: &str) -> Option<RunOutcome> {
    TABLE.runner.iter().find_map(|runner| runner.read(output))
}

/// The outcome that a check of no known family says in a line of its output.
pub(super) fn read_words(output: &str) -> Option<RunOutcome> {
    let plain = without_escapes(output).replace('\r', "");
    let lower = plain.to_lowercase();
    // `0 failed` says that nothing did.
    let lower = TABLE.none_failed.all().iter().fold(lower, |text, none| none.replace_all(&text, "").into_owned());
    let verdict = match () {
        () if TABLE.failed.match_in(&lower) => Verdict::Failed,
        () if TABLE.passed.match_in(&lower) => Verdict::Passed,
        () => return None,
    };
    let error = error_line(&plain).filter(|_| verdict == Verdict::Failed).map(|line| line.trim().to_owned());
    Some(RunOutcome { verdict, error, ..RunOutcome::default() })
}

/// Whether `output` is not certainly that of a check that passed, although its tool did not fail: it may not know how the check ended.
pub(super) fn is_doubtful(output: &str) -> bool {
    let plain = without_escapes(output);
    error_line(&plain).is_some() || TABLE.doubts.match_in(&plain.to_lowercase())
}

/// The first line of `output` that begins with the name of an error.
pub(super) fn error_line(output: &str) -> Option<&str> {
    Some(ERROR_LINE.as_ref()?.find(output)?.as_str())
}

/// The last line of the output of a failed command, if it says why: what a program printed before it ended does not.
pub(super) fn complaint(output: &str) -> Option<&str> {
    last_line(output).filter(|line| TABLE.complaints.match_in(&line.to_lowercase()))
}

/// The last line of `output` that says something: more than an exit code, or a fence around what was printed.
pub(super) fn last_line(output: &str) -> Option<&str> {
    let mut lines = output.lines().rev().map(str::trim).filter(|line| !line.trim_matches('`').is_empty());
    lines.find(|line| line.len() > 60 || super::wrappers::exit_code(line).is_none())
}

impl Runner {
    /// The outcome, if `output` shows one of this runner.
    fn read(&'static self, output: &str) -> Option<RunOutcome> {
        if !self.signs.iter().any(|sign| output.contains(sign.as_str())) {
            return None;
        }
        let failures = self.count.failures(output);
        let has_failed = failures.is_some_and(|failures| failures > 0) || self.failed.match_in(output);
        let has_passed = failures.is_some() || self.passed.match_in(output);
        if self.framed && !has_failed && !has_passed && !self.frame.match_in(output) {
            return None;
        }
        let has_result = has_failed || !(self.framed && has_passed);
        let failed = if has_result { self.failing(output, has_failed) } else { Vec::new() };
        let passed: Vec<String> = self.pass.names(output).into_iter().take(MAX_PASSED).collect();
        let broken = self.broken.reason(output);
        let verdict = match () {
            () if has_failed || !failed.is_empty() => Verdict::Failed,
            () if has_passed || !passed.is_empty() && self.framed => Verdict::Passed,
            () if broken.is_some() => Verdict::Failed,
            () => return None,
        };
        let is_unexplained = verdict == Verdict::Failed && failed.is_empty();
        let error = if is_unexplained { broken.or_else(|| self.error.reason(output)) } else { None };
        let ran_tests = TABLE.ran.match_in(output);
        Some(RunOutcome { runner: &self.name, verdict, ran_tests, failed, passed, error })
    }

    /// The names of the tests that failed, each once.
    fn failing(&self, output: &str, has_failed: bool) -> Vec<String> {
        let mut failing = self.distinct(self.fail.names(output));
        if failing.is_empty() && has_failed {
            let others = self.otherwise.all().iter();
            let mut lists = others.map(|pattern| self.distinct(names(pattern, output).map(|(_, name)| name)));
            failing = lists.find(|names| !names.is_empty()).unwrap_or_default();
        }
        failing
    }

    /// The first names without repetitions, also of the same test with its class, and without those that are none.
    fn distinct(&self, names: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut distinct: Vec<String> = Vec::new();
        for name in names {
            if distinct.len() == MAX_FAILED {
                break;
            }
            let is_known = distinct
                .iter()
                .any(|known| known.strip_suffix(&name).is_some_and(|class| class.is_empty() || class.ends_with('.')));
            let is_name = !name.is_empty() && name.len() < LONGEST_NAME;
            if is_name && !is_known && !self.except.iter().any(|text| name.contains(text.as_str())) {
                distinct.push(name);
            }
        }
        distinct
    }
}

#[cfg(test)]
mod tests {
    use super::{ERROR_LINE, RunOutcome, Runner, TABLE, Verdict, error_line, read_output};

    /// Verdict, runner, failing tests and the error of an output.
    fn outcome_of(output: &str) -> (Verdict, &'static str, Vec<String>, Option<String>) {
        let RunOutcome { runner, verdict, failed, error, .. } = read_output(output).unwrap_or_default();
        (verdict, runner, failed, error)
    }

    fn failing(output: &str, runner: &'static str, names: &[&str]) {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(outcome_of(output), (Verdict::Failed, runner, names, None), "{output}");
    }

    fn passing(output: &str, runner: &'static str) {
        assert_eq!(outcome_of(output), (Verdict::Passed, runner, Vec::new(), None), "{output}");
    }

    #[test]
    fn every_pattern_of_the_table_is_valid() {
        assert!(TABLE.runner.len() > 10 && ERROR_LINE.is_some());
        for patterns in [&TABLE.passed, &TABLE.failed, &TABLE.none_failed, &TABLE.doubts, &TABLE.complaints, &TABLE.ran]
        {
            assert_eq!(patterns.all().len(), patterns.sources.len(), "{:?}", patterns.sources);
        }
        for runner in &TABLE.runner {
            let Runner { fail, otherwise, pass, count, passed, failed, frame, error, broken, .. } = runner;
            for patterns in [fail, otherwise, pass, count, passed, failed, frame, error, broken] {
                assert_eq!(patterns.all().len(), patterns.sources.len(), "{}: {:?}", runner.name, patterns.sources);
            }
        }
    }

    #[test]
    fn lines_of_errors() {
        for line in
            ["error: no such file", "  error[E0308]: no", "main.py: ValueError: no", "Fehler: kein Pfad", "错误：无"]
        {
            assert_eq!(error_line(&format!("begun\n{line}\ndone")), Some(line));
        }
        assert_eq!(error_line("no errors: 0\nterror: none"), None);
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
    fn a_name_has_its_parameters_whole() {
        let output = "FAILED tests/a.py::test_x[a - b] - assert x[1] == 2\nFAILED tests/b.py::B::test_y\nFAILED tests/c.py::test_d (setup)\n3 failed in 0.1s";
        failing(
            output,
            "pytest",
            &["tests/a.py::test_x[a - b]", "tests/b.py::B::test_y", "tests/c.py::test_d (setup)"],
        );
        failing(
            "        FAIL [   0.005s] (  2/12) my-crate tests::adds\n     Summary [ 0.1s] 2 tests run: 1 passed, 1 failed",
            "cargo",
            &["my-crate tests::adds"],
        );
    }

    #[test]
    fn a_run_without_a_failed_test_may_have_failed() {
        for (output, runner) in [
            ("     Summary [   0.1s] 2 tests run: 1 passed, 1 timed out, 0 skipped", "cargo"),
            (" Test Files  1 failed (1)\n      Tests  no tests\n", "jest"),
            (" Test Files  1 passed (1)\n      Tests  3 passed (3)\n     Errors  1 error\n", "jest"),
            ("✖ 2 problems (0 errors, 2 warnings)\n\nESLint found too many warnings (maximum: 0).", "lint"),
            ("Found 3 errors (2 fixed, 1 remaining).", "lint"),
            ("Found 3 errors and 1 warning.", "lint"),
            ("Found 3 errors!", "lint"),
            ("Checked 5 files in 3ms. No fixes applied.\nFound 2 errors.", "lint"),
            ("t/a.t .. Failed 1/3 subtests\nResult: FAIL\n", "tap"),
        ] {
            let found = outcome_of(output);
            assert_eq!((found.0, found.1), (Verdict::Failed, runner), "{output}");
        }
        passing("Found 3 errors (3 fixed, 0 remaining).", "lint");
        passing("Checked 5 files in 3ms. No fixes applied.", "lint");
        passing("Checked 5 files in 3ms. Fixed 2 files.", "lint");
        passing("Checked 1 file in 812µs. No fixes applied.\nFound 1 warning.", "lint");
        passing("t/a.t .. ok\nAll tests successful.\nResult: PASS", "tap");
    }

    #[test]
    fn nothing_failed() {
        let verdict = |output: &str| super::read_words(output).map(|outcome| outcome.verdict);
        for output in ["Checks: 10 ok, 0 failed", "Passed: 3\nFailed: 0\nAll passed"] {
            assert_eq!(verdict(output), Some(Verdict::Passed), "{output}");
        }
        for output in ["Checks: 0 ok, 10 failed", "Failed: 10", "failed to start", "Build failed"] {
            assert_eq!(verdict(output), Some(Verdict::Failed), "{output}");
        }
    }

    #[test]
    fn long_lists_of_failures_are_read_in_linear_time() {
        let list: String = (0..60_000).map(|nth| format!("FAILED tests/a.py::test_{nth}\n")).collect();
        let (_, _, names, _) = outcome_of(&(list + "60000 failed in 9s"));
        assert_eq!(names.len(), super::MAX_FAILED);
    }

    #[test]
    fn tests_of_bun_deno_and_swift() {
        failing(
            "a.test.ts:\n(pass) adds [0.10ms]\n(fail) Cart > pays [1.20ms]\n\n 1 pass\n 1 fail\nRan 2 tests across 1 files. [12.00ms]",
            "bun",
            &["Cart > pays"],
        );
        passing(" 3 pass\n 0 fail\nRan 3 tests across 1 files. [12.00ms]", "bun");
        failing(
            "adds ... FAILED (2ms)\n\n FAILURES\n\nadds => ./a_test.ts:1:6\n\nFAILED | 2 passed | 1 failed (15ms)\n",
            "deno",
            &["adds"],
        );
        passing("adds ... ok (1ms)\n\nok | 1 passed | 0 failed (12ms)\n", "deno");
        failing(
            "Test Case '-[CartTests testAdds]' failed (0.1 seconds).\n\t Executed 3 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds",
            "xctest",
            &["-[CartTests testAdds]"],
        );
        passing("\t Executed 1 test, with 0 failures (0 unexpected) in 0.1 (0.2) seconds", "xctest");
    }

    #[test]
    fn linters_and_browsers() {
        passing("Success: no issues found in 14 source files", "lint");
        passing("All checks passed!", "lint");
        passing("0 errors, 0 warnings, 0 informations", "lint");
        passing("  3 passed (3.9s)", "playwright");
        let error = Some(String::from("src/a.py:3:1: F401 unused import"));
        let found = outcome_of("src/a.py:3:1: F401 unused import\nFound 1 error.");
        assert_eq!(found, (Verdict::Failed, "lint", vec![], error));
        assert_eq!(outcome_of("✖ 3 problems (3 errors, 0 warnings)").0, Verdict::Failed);
        failing(
            "  1) [chromium] › e2e/a.spec.ts:3:5 › logs in ────\n\n  1 failed\n  2 passed (4.1s)",
            "playwright",
            &["[chromium] › e2e/a.spec.ts:3:5 › logs in"],
        );
    }

    #[test]
    fn the_lines_of_tasks_have_labels() {
        passing("[lint:go] 0 issues.\n[lint:go] Finished in 2.99s\nFinished in 3.35s", "lint");
        passing("[test] ok  \tx/y\t0.1s", "go");
        failing(
            "web:test: FAIL src/a.test.ts\nweb:test:   ● Cart › adds\nweb:test: Tests: 1 failed, 1 total",
            "jest",
            &["Cart › adds"],
        );
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
    fn runs_of_minutes_and_hours() {
        for duration in ["812ms", "41.2s", "1.2m", "1.1h"] {
            passing(&format!("Running 40 tests using 4 workers\n\n  40 passed ({duration})\n"), "playwright");
        }
        failing(
            "  1) e2e/login.spec.ts:3:5 › logs in ─────\n\n    Error: x\n\n  1 failed\n    e2e/login.spec.ts:3:5 › logs in ─────\n  39 passed (1.3m)",
            "playwright",
            &["e2e/login.spec.ts:3:5 › logs in"],
        );
        for duration in ["< 1 ms", "12 ms", "1 m 2 s", "1 h 2 m"] {
            failing(&format!("  Failed Cart.Adds [{duration}]\nTest Run Failed.\n"), "dotnet", &["Cart.Adds"]);
        }
    }

    #[test]
    fn tools_whose_last_lines_tell() {
        failing(
            "00:01 +2 -1: Cart adds [E]\n  Expected: 2\n00:02 +2 -1: Some tests failed.",
            "flutter",
            &["Cart adds"],
        );
        passing("00:00 +0: loading a_test.dart\r00:02 +3 ~1: All tests passed!", "flutter");
        passing("Analyzing app...\nNo issues found! (ran in 1.2s)", "flutter");
        failing(
            "//a:x (cached) PASSED in 0.1s\n//b:y FAILED in 0.1s\n\nExecuted 1 out of 2 tests: 1 test passes and 1 fails locally.\n\
             INFO: Build completed, 1 test FAILED, 2 total actions",
            "bazel",
            &["//b:y"],
        );
        passing("Executed 0 out of 2 tests: 2 tests pass.", "bazel");
        passing("INFO: Build completed successfully, 3 total actions", "bazel");
        passing("  py311: OK (1.20=setup[0.20]+cmd[1.00] seconds)\n  congratulations :) (1.30 seconds)", "tox");
        passing("ruff.....................................................................Passed", "pre-commit");
        passing("Your code has been rated at 10.00/10 (previous run: 9.50/10, +0.50)", "lint");
        passing("  ✔ adds\n  ─\n\n  2 tests passed", "ava");
        for (output, runner, error) in [
            (
                "  py311: FAIL code 1 (1.20 seconds)\n  evaluation failed :( (1.30 seconds)",
                "tox",
                "py311: FAIL code 1 (1.20 seconds)",
            ),
            ("ruff........Passed\nmypy........Failed\n- hook id: mypy", "pre-commit", "mypy"),
            (
                "a.py:1:0: C0114: Missing module docstring\nYour code has been rated at 9.50/10",
                "lint",
                "a.py:1:0: C0114: Missing module docstring",
            ),
            ("ERROR: /r/BUILD:3:8: no\nERROR: Build did NOT complete successfully", "bazel", "/r/BUILD:3:8: no"),
        ] {
            assert_eq!(outcome_of(output), (Verdict::Failed, runner, vec![], Some(error.into())), "{output}");
        }
        failing("  ✘ [fail]: adds Error thrown in test\n  ─\n\n  1 test failed", "ava", &["adds"]);
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
    fn other_texts_have_no_outcome() {
        for text in ["", "drwxr-xr-x 2 root", "3 files changed", "All is well", "fn test() -> Result<(), Error>", "ok"]
        {
            assert_eq!(read_output(text), None, "{text}");
        }
    }

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
        failing(
            "  1) test adds items (CartTest)\n     test/cart_test.exs:5\n\n1 test, 1 failure\n",
            "rspec",
            &["test adds items (CartTest)"],
        );
    }

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
