//! Caches summaries in a folder, so that the same request is not paid for twice.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Once;

use serde::{Deserialize, Serialize};

use super::wrappers::Wrapper;
use super::{Budget, Failure, Request, Summarizer, Utterance};
use crate::temporary::temporary_in;
use curtail_core::digest::fnv1a_64;
use curtail_core::system_error::system_message;

/// Looks for a summary in a folder before it asks another summarizer, and stores the answer there. Summaries that are made
/// within this process are not stored: making one again costs less than looking it up. A summary that cannot be stored is used
/// all the same.
pub struct Cached<S, W> {
    /// Asked where the folder has no answer.
    inner: S,
    /// Holds one file per summary; created when the first is written.
    folder: PathBuf,
    /// Called with the reason when the first summary cannot be stored.
    warn: W,
    warned: Once,
}

impl<S, W> Cached<S, W> {
    /// A cache in `folder` of what `inner` answers. `warn` gets the reason why answers cannot be stored, once.
    pub const fn new(inner: S, folder: PathBuf, warn: W) -> Self {
        Self { inner, folder, warn, warned: Once::new() }
    }
}

/// The content of a file. It holds the whole request, to compare it: two requests may share a file name.
#[derive(Serialize, Deserialize)]
struct CacheEntry {
    to: String,
    tokens: usize,
    request: String,
    summary: String,
}

impl<S: Summarizer, W: Fn(&str) + Send + Sync> Wrapper for Cached<S, W> {
    type Inner = S;

    fn inner(&self) -> &S {
        &self.inner
    }

    fn ask(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let Some(request) = self.inner.request(utterances, budget) else {
            return self.inner.summarize(utterances, budget);
        };
        let path = self.folder.join(file_name(&request, budget.tokens));
        if let Some(summary) = cached(&path, &request, budget) {
            return Ok(summary);
        }
        let summary = self.inner.summarize(utterances, budget)?;
        let entry = CacheEntry { to: request.to, tokens: budget.tokens, request: request.body, summary };
        if let Err(error) = write_entry(&path, &entry) {
            self.warned.call_once(|| (self.warn)(&unwritable(&path, &error)));
        }
        Ok(entry.summary)
    }
}

fn file_name(request: &Request, tokens: usize) -> String {
    let whole = format!("{}\n{tokens}\n{}", request.to, request.body);
    format!("{:016x}{:016x}.json", fnv1a_64(whole.bytes()), fnv1a_64(whole.bytes().rev()))
}

/// The summary kept at `path`, unless it cannot be read, answers another request, or exceeds the budget by this counter.
fn cached(path: &Path, request: &Request, budget: &Budget<'_>) -> Option<String> {
    let entry: CacheEntry = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let same = entry.to == request.to && entry.tokens == budget.tokens && entry.request == request.body;
    (same && budget.holds(&entry.summary)).then_some(entry.summary)
}

/// Writes a temporary file and renames it, so that a reader finds the whole entry or none.
fn write_entry(path: &Path, entry: &CacheEntry) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = temporary_in(folder)?;
    file.write_all(&serde_json::to_vec(entry)?)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> String {
    let why = system_message(error);
    format!("{}: cannot keep the summary for later runs: {why}; name another folder with --cache", path.display())
}
