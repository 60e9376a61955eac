//! When a chain pauses: where a transcript would be read otherwise than its messages are now, it is written and read again, so that
//! the next stage decides about what a second run would see.

use std::collections::HashSet;

use super::chain::Chain;
use crate::transcript::{Layout, Message, SlotKind, Standing, main_thread};

impl Chain {
    /// Whether the transcript, which a stage changed, has to be written and read again before stage `next`. `messages` are what is
    /// left of those of `layout`.
    pub(super) fn is_read_before_next(
        &self,
        next: usize,
        layout: &Layout<'_>,
        messages: &[Message<'_>],
        read_from: ReadFrom,
    ) -> bool {
        // Text that a stage wrote can be read otherwise than it was meant, and a stage that writes can depend on what was written.
        self.writes(next)
            || next.checked_sub(1).is_some_and(|last| self.writes(last))
            || read_from.is_lost_in(messages)
            || messages.iter().any(Message::is_read_otherwise)
            || loses_settings(layout, messages)
    }

    fn writes(&self, stage: usize) -> bool {
        self.stages.get(stage).is_some_and(|stage| stage.processor.traits().writes)
    }
}

/// Messages that decide whether a program still reads the others.
#[derive(Clone, Copy)]
pub(super) struct ReadFrom {
    /// The number of boundaries.
    boundaries: usize,
    /// Index of the newest message of the main conversation, if turns were rolled back: in a log that is a tree, those are the
    /// messages that do not lead to it. One of them is newer only if the newest record is not a message.
    newest: Option<usize>,
    /// Whether there are results: calls of a log without any need none.
    has_results: bool,
}

impl ReadFrom {
    pub(super) fn messages(messages: &[Message<'_>]) -> Self {
        let boundaries = messages.iter().filter(|message| message.is_boundary()).count();
        let has_results = messages.iter().any(|message| message.results().next().is_some());
        if !messages.iter().any(|message| message.standing.is_rolled_back()) {
            return Self { boundaries, newest: None, has_results };
        }
        let main = main_thread(messages);
        let of_main = messages.iter().rev().filter(|message| message.thread == main);
        let newest = of_main.clone().filter(|message| message.standing != Standing::Abandoned);
        let newest = newest.chain(of_main).find_map(Message::source_index);
        Self { boundaries, newest, has_results }
    }

    fn is_lost_in(self, messages: &[Message<'_>]) -> bool {
        let now = Self::messages(messages);
        let only_calls_are_left = || messages.iter().any(|message| message.calls().next().is_some());
        now.boundaries < self.boundaries
            || self.is_newest_lost_in(messages)
            || self.has_results && !now.has_results && only_calls_are_left()
    }

    pub(super) fn is_newest_lost_in(self, messages: &[Message<'_>]) -> bool {
        let now = Self::messages(messages).newest;
        now.is_some() && now != self.newest
    }
}

/// Whether metadata is dropped with its message while a message between the two is kept, which would then be read with other
/// metadata.
fn loses_settings(layout: &Layout<'_>, messages: &[Message<'_>]) -> bool {
    let kept: HashSet<usize> = messages.iter().filter_map(Message::source_index).collect();
    let mut next = 0;
    layout.slots.iter().any(|slot| match slot.kind {
        SlotKind::Message(index) => {
            next = index + 1;
            false
        }
        SlotKind::With(last) => !kept.contains(&last) && (next..last).any(|at| kept.contains(&at)),
        SlotKind::Pinned | SlotKind::Frame { .. } => false,
    })
}
