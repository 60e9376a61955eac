//! Repairs broken pairs: drops them, answers calls with a stub, or moves results to their calls.

use std::collections::{HashMap, HashSet};

use super::answers::AnswerPlacer;
use super::exempt::{Exempt, is_unanswered};
use super::{DropSet, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::transcript::{Fault, FaultKind, PairingRules, Pairs, PartRef, Role};

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
        Traits { passes, writes: self.mode != RepairMode::Drop, repairs_pairs: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        Ok(self.plan(view, view.rules.pairing, Exempt::default()))
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
        let mut duplicates = faults.iter().filter(|fault| fault.kind == FaultKind::DuplicateCallId).peekable();
        if duplicates.peek().is_some() {
            // No pair cascades here: the results may belong to the call that is kept.
            return drop_faults(view, &Pairs::default(), duplicates);
        }
        let early = if self.mode == RepairMode::Move { early_results(&faults, &pairs) } else { HashMap::new() };
        let answered: HashSet<PartRef> = early.values().copied().collect();
        faults.retain(|fault| !(is_unanswered(fault) && answered.contains(&fault.at)));
        let placer = AnswerPlacer::new(view, rules, &pairs, &early);
        let (repairable, broken): (Vec<Fault>, Vec<Fault>) = faults.into_iter().partition(|fault| match self.mode {
            RepairMode::Drop => false,
            RepairMode::Stub => placer.can_answer(fault),
            RepairMode::Move => placer.can_move(fault),
        });
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

impl Processor for RepairFor {
    fn name(&self) -> &'static str {
        self.repair.name()
    }

    fn traits(&self) -> Traits {
        self.repair.traits()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let rules = self.profile.map_or(view.rules.pairing, |profile| profile.over(view.rules.pairing));
        Ok(self.repair.plan(view, rules, self.exempt))
    }
}

/// Whether no message of the user follows another one.
fn alternates(view: &View<'_, '_>) -> bool {
    view.messages.windows(2).all(|pair| pair[0].role != Role::User || pair[1].role != Role::User)
}

fn drop_faults<'f>(view: &View<'_, '_>, pairs: &Pairs, faults: impl Iterator<Item = &'f Fault>) -> Plan {
    drop_parts(view, pairs, faults.map(|fault| (fault.at, Reason::Borrowed(fault.kind.name()))))
}

fn drop_parts(view: &View<'_, '_>, pairs: &Pairs, parts: impl Iterator<Item = (PartRef, Reason)>) -> Plan {
    let mut drops = DropSet::of_faults(view, pairs);
    parts.for_each(|(at, reason)| drops.drop_part(at, reason));
    drops.into_plan()
}

/// The results that come before their call and are its only result, each with the call.
fn early_results(faults: &[Fault], pairs: &Pairs) -> HashMap<PartRef, PartRef> {
    let mut calls = HashSet::new();
    let early = faults.iter().filter(|fault| fault.kind == FaultKind::ResultBeforeCall);
    let early = early.filter_map(|fault| Some((fault.at, fault.other?)));
    early.filter(|(_, call)| pairs.counterpart(*call).is_none() && calls.insert(*call)).collect()
}
