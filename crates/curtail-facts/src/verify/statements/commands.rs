//! Commands that a person gives between backticks.

use super::super::clauses::{code_spans, each_clause, segments, without_condition};
use super::super::languages::LANGUAGES;
use super::super::negation::negates;
use crate::effects::plain_commands;

/// How many bytes before a command are searched for words that replace it.
const NEAR: usize = 24;

/// The longest command, in bytes.
const LONGEST_COMMAND: usize = 200;

/// What is in place of a text between backticks while the words around it are read.
const CODE: &str = "`code`";

/// The commands that a text gives: those that it neither asks about, nor forbids, nor replaces by something else.
pub(super) fn commands(text: &str) -> Vec<&str> {
    let mut given = Vec::new();
    each_clause(text, |clause| {
        if clause.text.ends_with(['?', '？']) {
            return;
        }
        let mut spans = code_spans(clause.text).into_iter();
        let words = without_code(clause.text);
        for segment in segments(&words) {
            let mut last = 0;
            for (at, _) in segment.match_indices(CODE) {
                let Some(span) = spans.next() else { return };
                let before = &segment[last..at];
                let near = before.ceil_char_boundary(before.len().saturating_sub(NEAR));
                if is_command(span.text) && !LANGUAGES.instead.are_in(&before[near..]) && !forbids(segment, at) {
                    given.push(span.text.trim());
                }
                last = at + CODE.len();
            }
        }
    });
    given
}

/// A sentence with [`CODE`] in place of each text between backticks.
fn without_code(sentence: &str) -> String {
    let mut words = String::new();
    let mut rest = sentence;
    for span in code_spans(sentence) {
        words.extend([span.before, CODE]);
        rest = span.after;
    }
    words + rest
}

/// Whether a segment of a sentence forbids the command at the byte `at`: it negates before the command, or says anywhere that this
/// is a rule, and negates.
fn forbids(segment: &str, at: usize) -> bool {
    let order = without_condition(segment);
    let begin = segment.len() - order.len();
    begin <= at && (negates(&segment[begin..at]) || LANGUAGES.rule.are_in(order) && negates(order))
}

/// Whether a text between backticks is a command: a program in lower case, and arguments.
fn is_command(span: &str) -> bool {
    let span = span.trim();
    let program = span.split(' ').next().unwrap_or_default();
    // `python3.11` has a version.
    let ending = program.rsplit_once('.').map(|(_, ending)| ending).filter(|_| !program.starts_with('.'));
    let names_file = ending.is_some_and(|ending| !ending.bytes().all(|byte| byte.is_ascii_digit()));
    let is_program = program.len() >= 2
        && program.starts_with(|c: char| c.is_ascii_lowercase() || c == '.' || c == '/')
        && !program.starts_with("//")
        && !names_file
        && !span.contains('<')
        && !span.contains(" = ")
        && program.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_./".contains(&byte));
    is_program && span.contains(' ') && span.len() <= LONGEST_COMMAND && !plain_commands(span).is_empty()
}

#[cfg(test)]
mod tests {
    use super::{commands, is_command};

    #[test]
    fn commands_are_told_from_names() {
        assert!(is_command("make deploy") && is_command("npm run build"));
        assert!(is_command("python3.11 -m pytest tests") && !is_command("setup.py install.cfg"));
        assert!(!is_command("read_rows") && !is_command("Open the file") && !is_command("parse"));
    }

    #[test]
    fn commands_are_between_backticks_of_one_number() {
        assert_eq!(commands("Run ``make deploy`` and then `npm run build`."), ["make deploy", "npm run build"]);
        assert_eq!(commands("A stray ` here.\nRun `make deploy`, not by hand."), ["make deploy"]);
        assert_eq!(commands("Instead of `make deploy`, run `npm run build`."), ["npm run build"]);
    }

    #[test]
    fn what_is_forbidden_or_asked_about_is_no_command() {
        for text in [
            "Never use `git push --force` or `git reset --hard`.",
            "Do not run `make ship` here.",
            "Don't use `rm -rf build`.",
            "`docker compose down -v` is forbidden.",
            "Bitte nie `git push --force` benutzen.",
            "Führe `make ship` nicht aus.",
            "N'utilise pas `make ship`.",
            "No uses `make ship`.",
            "Não use `make ship`.",
            "Non usare `make ship`.",
            "Никогда не запускай `make ship`.",
            "`make ship` запрещено.",
            "不要运行 `make ship`。",
            "`make ship` を使わないでください。",
            "`make ship`를 실행하지 마세요.",
            "Why does `cargo build --release` fail?",
        ] {
            assert_eq!(commands(text), [""; 0], "{text}");
        }
        for (text, given) in [
            ("Fix it. Never use `git push --force`. Run `make deploy` after each change.", "make deploy"),
            ("If the tests do not pass, run `make clean`.", "make clean"),
            ("Don't forget to run `make lint`.", "make lint"),
            ("Commit with `git commit --no-verify`.", "git commit --no-verify"),
            ("Run `pytest -q` without network.", "pytest -q"),
            ("Never push, and run `make lint -- and run` first.", "make lint -- and run"),
        ] {
            assert_eq!(commands(text), [given], "{text}");
        }
    }
}
