//! What a thread no longer stores: messages before the window, and turns that were taken back.

use super::error::ThreadError;
use super::stored::{LineKind, StoredLine, line_kinds, line_values, note_ahead, plan_from, spaces};
use super::text::document;
use super::thread::Thread;
use crate::rolling::RollingSummary;
use curtail_core::dialects::Dialect;
use curtail_core::edit::apply;
use curtail_core::processors::{Decision, View, apply_plan, drop_standing};
use curtail_core::transcript::{Layout, Message, Standing, Transcript};

impl Thread {
    /// Drops the turns that an event takes back, as a run over the whole log does once it summarizes. `stored` messages were
    /// stored before the last input.
    ///
    /// # Errors
    /// [`ThreadError::TakenBack`] if the thread took turns before that it may have summarized.
    pub(super) fn drop_rolled_back(
        &mut self,
        summary: &RollingSummary,
        dialect: &dyn Dialect,
        stored: usize,
    ) -> Result<(), ThreadError> {
        let text = self.lines();
        let document = document(&text)?;
        let Transcript { layout, messages } = self.transcript(&document)?.1;
        let Some(first) = messages.iter().position(|message| message.standing.is_taken_back()) else {
            return Ok(());
        };
        let has_begun = self.dropped > 0 || !self.memory.summaries.is_empty();
        if has_begun && first < stored {
            return Err(ThreadError::TakenBack);
        }
        let kinds = line_kinds(&line_values(&document), &layout);
        if !has_begun && summary.due(&self.rolling(summary, &messages, &kinds)).is_empty() {
            return Ok(());
        }
        note_ahead(&mut self.items, &kinds);
        let view = View::new(&messages, &layout.preamble, layout.pairing_rules).placing(layout.context);
        let plan = drop_standing(&view, &[Standing::RolledBack, Standing::Abandoned]);
        let mut kept = vec![false; messages.len()];
        let remaining = apply_plan(messages, &plan);
        remaining.iter().filter_map(Message::source_index).for_each(|index| kept[index] = true);
        self.keep(&layout, dialect, &remaining, &kept, &kinds, 0);
        Ok(())
    }

    /// Drops the messages before `start` with their metadata.
    pub(super) fn drop_before(
        &mut self,
        start: usize,
        dialect: &dyn Dialect,
        (layout, messages): (&Layout<'_>, Vec<Message<'_>>),
        kinds: &[LineKind],
    ) {
        let plan = plan_from(start, &messages);
        if plan.is_identity() {
            return;
        }
        let kept: Vec<bool> = plan.decisions.iter().map(|decision| !matches!(decision, Decision::Drop(_))).collect();
        let remaining = apply_plan(messages, &plan);
        self.keep(layout, dialect, &remaining, &kept, kinds, start);
    }

    /// Keeps `remaining`, the messages that are `kept`, with their metadata. What is kept stays as it is, except for links to
    /// what is dropped. The window begins at `start`.
    fn keep(
        &mut self,
        layout: &Layout<'_>,
        dialect: &dyn Dialect,
        remaining: &[Message<'_>],
        kept: &[bool],
        kinds: &[LineKind],
        start: usize,
    ) {
        let mut text = String::new();
        apply(layout, dialect, remaining, &mut text);
        let (mut owner, mut lines) = (true, Vec::new());
        for (line, kind) in std::mem::take(&mut self.items).into_iter().zip(kinds) {
            let outlives = match *kind {
                LineKind::Message(index) => {
                    owner = kept[index];
                    owner && index < start
                }
                LineKind::With(index) if !kept[index] => continue,
                LineKind::Pinned => !owner,
                _ => false,
            };
            if owner || !matches!(kind, LineKind::Message(_)) {
                lines.push(StoredLine { outlived: line.outlived || outlives, ..line });
            }
        }
        if let Ok(document) = document(&text) {
            let values = line_values(&document);
            if values.len() == lines.len() {
                let leads = spaces(&text, &values).0;
                for (nth, (line, value)) in lines.iter_mut().zip(&values).enumerate() {
                    value.raw().clone_into(&mut line.json);
                    if nth > 0 {
                        leads[nth].clone_into(&mut line.lead);
                    }
                }
            }
        }
        self.items = lines;
        self.dropped += kept.iter().filter(|kept| !**kept).count();
    }
}
