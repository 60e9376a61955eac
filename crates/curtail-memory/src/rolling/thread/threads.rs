//! Threads in the store. An input is appended completely or not at all.

use std::cell::OnceCell;

use super::{Taken, Thread, ThreadError};
use crate::rolling::RollingSummary;
use crate::store::{RecordKey, Scope, Shelf, Store, StoreError};

/// Appends messages to the thread `id` of `store` and returns the new thread.
///
/// Summaries are made outside of any transaction, so a slow model blocks no other process. If another process has appended in
/// the meantime, everything is repeated on the new state, so that neither input is lost.
///
/// # Errors
/// [`ThreadError`]; the thread is unchanged.
pub fn append(store: &mut Store, id: &str, summary: &RollingSummary, taken: Taken<'_>) -> Result<Thread, ThreadError> {
    let key = RecordKey { shelf: Shelf::Summary, scope: Scope::Thread, id };
    loop {
        let before = store.read_body(key)?;
        let old = before.as_deref().map(Thread::parse).transpose()?;
        // A long thread has many marks, of which an input concerns few.
        let unreadable = OnceCell::new();
        let known = |mark: &str| {
            store.has_applied_id(key, mark).unwrap_or_else(|error| {
                // The first error decides; what is answered after it is thrown away.
                let _ = unreadable.set(error);
                false
            })
        };
        let taken_in = Thread::after(old, summary, taken, &known);
        if let Some(error) = unreadable.into_inner() {
            return Err(error.into());
        }
        let (new, fresh) = taken_in?;
        let body = new.write();
        if before.as_deref() == Some(&body) {
            return Ok(new);
        }
        let done = store.update(key, |record| -> Result<_, StoreError> {
            if record.body() != before.as_deref() {
                return Ok(false);
            }
            record.write(&body)?;
            for mark in &fresh {
                record.add_applied_id(mark)?;
            }
            Ok(true)
        })?;
        if done {
            return Ok(new);
        }
    }
}

/// The thread `id` of `store`; `None` if the store does not contain it.
///
/// # Errors
/// [`ThreadError`] if it cannot be read.
pub fn current(store: &Store, id: &str) -> Result<Option<Thread>, ThreadError> {
    let body = store.read_body(RecordKey { shelf: Shelf::Summary, scope: Scope::Thread, id })?;
    body.as_deref().map(Thread::parse).transpose()
}
