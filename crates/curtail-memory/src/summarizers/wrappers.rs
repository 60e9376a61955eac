//! Summarizers that ask another one: a few at a time, a second one if the first fails, or only if there is no summary of the same
//! request yet, in a folder or in memory. They know the request, not who answers it.

use std::fs;
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::FixedState;
use serde::{Deserialize, Serialize};

use super::{Budget, Failure, Request, Summarizer, Utterance};
use curtail_core::digest::fnv1a_64;
use curtail_core::error::system_message;

/// A summarizer that asks another one, which also answers every question about it.
trait Wrapper: Send + Sync {
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

// Limits how many summaries are made at once: servers refuse clients that send too many requests.

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

// Asks a second summarizer if the first one fails, and warns about it.

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

// Caches summaries in a folder, so that the same request is not paid for twice.

/// Looks for a summary in `folder` before it asks `inner`, and stores the answer there. Summaries that are made within this
/// process are not stored: making one again costs less than looking it up.
pub struct Cached<S> {
    /// Asked where the folder has no answer.
    pub inner: S,
    /// Holds one file per summary; created when the first is written.
    pub folder: PathBuf,
}

/// The content of a file. It holds the whole request, to compare it: two requests may share a file name.
#[derive(Serialize, Deserialize)]
struct CacheEntry {
    to: String,
    tokens: usize,
    request: String,
    summary: String,
}

impl<S: Summarizer> Wrapper for Cached<S> {
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
        write_entry(&path, &entry).map_err(|error| unwritable(&path, &error))?;
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
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(entry)?)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Other(format!(
        "{}: cannot write the summary: {}; name another folder",
        path.display(),
        system_message(error)
    ))
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
