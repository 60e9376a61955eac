//! The rolling window as arithmetic: of the n-th interaction, what is summarized, what is kept, what is held.
//! Knows how many interactions there were and nothing of what was said in them.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// The shape of a rolling memory: the newest `window` interactions word for word, and the newest `max_summaries`
/// summaries of what came before (21 and 3 in the design this follows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolling {
    /// How many interactions are held, and how many one summary covers.
    pub window: NonZeroUsize,
    /// How many summaries are kept; the oldest goes first.
    pub max_summaries: NonZeroUsize,
}

/// Interactions from `start` to `end`, counted from 1, both included; none where `end` is before `start`.
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
    /// How many interactions these are.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end + 1).saturating_sub(self.start)
    }

    /// Whether these are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl Rolling {
    /// What the arrival of interaction `n` makes due: the latest `window` interactions, when `n` is the first that the
    /// window cannot hold, and after every `window` further.
    #[must_use]
    pub fn due(self, n: usize) -> Option<InteractionRange> {
        let window = self.window.get();
        (n > window && (n - 1).is_multiple_of(window)).then(|| InteractionRange { start: n + 1 - window, end: n })
    }

    /// What the window holds after `seen` interactions.
    #[must_use]
    pub fn held(self, seen: usize) -> InteractionRange {
        InteractionRange { start: seen.saturating_sub(self.window.get()) + 1, end: seen }
    }

    /// What the summaries cover that are kept after `seen` interactions, the oldest first.
    #[must_use]
    pub fn kept(self, seen: usize) -> Vec<InteractionRange> {
        let window = self.window.get();
        let made = seen.saturating_sub(1) / window;
        let first = made.saturating_sub(self.max_summaries.get()) + 1;
        (first..=made).filter_map(|k| self.due(k * window + 1)).collect()
    }
}

/// A summary, and what it covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The interactions that it tells of.
    pub range: SummaryRange,
    /// What it says.
    pub text: String,
    /// The time of the last of these interactions, as ISO 8601, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
}

/// What a summary covers, by number and, where messages have ids, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryRange {
    /// By number.
    #[serde(flatten)]
    pub span: InteractionRange,
    /// The id of the first message.
    #[serde(default, rename = "startId", skip_serializing_if = "Option::is_none")]
    pub start_id: Option<String>,
    /// The id of the last message that speaks.
    #[serde(default, rename = "endId", skip_serializing_if = "Option::is_none")]
    pub end_id: Option<String>,
}

impl From<InteractionRange> for SummaryRange {
    fn from(span: InteractionRange) -> Self {
        Self { span, start_id: None, end_id: None }
    }
}

/// The memory after some interactions: it takes further ones, one or many at a time, to the same end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollingState {
    /// How many interactions there were.
    pub seen: usize,
    /// The summaries that are kept, the oldest first.
    pub summaries: Vec<Summary>,
}

impl RollingState {
    /// What is to be summarized when there are `seen` interactions in all: what is due on the way there and still kept at
    /// its end. A summary that would be dropped again within the same step is not made: it would be paid for in vain.
    #[must_use]
    pub fn due(&self, rolling: Rolling, seen: usize) -> Vec<InteractionRange> {
        let mut spans = rolling.kept(seen);
        spans.retain(|span| span.end > self.seen);
        spans
    }

    /// Goes on to `seen` interactions in all with the summaries of what was [due](Self::due), in that order.
    pub fn advance(&mut self, rolling: Rolling, seen: usize, fresh: Vec<Summary>) {
        self.seen = self.seen.max(seen);
        self.summaries.extend(fresh);
        let over = self.summaries.len().saturating_sub(rolling.max_summaries.get());
        self.summaries.drain(..over);
    }
}
