//! Summarizers that ask another one, which also answers every question about them: some make fewer requests, one asks a second
//! summarizer if the first fails. They know the request, not who answers it.

use std::hash::BuildHasher as _;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

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

/// Limits how many callers can ask `inner` at once; the others wait. Servers refuse clients that send too many requests.
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

impl<S: Summarizer> Wrapper for Bounded<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.inner
    }

    fn ask(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let _permit = self.acquire();
        self.inner.summarize(utterances, budget)
    }

    fn at_once(&self) -> Option<usize> {
        Some(self.most)
    }
}

/// The most summaries that are remembered; when there are as many, all are forgotten.
const MOST_SUMMARIES: usize = 4096;

/// Makes each summary once per run, with another summarizer: a policy that is applied again and again asks for the same ones.
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
