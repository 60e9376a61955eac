//! Summarizers: utterances in, a short summary out. There is one per file, and one file for the wrappers of others.
//! A summarizer knows neither files nor dialects, nor which messages the utterances come from.

mod clip;
mod command;
mod endpoint;
mod extractive;
mod http;
mod models;
mod prompt;
mod wrappers;

pub use clip::clip;
pub use command::{Command, stop_flag};
pub use endpoint::{ApiKey, Endpoint, shown_endpoint};
pub use extractive::Extractive;
pub use http::{Authorities, Http, Patience};
pub use models::{Api, Model};
pub use prompt::Prompt;
pub use wrappers::{Bounded, Cached, Fallback, RememberedSummaries};

use std::borrow::Cow;
use std::fmt;

/// The names that `--summarizer` takes, the default first.
pub const NAMES: [&str; 4] = ["extractive", "openai", "anthropic", "command"];

/// The speaker of an utterance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Instructions from outside the conversation (roles `system` and `developer`).
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The model, when it calls the tool of this name; the text is the call's arguments.
    Call(String),
    /// The tool of this name; the text is its result.
    Tool(String),
    /// Facts that were read from the transcript by rule. They are kept in front of the summary, which should not repeat them.
    Facts,
}

impl Speaker {
    /// The label before the colon: `user`, `assistant`, `tool NAME`.
    #[must_use]
    pub fn label(&self) -> Cow<'_, str> {
        match self {
            Self::System => Cow::Borrowed("system"),
            Self::User => Cow::Borrowed("user"),
            Self::Assistant | Self::Call(_) => Cow::Borrowed("assistant"),
            Self::Tool(name) => Cow::Owned(format!("tool {name}")),
            Self::Facts => Cow::Borrowed("facts"),
        }
    }
}

/// A text and its speaker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Utterance<'a> {
    /// The speaker.
    pub speaker: Speaker,
    /// The text, unescaped.
    pub text: Cow<'a, str>,
}

impl<'a> Utterance<'a> {
    /// An utterance of `speaker`.
    pub fn new(speaker: Speaker, text: impl Into<Cow<'a, str>>) -> Self {
        Self { speaker, text: text.into() }
    }
}

/// How long a summary may be, and how its length is counted.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The most tokens that a summary may have.
    pub tokens: usize,
    /// Counts the tokens of a text.
    pub count: &'a (dyn Fn(&str) -> usize + Sync),
}

impl Budget<'_> {
    /// Whether `text` is within the budget.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        (self.count)(text) <= self.tokens
    }
}

/// The data that leaves this process to make a summary. A dry run shows it, and the cache uses it as its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The address or the program.
    pub to: String,
    /// The request's body, or the program's standard input.
    pub body: String,
}

/// Makes summaries.
pub trait Summarizer: Send + Sync {
    /// The name that `--summarizer` takes.
    fn name(&self) -> &'static str;

    /// The share of a summary's budget that the facts in front of it may take, in percent; 60 by default. A summarizer that
    /// writes its own sentences needs room for them.
    fn facts_share(&self) -> usize {
        60
    }

    /// A summary of `utterances` within `budget`.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the summary could not be made.
    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure>;

    /// The first request that [`summarize`](Self::summarize) would send; `None` if no data leaves this process.
    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request>;

    /// How many summaries may be made at once by a summarizer that mostly waits, as for a server; `None` for one that computes.
    fn concurrency(&self) -> Option<usize> {
        None
    }
}

/// Why a summary could not be made, as far as callers act on it.
#[derive(Debug)]
pub enum Failure {
    /// The request exceeds the model's context; a shorter one may fit.
    Overflow(String),
    /// The request could not be made, no answer came, the server or program failed, or the answer contains no summary.
    Other(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Overflow(message) | Self::Other(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for Failure {}

/// The first 500 characters of an answer, safe to print on a terminal.
fn quote(answer: &[u8]) -> String {
    const SHOWN: usize = 500;
    let text = String::from_utf8_lossy(answer);
    let mut shown: String = text.trim().chars().take(SHOWN).map(visible).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    if shown.is_empty() {
        shown.push_str("(nothing)");
    }
    shown
}

/// Replaces control characters, which could move the cursor or hide text, with a space.
fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote(b"  no\x1b[2Jway\n"), "no [2Jway");
        assert_eq!(quote(b""), "(nothing)");
        assert_eq!(quote("é".repeat(600).as_bytes()).chars().count(), 501);
        assert_eq!(quote(&[0xff]), "\u{fffd}");
    }
}
