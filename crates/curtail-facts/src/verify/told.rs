//! Facts of the work that a conversation without calls tells in words: files, checks and errors.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::about::{part_removal_of, removal_of, said_about};
use super::clauses::{code_spans, each_clause};
use super::fact::{Fact, Kind, State};
use super::languages::{LANGUAGES, Phrases, is_small};
use super::negation::{is_done, negates};
use super::outcomes::{Outcome, outcome_in, part_about};
use super::spelling::{Spelling, spelling};
use super::tokens::{Class, tokens};
use super::voices::{Spoken, Voice};
use crate::effects::effects;
use crate::fences::{FenceLine, Fences};
use crate::kinds::Effect;

/// What was told so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    files: Vec<Fact>,
    checks: Vec<Fact>,
    errors: Vec<Fact>,
    has_calls: bool,
}

/// The name of an error.
static ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(?:[A-Za-z_]\w*\.)*[A-Za-z_]*[a-z](?:Error|Exception)\b").ok());

/// The longest error with what is said of it, in bytes.
const LONGEST_ERROR: usize = 200;

impl Told {
    /// Reads a text. Of blocks of code, only the errors are read that a program printed, and what a model does with a file.
    pub(super) fn hear(&mut self, spoken: &Spoken) {
        match spoken.voice {
            Voice::Arguments | Voice::Content | Voice::Result => self.has_calls = true,
            Voice::Person | Voice::Model if !self.has_calls => {
                let is_model = spoken.voice == Voice::Model;
                each_statement(&without_code(&spoken.text, |_| false), |text| {
                    if is_model {
                        self.hear_files(text, spoken.message, told_state);
                    }
                    self.hear_checks(text, spoken.message);
                });
                for act in acts(&spoken.text).filter(|_| is_model) {
                    self.hear_files(act, spoken.message, state_in);
                }
                each_statement(&without_code(&spoken.text, is_printed), |text| self.hear_error(text, spoken));
            }
            _ => {}
        }
    }

    /// `state` says which state a text tells of a file.
    fn hear_files(&mut self, text: &str, message: Option<usize>, state: fn(&str, &str) -> Option<State>) {
        for token in tokens(text).into_iter().filter(|token| token.class == Class::Name && !token.inner) {
            if matches!(spelling(token.text), Spelling::Path(_))
                && !token.text.contains("://")
                && let Some(state) = state(text, token.text)
            {
                replace(&mut self.files, Fact::new(Kind::File, token.text, message).in_state(state));
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

    fn hear_error(&mut self, text: &str, spoken: &Spoken) {
        let Some(name) = ERROR.as_ref().and_then(|error| error.find(text)) else { return };
        if LANGUAGES.done.are_in(text) && !negates(text) {
            let same = self.errors.iter_mut().filter(|known| error_name(&known.text) == error_name(name.as_str()));
            same.for_each(|known| known.overtaken = true);
        } else if is_reported(text, name.range()) {
            let error = error_at(text, name.start());
            let after = text[name.start() + error.len()..].trim_start_matches(['`', ' ']);
            // What a model says of an error under a condition explains it.
            if spoken.voice == Voice::Person || LANGUAGES.condition.first_in(after) != Some(0) {
                let words = error.trim_end_matches(['.', '。', '"']);
                replace(&mut self.errors, Fact::new(Kind::Error, words, spoken.message).in_state(State::Open));
            }
        }
    }

    /// The facts; none if there were calls, which show the work themselves.
    pub(super) fn finish(self) -> Vec<Fact> {
        if self.has_calls {
            return Vec::new();
        }
        self.files.into_iter().chain(self.checks).chain(self.errors).collect()
    }
}

/// The error that begins at a byte of a text: what is between the backticks, or what follows.
fn error_at(text: &str, start: usize) -> &str {
    let error = &text[start..text.floor_char_boundary(start + LONGEST_ERROR)];
    let span = text[..start].ends_with('`').then(|| error.find('`')).flatten();
    &error[..span.unwrap_or(error.len())]
}

/// A text without its blocks of code, of which only the lines that `keeps` takes are left.
fn without_code(text: &str, keeps: impl Fn(&str) -> bool) -> String {
    let mut fences = Fences::default();
    let lines = text.split_inclusive('\n');
    lines.filter(|line| fences.take(line) == FenceLine::Outside || keeps(line)).collect()
}

/// Calls `each` with the sentences of a text that are no questions.
fn each_statement(text: &str, mut each: impl FnMut(&str)) {
    each_clause(text, |clause| {
        if !clause.text.ends_with(['?', '？']) {
            each(clause.text);
        }
    });
}

/// The lines of blocks that are what a model does that acts in its text: a verb and a file, as in `create a.py`.
fn acts(text: &str) -> impl Iterator<Item = &str> {
    let mut fences = Fences::default();
    let lines = text.lines().filter(move |line| fences.take(line) != FenceLine::Outside);
    lines.filter(|line| line.split_whitespace().count() == 2)
}

/// Whether a program printed a line of a block, which names an error that it met: code is indented, or has the name in a string or a
/// comment.
fn is_printed(line: &str) -> bool {
    let Some(name) = ERROR.as_ref().and_then(|error| error.find(line)) else { return false };
    let before = &line[..name.start()];
    let is_code = line.starts_with(char::is_whitespace)
        || before.starts_with('#')
        || ["//", "\"", "'"].iter().any(|mark| before.contains(mark));
    !is_code && is_reported(line, name.range())
}

/// Whether a text reports an error: what it says is behind its name, and before that no word with which code raises or catches one.
fn is_reported(text: &str, name: Range<usize>) -> bool {
    let before = text[..name.start].trim_end().rsplit(' ').next().unwrap_or_default();
    text[name.end..].starts_with(": ") && !matches!(before, "raise" | "throw" | "except" | "catch" | "class" | "new")
}

/// The state in which a sentence says that a file is.
fn told_state(text: &str, path: &str) -> Option<State> {
    state_if(text, path, |clause, verbs| !negates(clause) && is_done(clause, verbs))
}

/// The state in which a file is after an act.
fn state_in(act: &str, path: &str) -> Option<State> {
    state_if(act, path, |_, _| true)
}

/// The state of a file by the verb that a text says of it, if `holds` of the clause and of such verbs.
fn state_if(text: &str, path: &str, holds: fn(&str, &Phrases) -> bool) -> Option<State> {
    let is_said = |clause: Option<&str>, verbs| clause.is_some_and(|clause| holds(clause, verbs));
    if is_said(removal_of(text, path), &LANGUAGES.removed) {
        Some(State::Removed)
    } else if is_said(said_about(text, path, &LANGUAGES.changed), &LANGUAGES.changed)
        || is_said(part_removal_of(text, path), &LANGUAGES.removed)
    {
        Some(State::Changed)
    } else {
        None
    }
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

/// The most arguments of a command that is not between backticks.
const MOST_ARGUMENTS: usize = 4;

/// The checks that a sentence names, each with its targets: a span between backticks, or words that begin with a known program. One
/// that is a word of a language, such as `make`, needs an argument.
fn check_commands(text: &str) -> Vec<(String, Vec<String>)> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_-./:@=".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let plain = (0..words.len()).filter_map(|at| {
        let arguments = words[at + 1..].iter().take_while(|word| is_argument(word)).take(MOST_ARGUMENTS);
        let line = arguments.fold(words[at].to_owned(), |line, word| format!("{line} {}", without_stop(word)));
        (line.contains(' ') || !is_small(&line)).then_some(line)
    });
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in code_spans(text).into_iter().map(|span| span.text.to_owned()).chain(plain) {
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
            "I will edit main.py next.",
            "main.py should be changed and old.py must be removed.",
            "I added a check that raises ValueError when it is missing.",
            "Update main.py. Then edit app.py and delete old.py.",
            "1. Update `main.py`.\n2. Delete `old.py`.",
            "I will update main.py, edit app.py and delete old.py.",
            "Python raises a `KeyError: 'x'` when the key is not there.",
        ] {
            assert!(told(Voice::Model, text).is_empty(), "{text}");
        }
        for (text, fact) in [
            ("I updated main.py so that it should work now.", "main.py: changed"),
            ("I removed old.py because it could break the build.", "old.py: removed"),
            ("Created main.py - can be run with python.", "main.py: changed"),
            ("Once the tests passed I updated main.py.", "main.py: changed"),
            ("我修改了 main.py 需要的配置", "main.py: changed"),
            ("main.py: removed the unused import.", "main.py: changed"),
        ] {
            assert_eq!(told(Voice::Model, text), [fact], "{text}");
            assert!(told(Voice::Person, text).is_empty(), "a person may order it: {text}");
        }
        assert_eq!(told(Voice::Model, "I edited main.py and removed old.py."), ["main.py: changed", "old.py: removed"]);
        assert_eq!(told(Voice::Model, "I will do it.\n```\ncreate a.py\n```"), ["a.py: changed"]);
    }

    #[test]
    fn errors_that_are_reported_are_open() {
        for (text, error) in [
            ("It stops with TypeError: no such row", "TypeError: no such row"),
            ("I ran it: the code raises ImportError: No module named foo.", "ImportError: No module named foo"),
            ("It prints:\n```\nTraceback\nKeyError: 'id'\n```", "KeyError: 'id'"),
            ("In the console:\n```\nUncaught (in promise) TypeError: no\n```", "TypeError: no"),
            ("I get this:\n```\n2026-05-01 10:00:00 ERROR app ValueError: no\n```", "ValueError: no"),
            ("It breaks:\n```\n>       return d['id']\nE       KeyError: 'id'\n```", "KeyError: 'id'"),
            (
                "It prints:\n```\nException in thread main java.lang.NullPointerException: x\n```",
                "java.lang.NullPointerException: x",
            ),
        ] {
            for voice in [Voice::Person, Voice::Model] {
                assert_eq!(told(voice, text), [format!("{error}: open")], "{text}");
            }
        }
        let mut log = Told::default();
        for text in ["It stops with TypeError: no such row", "The TypeError is fixed."] {
            log.hear(&Spoken { voice: Voice::Model, text: text.to_owned(), message: Some(0) });
        }
        assert!(log.finish()[0].overtaken);
    }

    #[test]
    fn code_tells_nothing() {
        for text in [
            "Look:\n```js\n// removed legacy.js, see utils.js\n```",
            "Run it:\n```\nif ! pytest; then echo \"pytest failed\"; fi\n```",
            "The tree:\n```\nsrc/\n  a.py   # added\n```",
            "Done:\n```python\ndef load(p):\n    \"\"\"Load.\n\n    Raises:\n        ValueError: If p is empty.\n    \"\"\"\n```",
            "Try:\n```ts\nuseQuery({\n  onError: (e) => {\n  lastError: string;\n```",
            "It reads:\n```python\nexcept KeyError: pass\n# TypeError: no\nprint(\"ValueError: no\")\n```",
            "except (TypeError, ValueError) as error:",
            "NotImplementedError",
        ] {
            assert!(told(Voice::Model, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn programs_are_told_from_words() {
        let commands = |text| check_commands(text).into_iter().map(|(command, _)| command).collect::<Vec<_>>();
        for text in ["The upload just failed.", "We make progress, but all fails."] {
            assert!(commands(text).is_empty(), "{text}");
        }
        assert_eq!(commands("make test fails"), ["make test"]);
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
