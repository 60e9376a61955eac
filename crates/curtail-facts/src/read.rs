//! Reads the facts of messages: who said what, and what calls did, in the order of the transcript.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::calls::{self, Action};
use super::effects::{self, CheckRun, Effect};
use super::outcomes::{self, RunOutcome};
use super::quotes::{self, bounded, cut, one_line};
use super::trace::{Moved, Run};
use super::writers::{self, Writer, corrects};
use super::{
    Change, Check, Commit, Facts, FailedTest, MAX_ASKED, MAX_FACTS, Pointer, Quote, Todo, Verdict, is_hash, paths,
};
use curtail_core::dialects::reports_failure;
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Pairs, Part, PartRef, Role, ToolCall, ToolResult, own_blocks};

impl Facts {
    /// Reads the messages of `range`. Their numbers continue those of the messages that were read before. The result of a call
    /// is read with the call, unless it is after the range.
    pub fn read_range(&mut self, messages: &[Message<'_>], pairs: &Pairs, range: Range<usize>) {
        for at in range.clone() {
            let number = self.messages;
            self.messages += 1;
            let Some(message) = messages.get(at) else { continue };
            if message.standing.is_rolled_back() {
                continue;
            }
            let id = message.id.as_ref().map(|id| id.decode().into_owned());
            let here = Pointer { message: Some(number), id };
            self.read_texts(message, &here);
            for (part, call) in message.calls() {
                let paired =
                    pairs.counterpart(PartRef { message: at, part }).filter(|paired| paired.message < range.end);
                let result = paired.and_then(|paired| messages.get(paired.message)?.parts.get(paired.part));
                self.calls += 1;
                self.read_call(call, &CallWithResult::new(here.clone(), result));
            }
        }
    }

    /// Reads the texts of a message that a person or the model wrote.
    fn read_texts(&mut self, message: &Message<'_>, here: &Pointer) {
        let texts: Vec<Cow<'_, str>> = texts(message).filter(|text| !text.is_blank()).map(Text::decode).collect();
        if message.is_boundary() {
            let text = bounded(&one_line(&texts.join("\n")));
            if !text.is_empty() {
                self.earlier = Some(Quote { text, at: here.clone(), correction: false });
            }
        } else if message.role == Role::User && message.thread == 0 {
            self.read_user_texts(&texts, message.automatic, here);
        } else if message.role == Role::Assistant && message.thread == 0 && !texts.is_empty() {
            let whole = texts.join("\n");
            let quote = |text: &str| Quote { text: bounded(&one_line(text)), at: here.clone(), correction: false };
            self.question = quotes::question(&whole).map(quote);
            self.said = Some(quote(&whole));
        }
    }

    /// Reads the texts of a user message, each written by a person or by a program. `automatic` is set if the log says that a
    /// program sent the message.
    fn read_user_texts(&mut self, texts: &[Cow<'_, str>], automatic: bool, here: &Pointer) {
        let mut typed: Vec<String> = Vec::new();
        for text in texts {
            match writers::writer(text) {
                Writer::Person(text) => typed.push(text),
                Writer::Summary(text) => self.earlier = Some(Quote { text, at: here.clone(), correction: false }),
                Writer::Program => {}
            }
        }
        if automatic || typed.is_empty() {
            return;
        }
        self.question = None;
        let text = bounded(&typed.join(" "));
        let quote = Quote { correction: corrects(&text), text, at: here.clone() };
        if self.goal.is_none() {
            self.goal = Some(quote);
            return;
        }
        self.asked.push(quote);
        keep_newest(&mut self.asked, MAX_ASKED);
    }

    fn read_call(&mut self, tool_call: &ToolCall<'_>, call: &CallWithResult<'_>) {
        for action in calls::actions(&tool_call.name.decode(), &tool_call.arguments.decode()) {
            self.record(action, call);
        }
    }
}

/// The texts of a message, without the blocks that this program wrote into it.
fn texts<'m, 'a>(message: &'m Message<'a>) -> impl Iterator<Item = &'m Text<'a>> {
    message.parts.iter().skip(own_blocks(message)).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text),
        _ => None,
    })
}

// How the actions of calls change the facts: files, commits, checks and to-do lists.

/// Longest command and longest error line that are kept, in characters.
const MAX_LINE: usize = 200;

/// The most edits of one file that are remembered to recognize one that reverts them.
const MAX_EDITS: usize = 32;

/// Beginnings of results that report a failed edit, in lower case.
const REFUSALS: &[&str] = &[
    "error",
    "<tool_use_error>",
    "failed",
    "failure",
    "string to replace not found",
    "no replacement",
    "could not find",
    "no match",
    "apply_patch verification failed",
    "permission denied",
    "file does not exist",
    "file has not been read",
    "invalid",
    "the user doesn't want",
];

/// A call with its result.
struct CallWithResult<'c> {
    /// The message with the call.
    at: Pointer,
    /// The part with the result; `None` if there is none yet.
    result: Option<&'c Part<'c>>,
    /// The text of the result, decoded when it is first needed: most calls only read, and their results are not.
    text: OnceCell<Cow<'c, str>>,
}

impl<'c> CallWithResult<'c> {
    const fn new(at: Pointer, result: Option<&'c Part<'c>>) -> Self {
        Self { at, result, text: OnceCell::new() }
    }

    /// The text of the result.
    fn result_text(&self) -> Option<&str> {
        let result = self.result?.content.result()?;
        Some(&**self.text.get_or_init(|| joined(result)))
    }

    /// Whether the result says that nothing was changed.
    fn refused(&self) -> bool {
        self.result.is_some_and(reports_failure) || self.result_text().is_some_and(begins_with_refusal)
    }
}

/// The texts of a result as one.
fn joined<'c>(result: &'c ToolResult<'c>) -> Cow<'c, str> {
    match &result.content[..] {
        [text] => text.decode(),
        texts => texts.iter().map(Text::decode).collect::<Vec<_>>().join("\n").into(),
    }
}

fn begins_with_refusal(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(48).collect::<String>().to_lowercase();
    // A name, such as `error.log`, is no refusal.
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/'));
    REFUSALS.iter().any(|refusal| start.strip_prefix(refusal).is_some_and(|rest| refusal.ends_with('>') || ends(rest)))
}

/// Whether `result` says that its tool failed: beside its text, at the beginning of it, or by an exit code in it.
#[must_use]
pub fn failed(result: &Part<'_>) -> bool {
    let Some(texts) = result.content.result() else { return false };
    let text = joined(texts);
    reports_failure(result) || begins_with_refusal(&text) || outcomes::exit_code(&text).is_some_and(|code| code != 0)
}

impl Facts {
    /// Records an action of a call.
    fn record(&mut self, action: Action, call: &CallWithResult<'_>) {
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
                let shown = call.result_text().map(effects::changes).unwrap_or_default();
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
        self.trace_run(line, call);
        for effect in effects::effects(line) {
            checked |= matches!(effect, Effect::Check(_));
            self.apply(effect, line.contains('|'), call);
        }
        let tests = || call.result_text().and_then(outcomes::read_output).filter(|outcome| outcome.runner != "make");
        if !checked && effects::may_check(line) && tests().is_some() {
            self.check(&CheckRun { command: one_line(line), targets: vec![one_line(line)] }, true, call);
        }
    }

    /// The index of the change of this file.
    fn position_of(&self, path: &str) -> Option<usize> {
        self.changed.iter().position(|change| paths::same_file(&change.path, path))
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
        self.changed.push(Change {
            times: change.times + 1,
            at: call.at.clone(),
            deleted: false,
            committed: false,
            ..change
        });
        keep_newest(&mut self.changed, MAX_FACTS);
    }

    /// Records a script that was written, with the files that it changes when it is run. A script in a folder of temporary
    /// files is recorded only for this.
    fn script(&mut self, path: &str, writes: Vec<String>, call: &CallWithResult<'_>) {
        let known = self.position_of(path);
        let mut change = known.map_or_else(
            || Change { path: path.to_owned(), times: 1, whole: true, ran: true, ..Change::default() },
            |at| self.changed.remove(at),
        );
        change.writes = writes;
        change.at = call.at.clone();
        self.changed.push(change);
        keep_newest(&mut self.changed, MAX_FACTS);
    }

    /// Records the changes that a known script makes, unless its run failed.
    fn run_script(&mut self, path: &str, call: &CallWithResult<'_>) {
        let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) else { return };
        change.ran = true;
        let failed = call.refused() || call.result_text().and_then(outcomes::exit_code).is_some_and(|code| code != 0);
        let writes = if failed { Vec::new() } else { change.writes.clone() };
        writes.iter().for_each(|file| self.change(file, None, false, call));
    }

    /// Records that version control lists a file: it was changed, even if no call shows how.
    fn mark_named(&mut self, path: &str, deleted: bool, call: &CallWithResult<'_>) {
        if let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) {
            change.named = true;
            return;
        }
        let change = Change { path: path.to_owned(), times: 1, at: call.at.clone(), ..Change::default() };
        self.changed.push(Change { deleted, named: true, ..change });
        keep_newest(&mut self.changed, MAX_FACTS);
    }

    /// Records that a file was removed. If the work itself had written it, and no commit contains it, nothing is left to
    /// record.
    fn remove(&mut self, path: &str, call: &CallWithResult<'_>) {
        let Some(path) = paths::any_path(path) else { return };
        let known = self.position_of(path);
        let change = known.map(|at| self.changed.remove(at));
        if change.as_ref().is_some_and(|change| change.whole && !change.committed) || paths::is_scratch(path) {
            return;
        }
        let change = change.unwrap_or_else(|| Change { path: path.to_owned(), ..Change::default() });
        let times = change.times + 1;
        self.changed.push(Change { times, at: call.at.clone(), deleted: true, committed: false, ..change });
        keep_newest(&mut self.changed, MAX_FACTS);
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
        let known = self.position_of(from);
        let before = known.map(|at| self.changed.remove(at)).unwrap_or_default();
        self.change(to, None, before.whole, call);
        if let Some(after) = self.changed.last_mut() {
            after.times += before.times;
        }
    }

    /// Drops changes that were discarded, unless a commit contains them. `files` is `None` for all files.
    fn restore(&mut self, files: Option<&[String]>) {
        let discarded = |path: &str| files.is_none_or(|files| files.iter().any(|file| paths::same_file(path, file)));
        self.changed.retain(|change| change.committed || !discarded(&change.path));
    }

    fn commit(&mut self, subject: Option<String>, amend: bool, call: &CallWithResult<'_>) {
        let result = call.result_text().unwrap_or_default();
        let output = outcomes::unwrapped(result);
        let shown = output.lines().find_map(hash_and_subject);
        let failed = call.refused() || outcomes::exit_code(result).is_some_and(|code| code != 0);
        let is_empty = output.contains("nothing to commit") || output.contains("no changes added to commit");
        if shown.is_none() && (failed || is_empty || call.result_text().is_none()) {
            return;
        }
        let before = self.commits.pop_if(|_| amend);
        let (hash, shown_subject) = shown.unzip();
        let Some(subject) = shown_subject.or(subject).or(before.map(|commit| commit.subject)) else { return };
        self.commits.push(Commit { hash, subject: cut(&one_line(&subject), MAX_LINE), at: call.at.clone() });
        self.changed.iter_mut().for_each(|change| change.committed = true);
        keep_newest(&mut self.commits, MAX_FACTS);
    }

    /// Records a check, if its result shows an outcome. `piped` is set if its output went through a pipe.
    fn check(&mut self, run: &CheckRun, piped: bool, call: &CallWithResult<'_>) {
        let Some(result) = call.result_text() else { return };
        let Some(outcome) =
            outcomes::read_output(&outcomes::unwrapped(result)).or_else(|| outcome_by_exit_code(result, piped))
        else {
            return;
        };
        let command = cut(&one_line(&run.command), MAX_LINE);
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
        let error = outcome.error.map(|error| cut(&one_line(&error), MAX_LINE));
        self.check = Some(Check { command, verdict: outcome.verdict, error, at: call.at.clone() });
    }

    /// Moves failing tests that this run covered, and that did not fail in it, to those that passed since.
    fn mark_passed(&mut self, run: &CheckRun, command: &str, runner: &str, outcome: &RunOutcome) {
        let covers = |failure: &FailedTest| {
            let file = failure.name.split("::").next().unwrap_or_default();
            let named = |target: &String| {
                let target = target.trim_end_matches('/');
                failure.name.contains(target) || file.contains('.') && target.contains(file)
            };
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
        keep_newest(&mut self.passed_since, 40);
    }

    fn add_todo(&mut self, item: Todo, call: &CallWithResult<'_>) {
        let key = item.key.clone().or_else(|| call.result_text().and_then(calls::key_in));
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
    }
}

// What later events overtake.

/// Lines of an output that say why it failed, in the languages of systems. A line that begins with the name of an error counts,
/// wherever it is.
static ERROR_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^[^\S\n]*(?:[\w.:/-]+: )?(?:[\w.]*(?:Error|Exception)|(?:error|ERROR)(?:\[\w+\])?|(?:fatal|FATAL|Fatal)(?: error)?|panic|Fehler|Erreur|错误|エラー)\s*[:：].*$").ok()
});

impl Facts {
    /// Records a run of a command line.
    fn trace_run(&mut self, line: &str, call: &CallWithResult<'_>) {
        let Some(trace) = &mut self.trace else { return };
        let code = call.result_text().and_then(outcomes::exit_code);
        let output = call.result_text().map(outcomes::unwrapped).unwrap_or_default();
        let reported = ERROR_LINE.as_ref().filter(|_| effects::may_check(line)).and_then(|line| line.find(&output));
        let failed = code.map(|code| code != 0).or_else(|| call.refused().then_some(true));
        let last = || output.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let error = reported.map(|found| found.as_str()).or_else(|| last().filter(|_| failed == Some(true)));
        let error = error.map(|error| cut(&one_line(error), MAX_LINE));
        trace.runs.push(Run {
            command: line.to_owned(),
            error,
            failed: failed.or_else(|| call.result.is_some().then_some(reported.is_some())),
            at: call.at.message.unwrap_or_default(),
            ..Run::default()
        });
    }

    /// Records a run of a check, instead of the run of its command line.
    fn trace_check(&mut self, run: &CheckRun, outcome: &RunOutcome, call: &CallWithResult<'_>) {
        let Some(trace) = &mut self.trace else { return };
        let at = call.at.message.unwrap_or_default();
        trace.runs.pop_if(|last| last.check.is_none() && last.at == at);
        // A program that no table lists is known by its output: the line, without what only shows it, is its command.
        let is_listed = run.targets.first().is_none_or(|target| *target != run.command);
        let plain = effects::plain_commands(&run.command).into_iter().filter(|command| !command.is_told);
        let plain = plain.map(|command| command.words.join(" ")).collect::<Vec<_>>().join(" && ");
        let command = if is_listed || plain.is_empty() { &run.command } else { &plain };
        trace.runs.push(Run {
            command: cut(&one_line(command), MAX_LINE),
            check: Some(outcome.verdict),
            targets: if is_listed { run.targets.clone() } else { Vec::new() },
            error: outcome.error.as_ref().map(|error| cut(&one_line(error), MAX_LINE)),
            failed: Some(outcome.verdict == Verdict::Failed),
            failing: outcome.failed.clone(),
            at,
        });
    }

    /// Records the states of the items of the list.
    fn trace_todos(&mut self) {
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

/// The outcome by the exit code, for output that shows none. After a pipe, code 0 proves nothing: it is another program's.
fn outcome_by_exit_code(result: &str, piped: bool) -> Option<RunOutcome> {
    let verdict = match outcomes::exit_code(result)? {
        0 if piped => return None,
        0 => Verdict::Passed,
        _ => Verdict::Failed,
    };
    let output = outcomes::unwrapped(result);
    let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let error = last.filter(|_| verdict == Verdict::Failed).map(str::to_owned);
    Some(RunOutcome { verdict, error, ..RunOutcome::default() })
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

fn keep_newest<T>(list: &mut Vec<T>, most: usize) {
    let surplus = list.len().saturating_sub(most);
    list.drain(..surplus);
}
