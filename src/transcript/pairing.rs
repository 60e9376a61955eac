//! Which result answers which call: computed once, here, for processors, repair and rules alike.
//!
//! A result belongs to the nearest earlier open call with its id and family; where a format has no ids, to the first open
//! call of its name in the nearest message that has one open.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Family, Message, ToolResult};

/// A part, by the index of its message and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartRef {
    /// Index of the message.
    pub message: usize,
    /// Index of the part in it.
    pub part: usize,
}

/// The calls and results of a transcript, each with its other half if it has one.
#[derive(Debug, Default)]
pub struct Pairs {
    halves: HashMap<PartRef, PartRef>,
    calls: Vec<PartRef>,
    results: Vec<PartRef>,
}

impl Pairs {
    /// Finds the pairs of `messages`.
    #[must_use]
    pub fn find(messages: &[Message<'_>]) -> Self {
        let mut pairs = Self::default();
        let mut open = Open::default();
        for (at, message) in messages.iter().enumerate() {
            if message.barrier {
                open = Open::default();
            }
            for (nth, part) in message.parts.iter().enumerate() {
                let here = PartRef { message: at, part: nth };
                if let Some(call) = part.content.call() {
                    pairs.calls.push(here);
                    open.add(
                        message.thread,
                        call.id.as_ref().map(|id| id.decode()),
                        call.family,
                        call.name.decode(),
                        here,
                    );
                } else if let Some(result) = part.content.result() {
                    pairs.results.push(here);
                    if let Some(call) = open.take(message.thread, result) {
                        pairs.halves.insert(call, here);
                        pairs.halves.insert(here, call);
                    }
                }
            }
        }
        pairs
    }

    /// The other half of a call or result; `None` if it has none.
    #[must_use]
    pub fn other_half(&self, half: PartRef) -> Option<PartRef> {
        self.halves.get(&half).copied()
    }

    /// All calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[PartRef] {
        &self.calls
    }

    /// All results, in order.
    #[must_use]
    pub fn results(&self) -> &[PartRef] {
        &self.results
    }

    /// Call and result of every pair, in the order of the calls.
    pub fn pairs(&self) -> impl Iterator<Item = (PartRef, PartRef)> {
        self.calls.iter().filter_map(|&call| self.other_half(call).map(|result| (call, result)))
    }
}

type IdKey<'m> = (u32, Family, Cow<'m, str>);

/// The calls that still wait for their result.
#[derive(Default)]
struct Open<'m> {
    by_id: HashMap<IdKey<'m>, Vec<PartRef>>,
    /// Calls without an id, oldest first: thread, family, name, place.
    nameless: Vec<(u32, Family, Cow<'m, str>, PartRef)>,
}

impl<'m> Open<'m> {
    fn add(&mut self, thread: u32, id: Option<Cow<'m, str>>, family: Family, name: Cow<'m, str>, at: PartRef) {
        match id {
            Some(id) => self.by_id.entry((thread, family, id)).or_default().push(at),
            None => self.nameless.push((thread, family, name, at)),
        }
    }

    fn take(&mut self, thread: u32, result: &'m ToolResult<'_>) -> Option<PartRef> {
        match &result.id {
            Some(id) => self.by_id.get_mut(&(thread, result.family, id.decode()))?.pop(),
            None => self.take_nameless(thread, result),
        }
    }

    fn take_nameless(&mut self, thread: u32, result: &ToolResult<'_>) -> Option<PartRef> {
        let alike = |call: &(u32, Family, Cow<'_, str>, PartRef)| call.0 == thread && call.1 == result.family;
        let nearest = self.nameless.iter().rev().find(|call| alike(call))?.3.message;
        let mut there = self.nameless.iter().enumerate().filter(|(_, call)| alike(call) && call.3.message == nearest);
        let nth = match &result.name {
            Some(name) => there.find(|(_, call)| name.is(&call.2))?.0,
            None => there.next()?.0,
        };
        Some(self.nameless.remove(nth).3)
    }
}
