//! Summarizers: utterances in, a short summary out. Each has its own file, but for the small ones in `wrappers`, which ask another
//! summarizer. A summarizer knows neither dialects nor which messages the utterances come from.

mod api;
mod cached;
mod clip;
mod command;
mod connections;
mod endpoint;
mod extractive;
mod halves;
mod http;
mod key;
mod models;
mod overflow;
mod prompt;
mod quote;
mod secrets;
mod utterance;
mod wrappers;

pub use api::Api;
pub use cached::Cached;
pub use clip::clip;
pub use command::{Command, stop_flag, stop_programs};
pub use connections::Authorities;
pub use endpoint::{Endpoint, shown_endpoint};
pub use extractive::Extractive;
pub use http::{Http, RequestLimits};
pub use key::ApiKey;
pub use models::Model;
pub use prompt::Prompt;
pub use utterance::{Speaker, Utterance};
pub use wrappers::{Bounded, Fallback, RememberedSummaries};

use thiserror::Error;

/// The names that `--summarizer` takes, the default first.
pub const NAMES: [&str; 4] = ["extractive", "openai", "anthropic", "command"];

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
#[derive(Debug, Error)]
pub enum Failure {
    /// The request exceeds the model's context; a shorter one may fit.
    #[error("{0}")]
    Overflow(String),
    /// The request could not be made, no answer came, the server or program failed, or the answer contains no summary.
    #[error("{0}")]
    Other(String),
}
