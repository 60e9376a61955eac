//! Commands that a person gives between backticks.

use super::super::clauses::code_spans;
use super::super::languages::LANGUAGES;
use crate::effects::plain_commands;

/// How many bytes before a command are searched for words that replace it.
const NEAR: usize = 24;

/// The longest command, in bytes.
const LONGEST_COMMAND: usize = 200;

/// The commands that a text gives: those that it does not replace by something else.
pub(super) fn commands(text: &str) -> impl Iterator<Item = &str> {
    let given = code_spans(text).into_iter().filter(|span| {
        let near = span.before.ceil_char_boundary(span.before.len().saturating_sub(NEAR));
        is_command(span.text) && !LANGUAGES.instead.are_in(&span.before[near..])
    });
    given.map(|span| span.text.trim())
}

/// Whether a text between backticks is a command: a program with arguments, in lower case.
fn is_command(span: &str) -> bool {
    let span = span.trim();
    let program = span.split(' ').next().unwrap_or_default();
    let names_file = program.contains('.') && !program.starts_with('.');
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
        assert!(!is_command("read_rows") && !is_command("Open the file") && !is_command("parse"));
    }

    #[test]
    fn commands_are_between_backticks_of_one_number() {
        let given = |text: &'static str| commands(text).collect::<Vec<_>>();
        assert_eq!(given("Run ``make deploy`` and then `npm run build`."), ["make deploy", "npm run build"]);
        assert_eq!(given("A stray ` here.\nRun `make deploy`, not by hand."), ["make deploy"]);
        assert_eq!(given("Instead of `make deploy`, run `npm run build`."), ["npm run build"]);
    }
}
