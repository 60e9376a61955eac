//! How the actions of calls change the facts: each is handed to what it changes, the work tree, the checks or the to-do list.

use super::call_result::CallWithResult;
use super::kinds::{Action, CheckRun, Effect};
use super::quotes::one_line;
use super::shell::LineStatus;
use super::{Facts, effects, git, outcomes};

impl Facts {
    /// Records an action of a call.
    pub(super) fn record(&mut self, action: Action, call: &CallWithResult<'_>) {
        match action {
            Action::Command(line) => self.run(&line, call),
            Action::Effect(check @ Effect::Check(_)) => self.apply(check, call),
            _ if call.refused() => {}
            Action::Effect(effect) => self.apply(effect, call),
            Action::Todos(items) => self.set_todos(items, call),
            Action::AddTodo(item) => self.add_todo(item, call),
            Action::UpdateTodo(item) => self.update_todo(&item, call),
        }
    }

    /// Records an effect.
    fn apply(&mut self, effect: Effect, call: &CallWithResult<'_>) {
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
            Effect::Check(run) => self.check(&run, call),
        }
    }

    /// Records the effects of a command line.
    fn run(&mut self, line: &str, call: &CallWithResult<'_>) {
        let mut checked = false;
        let runs_before = self.traced_runs();
        for effect in effects::effects(line) {
            checked |= matches!(effect, Effect::Check(_));
            self.apply(effect, call);
        }
        if !checked && effects::may_check(line) && shows_check(call) {
            let line = one_line(line);
            self.check(&CheckRun { targets: vec![line.clone()], command: line, status: LineStatus::Hidden }, call);
        }
        // A check is recorded as what it checks, in place of its line.
        if self.traced_runs() == runs_before {
            self.trace_run(line, call);
        }
    }
}

/// Whether the output of a command that no table lists is that of a check. What `make` prints says only that something failed.
fn shows_check(call: &CallWithResult<'_>) -> bool {
    let outcome = call.result_text().and_then(outcomes::read_output);
    outcome.is_some_and(|outcome| outcome.runner != "make")
}
