//! Broken pairs are mended: dropped with their other half, answered by a stub, or moved to where they belong.

use std::collections::{BTreeMap, HashSet};

use super::planning::DropSet;
use super::{Change, Decision, Insert, Insertion, Plan, Prepend, Processor, Reason, View};
use crate::transcript::{DraftPart, Fault, FaultKind, Message, Pairs, PartRef, ResultPlace, Role};

/// What to do about a broken pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairMode {
    /// What is broken goes, with its other half; of duplicates the first stays.
    Drop,
    /// An unanswered call gets a result that says it was interrupted; the rest is dropped.
    Stub,
    /// A detached result goes where it belongs; the rest is dropped.
    Move,
}

/// Mends pairing faults. One pass mends what it sees; the chain runs it until nothing is left to mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repair {
    /// What to do.
    pub mode: RepairMode,
    /// Whether a call that is still pending at the end is mended too.
    pub pending: bool,
}

/// What a stub result says.
const INTERRUPTED: &str = "[interrupted: this tool call was never answered]";

impl Processor for Repair {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn passes(&self) -> usize {
        match self.mode {
            // What a pass drops uncovers what the next one sees; each drops something, so they end by themselves.
            RepairMode::Drop => usize::MAX,
            // An answer that is not taken for one would be dropped and given for ever. After so many passes, more than any log
            // was seen to need, the rest is for a stage that drops.
            RepairMode::Stub | RepairMode::Move => 64,
        }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let pairs = Pairs::find(view.messages);
        let faults: Vec<Fault> = Fault::find(view.messages, &pairs, view.pairing_rules)
            .into_iter()
            .filter(|fault| self.pending || fault.kind != FaultKind::PendingCall)
            .collect();
        // A duplicate shifts which result belongs to which call: without it the others may be whole.
        let duplicate = |fault: &&Fault| fault.kind == FaultKind::DuplicateCallId;
        if faults.iter().any(|fault| duplicate(&fault)) {
            // Nothing counts as paired: the results may belong to the call that stays.
            return Ok(dropped(view, &Pairs::default(), faults.iter().filter(duplicate)));
        }
        let placer = AnswerPlacer { view, pairs: &pairs };
        let mends = |fault: &Fault| match self.mode {
            RepairMode::Drop => false,
            RepairMode::Stub => placer.can_answer(fault),
            RepairMode::Move => placer.can_move(fault),
        };
        let (mended, broken): (Vec<Fault>, Vec<Fault>) = faults.into_iter().partition(mends);
        if broken.is_empty() { Ok(placer.answer(&mended)) } else { Ok(dropped(view, &pairs, broken.iter())) }
    }
}

fn dropped<'f>(view: &View<'_, '_>, pairs: &Pairs, faults: impl Iterator<Item = &'f Fault>) -> Plan {
    let mut drops = DropSet::none(view, pairs);
    for fault in faults {
        drops.drop_part(fault.at, Reason::Borrowed(fault.kind.name()));
    }
    drops.into_plan()
}

/// Where results are put to their calls.
struct AnswerPlacer<'v, 'a> {
    view: &'v View<'v, 'a>,
    pairs: &'v Pairs,
}

impl AnswerPlacer<'_, '_> {
    fn message(&self, part: PartRef) -> &Message<'_> {
        &self.view.messages[part.message]
    }

    fn is_inside(&self) -> bool {
        matches!(self.view.pairing_rules.results, ResultPlace::NextMessage | ResultPlace::NextMessageFirst)
    }

    /// Whether a stub would answer this call and no other. A call that no tool could have taken is not made a whole one: it
    /// goes. Without ids results are told apart by name and order: a stub
    /// beside an answer to the same tool could be taken for it.
    fn can_answer(&self, fault: &Fault) -> bool {
        let wanted = matches!(fault.kind, FaultKind::UnansweredCall | FaultKind::PendingCall);
        let call = self.message(fault.at).parts[fault.at.part].content.call();
        let Some(call) = call.filter(|call| wanted && call.argument_fault().is_none()) else { return false };
        let twin = |nth: usize| self.pairs.other_half(PartRef { part: nth, ..fault.at }).is_some();
        call.id.is_some() || !self.message(fault.at).calls().any(|(nth, other)| other.name == call.name && twin(nth))
    }

    /// Whether the result can be taken to its call: as a part where results stand inside messages, else as a message that
    /// holds nothing but answers to the same message.
    fn can_move(&self, fault: &Fault) -> bool {
        let hosted =
            self.message(fault.at).parts[fault.at.part].content.result().is_none_or(|result| result.same_message);
        let message = self.message(fault.at);
        let in_call = message.same_element(fault.at.part).any(|nth| message.parts[nth].content.call().is_some());
        if fault.kind != FaultKind::DetachedResult || hosted || in_call {
            return false;
        }
        let call = fault.other.map(|call| call.message);
        let parts = 0..self.message(fault.at).parts.len();
        let mut others = parts.map(|part| self.pairs.other_half(PartRef { part, ..fault.at }));
        self.is_inside() || others.all(|other| other.map(|other| other.message) == call)
    }

    /// Puts moved and stub results where the wire wants them.
    fn answer(&self, faults: &[Fault]) -> Plan {
        let mut plan = Plan::keep(self.view.messages.len());
        let mut by_call: BTreeMap<usize, Vec<(PartRef, Prepend)>> = BTreeMap::new();
        let (inside, beside): (Vec<&Fault>, Vec<&Fault>) = faults.iter().partition(|fault| self.holds_result(fault));
        for fault in inside {
            let answer = Change::Answer(fault.at.part, INTERRUPTED.to_owned());
            change(fault.at.message, answer, Reason::Borrowed(fault.kind.name()), &mut plan);
        }
        for fault in beside {
            let (call, answer) = match fault.other.filter(|_| fault.kind == FaultKind::DetachedResult) {
                Some(call) => (call, Some(Prepend::Moved(fault.at))),
                None => (fault.at, self.stub(fault.at).map(Prepend::Draft)),
            };
            by_call.entry(call.message).or_default().extend(answer.map(|answer| (call, answer)));
        }
        let moved: HashSet<PartRef> =
            faults.iter().filter(|fault| fault.kind == FaultKind::DetachedResult).map(|fault| fault.at).collect();
        self.cut_moved(&moved, &mut plan);
        for (call, mut answers) in by_call {
            answers.sort_by_key(|(call, _)| *call);
            self.place(call, answers.into_iter().map(|(_, answer)| answer).collect(), &mut plan);
        }
        plan.inserts.sort_by_key(|insert| insert.before);
        plan
    }

    /// Whether it is about a call that the format answers in the call's own bytes.
    fn holds_result(&self, fault: &Fault) -> bool {
        let part = &self.message(fault.at).parts[fault.at.part];
        part.content.call().is_some() && part.place().is_some_and(|place| place.rewrite.is_some())
    }

    fn stub(&self, at: PartRef) -> Option<DraftPart> {
        let call = self.message(at).parts[at.part].content.call()?;
        Some(DraftPart::ToolResult {
            id: call.id.as_ref().map(|id| id.decode().into_owned()),
            name: call.name.decode().into_owned(),
            text: INTERRUPTED.to_owned(),
            family: call.family,
        })
    }

    /// Takes the parts that move out of their messages; a message that loses all its parts goes.
    fn cut_moved(&self, moved: &HashSet<PartRef>, plan: &mut Plan) {
        const MOVED: Reason = Reason::Borrowed("moved to its call");
        for part in moved.iter().collect::<std::collections::BTreeSet<_>>() {
            let mut parts = (0..self.message(*part).parts.len()).map(|nth| PartRef { part: nth, ..*part });
            if !self.is_inside() || parts.all(|part| moved.contains(&part)) {
                plan.decisions[part.message] = Decision::Drop(MOVED);
            } else {
                change(part.message, Change::Cut(part.part), MOVED, plan);
            }
        }
    }

    fn place(&self, call: usize, answers: Vec<Prepend>, plan: &mut Plan) {
        const ANSWERS: Reason = Reason::Borrowed("answers a call where the format wants it");
        let (before, takes) = self.after(call);
        if takes && !matches!(plan.decisions[before], Decision::Drop(_)) {
            return change(before, Change::Prepend(answers), ANSWERS, plan);
        }
        if self.is_inside() {
            plan.inserts.push(Insert { before, what: Insertion::Results(answers), reason: ANSWERS });
            return;
        }
        let mut last = None;
        for answer in answers {
            let what = match answer {
                Prepend::Moved(part) if last.replace(part.message) == Some(part.message) => continue,
                Prepend::Moved(part) => Insertion::Moved(part.message),
                Prepend::Draft(_) => Insertion::Results(vec![answer]),
            };
            plan.inserts.push(Insert { before, what, reason: ANSWERS });
        }
    }

    /// Index of the message before which answers to `call` stand, and whether that message can take them in.
    fn after(&self, call: usize) -> (usize, bool) {
        let messages = self.view.messages;
        let own = |at: &usize| messages[*at].thread == messages[call].thread;
        let mut rest = (call + 1..messages.len()).filter(own);
        let passed = match self.view.pairing_rules.results {
            ResultPlace::Anywhere => return (call + 1, false),
            ResultPlace::RightAfter => Role::Tool,
            ResultPlace::RightAfterTurn | ResultPlace::NextMessage | ResultPlace::NextMessageFirst => Role::Assistant,
        };
        // Without ids an answer belongs to the nearest message with calls: no other may come between.
        let joined = passed == Role::Tool || messages[call].calls().all(|(_, call)| call.id.is_some());
        let mut before = call + 1;
        let next = rest.find(|&at| {
            let goes_on = joined && messages[at].role == passed;
            before = if goes_on { at + 1 } else { before };
            !goes_on
        });
        // What has no parts has no list to be put into, and what we wrote is spelt only once.
        let takes = |at: &usize| {
            let next = &messages[*at];
            let answers = matches!(next.role, Role::User | Role::Tool);
            self.is_inside() && answers && !next.barrier && !next.is_draft() && !next.parts.is_empty()
        };
        next.filter(takes).map_or((before, false), |next| (next, true))
    }
}

fn change(message: usize, change: Change, reason: Reason, plan: &mut Plan) {
    match &mut plan.decisions[message] {
        Decision::Change(changes, _) => changes.push(change),
        decision => *decision = Decision::Change(vec![change], reason),
    }
}
