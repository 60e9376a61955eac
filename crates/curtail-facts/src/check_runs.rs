//! The checks that calls run: the last one, the tests that fail since, and those that passed since they failed.

use super::call_result::CallWithResult;
use super::checks::is_variant;
use super::kinds::CheckRun;
use super::outcomes::{self, RunOutcome, last_line};
use super::quotes::short_line;
use super::shell::LineStatus;
use super::verify::Family;
use super::words::has_whole;
use super::wrappers::says_nothing;
use super::{Check, Facts, FailedTest, MAX_FACTS, Verdict, keep_newest};

/// The most tests that are kept as passed since they failed.
const MAX_PASSED_SINCE: usize = 40;

impl Facts {
    /// Records a check, if its result shows an outcome.
    pub(super) fn check(&mut self, run: &CheckRun, call: &CallWithResult<'_>) {
        let Some(outcome) = outcome(call, run) else { return };
        self.trace_check(run, &outcome, call);
        let command = short_line(&run.command);
        let runner =
            if outcome.runner.is_empty() { command.split(' ').next().unwrap_or_default() } else { outcome.runner };
        if outcome.verdict == Verdict::Passed || !outcome.failed.is_empty() {
            let (passed, failing): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.failing).into_iter().partition(|failure| {
                    !outcome.failed.contains(&failure.name) && covers(run, &command, runner, &outcome, failure)
                });
            self.failing = failing;
            self.passed_since.extend(passed.into_iter().map(|failure| failure.name));
            keep_newest(&mut self.passed_since, MAX_PASSED_SINCE);
        }
        for name in &outcome.failed {
            self.failing.retain(|failure| failure.name != *name);
            self.passed_since.retain(|passed| passed != name);
            let name = name.clone();
            let runner = runner.to_owned();
            let command = command.clone();
            self.failing.push(FailedTest { name, runner, command, at: call.at.clone() });
        }
        keep_newest(&mut self.failing, MAX_FACTS);
        let error = outcome.error.map(|error| short_line(&error));
        self.check = Some(Check { command, verdict: outcome.verdict, error, at: call.at.clone() });
    }
}

/// The outcome of a check: by its output, by its exit code, by the words of its output, or by its silence or its success.
fn outcome(call: &CallWithResult<'_>, run: &CheckRun) -> Option<RunOutcome> {
    let output = call.output();
    let by_output = outcomes::read_output(&output).or_else(|| outcome_by_exit_code(call, run.status));
    let is_silent = run.is_quiet && run.status != LineStatus::Other && call.result.is_some() && says_nothing(&output);
    by_output.or_else(|| outcomes::read_words(&output)).or_else(|| {
        (is_silent || has_succeeded(call, run))
            .then(|| RunOutcome { verdict: Verdict::Passed, ..RunOutcome::default() })
    })
}

/// Whether the program of a check succeeded, as the result says beside its output.
fn has_succeeded(call: &CallWithResult<'_>, run: &CheckRun) -> bool {
    run.is_listed && run.status == LineStatus::Own && call.succeeded()
}

/// The outcome by the exit code, for output that shows none.
fn outcome_by_exit_code(call: &CallWithResult<'_>, status: LineStatus) -> Option<RunOutcome> {
    match (call.exit_code()?, status) {
        (_, LineStatus::Other) | (0, LineStatus::Hidden) => None,
        (0, LineStatus::Own) => Some(RunOutcome { verdict: Verdict::Passed, ..RunOutcome::default() }),
        (_, LineStatus::Own | LineStatus::Hidden) => {
            let error = last_line(&call.output()).map(str::to_owned);
            Some(RunOutcome { verdict: Verdict::Failed, error, ..RunOutcome::default() })
        }
    }
}

/// Whether a test that failed earlier was run again and did not fail. A run that failed may have ended before a test that it does not
/// list, unless it is the command in which that failed. A run that leaves tests out may have left out this one, and a build or a linter
/// runs none, unless it says how many ran.
fn covers(run: &CheckRun, command: &str, runner: &str, outcome: &RunOutcome, failure: &FailedTest) -> bool {
    if failure.command == command || outcome.passed.contains(&failure.name) {
        return true;
    }
    let has_run = run.targets.is_empty() && failure.runner == runner || run.selects(&failure.name);
    // What the run in which it failed left out as well was not this test.
    has_run
        && outcome.verdict == Verdict::Passed
        && has_flags(&failure.command, &run.left_out)
        && failure.command.split(' ').all(|word| !is_variant(word) || run.command.split(' ').any(|own| own == word))
        && (run.runs_tests() || outcome.ran_tests)
}

/// Whether a command has all of these flags.
fn has_flags(command: &str, flags: &[String]) -> bool {
    flags.iter().all(|flag| format!(" {command} ").contains(&format!(" {flag} ")))
}

impl CheckRun {
    /// Whether its command tests, and does not only build or lint.
    pub(super) fn runs_tests(&self) -> bool {
        let builds = self.command.split(' ').any(|word| matches!(word, "--no-run" | "compile" | "assemble"));
        !builds
            && (Family::of(&self.command) == Family::Tests
                || self.scope.as_ref().is_some_and(|scope| scope.ends_with(" t")))
    }

    /// Whether one of its targets selects a test.
    fn selects(&self, test: &str) -> bool {
        self.targets.iter().any(|target| selects(target, test))
    }
}

/// Whether a target selects a test: a path as a whole, any other text as a filter, wherever it stands in the name.
fn selects(target: &str, test: &str) -> bool {
    let target = target.trim_end_matches('/');
    let is_named = if target.contains(['/', '.']) { has_whole(test, target) } else { test.contains(target) };
    let file = test.split("::").next().unwrap_or_default();
    is_named || file.contains('.') && has_whole(target, file)
}
