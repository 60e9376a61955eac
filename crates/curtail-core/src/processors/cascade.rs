//! Cascading drops: counterparts of calls and results, emptied messages, and reasoning without its call.

use foldhash::{HashMap, HashSet};

use super::pins::{AWAITED, Awaiting, LAST_USER, Pins, QUESTION, Question, TASK, why_preserved};
use super::plan::{Change, Decision, Plan, Reason, Remark};
use super::view::View;
use crate::json::Value;
use crate::transcript::{Content, Message, Pairs, Part, PartRef, Standing, first_prompt, reach};

/// The messages and parts to drop. Each drop also drops what cannot be kept without it, so no pair is broken by a cut.
///
/// ```text
/// 1 assistant (reasoning)   2 assistant calls a, b   3 result of a   4 result of b
/// ```
///
/// Dropping call `a` drops message 3, its only result, and keeps call `b` with message 4. Dropping call `b` as well leaves
/// message 2 without content: message 2 is dropped, then message 4 as the counterpart of `b`, and message 1, whose
/// reasoning led to message 2.
#[derive(Clone)]
pub struct DropSet<'v, 'a> {
    messages: &'v [Message<'a>],
    pairs: &'v Pairs,
    whole: Vec<Option<Reason>>,
    parts: HashSet<PartRef>,
    /// The messages that lost a part.
    thinned: HashMap<usize, Thinned<'a>>,
    /// The messages that are dropped with another, by the index of that one in the transcript that was read.
    dependent: HashMap<usize, Vec<usize>>,
    /// Boundaries that should be dropped, but are kept while a message after them is.
    boundaries: Vec<(usize, Reason)>,
    /// Messages that are only dropped with something else.
    pinned: Pinned,
    /// Questions that should be dropped, but are kept while a part of the in-flight round that answers them is.
    open: Vec<OpenQuestion>,
    /// What stays because the answer to a call can still come.
    awaiting: Awaiting,
    /// Messages that are kept although they were to be dropped, and why.
    kept: Vec<(usize, Reason)>,
    /// Drops that are not applied yet. A list instead of recursion: a cascade can run through a whole transcript.
    waiting: Vec<(Target, Reason)>,
}

/// A message that lost a part.
#[derive(Clone)]
struct Thinned<'a> {
    /// Why it lost the first one.
    reason: Reason,
    /// How many parts remain that are worth keeping it for.
    remaining: usize,
    /// The parts in the same bytes, where there are several.
    elements: HashMap<Value<'a>, Vec<usize>>,
    /// Whether it is indivisible, and its calls are dropped.
    lost_calls: bool,
}

impl<'a> Thinned<'a> {
    /// `message`, which is about to lose its first part for `reason`.
    fn new(message: &Message<'a>, reason: Reason) -> Self {
        let mut elements: HashMap<Value<'a>, Vec<usize>> = HashMap::default();
        for (nth, part) in message.parts.iter().enumerate() {
            if let Some(place) = part.place().filter(|place| place.piece.is_none()) {
                elements.entry(place.element).or_default().push(nth);
            }
        }
        elements.retain(|_, parts| parts.len() > 1);
        let remaining = message.parts.iter().filter(|part| part.is_worth_keeping()).count();
        Self { reason, remaining, elements, lost_calls: false }
    }

    /// The parts in the bytes of `part`, such as a result that is written inside its call.
    fn same_bytes(&mut self, part: &Part<'a>) -> Vec<usize> {
        part.place().and_then(|place| self.elements.remove(&place.element)).unwrap_or_default()
    }
}

/// What [`DropSet::pinning`] pins.
#[derive(Clone, Default)]
struct Pinned {
    pins: Pins,
    /// Index of the first message that a person wrote, if it is pinned.
    task: Option<usize>,
    /// Indices of the messages that [`Pins::question`] pins.
    questions: Vec<usize>,
}

/// A question that should be dropped.
#[derive(Clone)]
struct OpenQuestion {
    at: usize,
    reason: Reason,
    keeps_instructions: bool,
}

/// The messages that boundaries replace, by their conversation.
#[derive(Default)]
struct Replaced {
    /// Index of the first one that no boundary replaces which stays.
    first: HashMap<u32, usize>,
    /// The conversations with a replaced message that stays and a boundary that marks a range, so that the order of messages does
    /// not say which boundary replaces which of them.
    ranges: HashSet<u32>,
    /// Index of the last boundary that stays. Where what replaces is in a record that is no message, that stays.
    last: HashMap<u32, usize>,
}

impl Replaced {
    /// Whether a message would be read again without the boundary `at` of `thread`.
    fn needs(&self, thread: u32, at: usize) -> bool {
        self.first.get(&thread).is_some_and(|first| *first < at) || self.ranges.contains(&thread)
    }

    /// Whether the boundary `at` of `thread` has one behind it that stays.
    fn is_followed(&self, thread: u32, at: usize) -> bool {
        self.last.get(&thread).is_some_and(|last| *last > at)
    }
}

#[derive(Clone, Copy)]
enum Target {
    Message(usize),
    Part(PartRef),
}

const CALL_DROPPED: Reason = Reason::Borrowed("with its call");
const RESULT_DROPPED: Reason = Reason::Borrowed("with its result");
const BOUNDARY: Reason = Reason::Borrowed("replaces everything before it, and messages after it are kept");
const REPLACES: Reason = Reason::Borrowed("replaces messages before it that are kept");
const EMPTIED: Reason = Reason::Borrowed("no text, call or result remains in it");
const NO_FOLLOWER: Reason = Reason::Borrowed("with the message that it led to");
const NO_REASONING: Reason = Reason::Borrowed("with the reasoning it depends on");
const NO_TURN: Reason = Reason::Borrowed("with the beginning of turns that were rolled back");
const SAME_BYTES: Reason = Reason::Borrowed("it is stored inside a part that was dropped");
const SAME_PROGRAM: Reason = Reason::Borrowed("a call of the same program or reply was dropped");
const INDIVISIBLE: Reason = Reason::Borrowed("another call under the same signature was dropped");

impl<'v, 'a> DropSet<'v, 'a> {
    /// Nothing is dropped yet. Calls whose answer can still come stay.
    #[must_use]
    pub fn none(view: &View<'v, 'a>, pairs: &'v Pairs) -> Self {
        Self { awaiting: Awaiting::new(view.messages, pairs), ..Self::of_faults(view, pairs) }
    }

    /// Nothing is dropped yet; any part can be, to repair it.
    pub(super) fn of_faults(view: &View<'v, 'a>, pairs: &'v Pairs) -> Self {
        let count = view.messages.len();
        Self {
            messages: view.messages,
            pairs,
            whole: vec![None; count],
            parts: HashSet::default(),
            thinned: HashMap::default(),
            dependent: dependent(view.messages),
            boundaries: Vec::new(),
            pinned: Pinned::default(),
            open: Vec::new(),
            awaiting: Awaiting::default(),
            kept: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// The same, with these messages pinned: they can only lose parts.
    #[must_use]
    pub fn pinning(self, pins: Pins) -> Self {
        let task = first_prompt(self.messages).filter(|_| pins.first_user);
        let questions = pins.question.among(self.messages, self.pairs);
        Self { pinned: Pinned { pins, task, questions }, ..self }
    }

    /// Why the message is pinned, if it is.
    fn pin_of(&self, at: usize) -> Option<Reason> {
        if self.awaiting.messages.contains(&at) {
            return Some(AWAITED);
        }
        let Pinned { pins, task, .. } = &self.pinned;
        let message = &self.messages[at];
        match pins.system && message.instructs() {
            true => Some(why_preserved(message)),
            false if *task == Some(at) => Some(TASK),
            false => (pins.question == Question::Always && self.is_question(at)).then_some(LAST_USER),
        }
    }

    /// Whether the message is a question that [`Pins::question`] pins.
    fn is_question(&self, at: usize) -> bool {
        self.pinned.questions.contains(&at)
    }

    /// Whether the whole message is dropped.
    #[must_use]
    pub fn is_gone(&self, message: usize) -> bool {
        self.whole[message].is_some()
    }

    /// Whether the part is dropped, alone or with its message.
    #[must_use]
    pub fn is_part_gone(&self, part: PartRef) -> bool {
        self.is_gone(part.message) || self.parts.contains(&part)
    }

    /// Drops a message and the counterparts of its calls and results.
    pub fn drop_message(&mut self, at: usize, reason: Reason) {
        if let Some(pinned) = self.pin_of(at) {
            return self.spare(at, pinned);
        }
        if self.is_question(at) {
            return self.open.push(OpenQuestion { at, reason, keeps_instructions: false });
        }
        self.waiting.push((Target::Message(at), reason));
        self.drain();
    }

    /// Drops a message, except for instructions of the application beside its other parts.
    pub fn drop_but_instructions(&mut self, at: usize, reason: &Reason) {
        let parts = &self.messages[at].parts;
        let is_pinned = self.pin_of(at).is_some();
        let are_over = self.messages[at].standing.is_rolled_back();
        if is_pinned || are_over || !parts.iter().any(Part::instructs) {
            return self.drop_message(at, reason.clone());
        }
        if self.is_question(at) {
            return self.open.push(OpenQuestion { at, reason: reason.clone(), keeps_instructions: true });
        }
        for part in (0..parts.len()).filter(|nth| !parts[*nth].instructs()) {
            self.drop_part(PartRef { message: at, part }, reason.clone());
        }
    }

    /// Drops a part and its counterpart; drops the message too if no text, call or result remains.
    pub fn drop_part(&mut self, part: PartRef, reason: Reason) {
        if self.awaiting.parts.contains(&part) {
            return self.spare(part.message, AWAITED);
        }
        self.waiting.push((Target::Part(part), reason));
        self.drain();
    }

    /// Drops a message of reasoning, and keeps what it led to.
    pub(crate) fn drop_alone(&mut self, at: usize, reason: Reason) {
        self.whole[at] = Some(reason);
    }

    /// Keeps a message that would be dropped if it were like any other.
    pub fn spare(&mut self, at: usize, reason: Reason) {
        self.kept.push((at, reason));
    }

    fn drain(&mut self) {
        while let Some((target, reason)) = self.waiting.pop() {
            match target {
                // Its calls and their results stay.
                Target::Message(at) if self.awaiting.messages.contains(&at) => {}
                Target::Part(part) if self.awaiting.parts.contains(&part) => {}
                Target::Message(at) if self.messages[at].is_boundary() && !self.is_gone(at) => {
                    self.boundaries.push((at, reason));
                }
                Target::Message(at) if !self.is_gone(at) => self.mark_message(at, reason),
                Target::Part(part) if !self.is_part_gone(part) && !self.is_of_boundary(part) => {
                    self.mark_part(part, reason);
                }
                _ => {}
            }
        }
    }

    /// Whether a part is the content of a boundary.
    fn is_of_boundary(&self, part: PartRef) -> bool {
        let message = &self.messages[part.message];
        message.is_boundary()
            && matches!(message.parts[part.part].content, Content::Text(_) | Content::Unknown(_) | Content::Other)
    }

    /// Drops the questions that should be dropped and are not asked any more: nothing is left of the in-flight round that answers
    /// them, or it begins after another one.
    fn settle(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        while !open.is_empty() {
            let questions: Vec<usize> = open.iter().map(|question| question.at).collect();
            let still = Question::InFlight.still(&questions, &self.clone().decided(), self.messages);
            let (kept, dropped): (Vec<_>, Vec<_>) = open.into_iter().partition(|question| still.contains(&question.at));
            if dropped.is_empty() {
                for question in kept {
                    self.spare(question.at, QUESTION);
                }
                return;
            }
            self.pinned.questions.retain(|at| still.contains(at));
            for OpenQuestion { at, reason, keeps_instructions } in dropped {
                match keeps_instructions {
                    true => self.drop_but_instructions(at, &reason),
                    false => self.drop_message(at, reason),
                }
            }
            open = kept;
        }
    }

    /// Drops the boundaries that should be dropped and that no kept message of their conversation needs: neither one after them,
    /// nor one before them that a model would read again.
    fn release(&mut self) {
        self.boundaries.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        // What is named twice is decided once.
        self.boundaries.dedup_by_key(|(at, _)| *at);
        if self.boundaries.is_empty() {
            return;
        }
        let mut replaced = self.replaced();
        for (at, reason) in std::mem::take(&mut self.boundaries) {
            if self.is_gone(at) {
                continue;
            }
            let Message { thread, standing, .. } = self.messages[at];
            let mut following = at + 1..reach(self.messages, at);
            // What later ones replaced would be read again without them.
            let is_read = standing != Standing::Superseded || replaced.is_followed(thread, at);
            let is_needed =
                is_read && following.any(|after| self.messages[after].thread == thread && !self.is_gone(after));
            if is_needed || replaced.needs(thread, at) {
                self.kept.push((at, if is_needed { BOUNDARY } else { REPLACES }));
                // As long as it stays, no earlier message is read again.
                replaced.first.remove(&thread);
                replaced.last.entry(thread).or_insert(at);
            } else {
                self.mark_message(at, reason);
                self.drain();
            }
        }
    }

    /// The kept messages that a model would read again without the boundaries that should be dropped.
    fn replaced(&self) -> Replaced {
        let due: HashSet<usize> = self.boundaries.iter().map(|(at, _)| *at).collect();
        let mut replaced = Replaced::default();
        let replacing = self.messages.iter().filter(|one| one.is_boundary() && one.standing != Standing::Superseded);
        let by_message: HashSet<u32> = replacing.map(|message| message.thread).collect();
        let threads = self.messages.iter().map(|message| message.thread);
        replaced.last.extend(threads.filter(|thread| !by_message.contains(thread)).map(|thread| (thread, usize::MAX)));
        let mut marked = HashSet::default();
        let mut kept = HashSet::default();
        for (at, message) in self.messages.iter().enumerate().filter(|(at, _)| !self.is_gone(*at)) {
            let thread = message.thread;
            let is_due = due.contains(&at);
            if message.marks_range {
                marked.insert(thread);
            }
            if message.is_boundary() && !is_due {
                replaced.first.remove(&thread);
                let last = replaced.last.entry(thread).or_insert(at);
                *last = at.max(*last);
            }
            if message.standing == Standing::Superseded && !is_due {
                replaced.first.entry(thread).or_insert(at);
                kept.insert(thread);
            }
        }
        replaced.ranges = marked.intersection(&kept).copied().collect();
        replaced
    }

    fn mark_message(&mut self, at: usize, reason: Reason) {
        self.whole[at] = Some(reason);
        for nth in 0..self.messages[at].parts.len() {
            self.counterpart_follows(PartRef { message: at, part: nth });
        }
        // Reasoning is dropped with the message it led to, and a call with the reasoning it depends on.
        if at > 0 && self.messages[at - 1].is_bound_reasoning() {
            self.waiting.push((Target::Message(at - 1), NO_FOLLOWER));
        }
        if self.messages[at].is_bound_reasoning()
            && self.messages.get(at + 1).is_some_and(|next| next.calls().next().is_some())
        {
            self.waiting.push((Target::Message(at + 1), NO_REASONING));
        }
        let dependent = self.messages[at].source_index().and_then(|index| self.dependent.remove(&index));
        self.waiting.extend(dependent.into_iter().flatten().map(|other| (Target::Message(other), NO_TURN)));
    }

    fn mark_part(&mut self, part: PartRef, reason: Reason) {
        let message = &self.messages[part.message];
        let this = &message.parts[part.part];
        self.parts.insert(part);
        self.counterpart_follows(part);
        let thinned = self.thinned.entry(part.message).or_insert_with(|| Thinned::new(message, reason.clone()));
        thinned.remaining -= usize::from(this.is_worth_keeping());
        let same = thinned.same_bytes(this).into_iter().filter(|&nth| nth != part.part);
        self.waiting.extend(same.map(|nth| (Target::Part(PartRef { part: nth, ..part }), SAME_BYTES)));
        if message.call_rules.indivisible && this.content.call().is_some() && !thinned.lost_calls {
            thinned.lost_calls = true;
            let batch = message.calls().map(|(nth, _)| Target::Part(PartRef { part: nth, ..part }));
            self.waiting.extend(batch.map(|call| (call, INDIVISIBLE)));
        }
        if thinned.remaining == 0 {
            let reason = if message.parts.len() > 1 { EMPTIED } else { reason };
            self.waiting.push((Target::Message(part.message), reason));
        }
    }

    fn counterpart_follows(&mut self, part: PartRef) {
        let is_call = part.part_in(self.messages).content.call().is_some();
        if let Some(other) = self.pairs.counterpart(part) {
            self.waiting.push((Target::Part(other), if is_call { CALL_DROPPED } else { RESULT_DROPPED }));
        }
        // A program and the calls that it made are one.
        let program = self.pairs.program(part).map(|call| (Target::Part(call), SAME_PROGRAM));
        self.waiting.extend(program);
        // A duplicate result of a dropped call would have no call.
        let claimants = self.pairs.claimants(part).iter();
        self.waiting.extend(claimants.map(|&result| (Target::Part(result), CALL_DROPPED)));
    }

    /// The plan that drops these messages and parts.
    #[must_use]
    pub fn into_plan(mut self) -> Plan {
        self.settle();
        self.decided()
    }

    /// The plan as it is decided so far: questions that should be dropped are kept.
    fn decided(mut self) -> Plan {
        self.release();
        let mut plan = Plan::keep(self.messages.len());
        let mut parts: Vec<PartRef> = self.parts.into_iter().collect();
        parts.sort_unstable();
        for part in parts {
            if self.whole[part.message].is_none() {
                let reason = self.thinned.get(&part.message).map_or(CALL_DROPPED, |thinned| thinned.reason.clone());
                plan.change(part.message, [Change::Cut(part.part)], reason);
            }
        }
        for (decision, reason) in plan.decisions.iter_mut().zip(&mut self.whole) {
            if let Some(reason) = reason.take() {
                *decision = Decision::Drop(reason);
            }
        }
        self.kept.sort_by_key(|(at, _)| *at);
        self.kept.dedup_by_key(|(at, _)| *at);
        let kept = self.kept.into_iter().filter(|(at, _)| plan.keeps(*at));
        plan.remarks = kept.map(|(at, reason)| Remark::kept(at, reason)).collect();
        plan
    }
}

/// The messages that are dropped with another, by the index of that one in the transcript that was read.
fn dependent(messages: &[Message<'_>]) -> HashMap<usize, Vec<usize>> {
    let mut dependent: HashMap<usize, Vec<usize>> = HashMap::default();
    for (at, message) in messages.iter().enumerate() {
        if let Some(other) = message.dropped_with.map(|other| other as usize) {
            dependent.entry(other).or_default().push(at);
        }
    }
    dependent
}
