//! One summarizer per file: utterances in, a short summary out. Those that ask a server need the feature `http`.
//! A summarizer knows neither files nor dialects, nor which messages the utterances come from.

mod anthropic;
mod bounded;
mod cache;
mod clip;
mod command;
mod endpoint;
mod exchange;
mod extractive;
mod failure;
mod fallback;
mod http;
mod key;
mod levels;
mod openai;
mod overflow;
mod prompt;
mod remembered;
mod secrets;
mod transport;

use std::borrow::Cow;

pub use anthropic::Anthropic;
pub use bounded::Bounded;
pub use cache::Cached;
pub use clip::clip;
pub use command::{Command, SplitError, split_words, stop_flag};
pub use endpoint::{Endpoint, shown_endpoint};
pub use extractive::Extractive;
pub use failure::Failure;
pub use fallback::Fallback;
pub use http::{Http, Patience};
pub use key::ApiKey;
pub use openai::OpenAi;
pub use prompt::Prompt;
pub use remembered::RememberedSummaries;
pub use transport::Authorities;

/// The names that `--summarizer` takes, the default first.
pub const NAMES: [&str; 4] = ["extractive", "openai", "anthropic", "command"];

/// The speaker of an utterance.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Facts that were read from the transcript by rule. They are kept in front of the summary, which need not repeat them.
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What is sent out of this process to make a summary: a dry run shows it, and it is the key of the cache.
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

    /// How much of the room that facts could take in front of a summary they are given, in percent. Whoever writes sentences
    /// of its own needs room for them.
    fn facts_share(&self) -> usize {
        60
    }

    /// A summary of `utterances` within `budget`.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the summary could not be made. Nothing changed then.
    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure>;

    /// What [`summarize`](Self::summarize) would send first, or `None` if nothing leaves this process.
    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request>;

    /// How many summaries may be under way at once, if making one is waiting for somebody else; `None` if it is computing.
    fn concurrency(&self) -> Option<usize> {
        None
    }
}

impl<S: Summarizer + ?Sized> Summarizer for Box<S> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn facts_share(&self) -> usize {
        (**self).facts_share()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        (**self).summarize(utterances, budget)
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        (**self).request(utterances, budget)
    }

    fn concurrency(&self) -> Option<usize> {
        (**self).concurrency()
    }
}
