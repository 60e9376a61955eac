//! What a thread does after each input: it makes the summaries that are due, and drops what is no longer needed.

use super::stored_text::{StoredTranscript, document};
use super::{Thread, ThreadError};
use crate::rolling::lines::LineKind;
use crate::rolling::window::first_stored;
use crate::rolling::{RollingSummary, RollingView, StateSoFar};
use curtail_core::dialects;
use curtail_core::transcript::Message;

impl Thread {
    /// Makes the summaries that are due and drops lines that are no longer needed. `before` is the number of messages that were
    /// stored before the last input.
    pub(super) fn advance(&mut self, summary: &RollingSummary, before: usize) -> Result<(), ThreadError> {
        if self.dialect.as_deref().and_then(dialects::dialect_named).is_none() {
            return Ok(());
        }
        self.drop_rolled_back(summary, before)?;
        let text = self.lines();
        let document = document(&text)?;
        let stored = self.read(&document)?;
        self.mark_ahead(&stored.kinds);
        let rolling = self.summarized(summary, &stored)?;
        let dialect = stored.dialect;
        self.drop_outside(summary, &rolling, stored);
        self.memory = rolling.memory;
        self.drop_replaced(dialect)
    }

    /// The interactions in the thread, with the summaries that are due.
    fn summarized(&self, summary: &RollingSummary, stored: &StoredTranscript<'_>) -> Result<RollingView, ThreadError> {
        let mut rolling = self.rolling(summary, stored);
        let due = summary.due(&rolling);
        let mut fresh = summary.summarize(&stored.messages, &rolling, &due, None).map_err(ThreadError::Summary)?;
        let times = self.times(stored);
        for made in &mut fresh {
            let last = rolling.interaction(made.range.span.end);
            made.ts = last.and_then(|last| times.get(*last.utterances.last()?).cloned());
        }
        let seen = rolling.seen();
        rolling.memory.advance(summary.rolling, seen, fresh);
        Ok(rolling)
    }

    /// Drops what is before the window. Part of a list inside a line cannot be dropped: the line would no longer be the one that
    /// was read.
    fn drop_outside(&mut self, summary: &RollingSummary, rolling: &RollingView, stored: StoredTranscript<'_>) {
        if stored.kinds.iter().any(|kind| matches!(kind, LineKind::Nested { .. })) {
            return;
        }
        let held = summary.held(rolling).start.max(self.first);
        self.first = first_stored(rolling, held, &stored.messages);
        let start = rolling.interaction(self.first).map_or(0, |interaction| interaction.start);
        self.drop_before(start, stored);
    }

    /// The interactions in the thread. Messages that were kept in front of the window belong to none of them.
    pub(super) fn rolling(&self, summary: &RollingSummary, stored: &StoredTranscript<'_>) -> RollingView {
        let so_far = StateSoFar { state: self.memory.clone(), next: self.first };
        let mut rolling = summary.rolling_view(&stored.messages, Some(so_far));
        let lines = self.items.iter().zip(&stored.kinds);
        let front = lines.filter(|(line, kind)| line.outlived && matches!(kind, LineKind::Message(_))).count();
        if let Some(first) = rolling.interactions.first_mut() {
            first.start = first.start.max(front);
        }
        rolling
    }

    /// The time of each message: its own, or that of its line.
    pub(super) fn times(&self, stored: &StoredTranscript<'_>) -> Vec<String> {
        let lines = self.items.iter().zip(&stored.kinds);
        let times = lines.flat_map(|(line, kind)| {
            kind.messages().map(|at| {
                let value = stored.messages.get(at).and_then(Message::value);
                value.and_then(|value| stored.dialect.time(value)).unwrap_or_else(|| line.ts.clone())
            })
        });
        times.collect()
    }
}
