//! Answers kept in a folder, so that the same question is not paid for twice.
//! Knows the request that stands for a question, not who answers it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::prompt::digest;
use super::{Budget, Failure, Request, Summarizer, Utterance};

/// Looks in `folder` before it asks `inner`, and keeps there what it is told. What is made within this process is not
/// kept: making it again costs less than looking.
pub struct Cached<S> {
    /// Asked where the folder has no answer.
    pub inner: S,
    /// One file for each answer; made when the first is written.
    pub folder: PathBuf,
}

/// What a file holds. The request is kept whole and compared: a name that two requests share is no answer.
#[derive(Serialize, Deserialize)]
struct CacheEntry {
    to: String,
    tokens: usize,
    request: String,
    summary: String,
}

impl<S: Summarizer> Summarizer for Cached<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let Some(request) = self.inner.request(utterances, budget) else {
            return self.inner.summarize(utterances, budget);
        };
        let path = self.folder.join(file_name(&request, budget.tokens));
        if let Some(summary) = kept(&path, &request, budget) {
            return Ok(summary);
        }
        let summary = self.inner.summarize(utterances, budget)?;
        let entry = CacheEntry { to: request.to, tokens: budget.tokens, request: request.body, summary };
        keep(&path, &entry).map_err(|error| unwritable(&path, &error))?;
        Ok(entry.summary)
    }

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        self.inner.request(utterances, budget)
    }
}

fn file_name(request: &Request, tokens: usize) -> String {
    let whole = format!("{}\n{tokens}\n{}", request.to, request.body);
    let backwards: Vec<u8> = whole.bytes().rev().collect();
    format!("{:016x}{:016x}.json", digest(whole.as_bytes()), digest(&backwards))
}

/// An entry that cannot be read, that answers something else, or that another tokenizer counts longer, is none.
fn kept(path: &Path, request: &Request, budget: &Budget<'_>) -> Option<String> {
    let entry: CacheEntry = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let same = entry.to == request.to && entry.tokens == budget.tokens && entry.request == request.body;
    (same && budget.holds(&entry.summary)).then_some(entry.summary)
}

/// Written beside and moved into place, so that a reader finds all of it or nothing.
fn keep(path: &Path, entry: &CacheEntry) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(entry)?)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Setup(format!("{}: cannot keep the summary: {error}; name another folder", path.display()))
}
