//! Dropping what a thread no longer needs: messages before the window, and turns that were rolled back.

use super::{Thread, ThreadError, document};
use crate::rolling::RollingSummary;
use crate::rolling::lines::{LineKind, StoredLine, line_kinds, line_values, mark_ahead, spaces};
use crate::rolling::window::plan_from;
use curtail_core::dialects::{Dialect, Item};
use curtail_core::edit::apply;
use curtail_core::figures::FigureEdits;
use curtail_core::processors::{Decision, View, apply_plan, drop_standing};
use curtail_core::transcript::{Layout, Message, Standing, Transcript};

impl Thread {
    /// Drops the turns that were rolled back, as a run over the whole log does once it summarizes. `stored` is the number of
    /// messages that were stored before the last input.
    ///
    /// # Errors
    /// [`ThreadError::RolledBack`] if the thread may have summarized turns that are rolled back.
    pub(super) fn drop_rolled_back(
        &mut self,
        summary: &RollingSummary,
        dialect: &dyn Dialect,
        stored: usize,
    ) -> Result<(), ThreadError> {
        let text = self.lines();
        let document = document(&text)?;
        let Transcript { layout, messages } = self.transcript(&document)?.1;
        let Some(first) = messages.iter().position(|message| message.standing.is_rolled_back()) else {
            return Ok(());
        };
        let has_begun = self.dropped > 0 || !self.memory.summaries.is_empty();
        if has_begun && first < stored {
            return Err(ThreadError::RolledBack);
        }
        let kinds = line_kinds(&line_values(&document), &layout);
        if !has_begun && summary.due(&self.rolling(summary, &messages, &kinds)).is_empty() {
            return Ok(());
        }
        self.mark_ahead(&kinds);
        let view = View::of_layout(&layout, &messages);
        let plan = drop_standing(&view, Standing::TAKEN_BACK);
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
        layout: &Layout<'_>,
        messages: Vec<Message<'_>>,
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

    /// Keeps the messages `remaining` with their metadata and drops the others. `kept` says of each message whether it is kept.
    /// Kept lines do not change, except for links to dropped messages. The window begins at `start`.
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
        apply(layout, dialect, remaining, &FigureEdits::default(), &mut text);
        let mut is_owner_kept = true;
        let mut lines = Vec::new();
        for (line, kind) in std::mem::take(&mut self.items).into_iter().zip(kinds) {
            let outlives = match *kind {
                LineKind::Message(index) => {
                    is_owner_kept = kept[index];
                    is_owner_kept && index < start
                }
                LineKind::With(index) if !kept[index] => continue,
                LineKind::Pinned => !is_owner_kept,
                _ => false,
            };
            if is_owner_kept || !matches!(kind, LineKind::Message(_)) {
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
    /// Marks the lines that are metadata of the message after them. What stands in front of the window was marked while the
    /// messages before it were there, without which it is read as if it belonged to the next message.
    pub(super) fn mark_ahead(&mut self, kinds: &[LineKind]) {
        let is_in_window = |(line, kind): (&StoredLine, &LineKind)| !line.outlived && !kind.messages().is_empty();
        let front = self.items.iter().zip(kinds).position(is_in_window).filter(|_| self.dropped > 0).unwrap_or(0);
        mark_ahead(&mut self.items[front..], &kinds[front..]);
    }

    /// Drops metadata that outlived its message and has since been replaced by a later line.
    pub(super) fn drop_replaced(&mut self, dialect: &dyn Dialect) -> Result<(), ThreadError> {
        if !self.items.iter().any(|line| line.outlived) {
            return Ok(());
        }
        let text = self.lines();
        let document = document(&text)?;
        let read = dialect.read_all(&line_values(&document));
        let mut stays = read.iter().map(|item| matches!(item, Item::Pinned | Item::Message(_)));
        self.items.retain(|line| stays.next().unwrap_or(true) || !line.outlived);
        Ok(())
    }
}
