//! Facts of the work, which calls and their results show: files, commands, checks, errors, to-dos.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use regex::Regex;

use super::Side;
use super::fact::{Fact, Kind, State};
use super::voices::read_messages;
use crate::calls::read_path;
use crate::checks::is_variant;
use crate::effects::plain_commands;
use crate::quotes::one_line;
use crate::trace::{Run, Trace};
use crate::{Facts, Progress, Verdict, paths};
use curtail_core::transcript::{Message, Pairs};

/// The facts of the work of a side.
pub(super) fn facts(side: &Side<'_, '_>) -> Vec<Fact> {
    let (numbers, messages): (Vec<usize>, Vec<Message<'_>>) =
        read_messages(side).map(|(at, message)| (at, message.clone())).unzip();
    let pairs = Pairs::from_messages(&messages);
    let mut recorded = Facts { trace: Some(Box::default()), ..Facts::default() };
    recorded.read_range(&messages, &pairs, 0..messages.len());
    let trace = recorded.trace.take().unwrap_or_default();
    let mut facts = files(&recorded, &trace);
    facts.extend(read_files(&messages, &facts));
    facts.extend(commands(&trace.runs));
    facts.extend(checks(&trace.runs));
    facts.extend(errors(&recorded, &trace.runs));
    facts.extend(todos(&recorded, &trace));
    for fact in &mut facts {
        fact.message = fact.message.and_then(|at| numbers.get(at)).copied();
    }
    facts
}

fn files(recorded: &Facts, trace: &Trace) -> Vec<Fact> {
    let mut facts = Vec::new();
    for change in &recorded.changed {
        let state = if change.deleted { State::Removed } else { State::Changed };
        let fact = Fact::new(Kind::File, &change.path, change.at.message);
        facts.push(fact.in_state(state).important_if(!change.is_script()));
    }
    for moved in &trace.moved {
        if !recorded.changed.iter().any(|change| paths::same_file(&change.path, &moved.from)) {
            facts.push(Fact::new(Kind::File, &moved.from, Some(moved.at)).in_state(State::Renamed).overtaken());
        }
    }
    facts
}

/// Files that were read and not changed.
fn read_files(messages: &[Message<'_>], changed: &[Fact]) -> Vec<Fact> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut facts = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for (_, call) in message.calls() {
            for path in read_path(&call.name.decode(), &call.arguments.decode()) {
                if seen.insert(path.clone()) && !changed.iter().any(|fact| paths::same_file(&fact.text, &path)) {
                    facts.push(Fact::new(Kind::File, path, Some(at)).in_state(State::Read).important_if(false));
                }
            }
        }
    }
    facts
}

/// Commands that only show text, check or change known files are told by their effects; the others are listed. What was run
/// again and again is how the project is built, and is needed.
fn commands(runs: &[Run]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    let mut times: HashMap<String, usize> = HashMap::new();
    for run in runs.iter().filter(|run| run.check.is_none()) {
        for command in plain_commands(&run.command).into_iter().filter(|command| !command.is_told) {
            let text = one_line(&command.words.join(" "));
            if !text.is_empty() && text.len() <= 300 {
                *times.entry(text.clone()).or_default() += 1;
                facts.push(Fact::new(Kind::Command, text, Some(run.at)));
            }
        }
    }
    for fact in &mut facts {
        fact.important = times.get(&fact.text).is_some_and(|times| *times >= REPEATED);
    }
    facts
}

/// Runs of a command after which it is one that the work needs.
const REPEATED: usize = 3;

/// The most runs of everything, the last ones, that say how parts ended.
const MOST_WHOLE: usize = 100;

/// What names a check, whatever its other flags and ports are: its program, its variant, its targets and what it leaves out.
fn check_words(run: &Run) -> Vec<String> {
    let bare = run.command.split(' ').filter(|word| !word.starts_with('-') || is_variant(word));
    let bare = bare.filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    let mut words: Vec<String> = bare.map(without_port).collect();
    words.extend(run.targets.iter().map(|target| without_port(target)));
    words.extend(run.left_out.iter().cloned());
    words.sort();
    words.dedup();
    words
}

fn check_key(run: &Run) -> String {
    check_words(run).join(" ")
}

/// A word without the digits of a port.
fn without_port(word: &str) -> String {
    match word.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => host.to_owned(),
        _ => word.to_owned(),
    }
}

fn checks(runs: &[Run]) -> Vec<Fact> {
    let mut last: HashMap<String, usize> = HashMap::new();
    let outcomes: Vec<(usize, &Run)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.check.is_some_and(|verdict| verdict != Verdict::Unknown))
        .collect();
    for (nth, run) in &outcomes {
        last.insert(check_key(run), *nth);
    }
    let mut passed = outcomes.clone();
    passed.retain(|(nth, run)| {
        run.check == Some(Verdict::Passed) && run.scope.is_some() && last.get(&check_key(run)) == Some(nth)
    });
    let mut facts = Vec::new();
    for (nth, run) in outcomes {
        let state = if run.check == Some(Verdict::Passed) { State::Passed } else { State::Failed };
        let fact =
            Fact { targets: run.targets.clone(), ..Fact::new(Kind::Check, &run.command, Some(run.at)).in_state(state) };
        let newest = last.get(&check_key(run)).copied().unwrap_or(nth);
        let mut later = passed.iter().rev().take(MOST_WHOLE).take_while(|(later, _)| *later > nth);
        if newest == nth && later.any(|(_, whole)| is_part(run, whole)) {
            facts.push(fact.overtaken());
        } else if newest == nth {
            facts.push(fact);
        } else if runs[newest].check != run.check {
            facts.push(fact.overtaken());
        }
    }
    facts
}

/// Whether a run of everything says how a part ended, or one of the packages below a folder, as `./cmd/...`, how some of them did.
fn is_part(part: &Run, whole: &Run) -> bool {
    if part.scope != whole.scope || part.targets == whole.targets && part.left_out == whole.left_out {
        return false;
    }
    let [words, whole_words] = [part, whole].map(check_words);
    let mut own = whole_words.iter().filter(|word| !whole.targets.contains(word));
    let mut paths = part.targets.iter().filter(|target| target.contains('/')).peekable();
    own.all(|word| matches!(word.as_str(), "." | "./...") || words.contains(word))
        && words.iter().all(|word| !is_variant(word) || whole_words.contains(word))
        && whole.targets.iter().all(|folder| folder.ends_with("/..."))
        && (whole.targets.is_empty() || paths.peek().is_some() && paths.all(|path| is_below(path, &whole.targets)))
}

/// Whether a package is below one of these folders.
fn is_below(path: &str, folders: &[String]) -> bool {
    let mut folders = folders.iter().filter_map(|folder| folder.trim_start_matches("./").strip_suffix("..."));
    folders.any(|folder| path.trim_start_matches("./").starts_with(folder))
}

/// What a program says of a wrong call, in lower case: the next call is another one, and nothing is left to mend. `Invalid argument`
/// is also what the system says of a file, and a command that a script lacks is one that it still lacks.
static MISUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^usage:|\b(?:unknown|invalid|unrecognized|illegal|no such) (?:option|flag|subcommand|command)|\b(?:unknown|unrecognized|unexpected) arguments?|\baccepts (?:at most|at least|\d)|\bambiguous (?:option|argument)|^(?:ba|z|da)?sh: .*\bnot found|is not a (?:\w+ )?command|option requires an argument",
    )
    .ok()
});

fn is_misuse(text: &str) -> bool {
    MISUSE.as_ref().is_some_and(|misuse| misuse.is_match(&text.to_lowercase()))
}

/// Tests that fail, and errors of commands that did not succeed later.
fn errors(recorded: &Facts, runs: &[Run]) -> Vec<Fact> {
    let mut last_failed: HashMap<&str, usize> = HashMap::new();
    for run in runs {
        last_failed.extend(run.failing.iter().map(|name| (name.as_str(), run.at)));
    }
    let failing = recorded.failing.iter().map(|test| error(&test.name, test.at.message, State::Open));
    let mut facts: Vec<Fact> = failing.collect();
    facts.extend(
        recorded
            .passed_since
            .iter()
            .map(|name| error(name, last_failed.get(name.as_str()).copied(), State::Resolved).overtaken()),
    );
    let mut succeeded: HashSet<String> = HashSet::new();
    let mut passed: Vec<&Run> = Vec::new();
    for run in runs.iter().rev() {
        let key = run_key(run);
        match (&run.error, run.failed) {
            (_, Some(false)) => {
                if run.check.is_some() {
                    passed.extend(Some(run).filter(|run| run.scope.is_some()));
                }
                succeeded.insert(key);
            }
            (Some(text), Some(true))
                if succeeded.contains(&key)
                    || passed.iter().rev().take(MOST_WHOLE).any(|whole| is_part(run, whole)) =>
            {
                facts.push(error(text, Some(run.at), State::Resolved).overtaken());
            }
            (Some(text), Some(true)) => {
                let is_open = run.check.is_some() || !is_misuse(text);
                facts.push(error(text, Some(run.at), State::Open).important_if(is_open));
            }
            _ => {}
        }
    }
    facts
}

/// What two runs of one command have in common.
fn run_key(run: &Run) -> String {
    if run.check.is_some() {
        return check_key(run);
    }
    let commands = plain_commands(&run.command).into_iter().map(|command| command.words.join(" "));
    commands.collect::<Vec<_>>().join(" && ")
}

fn error(text: &str, at: Option<usize>, state: State) -> Fact {
    Fact::new(Kind::Error, text, at).in_state(state)
}

fn todos(recorded: &Facts, trace: &Trace) -> Vec<Fact> {
    let mut facts = Vec::new();
    for todo in &recorded.todos {
        match todo.progress {
            Progress::Done => facts.push(todo_fact(&todo.text, todo.at.message, State::Done).overtaken()),
            Progress::Pending | Progress::InProgress => facts.push(todo_fact(&todo.text, todo.at.message, State::Open)),
        }
    }
    for todo in &trace.todos {
        if !recorded.todos.iter().any(|listed| listed.text == todo.text) {
            facts.push(todo_fact(&todo.text, todo.at.message, State::Open).overtaken());
        }
    }
    facts
}

fn todo_fact(text: &str, at: Option<usize>, state: State) -> Fact {
    Fact::new(Kind::Todo, text, at).in_state(state)
}

#[cfg(test)]
mod tests {
    use super::is_misuse;

    #[test]
    fn a_wrong_call_is_told_from_an_error() {
        assert!(is_misuse("Usage: tar [OPTION...]") && is_misuse("bash: jq: command not found"));
        for error in [
            "ValueError: no such table",
            "OSError: [Errno 22] Invalid argument: 'a:b.txt'",
            "./deploy.sh: line 4: kubectl: command not found",
            "main.c:3:5: error: too many arguments to function call",
        ] {
            assert!(!is_misuse(error), "{error}");
        }
    }
}
