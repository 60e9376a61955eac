//! How the actions of calls change the facts: each is handed to what it changes, the work tree, the checks or the to-do list.

use super::call_result::CallWithResult;
use super::kinds::{Action, CheckRun, Effect};
use super::quotes::one_line;
use super::shell::LineStatus;
use super::{Facts, Verdict, effects, git, outcomes};

impl Facts {
    /// Records an action of a call.
    pub(super) fn record(&mut self, action: Action, call: &CallWithResult<'_>) {
        match action {
            Action::Command(line) => self.run(&line, call),
            Action::Effect(check @ Effect::Check(_)) => self.apply(check, call),
            _ if call.refused() => {}
            Action::Effect(effect) => self.apply(effect, call),
            Action::Todos(items) => self.set_todos(items, call),
            Action::MergeTodos(changes) => self.merge_todos(changes, call),
            Action::AddTodo(item) => self.add_todo(item, call),
        }
    }

    /// Records an effect.
    fn apply(&mut self, effect: Effect, call: &CallWithResult<'_>) {
        match effect {
            Effect::Change { path, whole } => self.change(&path, whole, call),
            Effect::Remove(path) => self.remove(&path, call),
            Effect::RemoveBelow(path) => self.remove_below(&path, call),
            Effect::Move { from, to } => self.rename(&from, &to, call),
            Effect::Commit { subject, amend } => self.commit(subject, amend, call),
            Effect::Restore(files) => self.restore(files.as_deref()),
            Effect::Commits => self.shown_commits(call),
            Effect::Add { places, any } => self.add(&places, any, call),
            Effect::Changes(compared) => {
                let listed = git::changes(&call.output(), compared.as_deref());
                listed.iter().for_each(|(file, deleted)| self.mark_named(file, *deleted, call));
            }
            Effect::ChangedNames(compared) => {
                let listed = git::changed_names(&call.output(), compared.as_deref());
                listed.iter().for_each(|(file, deleted)| self.mark_named(file, *deleted, call));
            }
            Effect::Script { path, writes } => self.script(&path, writes, call),
            Effect::RunScript(path) => self.run_script(&path, call),
            Effect::Check(run) => self.check(&run, call),
        }
    }

    /// Records the effects of a command line.
    fn run(&mut self, line: &str, call: &CallWithResult<'_>) {
        let runs_before = self.traced_runs();
        let effects = effects::effects(line);
        let checks: Vec<&CheckRun> = effects
            .iter()
            .filter_map(|effect| if let Effect::Check(run) = effect { Some(run) } else { None })
            .collect();
        let is_checked = !checks.is_empty();
        let is_silent = silent(&checks, call);
        let has_failed = call.failed_or_refused() && effects::is_whole_or_nothing(line);
        for mut effect in effects {
            if let Effect::Check(run) = &mut effect {
                run.is_quiet &= !line.contains("/dev/null");
            }
            let is_none = match &effect {
                Effect::Check(run) => is_silent(run),
                Effect::Change { whole: false, .. }
                | Effect::Remove(_)
                | Effect::RemoveBelow(_)
                | Effect::Move { .. }
                | Effect::Restore(_)
                | Effect::Add { .. } => has_failed,
                // Lines of another command may be any text.
                Effect::ChangedNames(_) => call.failed_or_refused() || !effects::is_one_command(line),
                // The file that its output goes to was written all the same.
                _ => false,
            };
            if !is_none {
                self.apply(effect, call);
            }
        }
        if !is_checked && effects::may_check(line) && shows_check(call) {
            let command = one_line(&effects::unlisted(line));
            let run =
                CheckRun { targets: vec![command.clone()], command, status: LineStatus::Hidden, ..CheckRun::default() };
            self.check(&run, call);
        }
        // A check is recorded as what it checks, in place of its line.
        if self.traced_runs() == runs_before {
            self.trace_run(line, call);
        }
    }
}

/// Which of the checks of a line its output says nothing of: it is that of another one, and that failed, or says nothing of those
/// before it. Where it names tests that failed, it is not that of a build.
fn silent(checks: &[&CheckRun], call: &CallWithResult<'_>) -> impl Fn(&CheckRun) -> bool + use<> {
    let outcome = if checks.len() > 1 { outcomes::read_output(&call.output()) } else { None };
    let printed = outcome.filter(|outcome| checks.iter().any(|run| run.runner == Some(outcome.runner)));
    let have_tests = checks.iter().any(|run| run.runs_tests());
    move |run| {
        printed.as_ref().is_some_and(|outcome| {
            let is_build = have_tests && !run.runs_tests() && !outcome.failed.is_empty();
            let is_other = run.runner != Some(outcome.runner) || is_build;
            is_other && (outcome.verdict == Verdict::Failed || run.status == LineStatus::Other)
        })
    }
}

/// Whether the output of a command that no table lists is that of a check. What `make` prints says only that something failed.
fn shows_check(call: &CallWithResult<'_>) -> bool {
    outcomes::read_output(&call.output()).is_some_and(|outcome| outcome.runner != "make")
}
