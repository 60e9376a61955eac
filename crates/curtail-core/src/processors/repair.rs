//! Repairs broken pairs: drops them, answers calls with a stub, or moves results to their calls.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{
    Change, Decision, DropSet, Insert, Insertion, Plan, Prepend, Processor, ProcessorError, Reason, Traits, View,
};
use crate::json::Value;
use crate::transcript::{
    DraftPart, DraftResult, Family, Fault, FaultKind, Message, PairingRules, Pairs, PartRef, Placement, ResultPlace,
    Role,
};

/// How to repair a broken pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RepairMode {
    /// Drop it with its counterpart; keep the first of duplicates.
    Drop,
    /// Answer an unanswered call with a result that says it was interrupted; drop other faults.
    Stub,
    /// Move a detached result, or one that comes before its call, to its call; drop other faults.
    #[default]
    Move,
}

/// Repairs pairing faults. One pass repairs the faults that it finds; a chain repeats passes until no fault remains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repair {
    /// How to repair a fault.
    pub mode: RepairMode,
    /// Whether calls that are pending at the end are repaired too.
    pub pending: bool,
}

/// Whether no message of the user follows another one.
fn alternates(view: &View<'_, '_>) -> bool {
    view.messages.windows(2).all(|pair| pair[0].role != Role::User || pair[1].role != Role::User)
}

impl Repair {
    /// This repair, followed by one that drops what it could not move or answer.
    ///
    /// ```
    /// use curtail_core::dialects::{Framing, Reading};
    /// use curtail_core::pipeline::{Chain, TextCutter};
    /// use curtail_core::processors::{Repair, RepairMode};
    ///
    /// let chat = concat!(
    ///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
    ///     "{\"role\":\"tool\",\"tool_call_id\":\"call-1\",\"content\":\"05:12\"}\n",
    ///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
    /// );
    /// let stages = Repair { mode: RepairMode::Move, pending: true }.with_drop();
    /// let chain = stages.into_iter().fold(Chain::default(), Chain::then);
    /// let cutter = TextCutter { chain, ..TextCutter::default() };
    /// let mut repaired = String::new();
    /// cutter.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut repaired)?;
    /// assert!(!repaired.contains("call-1"), "a result without its call is dropped");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_drop(self) -> Vec<Self> {
        let drop = Self { mode: RepairMode::Drop, ..self };
        if self.mode == RepairMode::Drop { vec![drop] } else { vec![self, drop] }
    }
}

/// The text of a stub result.
const INTERRUPTED: &str = "[interrupted: this tool call was never answered]";

impl Processor for Repair {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn traits(&self) -> Traits {
        let passes = match self.mode {
            // A drop can expose further faults. Each pass drops at least one part, so the passes end.
            RepairMode::Drop => usize::MAX,
            // An answer that does not pair with its call would be inserted and dropped for ever. 64 passes are more than any
            // known log needs; the remaining faults are dropped by the stage that follows.
            RepairMode::Stub | RepairMode::Move => 64,
        };
        Traits {
            passes,
            writes: self.mode != RepairMode::Drop,
            repairs_pairs: true,
            may_empty: true,
            ..Traits::default()
        }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        Ok(self.plan(view, view.pairing_rules, Exempt::default()))
    }
}

impl Repair {
    /// Repairs the faults that `view` has under `rules`, except those that are exempt; results are placed as its own format
    /// writes them.
    fn plan(self, view: &View<'_, '_>, rules: PairingRules, exempt: Exempt) -> Plan {
        let pairs = Pairs::from_messages(view.messages);
        let mut faults = Fault::find_all(view.messages, &pairs, rules);
        faults.retain(|fault| self.pending || fault.kind != FaultKind::PendingCall);
        exempt.remove(&mut faults, view, rules);
        let nameless = exempt.nameless(view, &pairs, rules);
        if !nameless.is_empty() {
            return drop_parts(view, &pairs, nameless.into_iter().map(|at| (at, Reason::Borrowed("missing-id"))));
        }
        // A duplicate id changes which result pairs with which call; without it the other pairs may be intact.
        let duplicate = |fault: &&Fault| fault.kind == FaultKind::DuplicateCallId;
        if faults.iter().any(|fault| duplicate(&fault)) {
            // No pair cascades here: the results may belong to the call that is kept.
            return drop_faults(view, &Pairs::default(), faults.iter().filter(duplicate));
        }
        let early = if self.mode == RepairMode::Move { early_results(&faults, &pairs) } else { HashMap::new() };
        let answered: HashSet<PartRef> = early.values().copied().collect();
        faults.retain(|fault| !(is_unanswered(fault) && answered.contains(&fault.at)));
        let placer = AnswerPlacer::new(view, rules, &pairs, &early);
        let is_repairable = |fault: &Fault| match self.mode {
            RepairMode::Drop => false,
            RepairMode::Stub => placer.can_answer(fault),
            RepairMode::Move => placer.can_move(fault),
        };
        let (repairable, broken): (Vec<Fault>, Vec<Fault>) = faults.into_iter().partition(is_repairable);
        // A message that contains nothing but a broken result is where the answer belongs: dropped first, it would leave the call
        // without a next message.
        let answers_first =
            self.mode == RepairMode::Stub && placer.is_inside() && !repairable.is_empty() && alternates(view);
        if broken.is_empty() || answers_first {
            placer.answer(&repairable)
        } else {
            drop_faults(view, &pairs, broken.iter())
        }
    }
}

/// Repairs some faults, or what another provider would reject, in transcripts of any format.
#[derive(Debug, Clone, Copy)]
pub struct RepairFor {
    /// How to repair it.
    pub repair: Repair,
    /// The rules of the provider, if they are not those of the transcript's own format.
    pub profile: Option<PairingRules>,
    /// The faults that stay.
    pub exempt: Exempt,
}

/// Faults that a repair leaves as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exempt {
    kinds: u16,
    /// Calls and results without the id that their format requires.
    pub missing_ids: bool,
    /// Results after other content of the right message.
    pub not_first: bool,
    /// Messages that the model no longer reads.
    pub unread: bool,
}

impl Exempt {
    /// The same faults, and those of a kind.
    #[must_use]
    pub const fn and(self, kind: FaultKind) -> Self {
        Self { kinds: self.kinds | 1 << kind as u16, ..self }
    }

    const fn contains(self, kind: FaultKind) -> bool {
        self.kinds & 1 << kind as u16 != 0
    }

    /// The calls and results to drop because they lack the id that the format requires: no provider pairs them, even if they
    /// are side by side. Nothing can answer such a call any more, so it is not pending either.
    fn nameless(self, view: &View<'_, '_>, pairs: &Pairs, rules: PairingRules) -> Vec<PartRef> {
        if self.missing_ids || !rules.ids {
            return Vec::new();
        }
        let lacks_id = |at: &PartRef| {
            let is_exempt = self.unread && !view.messages[at.message].standing.is_read();
            !is_exempt && rules.lacks_id(&at.part_in(view.messages).content)
        };
        pairs.calls().iter().chain(pairs.results()).copied().filter(lacks_id).collect()
    }

    fn remove(self, faults: &mut Vec<Fault>, view: &View<'_, '_>, rules: PairingRules) {
        if self == Self::default() || faults.is_empty() {
            return;
        }
        let part = |at: PartRef| &at.part_in(view.messages).content;
        let lenient = PairingRules { results: ResultPlace::NextMessage, ..rules };
        let placement =
            (rules.results == ResultPlace::NextMessageFirst).then(|| Placement::new(view.messages, lenient));
        let is_inside = |fault: &Fault| {
            let call = fault.other.filter(|_| fault.kind == FaultKind::DetachedResult);
            placement.as_ref().zip(call).is_some_and(|(placement, call)| placement.is_attached(call, fault.at))
        };
        let stays = |fault: &Fault| match fault {
            _ if self.unread && !view.messages[fault.at.message].standing.is_read() => true,
            // What lacks an id is dropped for that, whatever else is wrong with it.
            _ if rules.lacks_id(part(fault.at)) => self.missing_ids,
            _ if is_inside(fault) => self.not_first,
            _ => self.contains(fault.kind),
        };
        // A call has no result because its result is exempt: one finding explains both.
        let explained: HashSet<PartRef> = faults
            .iter()
            .filter(|fault| stays(fault))
            .flat_map(|fault| match fault.kind {
                FaultKind::ResultBeforeCall | FaultKind::FamilyMismatch => [None, fault.other],
                FaultKind::DuplicateCallId => [Some(fault.at), fault.other],
                _ => [None, None],
            })
            .flatten()
            .collect();
        faults.retain(|fault| !(stays(fault) || is_unanswered(fault) && explained.contains(&fault.at)));
    }
}

impl Processor for RepairFor {
    fn name(&self) -> &'static str {
        self.repair.name()
    }

    fn traits(&self) -> Traits {
        self.repair.traits()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let rules = self.profile.map_or(view.pairing_rules, |profile| profile.over(view.pairing_rules));
        Ok(self.repair.plan(view, rules, self.exempt))
    }
}

fn drop_faults<'f>(view: &View<'_, '_>, pairs: &Pairs, faults: impl Iterator<Item = &'f Fault>) -> Plan {
    drop_parts(view, pairs, faults.map(|fault| (fault.at, Reason::Borrowed(fault.kind.name()))))
}

fn drop_parts(view: &View<'_, '_>, pairs: &Pairs, parts: impl Iterator<Item = (PartRef, Reason)>) -> Plan {
    let mut drops = DropSet::of_faults(view, pairs);
    parts.for_each(|(at, reason)| drops.drop_part(at, reason));
    drops.into_plan()
}

const fn is_unanswered(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::UnansweredCall | FaultKind::PendingCall)
}

/// The results that come before their call and are its only result, each with the call.
fn early_results(faults: &[Fault], pairs: &Pairs) -> HashMap<PartRef, PartRef> {
    let mut calls = HashSet::new();
    let early = faults.iter().filter(|fault| fault.kind == FaultKind::ResultBeforeCall);
    let early = early.filter_map(|fault| Some((fault.at, fault.other?)));
    early.filter(|(_, call)| pairs.counterpart(*call).is_none() && calls.insert(*call)).collect()
}

/// Places results next to their calls.
struct AnswerPlacer<'v, 'a> {
    view: &'v View<'v, 'a>,
    /// Message and tool of every answered call without an id.
    answered: HashSet<(usize, Cow<'v, str>)>,
    /// Messages that contain only results of calls of one message.
    single: HashSet<usize>,
    /// The results that come before their call and can be moved after it.
    early: &'v HashMap<PartRef, PartRef>,
    /// Results that are written inside a call.
    in_call: HashSet<PartRef>,
    /// For each message: where results for its calls are inserted, and the next message of its thread after that place.
    behind: Vec<(usize, Option<usize>)>,
}

impl<'v, 'a> AnswerPlacer<'v, 'a> {
    /// A placer for `rules`; `early` are the results that come before their call.
    fn new(
        view: &'v View<'v, 'a>,
        rules: PairingRules,
        pairs: &'v Pairs,
        early: &'v HashMap<PartRef, PartRef>,
    ) -> Self {
        let call_of = |at: PartRef| at.part_in(view.messages).content.call();
        let nameless = pairs.pairs().filter_map(|(at, _)| Some((at, call_of(at).filter(|call| call.id.is_none())?)));
        let answered = nameless.map(|(at, call)| (at.message, call.name.decode())).collect();
        let answers_one = |at: &usize| {
            let call = |at: PartRef| pairs.counterpart(at).or_else(|| early.get(&at).copied());
            let others = (0..view.messages[*at].parts.len()).map(|part| call(PartRef { message: *at, part }));
            let mut others = others.map(|other| other.map(|other| other.message));
            let first = others.next().flatten();
            first.is_some() && others.all(|other| other == first)
        };
        let single = (0..view.messages.len()).filter(answers_one).collect();
        Self { view, answered, single, early, in_call: in_call(view), behind: behind(view, rules) }
    }

    fn message(&self, part: PartRef) -> &'v Message<'a> {
        &self.view.messages[part.message]
    }

    /// Whether the format writes results inside messages.
    fn is_inside(&self) -> bool {
        use ResultPlace::{NextMessage, NextMessageFirst, SameMessage};
        matches!(self.view.pairing_rules.results, NextMessage | NextMessageFirst | SameMessage)
    }

    /// Whether a stub would pair with this call and no other. A call with invalid arguments is dropped instead: no tool could
    /// have accepted it. So is a call without an id in a format with ids, because no result can name it. In formats without
    /// ids, results pair by name and order, so a stub next to a result of the same tool could pair with the wrong call.
    fn can_answer(&self, fault: &Fault) -> bool {
        let call = self.message(fault.at).parts[fault.at.part].content.call();
        let Some(call) = call.filter(|call| is_unanswered(fault) && call.argument_fault().is_none()) else {
            return false;
        };
        match &call.id {
            Some(id) => id.len_bound() > 0,
            None => {
                let needs_id =
                    self.view.pairing_rules.ids && !matches!(call.family, Family::Positional | Family::ToolSearch);
                !needs_id && !self.answered.contains(&(fault.at.message, call.name.decode()))
            }
        }
    }

    /// Whether the result can be moved to its call: as a part if the format stores results inside messages; otherwise as a
    /// message that contains only results of the same calling message.
    fn can_move(&self, fault: &Fault) -> bool {
        let message = self.message(fault.at);
        let hosted = message.parts[fault.at.part].content.result().is_none_or(|result| result.same_message);
        (fault.kind == FaultKind::DetachedResult || self.early.contains_key(&fault.at))
            && !hosted
            && !self.in_call.contains(&fault.at)
            && (self.is_inside() || self.single.contains(&fault.at.message))
    }

    /// Places moved results and stubs where the format expects them.
    fn answer(&self, faults: &[Fault]) -> Plan {
        let mut plan = Plan::keep(self.view.messages.len());
        let mut by_call: BTreeMap<usize, Vec<(PartRef, Prepend)>> = BTreeMap::new();
        let (inside, beside): (Vec<&Fault>, Vec<&Fault>) = faults.iter().partition(|fault| self.holds_result(fault));
        for fault in inside {
            let answer = Change::Answer(fault.at.part, INTERRUPTED.to_owned());
            plan.change(fault.at.message, [answer], Reason::Borrowed(fault.kind.name()));
        }
        for fault in beside {
            let (call, answer) = match fault.other.filter(|_| !is_unanswered(fault)) {
                Some(call) => (call, Some(Prepend::Moved(fault.at))),
                None => (fault.at, self.stub(fault.at).map(Prepend::Draft)),
            };
            by_call.entry(call.message).or_default().extend(answer.map(|answer| (call, answer)));
        }
        let moved: BTreeSet<PartRef> =
            faults.iter().filter(|fault| !is_unanswered(fault)).map(|fault| fault.at).collect();
        self.cut_moved(&moved, &mut plan);
        for (call, mut answers) in by_call {
            answers.sort_by_key(|(call, _)| *call);
            self.place(call, answers.into_iter().map(|(_, answer)| answer).collect(), &mut plan);
        }
        plan.inserts.sort_by_key(|insert| insert.before);
        plan
    }

    /// Whether the fault is a call whose result the format stores inside the call.
    fn holds_result(&self, fault: &Fault) -> bool {
        let part = &self.message(fault.at).parts[fault.at.part];
        part.content.call().is_some() && part.place().is_some_and(|place| place.rewrite.is_some())
    }

    fn stub(&self, at: PartRef) -> Option<DraftPart> {
        let call = self.message(at).parts[at.part].content.call()?;
        Some(DraftPart::ToolResult(DraftResult {
            id: call.id.as_ref().map(|id| id.decode().into_owned()),
            name: call.name.decode().into_owned(),
            text: INTERRUPTED.to_owned(),
            family: call.family,
            key: None,
        }))
    }

    /// Cuts the moved parts out of their messages; drops messages that lose all parts.
    fn cut_moved(&self, moved: &BTreeSet<PartRef>, plan: &mut Plan) {
        const MOVED: Reason = Reason::Borrowed("moved to its tool call");
        let mut counts: HashMap<usize, usize> = HashMap::new();
        moved.iter().for_each(|part| *counts.entry(part.message).or_default() += 1);
        for part in moved {
            if !self.is_inside() || counts.get(&part.message) == Some(&self.message(*part).parts.len()) {
                plan.decisions[part.message] = Decision::Drop(MOVED);
            } else {
                plan.change(part.message, [Change::Cut(part.part)], MOVED);
            }
        }
    }

    /// Inserts `answers` after the message `call`. For parallel calls in message 1 whose results must be in the next message:
    ///
    /// ```text
    /// 1 assistant calls a, b   2 user result of a   3 user "…"   4 user result of b (detached)
    /// ```
    ///
    /// Message 2 follows the assistant's turn and accepts results, so the result of `b` is prepended to it and message 4 is
    /// dropped. If the transcript ended with the turn, a new message with the result would be inserted after it. In formats
    /// with one message per result, message 4 itself is moved after the results that follow the calls.
    fn place(&self, call: usize, answers: Vec<Prepend>, plan: &mut Plan) {
        const ANSWERS: Reason = Reason::Borrowed("result placed where the format expects it");
        let (before, accepts) = self.after(call);
        if accepts && !matches!(plan.decisions[before], Decision::Drop(_)) {
            let taken = if before == call { Change::Append(answers) } else { Change::Prepend(answers) };
            return plan.change(before, [taken], ANSWERS);
        }
        if self.is_inside() {
            // If user and assistant must alternate, the results for several messages in a row are one message.
            let joins = self.view.context.joins;
            let last = plan.inserts.last_mut().filter(|insert| joins && insert.before == before);
            match last.map(|insert| &mut insert.insertion) {
                Some(Insertion::Results(results)) => results.extend(answers),
                _ => plan.inserts.push(Insert { before, insertion: Insertion::Results(answers), reason: ANSWERS }),
            }
            return;
        }
        let mut last = None;
        for answer in answers {
            let insertion = match answer {
                Prepend::Moved(part) if last.replace(part.message) == Some(part.message) => continue,
                Prepend::Moved(part) => Insertion::Moved(part.message),
                Prepend::Draft(_) | Prepend::Block(_) => Insertion::Results(vec![answer]),
            };
            plan.inserts.push(Insert { before, insertion, reason: ANSWERS });
        }
    }

    /// Index of the message before which results of `call` are inserted, and whether that message can contain them itself.
    fn after(&self, call: usize) -> (usize, bool) {
        if self.view.pairing_rules.results == ResultPlace::SameMessage {
            return (call, true);
        }
        let (before, next) = self.behind[call];
        // A message without parts has no list to insert into, and a new message is spelled only once.
        let accepts = |at: &usize| {
            let next = &self.view.messages[*at];
            let answers = matches!(next.role, Role::User | Role::Tool);
            self.is_inside() && answers && !next.closes_calls() && !next.is_draft() && !next.parts.is_empty()
        };
        next.filter(accepts).map_or((before, false), |next| (next, true))
    }
}

/// The results that share their bytes with a call.
fn in_call(view: &View<'_, '_>) -> HashSet<PartRef> {
    let mut found = HashSet::new();
    for (at, message) in view.messages.iter().enumerate() {
        let element = |nth: usize| message.parts[nth].place().map(|place| place.element);
        let calls: HashSet<Value<'_>> = message.calls().filter_map(|(nth, _)| element(nth)).collect();
        let inside = message.results().filter(|(nth, _)| element(*nth).is_some_and(|element| calls.contains(&element)));
        found.extend(inside.map(|(part, _)| PartRef { message: at, part }));
    }
    found
}

/// For each message: the index before which results of its calls are inserted, and the next message of its thread from there.
fn behind(view: &View<'_, '_>, rules: PairingRules) -> Vec<(usize, Option<usize>)> {
    let messages = view.messages;
    let passed = match rules.results {
        ResultPlace::Anywhere | ResultPlace::SameMessage => {
            return (0..messages.len()).map(|at| (at + 1, None)).collect();
        }
        ResultPlace::RightAfter => Role::Tool,
        ResultPlace::RightAfterTurn | ResultPlace::NextMessage | ResultPlace::NextMessageFirst => Role::Assistant,
    };
    let mut behind = vec![(0, None); messages.len()];
    // For each thread: the next message, and what comes after a run of messages that are passed.
    let mut threads: HashMap<u32, (usize, (usize, Option<usize>))> = HashMap::new();
    for (at, message) in messages.iter().enumerate().rev() {
        let next = threads.get(&message.thread).copied();
        // Where results pair by position, they pair with the nearest calling message: no other may come between.
        let joins = passed == Role::Tool || rules.ids && message.calls().all(|(_, call)| call.id.is_some());
        let here = (at + 1, next.map(|(next, _)| next));
        // A result after a boundary answers no call before it.
        let passes = |next: usize| messages[next].role == passed && !messages[next].is_boundary();
        let run = next.filter(|(next, _)| passes(*next)).map_or(here, |(_, run)| run);
        behind[at] = if joins { run } else { here };
        threads.insert(message.thread, (at, run));
    }
    behind
}
