//! Which interactions are held, and which are summarized and when. The schedule counts interactions and knows nothing about
//! their content.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// The size of a rolling memory: the newest `window` interactions word for word, and the newest `max_summaries` summaries of
/// the interactions before them; 21 and 3 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolling {
    /// Number of interactions that are held, and that one summary covers.
    pub window: NonZeroUsize,
    /// Number of summaries that are kept; the oldest is dropped first.
    pub max_summaries: NonZeroUsize,
}

impl Default for Rolling {
    fn default() -> Self {
        Self { window: at_least_one(21), max_summaries: at_least_one(3) }
    }
}

const fn at_least_one(count: usize) -> NonZeroUsize {
    match NonZeroUsize::new(count) {
        Some(count) => count,
        None => NonZeroUsize::MIN,
    }
}

/// Interactions from `start` to `end`, counted from 1, both included; empty if `end` is before `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionRange {
    /// The first interaction.
    #[serde(rename = "startIndex")]
    pub start: usize,
    /// The last interaction.
    #[serde(rename = "endIndex")]
    pub end: usize,
}

impl InteractionRange {
    /// The number of interactions.
    pub fn len(self) -> usize {
        (self.end + 1).saturating_sub(self.start)
    }

    /// Whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl Rolling {
    /// The interactions to summarize when interaction `n` arrives, if any: the latest `window` ones, first when the window
    /// overflows, then after every `window` further ones. With a window of 21: 2 to 22 at 22, 23 to 43 at 43.
    pub fn due(self, n: usize) -> Option<InteractionRange> {
        let window = self.window.get();
        (n > window && (n - 1).is_multiple_of(window)).then(|| InteractionRange { start: n + 1 - window, end: n })
    }

    /// The interactions in the window after `seen` interactions.
    pub fn held(self, seen: usize) -> InteractionRange {
        InteractionRange { start: seen.saturating_sub(self.window.get()) + 1, end: seen }
    }

    /// The ranges of the summaries that are kept after `seen` interactions, oldest first.
    pub fn kept(self, seen: usize) -> Vec<InteractionRange> {
        let window = self.window.get();
        let made = seen.saturating_sub(1) / window;
        let first = made.saturating_sub(self.max_summaries.get()) + 1;
        (first..=made).filter_map(|k| self.due(k * window + 1)).collect()
    }
}
