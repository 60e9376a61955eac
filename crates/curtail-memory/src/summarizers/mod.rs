//! Summarizers: utterances in, a short summary out. There is one per file; the wrappers `Bounded` and `Fallback` are here.
//! A summarizer knows neither files nor dialects, nor which messages the utterances come from.

mod anthropic;
mod cache;
mod clip;
mod command;
mod endpoint;
mod extractive;
mod failure;
mod http;
mod levels;
mod openai;
mod prompt;
mod secrets;

pub use anthropic::Anthropic;
pub use cache::{Cached, RememberedSummaries};
pub use clip::clip;
pub use command::{Command, SplitError, split_words, stop_flag};
pub use endpoint::{Endpoint, shown_endpoint};
pub use extractive::Extractive;
pub use failure::Failure;
pub use http::{Authorities, Http, Patience};
pub use openai::OpenAi;
pub use prompt::Prompt;
pub use secrets::ApiKey;

use std::borrow::Cow;
use std::sync::{Condvar, Mutex, PoisonError};

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

// Limits how many summaries are made at once: servers refuse clients that send too many requests.

/// Limits how many callers can ask `inner` at once; the others wait.
pub struct Bounded<S> {
    inner: S,
    most: usize,
    free: Mutex<usize>,
    freed: Condvar,
}

impl<S> Bounded<S> {
    /// At most `most` at once; 0 is treated as 1.
    pub fn new(inner: S, most: usize) -> Self {
        let most = most.max(1);
        Self { inner, most, free: Mutex::new(most), freed: Condvar::new() }
    }

    fn acquire(&self) -> Permit<'_, S> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit(self)
    }
}

/// Allows one caller to ask. It is returned when it is dropped, even by a panic.
struct Permit<'b, S>(&'b Bounded<S>);

impl<S> Drop for Permit<'_, S> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

impl<S: Summarizer> Summarizer for Bounded<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn facts_share(&self) -> usize {
        self.inner.facts_share()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let _permit = self.acquire();
        self.inner.summarize(utterances, budget)
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        self.inner.request(utterances, budget)
    }

    fn concurrency(&self) -> Option<usize> {
        Some(self.most)
    }
}

// Asks a second summarizer if the first one fails, and warns about it.

/// Asks `second` if `first` fails, after it passes the reason to `warn`.
pub struct Fallback<F, S, W> {
    /// Asked first.
    pub first: F,
    /// Asked if the first fails.
    pub second: S,
    /// Called with the first one's failure before the second is asked.
    pub warn: W,
}

impl<F, S, W> Summarizer for Fallback<F, S, W>
where
    F: Summarizer,
    S: Summarizer,
    W: Fn(&str) + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.first.name()
    }

    fn facts_share(&self) -> usize {
        self.first.facts_share()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        self.first.summarize(utterances, budget).or_else(|failure| {
            let (first, second) = (self.first.name(), self.second.name());
            (self.warn)(&format!("{first} failed, so {second} summarizes instead: {failure}"));
            self.second.summarize(utterances, budget)
        })
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        self.first.request(utterances, budget)
    }

    fn concurrency(&self) -> Option<usize> {
        self.first.concurrency()
    }
}
