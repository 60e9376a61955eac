//! A summarizer that makes each summary once.

use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::FixedState;

use super::{Budget, Failure, Request, Summarizer, Utterance};

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
