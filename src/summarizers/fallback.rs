//! Another summarizer where the first one fails, and a word about it.
//! Knows neither of the two.

use super::{Budget, Failure, Request, Summarizer, Utterance};

/// Asks `second` where `first` fails, after telling `warn` why.
pub struct Fallback<F, S, W> {
    /// Asked first.
    pub first: F,
    /// Asked where the first failed.
    pub second: S,
    /// Told, before the second is asked, what became of the first.
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

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        self.first.summarize(utterances, budget).or_else(|failure| {
            let (first, second) = (self.first.name(), self.second.name());
            (self.warn)(&format!("{first} failed, {second} summarizes instead: {failure}"));
            self.second.summarize(utterances, budget)
        })
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        self.first.request(utterances, budget)
    }
}
