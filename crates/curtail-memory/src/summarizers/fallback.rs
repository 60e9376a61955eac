//! Asks a second summarizer if the first one fails, and warns about it.

use super::wrappers::Wrapper;
use super::{Budget, Failure, Summarizer, Utterance};

/// Asks `second` if `first` fails, after it passes the reason to `warn`.
pub struct Fallback<F, S, W> {
    /// Asked first.
    pub first: F,
    /// Asked if the first fails.
    pub second: S,
    /// Called with the first one's failure before the second is asked.
    pub warn: W,
}

impl<F, S, W> Wrapper for Fallback<F, S, W>
where
    F: Summarizer,
    S: Summarizer,
    W: Fn(&str) + Send + Sync,
{
    type Inner = F;

    fn inner(&self) -> &F {
        &self.first
    }

    fn ask(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        self.first.summarize(utterances, budget).or_else(|failure| {
            let first = self.first.name();
            let second = self.second.name();
            (self.warn)(&format!("{first} failed, so {second} summarizes instead: {failure}"));
            self.second.summarize(utterances, budget)
        })
    }
}
