//! What summarizers have in common that ask another one: it answers every question about them. They know the request, not who
//! answers it.

use super::{Budget, Failure, Request, Summarizer, Utterance};

/// A summarizer that asks another one, which also answers every question about it.
pub(super) trait Wrapper: Send + Sync {
    type Inner: Summarizer + ?Sized;

    fn inner(&self) -> &Self::Inner;

    /// Asks for a summary.
    fn ask(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        self.inner().summarize(utterances, budget)
    }

    /// How many may ask at once.
    fn at_once(&self) -> Option<usize> {
        self.inner().concurrency()
    }
}

impl<W: Wrapper> Summarizer for W {
    fn name(&self) -> &'static str {
        self.inner().name()
    }

    fn facts_share(&self) -> usize {
        self.inner().facts_share()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        self.ask(utterances, budget)
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        self.inner().request(utterances, budget)
    }

    fn concurrency(&self) -> Option<usize> {
        self.at_once()
    }
}

impl<S: Summarizer + ?Sized> Wrapper for Box<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        self
    }
}
