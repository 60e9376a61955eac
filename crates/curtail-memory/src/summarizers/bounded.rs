//! Limits how many summaries are made at once: servers refuse clients that send too many requests.

use std::sync::{Condvar, Mutex, PoisonError};

use super::{Budget, Failure, Request, Summarizer, Utterance};

/// Lets a limited number of callers ask `inner` at once; the others wait.
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

    fn enter(&self) -> Turn<'_, S> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Turn(self)
    }
}

/// A caller's turn. Ends when it is dropped, even by a panic.
struct Turn<'b, S>(&'b Bounded<S>);

impl<S> Drop for Turn<'_, S> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

impl<S: Summarizer> Summarizer for Bounded<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let _turn = self.enter();
        self.inner.summarize(utterances, budget)
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        self.inner.request(utterances, budget)
    }

    fn concurrency(&self) -> Option<usize> {
        Some(self.most)
    }
}
