//! What can be wrong with a pair: the one list that rules report and repair mends.

use std::collections::HashMap;

use super::pairing::Mismatch;
use super::{Message, PairingRules, Pairs, PartRef, ResultPlace, Role};

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
    /// The fault's name.
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
    pub fn find(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Self> {
        let mut faults = duplicate_ids(messages, pairs, pairing_rules);
        faults.extend(lonely_results(pairs));
        faults.extend(lonely_calls(messages, pairs, pairing_rules));
        faults.extend(pairs.pairs().filter_map(|pair| detached(messages, pair, pairing_rules)));
        faults.sort_by_key(|fault| (fault.at, fault.kind));
        faults
    }
}

impl Fault {
    /// Whether this detached result would be detached under other manners, too.
    #[must_use]
    pub fn persists(&self, messages: &[Message<'_>], pairing_rules: PairingRules) -> bool {
        self.other.is_some_and(|call| detached(messages, (call, self.at), pairing_rules).is_some())
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
    let unpaired = pairs.results().iter().filter(|&&result| pairs.other_half(result).is_none());
    unpaired.map(|&at| {
        let mismatch = pairs.mismatch(at);
        let kind = match mismatch {
            Some(Mismatch::OtherFamily(_)) => FaultKind::FamilyMismatch,
            Some(Mismatch::Answered(_)) => FaultKind::DuplicateResult,
            Some(Mismatch::Later(_)) => FaultKind::ResultBeforeCall,
            None => FaultKind::OrphanResult,
        };
        Fault { kind, at, other: mismatch.map(Mismatch::call) }
    })
}

fn lonely_calls<'m>(
    messages: &'m [Message<'_>],
    pairs: &'m Pairs,
    pairing_rules: PairingRules,
) -> impl Iterator<Item = Fault> + 'm {
    let unpaired = pairs.calls().iter().filter(|&&call| pairs.other_half(call).is_none());
    let wanted =
        unpaired.filter(|at| messages[at.message].parts[at.part].content.call().is_some_and(|call| !call.hosted));
    let mut rounds: HashMap<u32, usize> = HashMap::new();
    wanted.map(move |&at| {
        let thread = messages[at.message].thread;
        let round = *rounds.entry(thread).or_insert_with(|| last_round(messages, thread, pairing_rules, |_| true));
        let kind = if at.message >= round { FaultKind::PendingCall } else { FaultKind::UnansweredCall };
        Fault { kind, at, other: None }
    })
}

/// Where the last round of a thread's messages in flight begins: the calls that nothing but results follows. Only parts that
/// are `left` count; a message that has parts and none left is not there.
///
/// Formats that answer message by message have one calling message a round; others lay parallel calls side by side.
#[must_use]
pub fn last_round(
    messages: &[Message<'_>],
    thread: u32,
    pairing_rules: PairingRules,
    left: impl Fn(PartRef) -> bool,
) -> usize {
    let side_by_side = matches!(pairing_rules.results, ResultPlace::Anywhere | ResultPlace::RightAfterTurn);
    let is_left = |at: usize, part: usize| left(PartRef { message: at, part });
    let there = |at: usize, message: &Message<'_>| {
        message.parts.is_empty() || (0..message.parts.len()).any(|part| is_left(at, part))
    };
    let own = messages.iter().enumerate().rev().filter(|(at, message)| message.thread == thread && there(*at, message));
    let mut round = messages.len();
    let mut calling: Option<&Message<'_>> = None;
    let mut next = messages.len();
    for (at, message) in own {
        let calls = message.calls().any(|(part, _)| is_left(at, part));
        let goes_on = match calling {
            None => calls || message.results().any(|(part, _)| is_left(at, part)),
            Some(later) => {
                (calls && (side_by_side || is_same_reply(message, later))) || message.is_bound() && next == at + 1
            }
        };
        if !goes_on {
            break;
        }
        if calls || calling.is_some() {
            round = at;
            calling = Some(message);
        }
        next = at;
        if message.barrier {
            break;
        }
    }
    round
}

/// Whether two messages are pieces of one reply of the provider, as session logs write them.
fn is_same_reply(one: &Message<'_>, other: &Message<'_>) -> bool {
    one.role == other.role && one.id.is_some() && one.id == other.id
}

/// Calls whose id is taken: by a call still open, or by any earlier call where the format wants ids to be unique.
fn duplicate_ids(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Fault> {
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
            if open || pairing_rules.unique_ids {
                faults.push(Fault { kind: FaultKind::DuplicateCallId, at: call, other: Some(earlier) });
            }
        }
    }
    faults
}

fn detached(
    messages: &[Message<'_>],
    (call, result): (PartRef, PartRef),
    pairing_rules: PairingRules,
) -> Option<Fault> {
    let (calling, answering) = (&messages[call.message], &messages[result.message]);
    let hosted = answering.parts[result.part].content.result()?.same_message;
    let attached = if call.message == result.message {
        true
    } else {
        let between = &messages[call.message + 1..result.message];
        let mut between = between.iter().filter(|message| message.thread == calling.thread);
        match pairing_rules.results {
            // A tool that the provider runs is answered in its message, or at the head of the reply after that.
            _ if hosted => {
                is_same_reply(calling, answering) || calling.role == answering.role && is_next(between, calling)
            }
            ResultPlace::Anywhere => true,
            ResultPlace::RightAfter => between.all(|message| message.role == Role::Tool),
            ResultPlace::RightAfterTurn => is_next(between, calling),
            ResultPlace::NextMessage => is_next(between, calling),
            ResultPlace::NextMessageFirst => is_next(between, calling) && leads(answering, result.part),
        }
    };
    (!attached).then_some(Fault { kind: FaultKind::DetachedResult, at: result, other: Some(call) })
}

/// Whether only the rest of the assistant's turn and other results stand between a call and its result: providers join
/// messages of one role that follow each other.
fn is_next<'m, 'a: 'm>(between: impl Iterator<Item = &'m Message<'a>>, calling: &Message<'_>) -> bool {
    let only_answers =
        |message: &Message<'_>| message.results().next().is_some() && !message.parts.iter().any(|p| p.content.speaks());
    between
        .skip_while(|message| message.role == Role::Assistant)
        .all(|message| only_answers(message) || is_same_reply(message, calling))
}

fn leads(message: &Message<'_>, part: usize) -> bool {
    message.parts[..part].iter().all(|part| part.content.result().is_some())
}
