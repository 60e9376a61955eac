//! What can be wrong with a pair of call and result: the list that rules report and repair fixes.

use std::borrow::Cow;
use std::collections::HashMap;

use super::pairing::Mismatch;
use super::placement::is_same_reply;
use super::{Message, PairingRules, Pairs, PartRef, Placement, ResultPlace, Standing};

/// A pairing fault, and the call or result that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The call or result that is wrong.
    pub at: PartRef,
    /// The part that it conflicts with or belongs to, if there is one.
    pub other: Option<PartRef>,
}

/// The ways in which a pair can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// A result without an earlier call.
    OrphanResult,
    /// A call without a result that other messages follow.
    UnansweredCall,
    /// A call without a result at the end of the transcript.
    PendingCall,
    /// A call with the id of an open call.
    DuplicateCallId,
    /// A second result for one call.
    DuplicateResult,
    /// A result before its call.
    ResultBeforeCall,
    /// A result that is not where the wire format requires it.
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
    /// Finds the faults of `messages`, in the order of the parts they are about. A call that was rolled
    /// back needs no result.
    #[must_use]
    pub fn find_all(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Self> {
        let mut faults = Self::find_every(messages, pairs, pairing_rules);
        faults.retain(|fault| match fault.kind {
            FaultKind::OrphanResult => !messages[fault.at.message].call_rules.unasked,
            FaultKind::UnansweredCall | FaultKind::PendingCall => {
                messages[fault.at.message].standing != Standing::RolledBack
            }
            _ => true,
        });
        faults
    }

    /// As [`Fault::find_all`], with the results that may answer no call: a cut must not make another of them.
    #[must_use]
    pub fn find_every(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Self> {
        let mut faults = duplicate_ids(messages, pairs, pairing_rules);
        faults.extend(unpaired_results(pairs));
        faults.extend(unpaired_calls(messages, pairs, pairing_rules));
        let placement = Placement::new(messages, pairing_rules);
        let detached = pairs.pairs().filter(|&(call, result)| !placement.is_attached(call, result));
        faults.extend(detached.map(|(call, at)| Self { kind: FaultKind::DetachedResult, at, other: Some(call) }));
        faults.sort_by_key(|fault| (fault.at, fault.kind));
        faults
    }
}

fn id_of<'m>(messages: &'m [Message<'_>], call: PartRef) -> Option<Cow<'m, str>> {
    let call = messages[call.message].parts[call.part].content.call()?;
    call.id.as_ref().map(|id| id.decode())
}

fn unpaired_results(pairs: &Pairs) -> impl Iterator<Item = Fault> {
    let unpaired = pairs.results().iter().filter(|&&result| pairs.counterpart(result).is_none());
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

fn unpaired_calls<'m>(
    messages: &'m [Message<'_>],
    pairs: &'m Pairs,
    pairing_rules: PairingRules,
) -> impl Iterator<Item = Fault> + 'm {
    let unpaired = pairs.calls().iter().filter(|&&call| pairs.counterpart(call).is_none());
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

/// Index of the message with which the last round of calls in a thread begins: calls that only results follow. Their
/// missing results may still come, so they are pending and not unanswered. The number of messages if there is no such round.
///
/// Only parts for which `left` returns true are seen, and a message that has parts, but none of them left, is skipped.
///
/// Formats in which results directly follow their message have one message with calls in a round. In the others, several
/// such messages side by side are one round of parallel calls:
///
/// ```text
///                     RightAfter   Anywhere
/// 0 user   "…"
/// 1 model  call a                  the round begins here
/// 2 model  call b     here         (1 and 2 are side by side)
/// 3 tool   result b
/// ```
///
/// Call `a` is unanswered with [`ResultPlace::RightAfter`] and pending with [`ResultPlace::Anywhere`]. A text after
/// message 3 would end the round: both calls would then be unanswered in either format.
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
    let left_of_thread =
        messages.iter().enumerate().rev().filter(|(at, message)| message.thread == thread && there(*at, message));
    let mut round = messages.len();
    let mut calling: Option<&Message<'_>> = None;
    let mut next = messages.len();
    for (at, message) in left_of_thread {
        let calls = message.calls().any(|(part, _)| is_left(at, part));
        let goes_on = match calling {
            // A message that holds results and the model's text about them ends their round.
            None => calls || !message.is_exchange() && message.results().any(|(part, _)| is_left(at, part)),
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
        if message.call_rules.closes.applies(|| calls) {
            break;
        }
    }
    round
}

/// Calls with the id of an open call, or of any earlier call if the format requires unique ids.
fn duplicate_ids(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Fault> {
    let mut last: HashMap<u32, HashMap<Cow<'_, str>, PartRef>> = HashMap::new();
    let mut faults = Vec::new();
    let mut closing = (0..messages.len()).filter(|&at| messages[at].closes_calls()).peekable();
    for &call in pairs.calls() {
        while let Some(closing) = closing.next_if(|&at| at <= call.message) {
            last.remove(&messages[closing].thread);
        }
        let Some(id) = id_of(messages, call) else { continue };
        if let Some(earlier) = last.entry(messages[call.message].thread).or_default().insert(id, call) {
            let open = pairs.counterpart(earlier).is_none_or(|result| result > call);
            if open || pairing_rules.unique_ids {
                faults.push(Fault { kind: FaultKind::DuplicateCallId, at: call, other: Some(earlier) });
            }
        }
    }
    faults
}
