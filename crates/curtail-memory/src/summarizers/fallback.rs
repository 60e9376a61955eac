//! Asks a second summarizer if the first one fails, and warns about it. It knows neither of the two.

use super::{Budget, Failure, Request, Summarizer, Utterance};

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
