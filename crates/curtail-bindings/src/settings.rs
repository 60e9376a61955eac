//! Options of functions as flags: a name is that of a flag, with `_` for `-`, and the flag says what its value may be.

use curtail::embedded::{Command, Failure, has_flag};

use crate::run::guarded;

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// Whether something is done.
    Switch(bool),
    /// A value.
    Value(String),
    /// Values of a flag that may be repeated.
    Values(Vec<String>),
}

/// The command line of `command` with `options`.
///
/// ```
/// use curtail_bindings::{Setting, words};
///
/// let options = [
///     ("max_tokens".to_owned(), Setting::Value("8k".to_owned())),
///     ("pin".to_owned(), Setting::Values(vec!["first-user".to_owned(), "last-user".to_owned()])),
///     ("live".to_owned(), Setting::Switch(true)),
///     ("preserve_system".to_owned(), Setting::Switch(false)),
///     ("repair_pending".to_owned(), Setting::Switch(false)),
/// ];
/// let line = "limit --max-tokens=8k --pin=first-user --pin=last-user --live --no-preserve-system";
/// assert_eq!(words("limit", &options).join(" "), line);
/// // The command line names what is no option.
/// assert_eq!(words("limit", &[("liev".to_owned(), Setting::Switch(false))]).join(" "), "limit --liev");
/// ```
#[must_use]
pub fn words(command: &str, options: &[(String, Setting)]) -> Vec<String> {
    let mut words = vec![command.to_owned()];
    for (name, setting) in options {
        let flag = name.replace('_', "-");
        match setting {
            Setting::Switch(true) => words.push(format!("--{flag}")),
            Setting::Switch(false) => {
                // What is not done needs no flag, unless it is done by default. A name that is no flag is an error, as elsewhere.
                let negated = format!("no-{flag}");
                if has_flag(command, &negated) {
                    words.push(format!("--{negated}"));
                } else if !has_flag(command, &flag) {
                    words.push(format!("--{flag}"));
                }
            }
            Setting::Value(value) => words.push(format!("--{flag}={value}")),
            Setting::Values(values) => words.extend(values.iter().map(|value| format!("--{flag}={value}"))),
        }
    }
    words
}

/// The command of a command line, without the name of the program. With `explain`, decisions are explained and tokens counted.
///
/// # Errors
/// What is wrong with it.
pub fn parsed(words: &[String], explain: bool) -> Result<Command, Failure> {
    guarded(|| Command::parse(words, explain).map_err(Failure::new))
}
