//! How the actions of calls change the facts: files, commits, checks and to-do lists.

use super::call_result::CallWithResult;
use super::kinds::{Action, CheckRun, Effect, is_hash};
use super::outcomes::{self, RunOutcome, last_line};
use super::quotes::{one_line, short_line};
use super::trace::Moved;
use super::words::has_whole;
use super::{
    Change, Check, Commit, Facts, FailedTest, MAX_FACTS, Todo, Verdict, effects, git, keep_newest, paths, todos,
};

/// The most edits of one file that are remembered to recognize one that reverts them.
const MAX_EDITS: usize = 32;

/// The most tests that are kept as passed since they failed.
const MAX_PASSED_SINCE: usize = 40;

impl Facts {
    /// Records an action of a call.
    pub(super) fn record(&mut self, action: Action, call: &CallWithResult<'_>) {
        match action {
            Action::Command(line) => self.run(&line, call),
            Action::Effect(check @ Effect::Check(_)) => self.apply(check, false, call),
            _ if call.refused() => {}
            Action::Effect(effect) => self.apply(effect, false, call),
            Action::Todos(items) => {
                self.todos = items.into_iter().map(|item| Todo { at: call.at.clone(), ..item }).collect();
                self.trace_todos();
            }
            Action::AddTodo(item) => self.add_todo(item, call),
            Action::UpdateTodo(item) => self.update_todo(&item, call),
        }
    }

    /// Records an effect. `piped` is set if the output of the command went through a pipe.
    fn apply(&mut self, effect: Effect, piped: bool, call: &CallWithResult<'_>) {
        match effect {
            Effect::Change { path, edit, whole } => self.change(&path, edit, whole, call),
            Effect::Remove(path) => self.remove(&path, call),
            Effect::Move { from, to } => self.rename(&from, &to, call),
            Effect::Commit { subject, amend } => self.commit(subject, amend, call),
            Effect::Restore(files) => self.restore(files.as_deref()),
            Effect::Add(files) => files.iter().for_each(|file| self.mark_named(file, false, call)),
            Effect::Changes => {
                let shown = call.result_text().map(git::changes).unwrap_or_default();
                shown.iter().for_each(|(file, deleted)| self.mark_named(file, *deleted, call));
            }
            Effect::Script { path, writes } => self.script(&path, writes, call),
            Effect::RunScript(path) => self.run_script(&path, call),
            Effect::Check(run) => self.check(&run, piped, call),
        }
    }

    /// Records the effects of a command line.
    fn run(&mut self, line: &str, call: &CallWithResult<'_>) {
        let mut checked = false;
        let checks_before = self.traced_runs();
        for effect in effects::effects(line) {
            checked |= matches!(effect, Effect::Check(_));
            self.apply(effect, line.contains('|'), call);
        }
        let tests = || call.result_text().and_then(outcomes::read_output).filter(|outcome| outcome.runner != "make");
        if !checked && effects::may_check(line) && tests().is_some() {
            self.check(&CheckRun { command: one_line(line), targets: vec![one_line(line)] }, true, call);
        }
        // A check is recorded as what it checks, in place of its line.
        if self.traced_runs() == checks_before {
            self.trace_run(line, call);
        }
    }

    /// The index of the change of this file.
    fn position_of(&self, path: &str) -> Option<usize> {
        self.changed.iter().position(|change| paths::same_file(&change.path, path))
    }

    /// Takes out what is known of a file.
    fn take(&mut self, path: &str) -> Option<Change> {
        self.position_of(path).map(|at| self.changed.remove(at))
    }

    /// Adds what is known of a file now.
    fn put(&mut self, change: Change) {
        self.changed.push(change);
        keep_newest(&mut self.changed, MAX_FACTS);
    }

    /// Records a change of a file; an edit that reverts the last one removes that one instead. `whole` is set if it writes the
    /// whole file.
    fn change(&mut self, path: &str, edit: Option<(u32, u32)>, whole: bool, call: &CallWithResult<'_>) {
        let Some(path) = paths::project_path(path) else { return };
        let known = self.position_of(path);
        let mut change = known.map_or_else(|| Change { whole, ..Change::default() }, |at| self.changed.remove(at));
        if edit.is_some_and(|(old, new)| change.edits.last() == Some(&(new, old))) {
            change.edits.pop();
            change.times -= 1;
            if change.times > 0 {
                self.changed.insert(known.unwrap_or_default(), change);
            }
            return;
        }
        change.edits.extend(edit);
        keep_newest(&mut change.edits, MAX_EDITS);
        if path.len() > change.path.len() {
            path.clone_into(&mut change.path);
        }
        self.put(Change { times: change.times + 1, at: call.at.clone(), deleted: false, committed: false, ..change });
    }

    /// Records a script that was written, with the files that it changes when it is run. A script in a folder of temporary
    /// files is recorded only for this.
    fn script(&mut self, path: &str, writes: Vec<String>, call: &CallWithResult<'_>) {
        let new = || Change { path: path.to_owned(), times: 1, whole: true, ran: true, ..Change::default() };
        let change = self.take(path).unwrap_or_else(new);
        self.put(Change { writes, at: call.at.clone(), ..change });
    }

    /// Records the changes that a known script makes, unless its run failed.
    fn run_script(&mut self, path: &str, call: &CallWithResult<'_>) {
        let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) else { return };
        change.ran = true;
        let writes = if call.failed() == Some(true) { Vec::new() } else { change.writes.clone() };
        writes.iter().for_each(|file| self.change(file, None, false, call));
    }

    /// Records that version control lists a file: it was changed, even if no call shows how.
    fn mark_named(&mut self, path: &str, deleted: bool, call: &CallWithResult<'_>) {
        if let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) {
            change.named = true;
            return;
        }
        let change = Change { path: path.to_owned(), times: 1, at: call.at.clone(), ..Change::default() };
        self.put(Change { deleted, named: true, ..change });
    }

    /// Records that a file was removed. If the work itself had written it, and no commit contains it, nothing is left to
    /// record.
    fn remove(&mut self, path: &str, call: &CallWithResult<'_>) {
        let Some(path) = paths::any_path(path) else { return };
        let change = self.take(path);
        if change.as_ref().is_some_and(|change| change.whole && !change.committed) || paths::is_scratch(path) {
            return;
        }
        let change = change.unwrap_or_else(|| Change { path: path.to_owned(), ..Change::default() });
        let times = change.times + 1;
        self.put(Change { times, at: call.at.clone(), deleted: true, committed: false, ..change });
    }

    /// Records that a file was moved, or a folder with files that are known.
    fn rename(&mut self, from: &str, to: &str, call: &CallWithResult<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.moved.push(Moved { from: from.to_owned(), at: call.at.message.unwrap_or_default() });
        }
        let mut moved_folder = false;
        for change in &mut self.changed {
            if let Some(path) = paths::moved_with(&change.path, from, to) {
                (change.path, change.committed, moved_folder) = (path, false, true);
            }
        }
        if moved_folder {
            return;
        }
        // What is moved out of the project is gone.
        let Some(to) = paths::project_path(to) else { return self.remove(from, call) };
        let [before, replaced] = [from, to].map(|path| self.take(path).unwrap_or_default());
        let times = before.times + replaced.times + 1;
        self.put(Change {
            path: to.to_owned(),
            times,
            at: call.at.clone(),
            deleted: false,
            committed: false,
            ..before
        });
    }

    /// Drops changes that were discarded, unless a commit contains them. `files` is `None` for all files.
    fn restore(&mut self, files: Option<&[String]>) {
        let discarded = |path: &str| files.is_none_or(|files| files.iter().any(|file| paths::same_file(path, file)));
        self.changed.retain(|change| change.committed || !discarded(&change.path));
    }

    fn commit(&mut self, subject: Option<String>, amend: bool, call: &CallWithResult<'_>) {
        let output = call.output();
        let shown = output.lines().find_map(hash_and_subject);
        let failed = call.failed() == Some(true);
        let is_empty = output.contains("nothing to commit") || output.contains("no changes added to commit");
        if shown.is_none() && (failed || is_empty || call.result_text().is_none()) {
            return;
        }
        let before = self.commits.pop_if(|_| amend);
        let (hash, shown_subject) = shown.unzip();
        let Some(subject) = shown_subject.or(subject).or(before.map(|commit| commit.subject)) else { return };
        self.commits.push(Commit { hash, subject: short_line(&subject), at: call.at.clone() });
        self.changed.iter_mut().for_each(|change| change.committed = true);
        keep_newest(&mut self.commits, MAX_FACTS);
    }

    /// Records a check, if its result shows an outcome. `piped` is set if its output went through a pipe.
    fn check(&mut self, run: &CheckRun, piped: bool, call: &CallWithResult<'_>) {
        let shown = outcomes::read_output(&call.output());
        let by_code = || outcome_by_exit_code(call, piped);
        let Some(outcome) = shown.or_else(by_code).or_else(|| outcomes::read_words(&call.output())) else { return };
        let command = short_line(&run.command);
        self.trace_check(run, &outcome, call);
        let runner = if outcome.runner.is_empty() { first_word(&command) } else { outcome.runner };
        if outcome.verdict == Verdict::Passed || !outcome.failed.is_empty() {
            self.mark_passed(run, &command, runner, &outcome);
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

    /// Moves failing tests that this run covered, and that did not fail in it, to those that passed since.
    fn mark_passed(&mut self, run: &CheckRun, command: &str, runner: &str, outcome: &RunOutcome) {
        let covers = |failure: &FailedTest| {
            let file = failure.name.split("::").next().unwrap_or_default();
            let named = |target: &String| selects(target.trim_end_matches('/'), &failure.name, file);
            let whole = run.targets.is_empty() && failure.runner == runner;
            whole
                || failure.command == command
                || run.targets.iter().any(named)
                || outcome.passed.contains(&failure.name)
        };
        let has_passed = |failure: &FailedTest| !outcome.failed.contains(&failure.name) && covers(failure);
        let (passed, failing): (Vec<_>, Vec<_>) = std::mem::take(&mut self.failing).into_iter().partition(has_passed);
        self.failing = failing;
        self.passed_since.extend(passed.into_iter().map(|failure| failure.name));
        keep_newest(&mut self.passed_since, MAX_PASSED_SINCE);
    }

    fn add_todo(&mut self, item: Todo, call: &CallWithResult<'_>) {
        let key = item.key.clone().or_else(|| call.result_text().and_then(todos::key_in));
        let key = key.or_else(|| Some((self.todos.len() + 1).to_string()));
        self.todos.push(Todo { key, at: call.at.clone(), ..item });
        keep_newest(&mut self.todos, MAX_FACTS);
        self.trace_todos();
    }

    fn update_todo(&mut self, item: &Todo, call: &CallWithResult<'_>) {
        if let Some(known) = self.todos.iter_mut().find(|known| known.key == item.key) {
            known.progress = item.progress;
            known.at = call.at.clone();
        }
        self.trace_todos();
    }
}

/// Whether a target selects a test of `file`: a path as a whole, any other text as a filter, wherever it stands in the name.
fn selects(target: &str, test: &str, file: &str) -> bool {
    let is_named = if target.contains(['/', '.']) { has_whole(test, target) } else { test.contains(target) };
    is_named || file.contains('.') && has_whole(target, file)
}

/// The outcome by the exit code, for output that shows none. After a pipe, code 0 proves nothing: it is another program's.
fn outcome_by_exit_code(call: &CallWithResult<'_>, piped: bool) -> Option<RunOutcome> {
    match call.exit_code()? {
        0 if piped => None,
        0 => Some(RunOutcome { verdict: Verdict::Passed, ..RunOutcome::default() }),
        _ => {
            let error = last_line(&call.output()).map(str::to_owned);
            Some(RunOutcome { verdict: Verdict::Failed, error, ..RunOutcome::default() })
        }
    }
}

/// The hash and the subject in a line such as `[main 1a2b3c4] Fix it`.
fn hash_and_subject(line: &str) -> Option<(String, String)> {
    let (place, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let hash = place.rsplit(' ').next().filter(|_| place.contains(' '))?;
    is_hash(hash).then(|| (hash.to_owned(), subject.to_owned()))
}

fn first_word(command: &str) -> &str {
    command.split(' ').next().unwrap_or_default()
}
