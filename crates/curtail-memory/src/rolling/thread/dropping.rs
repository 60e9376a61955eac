//! Dropping what a thread no longer needs: messages before the window, and turns that were rolled back.

use super::stored_text::{StoredTranscript, document};
use super::{Thread, ThreadError};
use crate::rolling::RollingSummary;
use crate::rolling::lines::{LineKind, StoredLine, line_values, mark_ahead, spaces};
use crate::rolling::window::plan_from;
use curtail_core::dialects::{Dialect, Item};
use curtail_core::edit::apply;
use curtail_core::figures::FigureEdits;
use curtail_core::processors::{Plan, View, apply_plan, drop_standing};
use curtail_core::transcript::Standing;

impl Thread {
    /// Drops the turns that were rolled back, as a run over the whole log does once it summarizes. `before` is the number of
    /// messages that were stored before the last input.
    ///
    /// # Errors
    /// [`ThreadError::RolledBack`] if the thread may have summarized turns that are rolled back.
    pub(super) fn drop_rolled_back(&mut self, summary: &RollingSummary, before: usize) -> Result<(), ThreadError> {
        let text = self.lines();
        let document = document(&text)?;
        let all = self.read(&document)?;
        let Some(first) = all.messages.iter().position(|message| message.standing.is_rolled_back()) else {
            return Ok(());
        };
        let has_begun = self.dropped > 0 || !self.memory.summaries.is_empty();
        if has_begun && first < before {
            return Err(ThreadError::RolledBack);
        }
        if !has_begun && summary.due(&self.rolling(summary, &all)).is_empty() {
            return Ok(());
        }
        self.mark_ahead(&all.kinds);
        let plan = drop_standing(&View::of_layout(&all.layout, &all.messages), Standing::ROLLED_BACK);
        self.carry_out(&plan, all, 0);
        Ok(())
    }

    /// Drops the messages before `start` with their metadata. `all` is what is stored.
    pub(super) fn drop_before(&mut self, start: usize, all: StoredTranscript<'_>) {
        let plan = plan_from(start, &all.messages);
        self.carry_out(&plan, all, start);
    }

    /// Drops the messages that `plan` drops of `all`, with their metadata. Lines that are kept do not change, except for links to
    /// dropped messages. The window begins at the message `start`.
    fn carry_out(&mut self, plan: &Plan, all: StoredTranscript<'_>, start: usize) {
        if plan.is_identity() {
            return;
        }
        let remaining = apply_plan(all.messages, plan);
        let kept = all.layout.kept(&remaining);
        let mut text = String::new();
        apply(&all.layout, all.dialect, &remaining, &FigureEdits::default(), &mut text);
        self.items = kept_lines(std::mem::take(&mut self.items), &all.kinds, &kept, start);
        write_again(&mut self.items, &text);
        self.dropped += kept.iter().filter(|kept| !**kept).count();
    }

    /// Marks the lines that are metadata of the message after them. What stands in front of the window was marked while the
    /// messages before it were there, without which it is read as if it belonged to the next message.
    pub(super) fn mark_ahead(&mut self, kinds: &[LineKind]) {
        let mut lines = self.items.iter().zip(kinds);
        let front = lines.position(|(line, kind)| !line.outlived && !kind.messages().is_empty());
        let front = front.filter(|_| self.dropped > 0).unwrap_or(0);
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

/// Those of `lines` that stay if the messages for which `kept` is true do. They outlive what is dropped if they are a message
/// before `start`, or metadata that is always kept behind a dropped message.
fn kept_lines(lines: Vec<StoredLine>, kinds: &[LineKind], kept: &[bool], start: usize) -> Vec<StoredLine> {
    let mut is_owner_kept = true;
    let mut stay = Vec::new();
    for (line, kind) in lines.into_iter().zip(kinds) {
        let outlives = match *kind {
            LineKind::Message(index) => {
                is_owner_kept = kept[index];
                if !is_owner_kept {
                    continue;
                }
                index < start
            }
            LineKind::With(index) if !kept[index] => continue,
            LineKind::Pinned => !is_owner_kept,
            LineKind::With(_) | LineKind::Nested { .. } => false,
        };
        stay.push(StoredLine { outlived: line.outlived || outlives, ..line });
    }
    stay
}

/// Takes the lines, and the separators between them, from `text`, in which an edit wrote them.
fn write_again(lines: &mut [StoredLine], text: &str) {
    let Ok(document) = document(text) else { return };
    let values = line_values(&document);
    if values.len() != lines.len() {
        return;
    }
    let leads = spaces(text, &values).0;
    for (nth, (line, value)) in lines.iter_mut().zip(&values).enumerate() {
        value.raw().clone_into(&mut line.json);
        if nth > 0 {
            leads[nth].clone_into(&mut line.lead);
        }
    }
}
