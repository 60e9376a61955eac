//! Limits how many summaries are made at once: servers refuse clients that send too many requests.

use std::sync::{Condvar, Mutex, PoisonError};

use super::wrappers::Wrapper;
use super::{Budget, Failure, Summarizer, Utterance};

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
