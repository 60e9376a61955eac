//! What the facts leave out because later events overtook it: each run of a check and of a command, each former name of a file,
//! each state of a to-do.

use super::call_result::CallWithResult;
use super::kinds::CheckRun;
use super::outcomes::{RunOutcome, complaint, error_line};
use super::quotes::short_line;
use super::{Facts, MAX_FACTS, Todo, Verdict, effects};
use curtail_core::visible::without_escapes;

/// The events behind the facts, in order. Messages are numbers, as in [`Pointer`](super::Pointer).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) runs: Vec<Run>,
    pub(crate) moved: Vec<Moved>,
    pub(crate) todos: Vec<Todo>,
}

/// A run of a command line, or of a tool that checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The command of a check without what wraps it; otherwise, the line.
    pub(crate) command: String,
    /// How it ended, if it is a check.
    pub(crate) check: Option<Verdict>,
    /// The targets of a check.
    pub(crate) targets: Vec<String>,
    /// The flags with which a check leaves tests out, each with its value, or is limited to a kind of them.
    pub(crate) left_out: Vec<String>,
    /// The program and the verb of a check, if it can check parts of what they check.
    pub(crate) scope: Option<String>,
    /// The line of its output that says why it failed.
    pub(crate) error: Option<String>,
    /// Whether it failed; `None` if that is unknown.
    pub(crate) failed: Option<bool>,
    /// The tests that failed in it.
    pub(crate) failing: Vec<String>,
    pub(crate) at: usize,
}

/// A file that got another path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) from: String,
    pub(crate) at: usize,
}

impl Facts {
    /// The number of recorded runs.
    pub(super) fn traced_runs(&self) -> usize {
        self.trace.as_ref().map_or(0, |trace| trace.runs.len())
    }

    /// Records a run of a command line.
    pub(super) fn trace_run(&mut self, line: &str, call: &CallWithResult<'_>) {
        let Some(trace) = &mut self.trace else { return };
        let output = call.output();
        // Colors are no part of an error.
        let output = without_escapes(&output);
        let reported = if effects::may_check(line) { error_line(&output) } else { None };
        let failed = if effects::only_shows(line) {
            call.failed_to_show()
        } else {
            call.failed().or(call.refused().then_some(true))
        };
        let error = if failed == Some(true) { reported.or_else(|| complaint(&output)) } else { reported };
        trace.runs.push(Run {
            command: line.to_owned(),
            error: error.map(short_line),
            failed: failed.or_else(|| call.result.is_some().then_some(reported.is_some())),
            at: call.at.message.unwrap_or_default(),
            ..Run::default()
        });
    }

    /// Records a run of a check.
    pub(super) fn trace_check(&mut self, run: &CheckRun, outcome: &RunOutcome, call: &CallWithResult<'_>) {
        let Some(trace) = &mut self.trace else { return };
        trace.runs.push(Run {
            command: short_line(&run.command),
            check: Some(outcome.verdict),
            // A program that no table lists has no targets but itself.
            targets: run.targets.iter().filter(|target| **target != run.command).cloned().collect(),
            left_out: run.left_out.clone(),
            scope: run.scope.clone(),
            error: outcome.error.as_deref().map(short_line),
            failed: Some(outcome.verdict == Verdict::Failed),
            failing: outcome.failed.clone(),
            at: call.at.message.unwrap_or_default(),
        });
    }

    /// Records the states of the items of the list.
    pub(super) fn trace_todos(&mut self) {
        if let Some(trace) = &mut self.trace {
            for item in &self.todos {
                let known = trace.todos.iter().rev().take(MAX_FACTS).find(|known| known.text == item.text);
                if known.is_none_or(|known| known.progress != item.progress) {
                    trace.todos.push(item.clone());
                }
            }
        }
    }
}
