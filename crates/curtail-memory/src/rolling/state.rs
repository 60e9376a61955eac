//! The state of a rolling memory: the summaries that are kept, and how they advance with the interactions.

use serde::{Deserialize, Serialize};

use super::{InteractionRange, Rolling};
use curtail_facts::Facts;

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
