//! What must go because something else goes: the other half of a pair, a message with nothing left to say, reasoning
//! without the call it led to.

use foldhash::HashSet;

use super::{Change, Decision, Plan, Reason, View};
use crate::transcript::{Content, Message, Pairs, PartRef};

/// What leaves a transcript, kept closed: no half of a pair stays without the other because of us.
pub(in crate::processors) struct DropSet<'v, 'a> {
    messages: &'v [Message<'a>],
    pairs: &'v Pairs,
    whole: Vec<Option<Reason>>,
    parts: HashSet<PartRef>,
    part_reason: Vec<Option<Reason>>,
    /// What is still to be dropped: a list and no recursion, because one cause can run through a whole transcript.
    waiting: Vec<(Target, Reason)>,
}

#[derive(Clone, Copy)]
enum Target {
    Message(usize),
    Part(PartRef),
}

const OTHER_HALF: Reason = Reason::Borrowed("the other half of its tool call left");
const NOTHING_LEFT: Reason = Reason::Borrowed("nothing is left to say");
const NO_FOLLOWER: Reason = Reason::Borrowed("what it led to left");
const NO_REASONING: Reason = Reason::Borrowed("the reasoning that must accompany it left");
const SAME_BYTES: Reason = Reason::Borrowed("what is written with it left");
const INDIVISIBLE: Reason = Reason::Borrowed("a call left the batch that only its first call signs");

impl<'v, 'a> DropSet<'v, 'a> {
    pub(in crate::processors) fn none(view: &View<'v, 'a>, pairs: &'v Pairs) -> Self {
        let count = view.messages.len();
        Self {
            messages: view.messages,
            pairs,
            whole: vec![None; count],
            parts: HashSet::default(),
            part_reason: vec![None; count],
            waiting: Vec::new(),
        }
    }

    /// Whether the message goes as a whole.
    pub(in crate::processors) fn is_gone(&self, message: usize) -> bool {
        self.whole[message].is_some()
    }

    /// Whether the part goes, alone or with its message.
    pub(in crate::processors) fn is_part_gone(&self, part: PartRef) -> bool {
        self.is_gone(part.message) || self.parts.contains(&part)
    }

    /// Drops a message, with the other halves of its calls and results.
    pub(in crate::processors) fn drop_message(&mut self, at: usize, reason: Reason) {
        self.waiting.push((Target::Message(at), reason));
        self.drain();
    }

    /// Drops a part, with its other half; its message goes too if nothing is left to say.
    pub(in crate::processors) fn drop_part(&mut self, part: PartRef, reason: Reason) {
        self.waiting.push((Target::Part(part), reason));
        self.drain();
    }

    fn drain(&mut self) {
        while let Some((target, reason)) = self.waiting.pop() {
            match target {
                Target::Message(at) if !self.is_gone(at) => self.mark_message(at, reason),
                Target::Part(part) if !self.is_part_gone(part) => self.mark_part(part, reason),
                _ => {}
            }
        }
    }

    fn mark_message(&mut self, at: usize, reason: Reason) {
        self.whole[at] = Some(reason);
        for nth in 0..self.messages[at].parts.len() {
            self.other_half_follows(PartRef { message: at, part: nth });
        }
        // Reasoning goes with what it led to, and a call with the reasoning that must accompany it.
        if at > 0 && self.messages[at - 1].is_bound_reasoning() {
            self.waiting.push((Target::Message(at - 1), NO_FOLLOWER));
        }
        if self.messages[at].is_bound_reasoning()
            && self.messages.get(at + 1).is_some_and(|next| next.calls().next().is_some())
        {
            self.waiting.push((Target::Message(at + 1), NO_REASONING));
        }
    }

    fn mark_part(&mut self, part: PartRef, reason: Reason) {
        let message = &self.messages[part.message];
        self.parts.insert(part);
        self.part_reason[part.message].get_or_insert(reason.clone());
        self.other_half_follows(part);
        let same_element =
            message.same_element(part.part).map(|nth| (Target::Part(PartRef { part: nth, ..part }), SAME_BYTES));
        self.waiting.extend(same_element);
        if message.indivisible && message.parts[part.part].content.call().is_some() {
            let batch = message.calls().map(|(nth, _)| Target::Part(PartRef { message: part.message, part: nth }));
            self.waiting.extend(batch.map(|call| (call, INDIVISIBLE)));
        }
        if self.is_empty(part.message) {
            let reason = if message.parts.len() > 1 { NOTHING_LEFT } else { reason };
            self.waiting.push((Target::Message(part.message), reason));
        }
    }

    fn other_half_follows(&mut self, part: PartRef) {
        if let Some(other) = self.pairs.other_half(part) {
            self.waiting.push((Target::Part(other), OTHER_HALF));
        }
        // A second answer would be an answer to nothing.
        let claimants = self.pairs.claimants(part).iter();
        self.waiting.extend(claimants.map(|&result| (Target::Part(result), OTHER_HALF)));
    }

    /// Whether all that stays of a message is reasoning or filler, which no provider takes by itself.
    fn is_empty(&self, at: usize) -> bool {
        let mut parts = self.messages[at].parts.iter().enumerate();
        parts.all(|(nth, part)| {
            let gone = self.parts.contains(&PartRef { message: at, part: nth });
            let mute = match &part.content {
                Content::Text(text) => text.is_blank(),
                Content::Reasoning(_) | Content::Other => true,
                _ => false,
            };
            gone || mute
        })
    }

    /// The plan that this comes to.
    pub(in crate::processors) fn into_plan(mut self) -> Plan {
        let mut plan = Plan::keep(self.messages.len());
        let mut parts: Vec<PartRef> = self.parts.into_iter().collect();
        parts.sort_unstable();
        for part in parts {
            if self.whole[part.message].is_none() {
                let reason = self.part_reason[part.message].clone().unwrap_or(OTHER_HALF);
                match &mut plan.decisions[part.message] {
                    Decision::Change(changes, _) => changes.push(Change::Cut(part.part)),
                    decision => *decision = Decision::Change(vec![Change::Cut(part.part)], reason),
                }
            }
        }
        for (decision, reason) in plan.decisions.iter_mut().zip(&mut self.whole) {
            if let Some(reason) = reason.take() {
                *decision = Decision::Drop(reason);
            }
        }
        plan
    }
}
