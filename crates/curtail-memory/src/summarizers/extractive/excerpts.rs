//! What a summary reads of each utterance: of long texts, the beginning, the end and the lines that report errors.

use std::borrow::Cow;

use super::units::{Reach, excerpt};
use crate::summarizers::{Speaker, Utterance};

/// How much of a message is read: longer texts are pasted logs and files.
const SPEECH: Reach = Reach { head: 32 << 10, tail: 16 << 10, errors: 64 };

/// The facts in front of the summary, which it does not repeat.
pub(super) struct KnownFacts(String);

impl KnownFacts {
    pub(super) fn from_utterances(utterances: &[Utterance<'_>]) -> Self {
        let facts = utterances.iter().filter(|utterance| utterance.speaker == Speaker::Facts);
        Self(facts.map(|facts| format!(" {} ", facts.text.replace('\n', " "))).collect())
    }

    /// Whether the facts contain the words of a sentence.
    pub(super) fn contain(&self, sentence: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&one_line(sentence))
    }
}

/// The part of an utterance that is read.
pub(super) struct Excerpt<'t> {
    pub(super) speaker: &'t Speaker,
    pub(super) text: Cow<'t, str>,
}

impl<'t> Excerpt<'t> {
    /// Calls and results are facts already; only a result that begins with an error is read besides.
    pub(super) fn new(utterance: &'t Utterance<'_>) -> Self {
        let text = utterance.text.as_ref();
        let excerpt = match &utterance.speaker {
            Speaker::Call(_) => Cow::Borrowed(""),
            Speaker::Tool(_) => first_line_of_error(text),
            _ => excerpt(text, SPEECH, is_error_line),
        };
        Self { speaker: &utterance.speaker, text: excerpt }
    }
}

/// The first line of a result, if it reports an error.
fn first_line_of_error(text: &str) -> Cow<'_, str> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let is_error = first.starts_with("<tool_use_error>")
        || first.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error")) && is_error_line(first);
    Cow::Borrowed(if is_error { first } else { "" })
}

/// Words of lines that report an error, in lower case.
const ERROR_WORDS: &[&str] = &[
    "error", "errors", "failed", "failure", "fatal", "panic", "panicked", "exception", "traceback", "denied",
    "refused", "timeout", "unresolved", "undefined", "segfault",
];

/// Whether a line of output reports an error. Code that handles errors does not report one: `raise Error(`, `error = None;`.
pub(super) fn is_error_line(line: &str) -> bool {
    let trimmed = line.trim();
    let is_code = trimmed.ends_with(['(', '{', '}', ',', ';', '\\'])
        || trimmed.starts_with(['#', '"', '*', '/', '<'])
        || trimmed.contains(" = ");
    let mut words = trimmed.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '(' | '.' | '\'' | '"' | '/'));
    !is_code && words.any(|word| (4..32).contains(&word.len()) && names_error(&word.to_ascii_lowercase()))
}

/// Whether a word in lower case is one for an error, or the name of one.
fn names_error(word: &str) -> bool {
    ERROR_WORDS.contains(&word) || word.len() > 5 && (word.ends_with("error") || word.ends_with("exception"))
}

/// `text` with every run of white space replaced by a space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
