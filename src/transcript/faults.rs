//! What can be wrong with a pair: the one list that rules report and repair mends.

use std::collections::HashMap;

use super::pairing::Blame;
use super::{Manners, Message, Pairs, PartRef, ResultPlace, Role, in_flight};

/// A pairing fault, and the half that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The call or result that is wrong.
    pub at: PartRef,
    /// The part that it clashes with or belongs to, where there is one.
    pub other: Option<PartRef>,
}

/// The ways in which a pair can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// A result without an earlier call.
    OrphanResult,
    /// A call that other messages follow, but no result.
    UnansweredCall,
    /// A call without a result at the end of the transcript.
    PendingCall,
    /// A call whose id an open call already has.
    DuplicateCallId,
    /// A second result for one call.
    DuplicateResult,
    /// A result that stands before its call.
    ResultBeforeCall,
    /// A result that does not stand where the wire format wants it.
    DetachedResult,
    /// A result of another kind than the call with its id.
    FamilyMismatch,
}

impl FaultKind {
    /// The fault's name, which is also its rule's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OrphanResult => "orphan-result",
            Self::UnansweredCall => "unanswered-call",
            Self::PendingCall => "pending-call",
            Self::DuplicateCallId => "duplicate-call-id",
            Self::DuplicateResult => "duplicate-result",
            Self::ResultBeforeCall => "result-before-call",
            Self::DetachedResult => "detached-result",
            Self::FamilyMismatch => "family-mismatch",
        }
    }
}

impl Fault {
    /// Finds the faults of `messages`, in the order of the parts they are about.
    #[must_use]
    pub fn find(messages: &[Message<'_>], pairs: &Pairs, manners: Manners) -> Vec<Self> {
        let mut faults: Vec<Self> = lonely_results(pairs).collect();
        faults.extend(lonely_calls(messages, pairs, manners));
        faults.extend(duplicate_ids(messages, pairs, manners));
        faults.extend(pairs.pairs().filter_map(|pair| detached(messages, pair, manners)));
        faults.sort_by_key(|fault| (fault.at, fault.kind));
        faults
    }
}

type Id = (u32, String);

fn id_of(messages: &[Message<'_>], half: PartRef) -> Option<Id> {
    let message = &messages[half.message];
    let content = &message.parts[half.part].content;
    let id = match content.call() {
        Some(call) => call.id.as_ref(),
        None => content.result().and_then(|result| result.id.as_ref()),
    };
    id.map(|id| (message.thread, id.decode().into_owned()))
}

fn lonely_results(pairs: &Pairs) -> impl Iterator<Item = Fault> {
    let lonely = pairs.results().iter().filter(|&&result| pairs.other_half(result).is_none());
    lonely.map(|&at| {
        let blame = pairs.blame(at);
        let kind = match blame {
            Some(Blame::OtherFamily(_)) => FaultKind::FamilyMismatch,
            Some(Blame::Answered(_)) => FaultKind::DuplicateResult,
            Some(Blame::Later(_)) => FaultKind::ResultBeforeCall,
            None => FaultKind::OrphanResult,
        };
        Fault { kind, at, other: blame.map(Blame::call) }
    })
}

fn lonely_calls<'m>(
    messages: &'m [Message<'_>],
    pairs: &'m Pairs,
    manners: Manners,
) -> impl Iterator<Item = Fault> + 'm {
    let round = last_round(messages, manners);
    let lonely = pairs.calls().iter().filter(|&&call| pairs.other_half(call).is_none());
    let wanted =
        lonely.filter(|at| messages[at.message].parts[at.part].content.call().is_some_and(|call| !call.hosted));
    wanted.map(move |&at| {
        let kind = if at.message >= round { FaultKind::PendingCall } else { FaultKind::UnansweredCall };
        Fault { kind, at, other: None }
    })
}

/// Where the last round of the messages in flight begins: the calls that nothing but results follows.
///
/// Formats that answer message by message have one calling message a round; others lay parallel calls side by side.
fn last_round(messages: &[Message<'_>], manners: Manners) -> usize {
    let flight = in_flight(messages);
    let calls = |at: usize| messages[at].calls().next().is_some();
    let mut start = messages.len();
    while start > flight && !calls(start - 1) {
        start -= 1;
    }
    if start == flight {
        return messages.len();
    }
    start -= 1;
    while manners.results == ResultPlace::Anywhere
        && start > flight
        && (calls(start - 1) || messages[start - 1].binds_next)
    {
        start -= 1;
    }
    start
}

/// Calls whose id is taken: by a call still open, or by any earlier call where the format wants ids to be unique.
fn duplicate_ids(messages: &[Message<'_>], pairs: &Pairs, manners: Manners) -> Vec<Fault> {
    let mut last: HashMap<Id, PartRef> = HashMap::new();
    let mut faults = Vec::new();
    let mut barriers = (0..messages.len()).filter(|&at| messages[at].barrier).peekable();
    for &call in pairs.calls() {
        while let Some(barrier) = barriers.next_if(|&at| at <= call.message) {
            last.retain(|id, _| id.0 != messages[barrier].thread);
        }
        let Some(id) = id_of(messages, call) else { continue };
        if let Some(earlier) = last.insert(id, call) {
            let open = pairs.other_half(earlier).is_none_or(|result| result > call);
            if open || manners.unique_ids {
                faults.push(Fault { kind: FaultKind::DuplicateCallId, at: call, other: Some(earlier) });
            }
        }
    }
    faults
}

fn detached(messages: &[Message<'_>], (call, result): (PartRef, PartRef), manners: Manners) -> Option<Fault> {
    let hosted = messages[result.message].parts[result.part].content.result()?.same_message;
    let attached = if hosted || call.message == result.message {
        call.message == result.message
    } else {
        let between = &messages[call.message + 1..result.message];
        match manners.results {
            ResultPlace::Anywhere => true,
            ResultPlace::RightAfter => between.iter().all(|message| message.role == Role::Tool),
            ResultPlace::NextMessage => is_next(between),
            ResultPlace::NextMessageFirst => is_next(between) && leads(&messages[result.message], result.part),
        }
    };
    (!attached).then_some(Fault { kind: FaultKind::DetachedResult, at: result, other: Some(call) })
}

/// Consecutive messages of one role count as one message where results may be spread over several.
fn is_next(between: &[Message<'_>]) -> bool {
    between
        .iter()
        .all(|message| message.results().next().is_some() && !message.parts.iter().any(|p| p.content.speaks()))
}

fn leads(message: &Message<'_>, part: usize) -> bool {
    message.parts[..part].iter().all(|part| part.content.result().is_some())
}
