//! Counts each text once, and makes each summary once: a policy sees the same messages at every request.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use curtail_core::counting::Tokenizer;
use curtail_core::processors::Processor;
use curtail_facts::references;
use curtail_memory::rolling::RollingSummary;
use foldhash::HashMap;

/// The same processor, which remembers the summaries that it makes; `None` if it makes none.
pub fn remembering(processor: &dyn Processor) -> Option<Arc<dyn Processor>> {
    let processor: &dyn Any = processor;
    Some(Arc::new(processor.downcast_ref::<RollingSummary>()?.remembering()))
}

/// The number of shards, each with its own lock, so that threads seldom wait for each other.
const SHARDS: usize = 32;

/// The maximum number of texts in a shard. A full shard is emptied, so that memory is bounded.
const MAX_TEXTS: usize = 1 << 16;

/// The shortest text that is remembered, in bytes: a shorter one is counted as fast as it is looked up.
const SHORTEST: usize = 24;

/// Counts with another tokenizer and remembers the counts, by the hash and the length of a text.
pub struct Remembered {
    tokenizer: Arc<dyn Tokenizer>,
    counts: Vec<Mutex<HashMap<(u64, usize), usize>>>,
}

impl Remembered {
    /// Remembers the counts of `tokenizer`.
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

    fn remark(&self) -> Option<String> {
        self.tokenizer.remark()
    }

    fn count(&self, text: &str) -> usize {
        if text.len() < SHORTEST {
            return self.tokenizer.count(text);
        }
        let hash = references::digest(text);
        let key = (hash, text.len());
        let shard = &self.counts[usize::try_from(hash >> 59).unwrap_or(0) % SHARDS];
        let known = shard.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.unwrap_or_else(|| {
            let count = self.tokenizer.count(text);
            let mut counts = shard.lock().unwrap_or_else(PoisonError::into_inner);
            if counts.len() >= MAX_TEXTS {
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
