//! Which result belongs to which call: computed once, here, for processors, repair and rules.
//!
//! A result belongs to the nearest earlier open call with its id and family. In formats without ids it belongs to the first
//! open call with its name, in the nearest message of the turn that has an open call.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::{Family, Message, Role, ToolCall, ToolResult};

/// A part, by the index of its message and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartRef {
    /// Index of the message.
    pub message: usize,
    /// Index of the part in it.
    pub part: usize,
}

/// Why a result has no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The nearest earlier call with its id is of another family.
    OtherFamily(PartRef),
    /// The nearest earlier call with its id is answered already.
    Answered(PartRef),
    /// The call with its id comes later.
    Later(PartRef),
}

impl Mismatch {
    /// The call that explains the mismatch.
    #[must_use]
    pub const fn call(self) -> PartRef {
        match self {
            Self::OtherFamily(call) | Self::Answered(call) | Self::Later(call) => call,
        }
    }
}

/// The calls and results of a transcript, each with its other half if it has one.
#[derive(Debug, Default)]
pub struct Pairs {
    /// Number of parts before each message.
    before: Vec<usize>,
    /// For every part of every message, in order.
    halves: Vec<Option<PartRef>>,
    mismatches: HashMap<PartRef, Mismatch>,
    claimants: HashMap<PartRef, Vec<PartRef>>,
    calls: Vec<PartRef>,
    results: Vec<PartRef>,
}

impl Pairs {
    /// Finds the pairs of `messages`.
    #[must_use]
    pub fn find(messages: &[Message<'_>]) -> Self {
        let mut pairs = Self::of_none(messages);
        let mut open = Open::default();
        for (at, message) in messages.iter().enumerate() {
            if message.barrier {
                open.close(message.thread);
            }
            open.follow(message);
            for (nth, part) in message.parts.iter().enumerate() {
                let here = PartRef { message: at, part: nth };
                if let Some(call) = part.content.call() {
                    pairs.calls.push(here);
                    open.add(message.thread, call, here);
                } else if let Some(result) = part.content.result() {
                    pairs.results.push(here);
                    if let Some(call) = open.take(message.thread, result) {
                        pairs.join(call, here);
                    }
                }
            }
        }
        pairs.find_mismatches(messages);
        pairs
    }

    fn of_none(messages: &[Message<'_>]) -> Self {
        let mut count = 0;
        let before = messages.iter().map(|message| {
            let before = count;
            count += message.parts.len();
            before
        });
        let before = before.collect();
        Self { before, halves: vec![None; count], ..Self::default() }
    }

    fn join(&mut self, call: PartRef, result: PartRef) {
        for (half, other) in [(call, result), (result, call)] {
            let at = self.before[half.message] + half.part;
            self.halves[at] = Some(other);
        }
    }

    fn find_mismatches(&mut self, messages: &[Message<'_>]) {
        let unpaired: Vec<PartRef> = self.results.iter().copied().filter(|at| self.other_half(*at).is_none()).collect();
        if unpaired.is_empty() {
            return;
        }
        let mut by_id: HashMap<Id<'_>, Vec<PartRef>> = HashMap::default();
        for &at in &self.calls {
            let call = messages[at.message].parts[at.part].content.call();
            if let Some(id) = call.and_then(|call| call.id.as_ref()) {
                by_id.entry((messages[at.message].thread, id.decode())).or_default().push(at);
            }
        }
        for at in unpaired {
            let Some(result) = messages[at.message].parts[at.part].content.result() else { continue };
            let id = result.id.as_ref().map(|id| (messages[at.message].thread, id.decode()));
            let calls = id.and_then(|id| by_id.get(&id)).map_or(&[][..], Vec::as_slice);
            let family = |call: PartRef| messages[call.message].parts[call.part].content.call().map(|call| call.family);
            let earlier = calls[..calls.partition_point(|&call| call < at)].last().copied();
            let later = calls.iter().copied().find(|call| *call > at && self.other_half(*call).is_none());
            let mismatch = match (earlier, later) {
                (Some(call), _) if family(call) != Some(result.family) => Mismatch::OtherFamily(call),
                (Some(call), _) if self.other_half(call).is_some() => Mismatch::Answered(call),
                (_, Some(call)) => Mismatch::Later(call),
                _ => continue,
            };
            self.mismatches.insert(at, mismatch);
            self.claimants.entry(mismatch.call()).or_default().push(at);
        }
    }

    /// Why a result has no call, if a call with the same id explains it.
    #[must_use]
    pub fn mismatch(&self, result: PartRef) -> Option<Mismatch> {
        self.mismatches.get(&result).copied()
    }

    /// Results without a call whose mismatch names this call.
    #[must_use]
    pub fn claimants(&self, call: PartRef) -> &[PartRef] {
        self.claimants.get(&call).map_or(&[], Vec::as_slice)
    }

    /// The other half of a call or result; `None` if it has none.
    #[must_use]
    pub fn other_half(&self, half: PartRef) -> Option<PartRef> {
        *self.halves.get(self.before.get(half.message)? + half.part)?
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

type Id<'m> = (u32, Cow<'m, str>);

/// The calls that have no result yet.
#[derive(Default)]
struct Open<'m> {
    /// The newest call with each id and family, by its index in `calls`.
    by_id: HashMap<(Id<'m>, Family), usize>,
    /// Calls with an id, each with the index of the one before it that shares id and family and is still open.
    calls: Vec<(PartRef, Option<usize>)>,
    /// Calls without an id, oldest first: thread, family, name, place.
    nameless: Vec<(u32, Family, Cow<'m, str>, PartRef)>,
    /// Threads whose last message is from the assistant: its next message belongs to the same turn.
    speaking: HashSet<u32>,
}

impl<'m> Open<'m> {
    fn close(&mut self, thread: u32) {
        self.by_id.retain(|((there, _), _), _| *there != thread);
        self.nameless.retain(|call| call.0 != thread);
    }

    /// Calls without an id are answered by position, and only within a turn: a message that is neither a result nor a
    /// further message of the assistant closes them.
    fn follow(&mut self, message: &Message<'_>) {
        let thread = message.thread;
        let answers = message.results().next().is_some();
        let goes_on = message.role == Role::Assistant && self.speaking.contains(&thread);
        if !answers && !goes_on {
            self.nameless.retain(|call| call.0 != thread);
        }
        if message.role == Role::Assistant {
            self.speaking.insert(thread)
        } else {
            self.speaking.remove(&thread)
        };
    }

    fn add(&mut self, thread: u32, call: &'m ToolCall<'_>, at: PartRef) {
        match &call.id {
            Some(id) => {
                let before = self.by_id.insert(((thread, id.decode()), call.family), self.calls.len());
                self.calls.push((at, before));
            }
            None => self.nameless.push((thread, call.family, call.name.decode(), at)),
        }
    }

    fn take(&mut self, thread: u32, result: &'m ToolResult<'_>) -> Option<PartRef> {
        let Some(id) = &result.id else { return self.take_nameless(thread, result) };
        let id = ((thread, id.decode()), result.family);
        let (call, before) = self.calls[self.by_id.remove(&id)?];
        if let Some(before) = before {
            self.by_id.insert(id, before);
        }
        Some(call)
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
