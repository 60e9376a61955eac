//! Broken pairs are mended: dropped with their other half, answered by a stub, or moved to where they belong.

use std::collections::BTreeMap;

use super::closure::Leaving;
use super::{Admission, Change, Decision, Insert, Insertion, Plan, Processor, Reason, View};
use crate::transcript::{DraftPart, Fault, FaultKind, Pairs, PartRef, ResultPlace};

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
        // What a dropped duplicate uncovers is seen in the next pass; chains of more than a few are not found in real logs.
        32
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let pairs = Pairs::find(view.messages);
        let faults: Vec<Fault> = Fault::find(view.messages, &pairs, view.manners)
            .into_iter()
            .filter(|fault| self.pending || fault.kind != FaultKind::PendingCall)
            .collect();
        // A duplicate shifts which result belongs to which call: without it the others may be whole.
        let duplicate = |fault: &&Fault| fault.kind == FaultKind::DuplicateCallId;
        if faults.iter().any(|fault| duplicate(&fault)) {
            return Ok(drop_duplicates(view, faults.iter().filter(duplicate)));
        }
        let (moved, rest): (Vec<Fault>, Vec<Fault>) = faults.into_iter().partition(|fault| self.moves(view, fault));
        let (stubbed, dropped): (Vec<Fault>, Vec<Fault>) = rest.into_iter().partition(|fault| self.stubs(fault));
        let mut leaving = Leaving::none(view, &pairs);
        for fault in &dropped {
            leaving.drop_part(fault.at, Reason::Borrowed(fault.kind.name()));
        }
        if !dropped.is_empty() {
            return Ok(leaving.into_plan());
        }
        let mut plan = leaving.into_plan();
        answer(view, &moved, &stubbed, &mut plan);
        Ok(plan)
    }
}

impl Repair {
    fn moves(&self, view: &View<'_, '_>, fault: &Fault) -> bool {
        let in_list = matches!(view.manners.results, ResultPlace::NextMessage | ResultPlace::NextMessageFirst);
        let can_move = in_list || view.messages[fault.at.message].parts.len() == 1;
        self.mode == RepairMode::Move && fault.kind == FaultKind::DetachedResult && can_move
    }

    fn stubs(&self, fault: &Fault) -> bool {
        self.mode == RepairMode::Stub && matches!(fault.kind, FaultKind::UnansweredCall | FaultKind::PendingCall)
    }
}

/// Drops calls whose id is taken, but not the results: those may belong to the call that stays.
fn drop_duplicates<'f>(view: &View<'_, '_>, faults: impl Iterator<Item = &'f Fault>) -> Plan {
    let nothing_paired = Pairs::default();
    let mut leaving = Leaving::none(view, &nothing_paired);
    for fault in faults {
        leaving.drop_part(fault.at, Reason::Borrowed(fault.kind.name()));
    }
    leaving.into_plan()
}

/// Puts moved and stub results where the wire wants them.
fn answer(view: &View<'_, '_>, moved: &[Fault], stubbed: &[Fault], plan: &mut Plan) {
    let mut by_call: BTreeMap<usize, Vec<(PartRef, Admission)>> = BTreeMap::new();
    for fault in moved {
        if let Some(call) = fault.other {
            by_call.entry(call.message).or_default().push((call, Admission::Moved(fault.at)));
        }
    }
    for fault in stubbed {
        if let Some(stub) = stub(view, fault.at) {
            by_call.entry(fault.at.message).or_default().push((fault.at, Admission::Draft(stub)));
        }
    }
    for fault in moved {
        cut(view, fault.at, plan);
    }
    for (message, mut answers) in by_call {
        answers.sort_by_key(|(call, _)| *call);
        place(view, message, answers.into_iter().map(|(_, answer)| answer).collect(), plan);
    }
    plan.inserts.sort_by_key(|insert| insert.before);
}

fn stub(view: &View<'_, '_>, at: PartRef) -> Option<DraftPart> {
    let call = view.messages[at.message].parts[at.part].content.call()?;
    Some(DraftPart::ToolResult {
        id: call.id.as_ref().map(|id| id.decode().into_owned()),
        name: call.name.decode().into_owned(),
        text: INTERRUPTED.to_owned(),
        family: call.family,
    })
}

fn place(view: &View<'_, '_>, message: usize, answers: Vec<Admission>, plan: &mut Plan) {
    let reason = || Reason::Borrowed("answers a call where the format wants it");
    let in_next = matches!(view.manners.results, ResultPlace::NextMessage | ResultPlace::NextMessageFirst);
    let after = answered_until(view, message);
    let before = after + 1;
    if in_next {
        let takes = view
            .messages
            .get(before)
            .is_some_and(|next| next.role != view.messages[message].role && next.value.is_some());
        if takes && !matches!(plan.decisions[before], Decision::Drop(_)) {
            return change(before, Change::Admit(answers), reason(), plan);
        }
        plan.inserts.push(Insert { before, what: Insertion::Results(answers), reason: reason() });
        return;
    }
    for answer in answers {
        let what = match answer {
            Admission::Moved(part) if view.messages[part.message].parts.len() == 1 => Insertion::Moved(part.message),
            other => Insertion::Results(vec![other]),
        };
        plan.inserts.push(Insert { before, what, reason: reason() });
    }
}

/// The last message of the results that already stand right after the call.
fn answered_until(view: &View<'_, '_>, call: usize) -> usize {
    if view.manners.results != ResultPlace::RightAfter {
        return call;
    }
    let rest = view.messages[call + 1..].iter();
    call + rest.take_while(|message| message.role == crate::transcript::Role::Tool).count()
}

/// Takes a part out of its message, which goes with its last part.
fn cut(view: &View<'_, '_>, part: PartRef, plan: &mut Plan) {
    let reason = || Reason::Borrowed("moved to its call");
    change(part.message, Change::Cut(part.part), reason(), plan);
    let Decision::Change(changes, _) = &plan.decisions[part.message] else { return };
    if (0..view.messages[part.message].parts.len()).all(|nth| changes.contains(&Change::Cut(nth))) {
        plan.decisions[part.message] = Decision::Drop(reason());
    }
}

fn change(message: usize, change: Change, reason: Reason, plan: &mut Plan) {
    match &mut plan.decisions[message] {
        Decision::Change(changes, _) => changes.push(change),
        decision => *decision = Decision::Change(vec![change], reason),
    }
}
