//! Makes each summary once per run: a policy that is applied again and again asks for the same ones.

use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;
use foldhash::quality::FixedState;

use super::wrappers::Wrapper;
use super::{Budget, Failure, Summarizer, Utterance};

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
