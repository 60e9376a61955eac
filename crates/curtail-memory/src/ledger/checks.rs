//! Reads the output of builds and tests: the verdict, and which tests failed. There is one reader for each family of runners.
//! A reader knows the lines of its runner, not which command printed them.

use std::borrow::Cow;

use serde_json::Value;

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
    /// Names of tests that passed, where the output lists them.
    pub(super) passed: Vec<String>,
    /// The line that says why it failed, if no test is named.
    pub(super) error: Option<String>,
}

/// Reads the output of one runner; `None` if the output is from another program.
type Reader = fn(&str) -> Option<RunOutcome>;

/// The readers, the most specific first: the output of a build tool may contain that of any runner above it.
const READERS: &[Reader] = &[
    read_ctest, read_phpunit, read_rspec, read_dotnet, read_pytest, read_cargo, read_go, read_jest, read_junit,
    read_tap, read_unittest, read_make,
];

/// The outcome in `output`, by the first reader that recognizes its lines.
pub(super) fn read_output(output: &str) -> Option<RunOutcome> {
    let plain = without_escapes(output);
    READERS.iter().find_map(|reader| reader(&plain))
}

impl RunOutcome {
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

    /// Sets the verdict from the number of failures in a summary. A failure that was seen before is not overridden.
    fn counted(&mut self, failed: usize) {
        if failed > 0 {
            self.verdict = Verdict::Failed;
        } else if self.verdict == Verdict::Unknown {
            self.verdict = Verdict::Passed;
        }
    }

    /// Keeps a line as the one that says why the run failed, unless there is an earlier one.
    fn explain(&mut self, line: &str) {
        self.error.get_or_insert_with(|| line.to_owned());
    }

    /// The outcome; `None` if no line gave a verdict. An error is only kept if no failing test says more.
    fn known(self) -> Option<Self> {
        let needs_error = self.verdict == Verdict::Failed && self.failed.is_empty();
        let error = self.error.filter(|_| needs_error);
        (self.verdict != Verdict::Unknown).then_some(Self { error, ..self })
    }
}

/// `text` up to `mark`; all of it without one.
fn up_to<'t>(text: &'t str, mark: &str) -> &'t str {
    text.split_once(mark).map_or(text, |(before, _)| before)
}

/// `line` without the first of these prefixes that it has.
fn after_any<'l>(line: &'l str, prefixes: &[&str]) -> Option<&'l str> {
    prefixes.iter().find_map(|prefix| line.strip_prefix(prefix))
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

/// Whether a line is an error of a compiler, with a place in a file: `src/a.c:3:4: error: …`, `src/a.ts(3,4): error TS2322: …`.
fn is_compiler_error(line: &str) -> bool {
    let Some((place, _)) = line.split_once(": error").or_else(|| line.split_once(": fatal error")) else {
        return false;
    };
    let place = place.trim();
    !place.contains(' ') && place.contains('.') && place.ends_with(|c: char| c.is_ascii_digit() || c == ')')
}

// Tests in C and C++: `ctest` and what is built on `googletest`.

/// Reads the list of failed tests and the counts of `ctest`, and `[  FAILED  ] Suite.Test`.
fn read_ctest(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("ctest");
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

// Tests in PHP: `phpunit`.

/// Reads the numbered list of failed tests, `Tests: 3, Assertions: 4, Failures: 1.` and `OK (3 tests, 4 assertions)`.
fn read_phpunit(output: &str) -> Option<RunOutcome> {
    let counts = |line: &&str| line.starts_with("Tests: ") && line.contains(", Assertions: ");
    let passed = |line: &&str| line.starts_with("OK (") && line.contains(" assertion");
    let result = output.lines().map(str::trim).rfind(|line| counts(line) || passed(line))?;
    let mut outcome = RunOutcome::from_runner("phpunit");
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

// Tests in Ruby: `rspec` and Minitest.

/// Reads `rspec ./spec/a_spec.rb:12 # Cart adds`, `3 examples, 1 failure`, and Minitest's `CartTest#test_adds [a.rb:12]:` and
/// counts.
fn read_rspec(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("rspec");
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

// Builds and tests in .NET.

/// Reads `Failed Namespace.Test [12 ms]`, `Failed!  - Failed: 1, Passed: 2`, xUnit's `[FAIL]` and the last lines of a build.
fn read_dotnet(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("dotnet");
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
        } else if is_compiler_error(trimmed) {
            outcome.explain(trimmed);
        }
    }
    outcome.known()
}

/// `Shop.Tests.CartTests.Adds(a: 1) [12 ms]`
fn timed(text: &str) -> Option<&str> {
    let (name, time) = text.strip_suffix(']')?.rsplit_once(" [")?;
    let has_unit = time.ends_with("ms") || time.ends_with(" s") || time.ends_with(" m");
    (has_unit && time.contains(|c: char| c.is_ascii_digit())).then_some(name)
}

/// `[xUnit.net 00:00:00.52]     Shop.Tests.CartTests.Adds [FAIL]`
fn xunit(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("[xUnit.net ")?.strip_suffix(" [FAIL]")?;
    rest.split_once(']').map(|(_, name)| name.trim())
}

// Tests in Python: pytest, unittest and what is built on it.

/// Reads pytest's lines: `FAILED path::test - reason` and the summary with its counts.
fn read_pytest(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("pytest");
    let is_test = |name: &str| name.contains("::") || name.rsplit('.').next() == Some("py");
    for line in output.lines() {
        let line = line.trim();
        if let Some(rest) = after_any(line, &["FAILED ", "ERROR "]) {
            let name = up_to(rest, " - ").trim_start_matches("collecting ");
            if is_test(name) {
                outcome.fail(name);
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
fn read_unittest(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("unittest");
    let mut ran = false;
    for line in output.lines() {
        let named = after_any(line, &["FAIL: ", "ERROR: "]);
        if let Some(name) = named.filter(|name| name.contains(" (") && name.contains(')')) {
            outcome.fail(up_to(name, ") "));
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

// Builds and tests in Rust: cargo and cargo-nextest.

/// Reads `test a ... FAILED`, `test result: …`, compiler errors and `Finished`.
fn read_cargo(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("cargo");
    let mut place = None;
    for line in output.lines() {
        let trimmed = line.trim();
        if let Some((name, state)) = trimmed.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
            match state.split([',', ' ']).next() {
                Some("FAILED") => outcome.fail(name),
                Some("ok") => outcome.pass(name),
                _ => {}
            }
        } else if let Some(result) = trimmed.strip_prefix("test result: ") {
            outcome.counted(usize::from(!result.starts_with("ok")));
        } else if let Some((time, name)) = trimmed.strip_prefix("FAIL [").and_then(|rest| rest.split_once(']')) {
            if time.trim().ends_with('s') {
                outcome.fail(name);
            }
        } else if trimmed.starts_with("Summary [") {
            outcome.counted(number_before(trimmed, " failed").unwrap_or(0));
        } else if is_rustc_error(line) && outcome.error.is_none() {
            outcome.explain(trimmed);
        } else if let Some(found) = trimmed.strip_prefix("--> ").filter(|_| place.is_none() && outcome.error.is_some())
        {
            place = Some(found.to_owned());
        } else if line.starts_with("error: could not compile") {
            outcome.verdict = Verdict::Failed;
        } else if trimmed.starts_with("Finished ") && trimmed.contains("target(s) in") {
            outcome.counted(0);
        }
    }
    if outcome.verdict == Verdict::Unknown && outcome.error.is_some() && place.is_some() {
        outcome.verdict = Verdict::Failed;
    }
    if let (Some(error), Some(place)) = (&mut outcome.error, place) {
        *error = format!("{error} ({place})");
    }
    outcome.known()
}

/// Whether a line is an error of the compiler, and not cargo's closing line.
fn is_rustc_error(line: &str) -> bool {
    let error = line.strip_prefix("error").is_some_and(|rest| rest.starts_with(": ") || rest.starts_with('['));
    error && !line.starts_with("error: could not compile") && !line.starts_with("error: test failed")
}

// Builds and tests in Go.

/// Reads `--- FAIL: TestA (0.00s)`, `ok  pkg`, `FAIL pkg` and the compiler's lines.
fn read_go(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("go");
    for line in output.lines() {
        let trimmed = line.trim_start();
        if let Some(rest) = trimmed.strip_prefix("--- FAIL: ") {
            outcome.fail(up_to(rest, " ("));
        } else if let Some(rest) = trimmed.strip_prefix("--- PASS: ") {
            outcome.pass(up_to(rest, " ("));
        } else if line.starts_with("FAIL\t") {
            outcome.verdict = Verdict::Failed;
        } else if line.starts_with("ok  \t") || line.starts_with("ok \t") {
            outcome.counted(0);
        } else if is_go_place(line) {
            outcome.explain(line.trim());
        }
    }
    if outcome.verdict == Verdict::Unknown
        && outcome.error.is_some()
        && output.lines().any(|line| line.starts_with("# "))
    {
        outcome.verdict = Verdict::Failed;
    }
    outcome.known()
}

/// `./a.go:3:4: …`
fn is_go_place(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(".go:") else { return false };
    !path.contains(' ') && rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(": ")
}

// Tests in JavaScript: jest, vitest and mocha.

/// Titles of sections that are not tests.
const SECTIONS: &[&str] = &["Console", "Test suite failed to run", "Validation"];

/// Reads `● suite › test`, `FAIL file > test`, `✕ test`, mocha's numbered list, and the counts.
fn read_jest(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("jest");
    let (mut files, mut marked) = (Vec::new(), Vec::new());
    let mut counted = None;
    for line in output.lines() {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix("● ") {
            if !SECTIONS.iter().any(|section| name.starts_with(section)) && name.contains('›') {
                outcome.fail(name);
            }
        } else if let Some(rest) = trimmed.strip_prefix("FAIL ").map(str::trim) {
            let rest = up_to(rest, " [");
            if rest.contains(" > ") {
                outcome.fail(rest);
            } else if is_file(rest) {
                files.push(rest);
            }
        } else if let Some(name) = after_any(trimmed, &["✕ ", "✗ ", "× "]) {
            marked.push(name.rsplit_once(" (").map_or(name, |(name, _)| name));
        } else if trimmed.starts_with("Tests:") || trimmed.starts_with("Test Suites:") || trimmed.starts_with("Tests  ")
        {
            let failed = number_before(trimmed, " failed").unwrap_or(0);
            counted = Some(counted.unwrap_or(0) + failed);
        } else if trimmed.ends_with(" failing") || trimmed.contains(" passing (") {
            counted = Some(counted.unwrap_or(0) + number_before(trimmed, " failing").unwrap_or(0));
        }
    }
    let failed = counted?;
    if failed > 0 && outcome.failed.is_empty() {
        let listed = mocha_names(output);
        let listed = listed.iter().map(String::as_str).collect();
        let names = [listed, marked, files].into_iter().find(|names: &Vec<&str>| !names.is_empty());
        names.into_iter().flatten().for_each(|name| outcome.fail(name));
    }
    outcome.counted(failed);
    outcome.known()
}

fn is_file(text: &str) -> bool {
    let name = text.split(' ').next().unwrap_or_default();
    [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs"].iter().any(|end| name.ends_with(end))
}

/// The names in the list at the end of mocha's output. An item is a number and the suite, and on the next lines the test, up to
/// a colon.
fn mocha_names(output: &str) -> Vec<String> {
    let Some((_, list)) = output.split_once(" failing") else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    let mut open = false;
    for line in list.lines().map(str::trim) {
        let begins = line.split_once(") ").filter(|(number, _)| number.parse::<usize>().is_ok());
        let part = if let Some((_, part)) = begins {
            names.push(String::new());
            part
        } else if open {
            line
        } else {
            continue;
        };
        open = !part.ends_with(':');
        if let Some(name) = names.last_mut() {
            name.push_str(if name.is_empty() { "" } else { " " });
            name.push_str(part.trim_end_matches(':'));
        }
    }
    names
}

// Tests on the JVM: Maven, Gradle, and reports in JUnit's XML.

/// Reads `Tests run: …`, `[ERROR] Class.test:12`, `Class > test FAILED`, `BUILD …` and `<testcase>`.
fn read_junit(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("junit");
    let mut case = None;
    let mut error_is_next = false;
    for line in output.lines() {
        let trimmed = line.trim();
        let error = trimmed.strip_prefix("[ERROR]").map(str::trim);
        if trimmed.contains("Tests run: ") {
            let count = |word| number_after(trimmed, word).unwrap_or(0);
            outcome.counted(count("Failures:") + count("Errors:"));
        } else if let Some(name) = error.and_then(maven_test) {
            fail_once(&mut outcome, &name);
        } else if let Some(name) = trimmed.strip_suffix(" FAILED").filter(|name| name.contains(" > ")) {
            outcome.fail(name);
        } else if trimmed.contains("BUILD SUCCESS") {
            outcome.counted(0);
        } else if trimmed.contains("BUILD FAILURE") || trimmed.contains("BUILD FAILED") {
            outcome.verdict = Verdict::Failed;
        } else if trimmed.starts_with("<testcase ") {
            case = Some(trimmed);
            if trimmed.ends_with("/>") {
                outcome.counted(0);
            }
        } else if let Some(found) = case.filter(|_| trimmed.starts_with("<failure") || trimmed.starts_with("<error")) {
            outcome.fail(&case_name(found));
            case = None;
        }
        if error_is_next {
            outcome.explain(trimmed);
        }
        error_is_next = trimmed == "* What went wrong:";
        if let Some(error) = error.filter(|error| error.contains(".java:") || error.contains(".kt:")) {
            outcome.explain(error);
        }
    }
    outcome.known()
}

/// Adds a failing test, unless it is already listed with its package.
fn fail_once(outcome: &mut RunOutcome, name: &str) {
    let known = |test: &String| test.strip_suffix(name).is_some_and(|package| package.ends_with('.'));
    if !outcome.failed.iter().any(known) {
        outcome.fail(name);
    }
}

/// The test that the text after `[ERROR]` names.
fn maven_test(text: &str) -> Option<String> {
    timed_name(text).or_else(|| maven_name(text).map(str::to_owned))
}

/// `com.x.CalcTest.adds -- Time elapsed: 0.01 s <<< FAILURE!`, or with the class after the test: `adds(com.x.CalcTest)`.
fn timed_name(text: &str) -> Option<String> {
    let (name, rest) = text.split_once("Time elapsed:")?;
    if !rest.contains("<<< FAILURE!") && !rest.contains("<<< ERROR!") {
        return None;
    }
    let name = name.trim().trim_end_matches("--").trim();
    let with_class =
        name.strip_suffix(')').and_then(|name| name.split_once('(')).filter(|(_, class)| class.contains('.'));
    Some(with_class.map_or_else(|| name.to_owned(), |(test, class)| format!("{class}.{test}")))
}

/// `CalcTest.adds:12 expected …`, `CalcTest.adds » NullPointer`
fn maven_name(text: &str) -> Option<&str> {
    if let Some((name, _)) = text.split_once(" » ").filter(|(name, _)| !name.contains([' ', ':', '/'])) {
        return name.contains('.').then_some(name);
    }
    let (name, rest) = text.split_once(':')?;
    let is_test = name.contains('.') && !name.contains([' ', '/']) && rest.starts_with(|c: char| c.is_ascii_digit());
    let is_file = matches!(name.rsplit('.').next(), Some("java" | "kt"));
    (is_test && !is_file).then_some(name)
}

/// The class and name in a `<testcase …>` tag.
fn case_name(tag: &str) -> String {
    let value = |key: &str| tag.split_once(key).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| value);
    match (value("classname=\""), value(" name=\"")) {
        (Some(class), Some(name)) => format!("{class}.{name}"),
        (_, name) => name.unwrap_or_default().to_owned(),
    }
}

// Tests that write TAP (`ok 1 - name`, `not ok 2 - name`), and Node's own runner.

/// Reads the lines of the protocol, whose first or last line is the plan `1..N`, or counts.
fn read_tap(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("tap");
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

// Builds: make, ninja, and compilers that name a place in a file.

/// Reads `make: *** …`, `ninja: build stopped`, `a.c:3:4: error: …` and `a.ts(3,4): error …`.
fn read_make(output: &str) -> Option<RunOutcome> {
    let mut outcome = RunOutcome::from_runner("make");
    let stops = |line: &str| {
        line.starts_with("make") && line.contains(": *** ")
            || line.starts_with("ninja: build stopped")
            || line.starts_with("FAILED: ")
    };
    let compiler = output.lines().find(|line| is_compiler_error(line));
    let stopped = output.lines().find(|line| stops(line));
    if let Some(line) = compiler.or(stopped) {
        outcome.verdict = Verdict::Failed;
        outcome.explain(line.trim());
    }
    outcome.known()
}

// Exit codes and output, extracted from the wrappers that agents put around them.

/// Labels in front of an exit code.
const EXIT_CODE_LABELS: &[&str] = &[
    "<returncode>", "Exit code: ", "Exit code ", "exit code: ", "exit code ", "exited with code ", "exit status: ",
    "exit status ", "\"exit_code\":", "returned exit code ",
];

/// The exit code that an output reports, in its first or its last lines.
pub(super) fn exit_code(output: &str) -> Option<i32> {
    let head = &output[..output.floor_char_boundary(400)];
    let tail = &output[output.ceil_char_boundary(output.len().saturating_sub(400))..];
    [head, tail]
        .iter()
        .find_map(|part| EXIT_CODE_LABELS.iter().find_map(|label| leading_number(part.split_once(label)?.1)))
}

/// The number at the beginning of `text`, after white space.
fn leading_number(text: &str) -> Option<i32> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The output inside a wrapper: `{"output":"…"}` or `<output>…</output>`.
pub(super) fn unwrapped(result: &str) -> Cow<'_, str> {
    if result.starts_with('{')
        && let Ok(Value::Object(members)) = serde_json::from_str(result)
        && let Some(output) = ["output", "stdout", "content"].iter().find_map(|key| members.get(*key)?.as_str())
    {
        return Cow::Owned(output.to_owned());
    }
    let inside = result.split_once("<output>").and_then(|(_, rest)| rest.rsplit_once("</output>"));
    Cow::Borrowed(inside.map_or(result, |(output, _)| output))
}

#[cfg(test)]
mod tests {
    use super::{RunOutcome, Verdict, read_dotnet, read_output};

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
        let outcome = read_dotnet("/r/Cart.cs(12,5): error CS1002: ; expected [/r/Shop.csproj]\n\nBuild FAILED.\n");
        let outcome = outcome.unwrap_or_default();
        assert_eq!(outcome.runner, "dotnet");
        assert_eq!(outcome.error.as_deref(), Some("/r/Cart.cs(12,5): error CS1002: ; expected [/r/Shop.csproj]"));
    }
}
