//! Which interactions are held, and which are summarized and when. The schedule counts interactions and knows nothing about
//! their content.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use curtail_facts::Facts;

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
        let at_least_one = |n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
        Self { window: at_least_one(21), max_summaries: at_least_one(3) }
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

/// A summary and the interactions that it covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The interactions that it covers.
    pub range: SummaryRange,
    /// The text of the summary.
    pub text: String,
    /// The facts of the transcript up to the end of the range. Only the newest summary has them; they include those of the
    /// summaries before.
    #[serde(rename = "ledger", default, skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
    /// The time of the last of these interactions in ISO 8601, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// The range that a summary covers, by number and, if messages have ids, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryRange {
    /// By number.
    #[serde(flatten)]
    pub span: InteractionRange,
    /// The id of the first message.
    #[serde(default, rename = "startId", skip_serializing_if = "Option::is_none")]
    pub start_id: Option<String>,
    /// The id of the last message with text.
    #[serde(default, rename = "endId", skip_serializing_if = "Option::is_none")]
    pub end_id: Option<String>,
}

impl From<InteractionRange> for SummaryRange {
    fn from(span: InteractionRange) -> Self {
        Self { span, start_id: None, end_id: None }
    }
}

/// The state after some interactions. Adding further interactions one by one or all at once gives the same state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollingState {
    /// Number of interactions so far.
    pub seen: usize,
    /// The kept summaries, oldest first.
    pub summaries: Vec<Summary>,
}

/// A state to continue from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSoFar {
    /// The state.
    pub state: RollingState,
    /// The number of the first interaction after it.
    pub next: usize,
}

impl RollingState {
    /// The ranges to summarize when there are `seen` interactions in all: each begins after the summary before it. A summary that
    /// would be dropped within the same step is not made: a model would be paid for it in vain.
    pub fn due(&self, rolling: Rolling, seen: usize) -> Vec<InteractionRange> {
        let summarized = self.summarized();
        let mut spans = rolling.kept(seen);
        spans.retain(|span| span.end > summarized);
        // A window of another size than before begins its ranges elsewhere.
        if let Some(first) = spans.first_mut().filter(|first| first.start <= summarized + 1) {
            first.start = summarized + 1;
        }
        spans
    }

    /// The number of the last interaction that a summary covers; 0 if there is none.
    pub fn summarized(&self) -> usize {
        self.summaries.last().map_or(0, |summary| summary.range.span.end)
    }

    /// Advances to `seen` interactions in all, with one summary per [due](Self::due) range, in that order.
    pub fn advance(&mut self, rolling: Rolling, seen: usize, fresh: Vec<Summary>) {
        self.seen = self.seen.max(seen);
        self.summaries.extend(fresh);
        let surplus = self.summaries.len().saturating_sub(rolling.max_summaries.get());
        self.summaries.drain(..surplus);
        if let Some((_, older)) = self.summaries.split_last_mut() {
            older.iter_mut().for_each(|summary| summary.facts = Facts::default());
        }
    }
}
