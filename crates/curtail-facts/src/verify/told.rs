//! Facts of the work that a conversation without calls tells in words: files, checks and errors.

use std::sync::LazyLock;

use regex::Regex;

use super::about::{part_removal_of, removal_of, said_about};
use super::blocks::{Block, without_code};
use super::clauses::{code_spans, each_clause};
use super::fact::{Fact, Kind, State};
use super::languages::{LANGUAGES, Phrases, lowered};
use super::negation::negates;
use super::outcomes::{Outcome, outcome_in, part_about};
use super::spelling::{Spelling, spelling};
use super::tokens::{Class, tokens};
use super::voices::{Spoken, Voice};
use crate::effects::effects;
use crate::kinds::Effect;

/// What was told so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    files: Vec<Fact>,
    checks: Vec<Fact>,
    errors: Vec<Fact>,
    has_calls: bool,
}

/// The name of an error with what follows it.
static ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b[A-Za-z_.]*[a-z](?:Error|Exception)\b[^\n]{0,160}").ok());

/// What stands before an error that code is to raise or catch, or for which somebody added code.
static IN_CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let order = r"(?:^[\d:\s]*|[,;:] |\b(?:to|must|should|please|then) )(?:raise|throw|return|catch|except)";
    let added = r"\badd(?:s|ed)? [^,;]*\bthat (?:raises|throws|returns|catches)";
    Regex::new(&format!("(?:{order}|{added}) (?:(?:an?|the|new) )*[`(]?$")).ok()
});

/// What follows the name of an error in code.
static CODE_BEHIND: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\w.]+(?:\($| as e\w{0,8}:?$|[\w., ]*\) as \w+)").ok());

/// Whether an error at a place of a sentence is only named, as code does, or a list of what may be raised.
fn is_in_code(text: &str, error: &str, at: usize) -> bool {
    error == text && !error.contains([' ', ':'])
        || CODE_BEHIND.as_ref().is_some_and(|behind| behind.is_match(error))
        || IN_CODE.as_ref().is_some_and(|in_code| in_code.is_match(&lowered(&text[..at])))
}

/// Calls `each` with the sentences of a text that are no questions.
fn each_statement(text: &str, mut each: impl FnMut(&str)) {
    each_clause(text, |clause| {
        if !clause.text.ends_with(['?', '？']) {
            each(clause.text);
        }
    });
}

impl Told {
    /// Reads a text.
    pub(super) fn hear(&mut self, spoken: &Spoken) {
        match spoken.voice {
            Voice::Arguments | Voice::Content | Voice::Result => self.has_calls = true,
            Voice::Person | Voice::Model if !self.has_calls => {
                let is_model = spoken.voice == Voice::Model;
                let reported = without_code(&spoken.text, |block, line| is_model && block.tells(line));
                each_statement(&reported, |text| self.hear_files(text, spoken));
                let ran =
                    without_code(&spoken.text, |block, line| is_model && block.tells(line) && !block.has_language());
                each_statement(&ran, |text| self.hear_checks(text, spoken.message));
                let printed = without_code(&spoken.text, Block::is_printed);
                each_statement(&printed, |text| self.hear_error(text, spoken.message));
            }
            _ => {}
        }
    }

    fn hear_files(&mut self, text: &str, spoken: &Spoken) {
        for token in tokens(text).into_iter().filter(|token| token.class == Class::Name && !token.inner) {
            if matches!(spelling(token.text), Spelling::Path(_)) && !token.text.contains("://") {
                self.hear_file(text, token.text, spoken);
            }
        }
    }

    fn hear_checks(&mut self, text: &str, message: Option<usize>) {
        for (command, targets) in check_commands(text) {
            if let Some(outcome) = outcome_in(part_about(text, &command, &targets)) {
                let state = if outcome == Outcome::Passed { State::Passed } else { State::Failed };
                let fact = Fact::new(Kind::Check, command, message).in_state(state);
                replace(&mut self.checks, Fact { targets, ..fact });
            }
        }
    }

    fn hear_error(&mut self, text: &str, message: Option<usize>) {
        let error = ERROR.as_ref().and_then(|error| error.find(text));
        if let Some(found) = error {
            let is_resolved = LANGUAGES.done.are_in(text) && !negates(text);
            if is_resolved {
                let name = error_name(found.as_str());
                let same = self.errors.iter_mut().filter(|known| error_name(&known.text) == name);
                same.for_each(|known| known.overtaken = true);
            } else if !is_in_code(text, found.as_str(), found.start()) {
                let words = found.as_str().trim_end_matches(['.', '。', '`', '"']);
                replace(&mut self.errors, Fact::new(Kind::Error, words, message).in_state(State::Open));
            }
        }
    }

    fn hear_file(&mut self, text: &str, path: &str, spoken: &Spoken) {
        // A model that acts by blocks of code in its text says what it is about to do and does it there.
        let acts = spoken.voice == Voice::Model && spoken.text.contains("```");
        if spoken.voice == Voice::Person && orders_change(text) {
            return;
        }
        let state = if is_told(removal_of(text, path), &LANGUAGES.removed, acts) {
            State::Removed
        } else if is_told(said_about(text, path, &LANGUAGES.changed), &LANGUAGES.changed, acts)
            || is_told(part_removal_of(text, path), &LANGUAGES.removed, acts)
        {
            State::Changed
        } else {
            return;
        };
        replace(&mut self.files, Fact::new(Kind::File, path, spoken.message).in_state(state));
    }

    /// The facts; none if there were calls, which show the work themselves.
    pub(super) fn finish(self) -> Vec<Fact> {
        if self.has_calls {
            return Vec::new();
        }
        self.files.into_iter().chain(self.checks).chain(self.errors).collect()
    }
}

/// Words that may stand before an order.
const BEFORE_ORDER: &[&str] =
    &["please", "now", "then", "also", "and", "so", "just", "ok", "let", "us", "bitte", "пожалуйста"];

/// Whether a sentence orders a change, and does not say that it is done.
fn orders_change(text: &str) -> bool {
    let verbs = [&LANGUAGES.changed, &LANGUAGES.removed].map(|words| words.places(text));
    let Some((start, end)) = verbs.into_iter().flatten().min() else { return false };
    let Some(order) = LANGUAGES.order.first_in(text) else { return false };
    // `Please rename a.py and update b.py`, but not `I did remove a.py`.
    let mut before = text[..order].split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    before.all(|word| BEFORE_ORDER.contains(&word.to_lowercase().as_str()))
        && LANGUAGES.order.are_all_of(&text[start..end])
        && !LANGUAGES.done.are_in(text)
}

/// Whether a clause with one of these verbs says that something was done. A speaker that `acts` does what it intends.
fn is_told(clause: Option<&str>, verbs: &Phrases, acts: bool) -> bool {
    clause.is_some_and(|clause| !negates(clause) && (acts || !is_intended(clause, verbs)))
}

/// How many words before a verb say that it is to be done.
const INTENDED_REACH: usize = 3;

/// Whether all of some verbs in a clause are only to be done, as the words before each say.
fn is_intended(part: &str, words: &Phrases) -> bool {
    words.places(part).into_iter().all(|(start, _)| {
        let before = &part[..start];
        let begins = before.trim_end().rmatch_indices(' ').nth(INTENDED_REACH - 1).map_or(0, |(at, _)| at);
        [&LANGUAGES.intended, &LANGUAGES.wish].iter().any(|table| table.are_in(&before[begins..]))
    })
}

/// The name with which an error begins, without its module.
fn error_name(error: &str) -> &str {
    let name = error.split([' ', ':']).next().unwrap_or_default();
    name.rsplit('.').find(|part| !part.is_empty()).unwrap_or_default()
}

/// The most facts of one kind, and the most of them, the last ones, that a new one may overtake.
const MOST: usize = 2000;
const MOST_OVERTAKEN: usize = 100;

/// Adds a fact, which overtakes an earlier one of the same words in another state.
fn replace(facts: &mut Vec<Fact>, fact: Fact) {
    for known in facts.iter_mut().rev().take(MOST_OVERTAKEN).filter(|known| known.text == fact.text) {
        known.overtaken = true;
    }
    if facts.len() == MOST {
        facts.remove(0);
    }
    facts.push(fact);
}

/// Words before a program that was run.
const RUN: &[&str] = &["ran", "run", "runs", "rerun", "reran", "running", "executed"];

/// The checks that a sentence names, each with its targets: a span between backticks, or words that begin with a known program.
fn check_commands(text: &str) -> Vec<(String, Vec<String>)> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_-./:@=".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let runs = (0..words.len()).filter_map(|at| {
        let first = words[at];
        let rest: Vec<&str> = words[at + 1..].iter().copied().take_while(|word| is_argument(word)).take(4).collect();
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let is_stop = LANGUAGES.stop.contains(first);
        // `It just failed` names no check, nor does `we make progress`, but `we ran make` does, and `make failed`.
        let is_run = match words.get(at + 1) {
            Some(next) if outcome_in(next).is_some() => !is_stop,
            _ => RUN.contains(&before),
        };
        let is_plain = if rest.is_empty() {
            (is_stop || LANGUAGES.weak.contains(first)) && !is_run
        } else {
            is_stop && LANGUAGES.subject.are_all_of(before)
        };
        let line = rest.iter().fold(first.to_owned(), |line, word| format!("{line} {}", without_stop(word)));
        (!is_plain).then_some(line)
    });
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in code_spans(text).into_iter().map(|span| span.text.to_owned()).chain(runs) {
        for effect in effects(&line) {
            if let Effect::Check(run) = effect
                && !found.iter().any(|(known, _)| ends_with_words(known, &run.command))
            {
                found.push((run.command, run.targets));
            }
        }
    }
    found
}

/// An argument without the mark that ends its sentence; `./...` is all packages of a folder.
fn without_stop(word: &str) -> &str {
    let bare = word.trim_end_matches(['.', ':']);
    if bare.ends_with('/') { word } else { bare }
}

/// Whether a command is another one, or ends with its words.
fn ends_with_words(command: &str, other: &str) -> bool {
    command.strip_suffix(other).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

/// Whether a word after a program belongs to its command: a subcommand, a flag or a path.
fn is_argument(word: &str) -> bool {
    let subcommands = ["test", "build", "check", "lint", "run", "clippy", "vet", "t"];
    subcommands.contains(&word)
        || word.starts_with('-')
        || word.trim_end_matches(['.', ':']).contains(['/', '_', ':', '.'])
}

#[cfg(test)]
mod tests {
    use super::{Fact, Kind, MOST, Spoken, State, Told, Voice, check_commands, replace};

    /// What one message of a person or of the model tells.
    fn told(voice: Voice, text: &str) -> Vec<String> {
        let mut told = Told::default();
        told.hear(&Spoken { voice, text: text.to_owned(), message: Some(0) });
        told.finish().iter().map(Fact::described).collect()
    }

    #[test]
    fn what_is_to_be_done_was_not_done() {
        for text in [
            "Edit main.py, then delete old.py.",
            "Please rename old.py to new.py and update main.py.",
            "Now check main.py, then create new.py.",
            "I will edit main.py next.",
            "main.py should be changed and old.py must be removed.",
            "Raise a ValueError if it is missing.",
        ] {
            assert!(told(Voice::Person, text).is_empty(), "{text}");
        }
        assert!(told(Voice::Model, "I added a check that raises ValueError when it is missing.").is_empty());
        for (text, fact) in [
            ("I updated main.py so that it should work now.", "main.py: changed"),
            ("I removed old.py because it could break the build.", "old.py: removed"),
            ("Created main.py - can be run with python.", "main.py: changed"),
            ("main.py was updated once the tests passed.", "main.py: changed"),
            ("Once the tests passed I updated main.py.", "main.py: changed"),
            ("我修改了 main.py 需要的配置", "main.py: changed"),
            ("I did remove old.py.", "old.py: removed"),
            ("update main.py: done", "main.py: changed"),
            ("✅ Update main.py", "main.py: changed"),
            ("She did update main.py.", "main.py: changed"),
            ("Then he did remove old.py.", "old.py: removed"),
            ("Did change main.py by hand.", "main.py: changed"),
            ("The edit: main.py was updated", "main.py: changed"),
            ("main.py: removed the unused import.", "main.py: changed"),
        ] {
            for voice in [Voice::Person, Voice::Model] {
                assert_eq!(told(voice, text), [fact], "{text}");
            }
        }
        assert_eq!(told(Voice::Model, "create decrypt.py"), ["decrypt.py: changed"]);
        assert_eq!(told(Voice::Model, "I edited main.py and removed old.py."), ["main.py: changed", "old.py: removed"]);
        let acting = "Let's create reproduce.py, but not edit main.py.\n```\nopen\n```";
        assert_eq!(told(Voice::Model, acting), ["reproduce.py: changed"]);
    }

    #[test]
    fn errors_that_are_reported_are_open() {
        for text in [
            "I get a TypeError when I save.",
            "It stops with TypeError: no such row",
            "Fix the TypeError in save().",
            "Open the app and you get a TypeError.",
            "Run the app: it stops with a TypeError.",
            "Handle the KeyError that users see when they log in.",
            "The build still throws TypeError in save().",
            "There is a KeyError in login().",
            "All tests raise a ValueError.",
            "I ran it: the code raises ImportError: No module named foo.",
            "Running the code throws TypeError: x is not a function.",
            "The import statement raises ModuleNotFoundError: No module named foo.",
        ] {
            for voice in [Voice::Person, Voice::Model] {
                assert_eq!(told(voice, text).len(), 1, "{text}");
            }
        }
    }

    #[test]
    fn code_tells_nothing_but_the_errors_that_a_program_printed() {
        for text in [
            "Look:\n```js\n// removed legacy.js, see utils.js\n```",
            "Run it:\n```bash\ngit commit -m \"Removed old.py, updated main.py\"\n```",
            "Run it:\n```\ngit commit -m 'Removed old.py, updated main.py'\n```",
            "Run it:\n```\nif ! pytest; then echo \"pytest failed\"; fi\n```",
            "Save it:\n```python\n# config.py was changed in 2019\nprint(\"created out.txt\")\n```",
            "The log:\n```text\npytest failed\n```",
            "The tree:\n```\nsrc/\n  a.py   # added\n```",
            "A message could be:\n```\nfix: updated parser.py\n```",
            "An example of a changelog:\n```\n- Added src/a.py\n- Removed src/b.py\n```",
            "Done:\n```python\ndef load(p):\n    \"\"\"Load.\n\n    Raises:\n        ValueError: If p is empty.\n    \"\"\"\n```",
            "Try:\n```ts\nuseQuery({\n  onError: (e) => {\n  lastError: string;\n```",
            "Spec:\n```yaml\nerrors:\n  ValidationError: 400\n# TypeError: no\n```",
            "Cut off:\n```python\ndef load():\n    it stops with a TypeError",
            "It reads:\n```python\nexcept json.JSONDecodeError as error:\n    raise ValueError(msg)\n```",
            "except (TypeError, ValueError) as error:",
            "NotImplementedError",
            "45: raise ValueError(msg)",
        ] {
            assert!(told(Voice::Model, text).is_empty(), "{text}");
        }
        for (printed, error) in [
            ("It prints:\n```\nTraceback\nKeyError: 'id'\n```", "KeyError: 'id'"),
            ("In the console:\n```\nUncaught (in promise) TypeError: no\n```", "TypeError: no"),
            ("I get this:\n```\n2026-05-01 10:00:00 ERROR app ValueError: no\n```", "ValueError: no"),
            ("It breaks:\n```\n>       return d['id']\nE       KeyError: 'id'\n```", "KeyError: 'id'"),
            (
                "It prints:\n```\nException in thread \"main\" java.lang.NullPointerException: x\n```",
                "java.lang.NullPointerException: x",
            ),
            ("It says:\n```\n  ● adds\n\n    TypeError: add is no function\n```", "TypeError: add is no function"),
            ("1. Console:\n   ```\n   Uncaught TypeError: no\n   ```", "TypeError: no"),
            ("Look:\n```\nThen it stops with a TypeError", "TypeError"),
        ] {
            assert_eq!(told(Voice::Person, printed), [format!("{error}: open")], "{printed}");
        }
    }

    #[test]
    fn blocks_tell_of_files_and_checks() {
        let pasted = "Here:\n```\ncreate decrypt.py\npytest passed\n```";
        assert!(told(Voice::Person, pasted).is_empty());
        let made = "I'll create the file.\n```\ncreate decrypt.py\n```";
        assert_eq!(told(Voice::Model, made), ["decrypt.py: changed"]);
        let report = "Done:\n```\nChanged src/a.py and removed src/b.py.\npytest passed.\n```";
        assert_eq!(told(Voice::Model, report), ["src/a.py: changed", "src/b.py: removed", "pytest: passed"]);
        let report = report.replacen("```", "```text", 1);
        assert_eq!(told(Voice::Model, &report), ["src/a.py: changed", "src/b.py: removed"]);
    }

    #[test]
    fn programs_are_told_from_words() {
        let commands = |text| check_commands(text).into_iter().map(|(command, _)| command).collect::<Vec<_>>();
        for text in [
            "The upload just failed.",
            "The last run just passed.",
            "I just run it, and it failed",
            "We make progress, but all fails.",
        ] {
            assert!(commands(text).is_empty(), "{text}");
        }
        for (text, command) in [
            ("make test fails", "make test"),
            ("just test passed.", "just test"),
            ("just lint fails", "just lint"),
            ("I ran just test and it failed", "just test"),
            ("We ran make and it failed.", "make"),
            ("make failed", "make"),
        ] {
            assert_eq!(commands(text), [command], "{text}");
        }
        assert_eq!(commands("cargo test failed: 3 of 9"), ["cargo test"]);
        assert_eq!(commands("`make` fails, and `just lint` passes"), ["make", "just lint"]);
    }

    #[test]
    fn the_newest_facts_are_kept() {
        let mut facts = Vec::new();
        for nth in 0..MOST + 10 {
            replace(&mut facts, Fact::new(Kind::Check, format!("pytest t{nth}.py"), None).in_state(State::Passed));
        }
        let last = format!("pytest t{}.py", MOST + 9);
        replace(&mut facts, Fact::new(Kind::Check, last.as_str(), None).in_state(State::Failed));
        assert_eq!(facts.len(), MOST);
        let states = facts.iter().filter(|fact| fact.text == last).map(|fact| (fact.state, fact.overtaken));
        assert!(states.eq([(Some(State::Passed), true), (Some(State::Failed), false)]));
    }
}
