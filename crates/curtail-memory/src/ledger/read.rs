//! Reads messages into a ledger: what was said by whom, and what calls did, in the order of the transcript.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use super::calls::{self, Action};
use super::checks::{self, RunOutcome};
use super::commands::{self, Effect, Run};
use super::quotes::{self, Writer, bounded, corrects, cut, one_line};
use super::{ASKED, Change, Check, Commit, FACTS, FailedTest, Ledger, Pointer, Quote, Todo, Verdict, paths, todos};
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Pairs, PartRef, Role, ToolCall, ToolResult, own_blocks};

impl Ledger {
    /// Reads the messages of `range`. Their numbers continue those of the messages that were read before. A result outside the
    /// range is not read.
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
                let result =
                    pairs.counterpart(PartRef { message: at, part }).filter(|result| result.message < range.end);
                let answer = result.and_then(|at| messages.get(at.message)?.parts.get(at.part)?.content.result());
                self.calls += 1;
                self.call(call, &Called::new(here.clone(), answer));
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
            self.listen(&texts, message.automatic, here);
        } else if message.role == Role::Assistant && message.thread == 0 && !texts.is_empty() {
            let whole = texts.join("\n");
            let quote = |text: &str| Quote { text: bounded(&one_line(text)), at: here.clone(), correction: false };
            self.question = quotes::question(&whole).map(quote);
            self.said = Some(quote(&whole));
        }
    }

    /// Reads a text in the role of the user: a person or a program wrote it.
    fn listen(&mut self, texts: &[Cow<'_, str>], automatic: bool, here: &Pointer) {
        let mut typed: Vec<String> = Vec::new();
        for text in texts {
            match quotes::writer(text) {
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
        let surplus = self.asked.len().saturating_sub(ASKED);
        self.asked.drain(..surplus);
    }

    fn call(&mut self, call: &ToolCall<'_>, called: &Called<'_>) {
        for action in calls::actions(&call.name.decode(), &call.arguments.decode()) {
            self.act(action, called);
        }
    }
}

fn texts<'m, 'a>(message: &'m Message<'a>) -> impl Iterator<Item = &'m Text<'a>> {
    message.parts.iter().skip(own_blocks(message)).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text),
        _ => None,
    })
}

// How a ledger changes with each action of a call: files, commits, checks and to-do lists.

/// Longest command and longest error line that are kept, in characters.
const LINE: usize = 200;

/// The most edits of one file that are searched for an inverse edit.
const EDITS: usize = 32;

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
pub(super) struct Called<'c> {
    /// Where it was called.
    pub(super) at: Pointer,
    answer: Option<&'c ToolResult<'c>>,
    /// The text of its result, once it was asked for: most calls only look, and nobody asks.
    text: OnceCell<Cow<'c, str>>,
}

impl<'c> Called<'c> {
    /// A call that this result answers.
    pub(super) const fn new(at: Pointer, answer: Option<&'c ToolResult<'c>>) -> Self {
        Self { at, answer, text: OnceCell::new() }
    }

    /// The text of its result.
    fn result(&self) -> Option<&str> {
        let joined = |answer: &'c ToolResult<'c>| -> Cow<'c, str> {
            match &answer.content[..] {
                [text] => text.decode(),
                texts => texts.iter().map(Text::decode).collect::<Vec<_>>().join("\n").into(),
            }
        };
        self.answer.map(|answer| &**self.text.get_or_init(|| joined(answer)))
    }

    /// Whether the result says that nothing was changed.
    fn refused(&self) -> bool {
        let start = |text: &str| text.trim_start().chars().take(48).collect::<String>().to_lowercase();
        self.result().is_some_and(|text| REFUSALS.iter().any(|refusal| start(text).starts_with(refusal)))
    }
}

impl Ledger {
    /// Records what a call did.
    pub(super) fn act(&mut self, action: Action, called: &Called<'_>) {
        match action {
            Action::Command(line) => self.run(&line, called),
            Action::Check(name) => self.check(&Run { command: name, targets: Vec::new() }, false, called),
            _ if called.refused() => {}
            Action::Change { path, edit } => self.change(&path, edit, edit.is_none(), called),
            Action::Script { path, writes } => self.script(&path, writes, called),
            Action::Remove(path) => self.remove(&path, called),
            Action::Move { from, to } => self.rename(&from, &to, called),
            Action::Todos(items) => {
                self.todos = items.into_iter().map(|item| Todo { at: called.at.clone(), ..item }).collect();
            }
            Action::AddTodo(item) => self.add_todo(item, called),
            Action::UpdateTodo(item) => self.update_todo(&item, called),
        }
    }

    fn run(&mut self, line: &str, called: &Called<'_>) {
        let mut checked = false;
        for effect in commands::effects(line) {
            match effect {
                Effect::Write(path) => self.change(&path, None, true, called),
                Effect::Edit(path) => self.change(&path, None, false, called),
                Effect::Remove(path) => self.remove(&path, called),
                Effect::Move { from, to } => self.rename(&from, &to, called),
                Effect::Commit { subject, amend } => self.commit(subject, amend, called),
                Effect::Restore(files) => self.restore(files.as_deref()),
                Effect::Add(files) => files.iter().for_each(|file| self.name(file, false, called)),
                Effect::Changes => {
                    let shown = called.result().map(commands::changes).unwrap_or_default();
                    shown.iter().for_each(|(file, deleted)| self.name(file, *deleted, called));
                }
                Effect::Script { path, writes } => self.script(&path, writes, called),
                Effect::RunScript(path) => self.run_script(&path, called),
                Effect::Check(run) => {
                    self.check(&run, line.contains('|'), called);
                    checked = true;
                }
            }
        }
        let tests = || called.result().and_then(checks::read_output).filter(|outcome| outcome.runner != "make");
        if !checked && commands::may_check(line) && tests().is_some() {
            self.check(&Run { command: one_line(line), targets: vec![one_line(line)] }, true, called);
        }
    }

    fn change(&mut self, path: &str, edit: Option<(u32, u32)>, whole: bool, called: &Called<'_>) {
        let Some(path) = paths::path(path) else { return };
        let known = self.changed.iter().position(|change| paths::same_file(&change.path, path));
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
        let surplus = change.edits.len().saturating_sub(EDITS);
        change.edits.drain(..surplus);
        if path.len() > change.path.len() {
            path.clone_into(&mut change.path);
        }
        self.changed.push(Change {
            times: change.times + 1,
            at: called.at.clone(),
            deleted: false,
            committed: false,
            ..change
        });
        keep_newest(&mut self.changed, FACTS);
    }

    /// Remembers what a script that was written changes when it is run. One in a folder for scratch files is known only for that.
    fn script(&mut self, path: &str, writes: Vec<String>, called: &Called<'_>) {
        let known = self.changed.iter().position(|change| paths::same_file(&change.path, path));
        let mut change = known.map_or_else(
            || Change { path: path.to_owned(), times: 1, whole: true, ran: true, ..Change::default() },
            |at| self.changed.remove(at),
        );
        change.writes = writes;
        change.at = called.at.clone();
        self.changed.push(change);
        keep_newest(&mut self.changed, FACTS);
    }

    /// What a script that the work wrote changes has changed, unless the run failed.
    fn run_script(&mut self, path: &str, called: &Called<'_>) {
        let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) else { return };
        change.ran = true;
        let failed = called.refused() || called.result().and_then(checks::code).is_some_and(|code| code != 0);
        let writes = if failed { Vec::new() } else { change.writes.clone() };
        writes.iter().for_each(|file| self.change(file, None, false, called));
    }

    /// Version control names a file: it was changed, by whatever.
    fn name(&mut self, path: &str, deleted: bool, called: &Called<'_>) {
        if let Some(change) = self.changed.iter_mut().find(|change| paths::same_file(&change.path, path)) {
            change.named = true;
            return;
        }
        let change = Change { path: path.to_owned(), times: 1, at: called.at.clone(), ..Change::default() };
        self.changed.push(Change { deleted, named: true, ..change });
        keep_newest(&mut self.changed, FACTS);
    }

    /// A file that was written and removed again was scratch.
    fn remove(&mut self, path: &str, called: &Called<'_>) {
        let Some(path) = paths::any(path) else { return };
        let known = self.changed.iter().position(|change| paths::same_file(&change.path, path));
        let change = known.map(|at| self.changed.remove(at));
        if change.as_ref().is_some_and(|change| change.whole && !change.committed) || paths::is_scratch(path) {
            return;
        }
        let change = change.unwrap_or_else(|| Change { path: path.to_owned(), ..Change::default() });
        let times = change.times + 1;
        self.changed.push(Change { times, at: called.at.clone(), deleted: true, committed: false, ..change });
        keep_newest(&mut self.changed, FACTS);
    }

    fn rename(&mut self, from: &str, to: &str, called: &Called<'_>) {
        let known = self.changed.iter().position(|change| paths::same_file(&change.path, from));
        let before = known.map(|at| self.changed.remove(at)).unwrap_or_default();
        self.change(to, None, before.whole, called);
        if let Some(after) = self.changed.last_mut() {
            after.times += before.times;
        }
    }

    /// Drops changes that were discarded, unless a commit contains them.
    fn restore(&mut self, files: Option<&[String]>) {
        let taken = |path: &str| files.is_none_or(|files| files.iter().any(|file| paths::same_file(path, file)));
        self.changed.retain(|change| change.committed || !taken(&change.path));
    }

    fn commit(&mut self, subject: Option<String>, amend: bool, called: &Called<'_>) {
        let result = called.result().unwrap_or_default();
        let output = checks::unwrapped(result);
        let shown = output.lines().find_map(committed);
        let failed = called.refused() || checks::code(result).is_some_and(|code| code != 0);
        let nothing = output.contains("nothing to commit") || output.contains("no changes added to commit");
        if shown.is_none() && (failed || nothing || called.result().is_none()) {
            return;
        }
        let before = self.commits.pop_if(|_| amend);
        let (hash, shown) = shown.unzip();
        let Some(subject) = shown.or(subject).or(before.map(|commit| commit.subject)) else { return };
        self.commits.push(Commit { hash, subject: cut(&one_line(&subject), LINE), at: called.at.clone() });
        self.changed.iter_mut().for_each(|change| change.committed = true);
        keep_newest(&mut self.commits, FACTS);
    }

    fn check(&mut self, run: &Run, piped: bool, called: &Called<'_>) {
        let Some(result) = called.result() else { return };
        let Some(outcome) = checks::read_output(&checks::unwrapped(result)).or_else(|| by_code(result, piped)) else {
            return;
        };
        let command = cut(&one_line(&run.command), LINE);
        let runner = if outcome.runner.is_empty() { first_word(&command) } else { outcome.runner };
        if outcome.verdict == Verdict::Passed || !outcome.failed.is_empty() {
            self.retire(run, &command, runner, &outcome);
        }
        for name in &outcome.failed {
            self.failing.retain(|failure| failure.name != *name);
            self.passed_since.retain(|passed| passed != name);
            let (name, runner, command) = (name.clone(), runner.to_owned(), command.clone());
            self.failing.push(FailedTest { name, runner, command, at: called.at.clone() });
        }
        keep_newest(&mut self.failing, FACTS);
        let error = outcome.error.map(|error| cut(&one_line(&error), LINE));
        self.check = Some(Check { command, verdict: outcome.verdict, error, at: called.at.clone() });
    }

    /// Tests that this run covered and that did not fail in it have passed since.
    fn retire(&mut self, run: &Run, command: &str, runner: &str, outcome: &RunOutcome) {
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
        let passed = |failure: &FailedTest| !outcome.failed.contains(&failure.name) && covers(failure);
        let (retired, still) = std::mem::take(&mut self.failing).into_iter().partition(passed);
        let retired: Vec<FailedTest> = retired;
        self.failing = still;
        self.passed_since.extend(retired.into_iter().map(|failure| failure.name));
        keep_newest(&mut self.passed_since, 40);
    }

    fn add_todo(&mut self, item: Todo, called: &Called<'_>) {
        let key = item.key.clone().or_else(|| called.result().and_then(todos::key_in));
        let key = key.or_else(|| Some((self.todos.len() + 1).to_string()));
        self.todos.push(Todo { key, at: called.at.clone(), ..item });
        keep_newest(&mut self.todos, FACTS);
    }

    fn update_todo(&mut self, item: &Todo, called: &Called<'_>) {
        if let Some(known) = self.todos.iter_mut().find(|known| known.key == item.key) {
            known.progress = item.progress;
            known.at = called.at.clone();
        }
    }
}

/// The outcome by the exit code, if the output shows none. After a pipe, the code is that of another program.
fn by_code(result: &str, piped: bool) -> Option<RunOutcome> {
    let verdict = match checks::code(result)? {
        0 if piped => return None,
        0 => Verdict::Passed,
        _ => Verdict::Failed,
    };
    let output = checks::unwrapped(result);
    let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let error = last.filter(|_| verdict == Verdict::Failed).map(str::to_owned);
    Some(RunOutcome { verdict, error, ..RunOutcome::default() })
}

/// The hash and the subject in a line such as `[main 1a2b3c4] Fix it`.
fn committed(line: &str) -> Option<(String, String)> {
    let (place, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let hash = place.rsplit(' ').next().filter(|_| place.contains(' '))?;
    let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| (hash.to_owned(), subject.to_owned()))
}

fn first_word(command: &str) -> &str {
    command.split(' ').next().unwrap_or_default()
}

fn keep_newest<T>(list: &mut Vec<T>, most: usize) {
    let surplus = list.len().saturating_sub(most);
    list.drain(..surplus);
}
