//! Summarizers that ask another one: a few at a time, a second one if the first fails, or only if there is no summary of the same
//! request yet, in a folder or in memory. They know the request, not who answers it.

use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::FixedState;

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

// A summarizer that makes each summary once per run.

/// The most summaries that are remembered; when there are as many, all are forgotten.
const MOST_SUMMARIES: usize = 4096;

/// Makes summaries with another summarizer and remembers them.
pub struct RememberedSummaries {
    summarizer: Arc<dyn Summarizer>,
    made: Mutex<HashMap<(u64, usize), String>>,
}

impl RememberedSummaries {
    /// Remembers what `summarizer` makes.
    pub fn new(summarizer: Arc<dyn Summarizer>) -> Self {
        Self { summarizer, made: Mutex::default() }
    }
}

impl Wrapper for RememberedSummaries {
    type Inner = dyn Summarizer;

    fn inner(&self) -> &Self::Inner {
        &*self.summarizer
    }

    fn ask(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let key = (FixedState::default().hash_one(utterances), budget.tokens);
        let known = self.made.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(summary) = known {
            return Ok(summary);
        }
        let summary = self.summarizer.summarize(utterances, budget)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() >= MOST_SUMMARIES {
            made.clear();
        }
        made.insert(key, summary.clone());
        Ok(summary)
    }
}
