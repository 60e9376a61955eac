//! The calls of a thread that are open while its messages are read in order, and which of them a result answers.

use std::borrow::Cow;
use std::collections::VecDeque;

use foldhash::{HashMap, HashSet};

use super::{Family, Message, PartRef, Role, ToolCall, ToolResult};
use crate::json::Text;

/// The id and the family of a call.
type Key<'m> = (Cow<'m, str>, Family);

/// The calls of a thread that have no result yet.
#[derive(Default)]
pub(super) struct Open<'m> {
    /// The newest call with each id and family, by its index in `calls`.
    by_id: HashMap<Key<'m>, usize>,
    /// Calls with an id, each with the index of the one before it that shares id and family and is still open.
    calls: Vec<(PartRef, Option<usize>)>,
    /// The calls of the turn whose id others of it may have as well, in order.
    shared: HashMap<Key<'m>, VecDeque<PartRef>>,
    /// Calls of the turn without an id, by family.
    nameless: HashMap<Family, Queue<'m>>,
    /// Whether the last message is from the assistant: its next message belongs to the same turn.
    speaking: bool,
    /// Whether the last message has results.
    answering: bool,
}

/// The open calls without ids of a turn.
#[derive(Default)]
struct Queue<'m> {
    /// The messages with calls, in order.
    rounds: Vec<Round>,
    /// The message from which on the calls have the results that are read.
    first: usize,
    /// All calls, in order; the answered ones are skipped when they are met.
    order: VecDeque<PartRef>,
    by_name: HashMap<Cow<'m, str>, VecDeque<PartRef>>,
    answered: HashSet<PartRef>,
}

/// A message with calls without ids.
struct Round {
    message: usize,
    calls: usize,
}

impl<'m> Open<'m> {
    /// Closes all calls but those with an id that `stays` names.
    pub(super) fn close(&mut self, stays: impl Fn(PartRef) -> bool) {
        self.nameless.clear();
        self.shared.values_mut().for_each(|calls| calls.retain(|call| stays(*call)));
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
    /// further message of the assistant closes them. `behind` has the messages of the thread from this one on.
    pub(super) fn follow<'n, 'a: 'n>(
        &mut self,
        message: &Message<'_>,
        behind: impl Iterator<Item = &'n Message<'a>> + Clone,
    ) {
        let answers = message.results().next().is_some();
        let goes_on = message.role == Role::Assistant && self.speaking;
        if !answers && !goes_on {
            self.nameless.clear();
            self.end_sharing();
        }
        if answers && !self.answering {
            let run = behind.take_while(|message| message.results().next().is_some());
            for (family, queue) in self.nameless.iter_mut().filter(|(_, queue)| queue.rounds.len() > 1) {
                let results = run.clone().flat_map(|message| message.results().map(|(_, result)| result));
                let of_family = results.filter(|result| {
                    message.call_rules.shared_ids || result.family == *family && given(result.id.as_ref()).is_none()
                });
                queue.skip(of_family.count());
            }
        }
        self.speaking = message.role == Role::Assistant;
        self.answering = answers;
    }

    /// Of a turn that has ended, the newest call with an id is answered first.
    fn end_sharing(&mut self) {
        for (key, calls) in std::mem::take(&mut self.shared) {
            calls.into_iter().for_each(|call| self.add_newest(key.clone(), call));
        }
    }

    fn add_newest(&mut self, key: Key<'m>, call: PartRef) {
        let before = self.by_id.insert(key, self.calls.len());
        self.calls.push((call, before));
    }

    /// Adds a call; `shares_ids` if others of its turn may have its id.
    pub(super) fn add(&mut self, call: &'m ToolCall<'_>, at: PartRef, shares_ids: bool) {
        let Some(id) = given(call.id.as_ref()) else {
            return self.nameless.entry(call.family).or_default().add(call.name.decode(), at);
        };
        let key = (id.decode(), call.family);
        match shares_ids {
            true => self.shared.entry(key).or_default().push_back(at),
            false => self.add_newest(key, at),
        }
    }

    /// The call that `result` answers. Where calls share ids, it is the first open one of the turn with the id, or else without.
    pub(super) fn take(&mut self, result: &'m ToolResult<'_>, shares_ids: bool) -> Option<PartRef> {
        let Some(id) = given(result.id.as_ref()) else { return self.take_nameless(result, result.family) };
        let local_shell = (result.family == Family::Function).then_some(Family::LocalShell);
        let mut keys = std::iter::once(result.family).chain(local_shell).map(|family| (id.decode(), family));
        let call = keys.find_map(|key| self.take_with_id(key));
        call.or_else(|| shares_ids.then(|| self.take_nameless(result, Family::Positional)).flatten())
    }

    fn take_with_id(&mut self, key: Key<'m>) -> Option<PartRef> {
        if let Some(first) = self.shared.get_mut(&key).and_then(VecDeque::pop_front) {
            return Some(first);
        }
        let (call, before) = self.calls[self.by_id.remove(&key)?];
        if let Some(before) = before {
            self.by_id.insert(key, before);
        }
        Some(call)
    }

    /// The next open call of a family with the result's name, or the next one if it has none.
    fn take_nameless(&mut self, result: &ToolResult<'_>, family: Family) -> Option<PartRef> {
        self.nameless.get_mut(&family)?.take(result.name.as_ref().map(|name| name.decode()).as_deref())
    }
}

/// An id, unless it is empty: some programs give all calls the same empty one.
pub(super) fn given<'m, 'a>(id: Option<&'m Text<'a>>) -> Option<&'m Text<'a>> {
    id.filter(|id| id.len_bound() > 0)
}

impl<'m> Queue<'m> {
    fn add(&mut self, name: Cow<'m, str>, at: PartRef) {
        match self.rounds.last_mut().filter(|round| round.message == at.message) {
            Some(round) => round.calls += 1,
            None => self.rounds.push(Round { message: at.message, calls: 1 }),
        }
        self.answered.remove(&at);
        self.order.push_back(at);
        self.by_name.entry(name).or_default().push_back(at);
    }

    /// Skips the first messages if those behind them have calls for as many results: the program gave them up.
    ///
    /// ```text
    /// call a   call b   result                 of b
    /// call a   call b   result   result        of a, of b
    /// ```
    fn skip(&mut self, results: usize) {
        let mut left: usize = self.rounds.iter().map(|round| round.calls).sum();
        for round in &self.rounds {
            self.first = round.message;
            left -= round.calls;
            if left < results.max(1) {
                break;
            }
        }
    }

    /// The first open call that is not skipped, or else the last one that is.
    fn take(&mut self, name: Option<&str>) -> Option<PartRef> {
        let calls = match name {
            Some(name) => self.by_name.get_mut(name)?,
            None => &mut self.order,
        };
        while !calls.is_empty() {
            let next = calls.partition_point(|call| call.message < self.first).min(calls.len() - 1);
            if let Some(call) = calls.remove(next).filter(|call| self.answered.insert(*call)) {
                return Some(call);
            }
        }
        None
    }
}
