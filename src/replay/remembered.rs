//! A tokenizer that counts each text once, and a summarizer that makes each summary once: a policy sees the same messages
//! at every request.

use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::FixedState;

use crate::summarizers::{Budget, Failure, Request, Summarizer, Utterance};
use crate::counting::Tokenizer;

/// The parts of the memory, each with a lock of its own.
const SHARDS: usize = 32;

/// The maximum number of texts in a part; when it is reached, the part is emptied, so that memory is bounded.
const MOST: usize = 1 << 16;

/// The shortest text that is remembered, in bytes: shorter ones are counted just as fast.
const SHORTEST: usize = 24;

/// Counts with another tokenizer and remembers the counts.
pub struct Remembered {
    tokenizer: Arc<dyn Tokenizer>,
    counts: Vec<Mutex<HashMap<(u64, usize), usize>>>,
}

impl Remembered {
    /// Remembers the counts of `tokenizer`.
    #[must_use]
    pub fn new(tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self { tokenizer, counts: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl Tokenizer for Remembered {
    fn name(&self) -> &str {
        self.tokenizer.name()
    }

    fn exact(&self) -> bool {
        self.tokenizer.exact()
    }

    fn at_most_bytes(&self) -> bool {
        self.tokenizer.at_most_bytes()
    }

    fn count(&self, text: &str) -> usize {
        if text.len() < SHORTEST {
            return self.tokenizer.count(text);
        }
        let mut hasher = FixedState::default().build_hasher();
        hasher.write(text.as_bytes());
        let hash = hasher.finish();
        let key = (hash, text.len());
        let shard = &self.counts[usize::try_from(hash >> 59).unwrap_or(0) % SHARDS];
        let known = shard.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.unwrap_or_else(|| {
            let count = self.tokenizer.count(text);
            let mut counts = shard.lock().unwrap_or_else(PoisonError::into_inner);
            if counts.len() >= MOST {
                counts.clear();
            }
            counts.insert(key, count);
            count
        })
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        Some(self.count(text)).filter(|&count| count <= limit)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        self.tokenizer.head(text, tokens)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        self.tokenizer.tail(text, tokens)
    }
}

/// The most summaries that are remembered; then the memory starts anew.
const MOST_SUMMARIES: usize = 4096;

/// Makes summaries with another summarizer and remembers them.
pub struct RememberedSummaries {
    summarizer: Arc<dyn Summarizer>,
    made: Mutex<HashMap<(u64, usize), String>>,
}

impl RememberedSummaries {
    /// Remembers what `summarizer` makes.
    #[must_use]
    pub fn new(summarizer: Arc<dyn Summarizer>) -> Self {
        Self { summarizer, made: Mutex::default() }
    }
}

impl Summarizer for RememberedSummaries {
    fn name(&self) -> &'static str {
        self.summarizer.name()
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let mut hasher = FixedState::default().build_hasher();
        for said in utterances {
            for text in [&*said.speaker.label(), &said.text] {
                hasher.write_usize(text.len());
                hasher.write(text.as_bytes());
            }
        }
        let key = (hasher.finish(), budget.tokens);
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

    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request> {
        self.summarizer.request(utterances, budget)
    }
}
