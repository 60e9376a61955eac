//! Drops what lost its counterpart in a cut, so that the output has no pairing fault that the input did not have.
//!
//! [`DropSet`](super::DropSet) keeps pairs together as they are before the cut. Where results belong to calls by position, and
//! where ids repeat, a cut can also change which call a result belongs to:
//!
//! ```text
//! 1 calls a   2 calls b   3 result of b   4 calls c   5 result of c   6 result of no call
//! ```
//!
//! Without messages 2 and 3, calls `a` and `c` are in one turn, and message 6 would be read as the result of `a`. The input does
//! not have this pair, so call `a` and message 6 are dropped. Where calls are texts, what comes next to one would be read as its
//! result, and leaves with what kept the two apart.

use foldhash::HashSet;

use super::cascade::DropSet;
use super::{Plan, Reason, View};
use crate::transcript::{Fault, FaultKind, Message, Pairs, PartRef};

const NEW_FAULT: Reason = Reason::Borrowed("the cut separated it from its counterpart");
const NEW_PAIR: Reason = Reason::Borrowed("the cut left it next to another call");

/// A part, recognized before and after a cut. Parts that an edit wrote have neither index nor offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct KnownPart {
    /// Index of its message in the transcript that was read.
    message: Option<usize>,
    /// Offset of its bytes.
    offset: Option<u32>,
    is_call: bool,
}

/// The pairing faults of a transcript before a cut.
pub(crate) struct KnownFaults {
    faults: HashSet<(KnownPart, FaultKind)>,
    /// Call and result of every pair without ids.
    positional: HashSet<(KnownPart, KnownPart)>,
}

impl KnownFaults {
    /// The faults of `view`.
    pub(crate) fn from_view(view: &View<'_, '_>) -> Self {
        let pairs = Pairs::from_messages(view.messages);
        let faults = Fault::find_every(view.messages, &pairs, view.rules.pairing);
        Self {
            faults: faults.iter().map(|fault| (place(view.messages, fault.at), fault.kind)).collect(),
            positional: positional(view.messages, &pairs).map(|(_, places)| places).collect(),
        }
    }

    /// The plan that drops the calls and results of `view` that a cut separated; `None` if it separated none. The plan itself
    /// can separate others.
    pub(crate) fn drop_separated(&self, view: &View<'_, '_>) -> Option<Plan> {
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::of_faults(view, &pairs);
        for at in view.rules.strangers.iter().flat_map(|find| find(view.messages)) {
            drops.drop_message(at, NEW_PAIR);
        }
        for fault in Fault::find_every(view.messages, &pairs, view.rules.pairing) {
            if !self.knows(place(view.messages, fault.at), fault.kind) {
                drops.drop_part(fault.at, NEW_FAULT);
            }
        }
        for (result, places) in positional(view.messages, &pairs) {
            if !self.positional.contains(&places) {
                drops.drop_part(result, NEW_PAIR);
            }
        }
        let plan = drops.into_plan();
        (!plan.is_identity()).then_some(plan)
    }

    /// Whether the fault was there before. A call that was unanswered can become pending: no message follows it any more.
    fn knows(&self, place: KnownPart, kind: FaultKind) -> bool {
        self.faults.contains(&(place, kind))
            || kind == FaultKind::PendingCall && self.faults.contains(&(place, FaultKind::UnansweredCall))
    }
}

fn place(messages: &[Message<'_>], at: PartRef) -> KnownPart {
    let message = &messages[at.message];
    let part = &message.parts[at.part];
    let offset = part.place().map(|place| place.piece.unwrap_or(place.element.span()).start);
    KnownPart { message: message.source_index(), offset, is_call: part.content.call().is_some() }
}

/// The result of every pair without ids, with the places of its call and of the result.
fn positional(messages: &[Message<'_>], pairs: &Pairs) -> impl Iterator<Item = (PartRef, (KnownPart, KnownPart))> {
    let pairs = pairs
        .pairs()
        .filter(|(_, result)| result.part_in(messages).content.result().is_some_and(|result| result.id.is_none()));
    pairs.map(|(call, result)| (result, (place(messages, call), place(messages, result))))
}
