//! Policies that decide about a growing conversation incrementally, from what they sent before, so that the history is
//! not read from its beginning for every request.

use std::sync::Arc;

use super::history::{History, WrittenMessages};
use super::prefixes::{Difference, Runs, Sent};
use crate::calibration::Request;
use curtail_core::pipeline::{Chain, Stage};
use curtail_core::processors::{Budget, Counting, Processor, ProcessorError, View};
use curtail_core::steps;
use curtail_core::transcript::{Layout, Message};

/// How a policy decides incrementally, from request to request.
pub(super) enum Growing {
    /// It clears all but the last results.
    Results(Results),
    /// It keeps the newest segments that fit into a budget.
    Newest(Newest),
    /// It continues from the state in which an earlier part of the history left it.
    Resumed(Resumed),
}

impl Growing {
    /// How `processor` decides about a growing `history`; `None` if it has to see the whole history each time.
    pub(super) fn new(processor: &Arc<dyn Processor>, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
        if let Some(last) = processor.traits().growth.last_results {
            return Some(Self::Results(Results { last, open: Vec::new(), next: 0 }));
        }
        if !history.plain {
            return None;
        }
        Some(match processor.budget() {
            Some(budget) => Self::Newest(Newest::new(budget, history, layout)),
            None => Self::Resumed(Resumed { chain: None, from: 0, most: FIRST_SEARCH }),
        })
    }
}

/// The results that are not cleared yet: a policy clears a result once enough others follow it.
pub(super) struct Results {
    /// How many of the last results are never cleared.
    last: usize,
    /// Positions of messages with results that are not all cleared, and the number of their results.
    open: Vec<(usize, usize)>,
    /// Index in [`History::originals`] of the first message that no request has sent.
    next: usize,
}

impl Results {
    /// How `request` differs from the previous one, which sent `sent`. `run` applies the policy.
    pub(super) fn difference<'a>(
        &mut self,
        request: &Request,
        sent: &Sent,
        history: &History<'a>,
        counting: &Counting,
        written: &mut WrittenMessages,
        run: impl FnOnce(Vec<Message<'a>>) -> Result<Vec<Message<'a>>, ProcessorError>,
    ) -> Result<Difference, ProcessorError> {
        let end = history.originals.partition_point(|&at| at < request.at);
        let new = &history.originals[self.next.min(end)..end];
        let known = self.open.len();
        let results = new.iter().map(|&at| (at, history.messages[at].results().count()));
        self.open.extend(results.filter(|(_, count)| *count > 0));
        let mut at = self.next;
        self.next = end;
        let mut difference = sent.extended(0..0);
        if self.open.len() > known {
            let messages = self.open.iter().map(|&(at, _)| history.messages[at].clone()).collect();
            let first = self.open[0].0;
            difference = sent.cut(first);
            at = history.originals.partition_point(|&position| position < first).min(at);
            for message in run(messages)? {
                let Some(position) = history.position(&message) else { continue };
                let before = history.originals.partition_point(|&other| other < position);
                push_all(difference.runs(), &history.originals[at..before]);
                written.push(difference.runs(), history, counting, &message);
                at = before + 1;
            }
        }
        push_all(difference.runs(), &history.originals[at..end]);
        self.close();
        Ok(difference)
    }

    /// Forgets the messages whose results are all cleared.
    fn close(&mut self) {
        let (mut behind, mut open) = (0, self.open.len());
        while open > 0 && behind < self.last {
            open -= 1;
            behind += self.open[open].1;
        }
        self.open.drain(..open);
    }
}

/// Appends the messages at `positions`, as they were recorded.
fn push_all(runs: &mut Runs, positions: &[usize]) {
    let mut rest = positions;
    while let Some(&first) = rest.first() {
        // Positions ascend, so a run without a gap is found by bisection.
        let count = longest(rest.len(), |count| rest[count - 1] - first == count - 1);
        runs.push(first..first + count);
        rest = &rest[count..];
    }
}

/// The largest number from 1 to `most` for which `holds` is true. It must be true for 1, and stay false once it is
/// false.
fn longest(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (1, most);
    while low < high {
        steps::count(1);
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Sums of tokens, from which the newest segments that fit into a budget are found.
pub(super) struct Newest {
    /// The budget in tokens.
    most: usize,
    /// The number of tokens above which the policy cuts.
    trigger: usize,
    /// Tokens outside the messages.
    outside: usize,
    /// For each position, the tokens of the original messages before it, and of the instructions among them.
    sums: Vec<[usize; 2]>,
}

impl Newest {
    fn new(budget: Budget<'_>, history: &History<'_>, layout: &Layout<'_>) -> Self {
        let view = View::of_layout(layout, &history.messages);
        let mut sums = vec![[0; 2]];
        let mut originals = history.originals.iter().copied().peekable();
        for (at, message) in history.messages.iter().enumerate() {
            let [all, instructing] = sums[at];
            let is_original = originals.next_if_eq(&at).is_some();
            let tokens = if is_original { budget.counting.message(message) } else { 0 };
            sums.push([all + tokens, instructing + if message.role.instructs() { tokens } else { 0 }]);
        }
        let outside = budget.counting.outside(&view);
        Self { most: budget.most, trigger: budget.trigger, outside, sums }
    }

    /// The messages that `request` sends; `None` if the policy itself has to decide.
    pub(super) fn runs(&self, request: &Request, history: &History<'_>) -> Option<Runs> {
        let end = request.at;
        let [all, instructing] = self.sums[end];
        let start = if self.outside + all <= self.trigger { 0 } else { self.start(end, history, instructing)? };
        let mut runs = Runs::default();
        let before = history.instructions.partition_point(|&at| at < start);
        let is_original = |at: &&usize| history.originals.binary_search(at).is_ok();
        history.instructions[..before].iter().filter(is_original).for_each(|&at| runs.push(at..at + 1));
        push_all(&mut runs, history.originals_in(start..end));
        Some(runs)
    }

    /// The position from which on the newest segments before `end` fit. `None` if not even the last one fits, if they
    /// contain only instructions, or if one of their results has no call.
    fn start(&self, end: usize, history: &History<'_>, instructing: usize) -> Option<usize> {
        let room = self.most.checked_sub(self.outside + instructing)?;
        let free = |at: usize| self.sums[at][0] - self.sums[at][1];
        let last = history.joints.partition_point(|&joint| joint < end).checked_sub(1)?;
        let joint = history.joints[last];
        // An in-flight round may form several segments as long as its results are missing: all of them have to fit.
        if free(end) - free(joint) > room {
            return None;
        }
        let joints = &history.joints[..=last];
        let start = joints[joints.partition_point(|&joint| free(end) - free(joint) > room)];
        let is_empty = self.sums[end] == self.sums[start]
            || history.originals[history.originals.partition_point(|&at| at < start)..]
                .iter()
                .take_while(|&&at| at < end)
                .all(|&at| history.messages[at].role.instructs());
        (!is_empty && history.is_paired(start..end)).then_some(start)
    }
}

/// The number of messages above which a first state is looked for.
const FIRST_SEARCH: usize = 32;

/// The number of messages above which the next state is looked for, if the last search saw `messages`: a quarter more,
/// so that the searches take no more time than the decisions.
const fn next_search(messages: usize) -> usize {
    messages + messages / 4 + 8
}

/// The state from which a policy continues.
pub(super) struct Resumed {
    /// The policy in that state; `None` for the policy itself.
    chain: Option<Chain>,
    /// Position of the first message, besides instructions, that it has to see.
    from: usize,
    /// The number of messages above which a later state is looked for.
    most: usize,
}

impl Resumed {
    /// The messages that `chain` sends with `request`.
    pub(super) fn messages<'a>(
        &mut self,
        request: &Request,
        history: &History<'a>,
        chain: &Chain,
        layout: &Layout<'a>,
    ) -> Result<Vec<Message<'a>>, ProcessorError> {
        let is_paired = history.is_paired(self.from..request.at);
        let from = if is_paired { self.from } else { 0 };
        let mut positions = positions(from, request, history);
        let mut messages = history.messages_at(&positions);
        if is_paired && messages.len() > self.most && self.resume(&messages, &positions, history, chain, layout) {
            positions = self::positions(self.from, request, history);
            messages = history.messages_at(&positions);
        }
        let chain = self.chain.as_ref().filter(|_| is_paired).unwrap_or(chain);
        Ok(chain.run(layout, messages, |_, _, _| {})?.messages)
    }

    /// Looks for a later state in `messages`, which are at `positions`; returns whether there is one.
    fn resume<'a>(
        &mut self,
        messages: &[Message<'a>],
        positions: &[usize],
        history: &History<'a>,
        chain: &Chain,
        layout: &Layout<'a>,
    ) -> bool {
        self.most = next_search(messages.len());
        let chain = self.chain.as_ref().unwrap_or(chain);
        let Some(stage) = chain.stages.first() else { return false };
        let view = View::of_layout(layout, messages);
        let is_joint = |at: usize| positions.get(at).is_some_and(|at| history.joints.binary_search(at).is_ok());
        let Some((processor, index)) = stage.processor.resumed(&view, &is_joint) else { return false };
        self.from = positions[index];
        self.most = next_search(messages.len() - index);
        let stage = Stage { level: stage.level.clone(), processor };
        self.chain = Some(Chain { stages: vec![stage], ..Chain::default() });
        true
    }
}

/// The positions that a policy sees before `request`: those from `from` on, and instructions.
fn positions(from: usize, request: &Request, history: &History<'_>) -> Vec<usize> {
    let before = history.instructions.iter().copied().take_while(|&at| at < from);
    let before = before.filter(|at| history.originals.binary_search(at).is_ok());
    before.chain(history.originals_in(from..request.at).iter().copied()).collect()
}
