//! Which pairing faults a repair leaves as they are.

use std::collections::HashSet;

use super::view::View;
use crate::transcript::{Fault, FaultKind, PairingRules, Pairs, PartRef, Placement, ResultPlace};

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
    pub(super) fn nameless(self, view: &View<'_, '_>, pairs: &Pairs, rules: PairingRules) -> Vec<PartRef> {
        if self.missing_ids || !rules.ids {
            return Vec::new();
        }
        let mut nameless: Vec<PartRef> = pairs.calls().iter().chain(pairs.results()).copied().collect();
        nameless.retain(|at| !self.spares(*at, view) && rules.lacks_id(&at.part_in(view.messages).content));
        nameless
    }

    /// Whether a part is in a message that the model no longer reads, and stays for that.
    fn spares(self, at: PartRef, view: &View<'_, '_>) -> bool {
        self.unread && !view.messages[at.message].standing.is_read()
    }

    /// Removes from `faults` those that stay, and what they explain.
    pub(super) fn remove(self, faults: &mut Vec<Fault>, view: &View<'_, '_>, rules: PairingRules) {
        if self == Self::default() || faults.is_empty() {
            return;
        }
        let lenient = PairingRules { results: ResultPlace::NextMessage, ..rules };
        let placement =
            (rules.results == ResultPlace::NextMessageFirst).then(|| Placement::new(view.messages, lenient));
        let staying = faults.extract_if(.., |fault| {
            let call = fault.other.filter(|_| fault.kind == FaultKind::DetachedResult);
            if self.spares(fault.at, view) {
                true
            } else if rules.lacks_id(&fault.at.part_in(view.messages).content) {
                // It is dropped for that, whatever else is wrong with it.
                self.missing_ids
            } else if placement.as_ref().zip(call).is_some_and(|(inside, call)| inside.is_attached(call, fault.at)) {
                self.not_first
            } else {
                self.contains(fault.kind)
            }
        });
        // A call has no result because its result is exempt: one finding explains both.
        let explained = staying.flat_map(|fault| match fault.kind {
            FaultKind::ResultBeforeCall | FaultKind::FamilyMismatch => [None, fault.other],
            FaultKind::DuplicateCallId => [Some(fault.at), fault.other],
            _ => [None, None],
        });
        let explained: HashSet<PartRef> = explained.flatten().collect();
        faults.retain(|fault| !(is_unanswered(fault) && explained.contains(&fault.at)));
    }
}

/// Whether the fault is a call without a result.
pub(super) const fn is_unanswered(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::UnansweredCall | FaultKind::PendingCall)
}
