//! When a chain pauses: where a transcript would be read otherwise than its messages are now, it is written and read again, so that
//! the next stage decides about what a second run would see.

use std::collections::HashSet;

use crate::transcript::{Layout, Message, SlotKind, Standing, main_thread, same_side};

/// Messages that decide whether a program still reads the others.
#[derive(Clone, Copy)]
pub(super) struct ReadFrom {
    /// The number of boundaries.
    boundaries: usize,
    /// Index of the newest message of the main conversation, if turns were rolled back: in a log that is a tree, those are the
    /// messages that do not lead to it. One of them is newer only if the newest record is not a message.
    pub(super) newest: Option<usize>,
}

impl ReadFrom {
    pub(super) fn messages(messages: &[Message<'_>]) -> Self {
        let boundaries = messages.iter().filter(|message| message.is_boundary()).count();
        if !messages.iter().any(|message| message.standing.is_rolled_back()) {
            return Self { boundaries, newest: None };
        }
        let main = main_thread(messages);
        let of_main = messages.iter().rev().filter(|message| message.thread == main);
        let newest = of_main.clone().filter(|message| message.standing != Standing::Abandoned);
        let newest = newest.chain(of_main).find_map(Message::source_index);
        Self { boundaries, newest }
    }

    pub(super) fn is_lost_in(self, messages: &[Message<'_>]) -> bool {
        Self::messages(messages).boundaries < self.boundaries || self.is_newest_lost_in(messages)
    }

    pub(super) fn is_newest_lost_in(self, messages: &[Message<'_>]) -> bool {
        let now = Self::messages(messages).newest;
        now.is_some() && now != self.newest
    }
}

/// Whether metadata is dropped with its message while a message between the two is kept, which would then be read with other
/// metadata.
pub(super) fn loses_settings(layout: &Layout<'_>, messages: &[Message<'_>]) -> bool {
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

/// Messages of one side that follow each other, by their index in the transcript that was read.
type Neighbors = [Option<usize>; 2];

pub(super) fn neighbors(messages: &[Message<'_>]) -> impl Iterator<Item = Neighbors> {
    let dialogue = messages.iter().enumerate().filter(|(_, message)| !message.role.instructs());
    same_side(dialogue).into_iter().map(move |pair| pair.map(|at| messages[at].source_index()))
}

/// The note that messages of one side follow each other that did not `before`, where user and assistant have to alternate.
pub(super) fn sides_note(before: &HashSet<Neighbors>, messages: &[Message<'_>]) -> Option<String> {
    let new: Vec<Neighbors> = neighbors(messages).filter(|pair| !before.contains(pair)).collect();
    let [first, second] = (*new.first()?).map(|at| at.map_or_else(|| String::from("a new one"), |at| at.to_string()));
    let others = match new.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Some(format!(
        "messages {first} and {second}{others} are of one side and now follow each other, but user and assistant have to \
         alternate; `curtail check` reports them as alternation"
    ))
}

/// The number of messages besides system and developer messages.
pub(super) fn conversation(messages: &[Message<'_>]) -> usize {
    messages.iter().filter(|message| !message.role.instructs()).count()
}
