//! A window that begins later and later, until one unit more would take the last exchange out of it.

use std::ops::Range;

use super::cascade::DropSet;
use super::past_units::{PastUnits, is_side_of_exchange};
use super::plan::Reason;
use crate::transcript::{Message, PartRef, Role, main_thread, turn_starts};

/// A window that begins later and later. What it dropped stays dropped, so no message is visited twice.
pub(super) struct ShrinkingWindow<'h, 'v, 'a> {
    past: &'h PastUnits<'v, 'a>,
    pub(super) drops: DropSet<'v, 'a>,
    reason: Reason,
    /// The main conversation, whose exchange is looked for.
    main: u32,
    /// Index of the first message of the window.
    first: usize,
    /// Indices of the messages of a person before the in-flight round, if the window has to start on one.
    turns: Vec<usize>,
    /// Index of the first message about which nothing is decided yet.
    next: usize,
    /// For each role: the newest message with text, and the reasoning that led to it.
    newest: [Range<usize>; 2],
}

impl<'h, 'v, 'a> ShrinkingWindow<'h, 'v, 'a> {
    /// All of the messages before the in-flight round. What is dropped of them is dropped for `reason`.
    pub(super) fn new(past: &'h PastUnits<'v, 'a>, reason: Reason) -> Self {
        let messages = past.view.messages;
        let flight = past.flight;
        let keep = past.preserved.keep;
        let mut turns = if keep.start_on_user { turn_starts(messages) } else { Vec::new() };
        turns.retain(|&turn| turn < flight);
        Self {
            past,
            drops: DropSet::none(past.view, past.pairs),
            reason,
            main: main_thread(messages),
            first: keep.front(&turns, 0),
            turns,
            next: past.preserved.head(&past.units),
            newest: [reply_before(messages, flight), reply_before(messages, flight)],
        }
    }

    /// Drops what is before `start`, with all that depends on it.
    pub(super) fn begin_at(&mut self, start: usize) {
        let preserved = &self.past.preserved;
        if start > self.first {
            self.first = preserved.keep.front(&self.turns, start);
        }
        preserved.drop_others(&mut self.drops, self.next..self.first, &self.reason);
        self.next = self.next.max(self.first);
    }

    /// Whether the window contains a message of `role` with text that is kept, and its reasoning.
    pub(super) fn has_text(&mut self, role: Role) -> bool {
        let nth = usize::from(role == Role::Assistant);
        let mut end = self.newest[nth].end;
        while end > self.first && !self.still_has_text(end - 1, role) {
            end -= 1;
        }
        if end < self.newest[nth].end {
            self.newest[nth] = reply_before(self.past.view.messages, end);
        }
        end > self.first && self.newest[nth].start >= self.first
    }

    fn still_has_text(&self, at: usize, role: Role) -> bool {
        let message = &self.past.view.messages[at];
        let mut spoken = message.parts.iter().enumerate().filter(|(_, part)| part.content.has_text());
        message.thread == self.main
            && is_side_of_exchange(message, role)
            && spoken.any(|(part, _)| !self.drops.is_part_gone(PartRef { message: at, part }))
    }
}

/// The message before `end`, with the reasoning right before it that led to it.
fn reply_before(messages: &[Message<'_>], end: usize) -> Range<usize> {
    let last = end.saturating_sub(1);
    let reasoning = messages[..last].iter().rev().take_while(|message| message.is_bound());
    last - reasoning.count()..end
}
