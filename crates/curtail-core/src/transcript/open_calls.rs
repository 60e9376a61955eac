//! The calls of a thread that are open while its messages are read in order, and which of them a result answers.

use std::borrow::Cow;
use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};

use super::{Family, Message, PartRef, Role, ToolCall, ToolResult};
use crate::json::Text;

/// The calls of a thread that have no result yet.
#[derive(Default)]
pub(super) struct Open<'m> {
    /// The newest call with each id and family, by its index in `calls`.
    by_id: HashMap<(Cow<'m, str>, Family), usize>,
    /// Calls with an id, each with the index of the one before it that shares id and family and is still open.
    calls: Vec<(PartRef, Option<usize>)>,
    /// Calls without an id, by family: the messages with open calls, in order.
    nameless: HashMap<Family, Vec<Round<'m>>>,
    /// Whether the last message is from the assistant: its next message belongs to the same turn.
    speaking: bool,
}

/// The open calls without ids of one message.
#[derive(Default)]
struct Round<'m> {
    message: usize,
    /// Number of calls that are still open.
    open: usize,
    /// All calls, in order; the answered ones are skipped when they are met.
    order: VecDeque<PartRef>,
    by_name: HashMap<Cow<'m, str>, VecDeque<PartRef>>,
    answered: HashSet<PartRef>,
}

impl<'m> Open<'m> {
    /// Closes all calls but those with an id that `stays` names.
    pub(super) fn close(&mut self, stays: impl Fn(PartRef) -> bool) {
        self.nameless.clear();
        let mut by_id = std::mem::take(&mut self.by_id);
        by_id.retain(|_, newest| {
            let mut kept: Vec<usize> = Vec::new();
            let mut next = Some(*newest);
            while let Some(at) = next {
                kept.extend(Some(at).filter(|at| stays(self.calls[*at].0)));
                next = self.calls[at].1;
            }
            for pair in kept.windows(2) {
                self.calls[pair[0]].1 = Some(pair[1]);
            }
            if let (Some(&first), Some(&last)) = (kept.first(), kept.last()) {
                *newest = first;
                self.calls[last].1 = None;
            }
            !kept.is_empty()
        });
        self.by_id = by_id;
    }

    /// Calls without an id are answered by position, and only within a turn: a message that is neither a result nor a
    /// further message of the assistant closes them.
    pub(super) fn follow(&mut self, message: &Message<'_>) {
        let answers = message.results().next().is_some();
        let goes_on = message.role == Role::Assistant && self.speaking;
        if !answers && !goes_on {
            self.nameless.clear();
        }
        self.speaking = message.role == Role::Assistant;
    }

    pub(super) fn add(&mut self, call: &'m ToolCall<'_>, at: PartRef) {
        if let Some(id) = given(call.id.as_ref()) {
            let before = self.by_id.insert((id.decode(), call.family), self.calls.len());
            self.calls.push((at, before));
            return;
        }
        let rounds = self.nameless.entry(call.family).or_default();
        if rounds.last().is_none_or(|round| round.message != at.message) {
            rounds.push(Round { message: at.message, ..Round::default() });
        }
        if let Some(round) = rounds.last_mut() {
            round.add(call.name.decode(), at);
        }
    }

    pub(super) fn take(&mut self, result: &'m ToolResult<'_>) -> Option<PartRef> {
        let Some(id) = given(result.id.as_ref()) else { return self.take_nameless(result) };
        let local_shell = (result.family == Family::Function).then_some(Family::LocalShell);
        let mut keys = std::iter::once(result.family).chain(local_shell).map(|family| (id.decode(), family));
        let (key, newest) = keys.find_map(|key| self.by_id.remove(&key).map(|newest| (key, newest)))?;
        let (call, before) = self.calls[newest];
        if let Some(before) = before {
            self.by_id.insert(key, before);
        }
        Some(call)
    }

    /// The first open call with the result's name in the newest message that has open calls of its family.
    fn take_nameless(&mut self, result: &ToolResult<'_>) -> Option<PartRef> {
        let rounds = self.nameless.get_mut(&result.family)?;
        let call = rounds.last_mut()?.take(result.name.as_ref().map(|name| name.decode()).as_deref());
        if rounds.last().is_some_and(|round| round.open == 0) {
            rounds.pop();
        }
        call
    }
}

/// An id, unless it is empty: some programs give all calls the same empty one.
pub(super) fn given<'m, 'a>(id: Option<&'m Text<'a>>) -> Option<&'m Text<'a>> {
    id.filter(|id| id.len_bound() > 0)
}

impl<'m> Round<'m> {
    fn add(&mut self, name: Cow<'m, str>, at: PartRef) {
        self.open += 1;
        self.order.push_back(at);
        self.by_name.entry(name).or_default().push_back(at);
    }

    fn take(&mut self, name: Option<&str>) -> Option<PartRef> {
        let calls = match name {
            Some(name) => self.by_name.get_mut(name)?,
            None => &mut self.order,
        };
        while let Some(call) = calls.pop_front() {
            if self.answered.insert(call) {
                self.open -= 1;
                return Some(call);
            }
        }
        None
    }
}
