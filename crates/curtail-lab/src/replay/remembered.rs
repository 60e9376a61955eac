//! A tokenizer that counts each text once: a policy sees the same messages at every request.

use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::FixedState;

use curtail_core::counting::Tokenizer;

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
