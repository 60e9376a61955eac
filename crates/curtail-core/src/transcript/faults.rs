//! What can be wrong with a pair of call and result: the list that rules report and repair fixes. Whether a result is where the
//! wire format requires it is computed without walking the messages between call and result.

use std::borrow::Cow;
use std::cell::OnceCell;

use foldhash::HashMap;

use super::pairing::deferred;
use super::{Message, Mismatch, PairingRules, Pairs, PartRef, ReplyKey, ResultPlace, Role, Standing};
use crate::steps;

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
    /// back needs no result, nor does one whose result the log may not show.
    #[must_use]
    pub fn find_all(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Self> {
        let mut faults = Self::find_every(messages, pairs, pairing_rules);
        faults.retain(|fault| match fault.kind {
            FaultKind::OrphanResult => !messages[fault.at.message].call_rules.unasked,
            FaultKind::UnansweredCall if messages[fault.at.message].call_rules.unanswered => false,
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
        let detached = detached.filter(|(call, _)| deferred(messages, *call).is_none());
        faults.extend(detached.map(|(call, at)| Self { kind: FaultKind::DetachedResult, at, other: Some(call) }));
        faults.sort_by_key(|fault| (fault.at, fault.kind));
        faults
    }
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

fn unpaired_calls(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Fault> {
    let unpaired = pairs.calls().iter().copied().filter(|&call| pairs.counterpart(call).is_none());
    let wanted =
        unpaired.filter(|at| at.part_in(messages).content.call().is_some_and(|call| !call.hosted && !call.waits));
    let (over, standing): (Vec<PartRef>, Vec<PartRef>) =
        wanted.partition(|at| messages[at.message].standing.is_rolled_back());
    let mut faults = open_calls(messages, standing, pairing_rules, |message| !message.standing.is_rolled_back());
    // A person may go back to turns that were rolled back, and what followed them there counts then.
    faults.extend(open_calls(messages, over, pairing_rules, |_| true));
    faults
}

/// The faults of these calls without results, in conversations of the messages that `counts` accepts.
fn open_calls(
    messages: &[Message<'_>],
    calls: Vec<PartRef>,
    pairing_rules: PairingRules,
    counts: impl Fn(&Message<'_>) -> bool,
) -> Vec<Fault> {
    let threads = calls.iter().map(|call| messages[call.message].thread);
    let rounds = last_rounds(messages, threads, counts, pairing_rules, |_| true);
    let faults = calls.into_iter().map(|at| {
        let is_pending = rounds.get(&messages[at.message].thread).is_some_and(|round| at.message >= *round);
        let kind = if is_pending { FaultKind::PendingCall } else { FaultKind::UnansweredCall };
        Fault { kind, at, other: None }
    });
    faults.collect()
}

/// For each of `threads`: index of the message with which the last round of calls begins among the messages of this
/// conversation that `counts` accepts: calls that only results follow. Their missing results may still come, so they are pending
/// and not unanswered. A conversation without such a round has none.
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
pub fn last_rounds(
    messages: &[Message<'_>],
    threads: impl Iterator<Item = u32>,
    counts: impl Fn(&Message<'_>) -> bool,
    pairing_rules: PairingRules,
    left: impl Fn(PartRef) -> bool,
) -> HashMap<u32, usize> {
    let side_by_side = matches!(pairing_rules.results, ResultPlace::Anywhere | ResultPlace::RightAfterTurn);
    let mut open: HashMap<u32, Round> = threads.map(|thread| (thread, Round::default())).collect();
    let mut found = HashMap::default();
    // All conversations in one pass from the end, which stops when the rounds of all have begun.
    for (at, message) in messages.iter().enumerate().rev() {
        if open.is_empty() {
            break;
        }
        steps::count(1);
        let is_left = |part| left(PartRef { message: at, part });
        let Some(round) = open.get_mut(&message.thread).filter(|_| counts(message)) else { continue };
        if !message.parts.is_empty() && !(0..message.parts.len()).any(is_left) {
            continue;
        }
        let calls = message.calls().any(|(part, _)| is_left(part));
        let goes_on = match round.start {
            // A message that holds results and the model's text about them ends their round.
            None => calls || !message.is_exchange() && message.results().any(|(part, _)| is_left(part)),
            Some(later) => {
                (calls && (side_by_side || is_same_reply(message, &messages[later])))
                    || message.is_bound() && round.next == Some(at + 1)
            }
        };
        if goes_on {
            round.next = Some(at);
            if calls || round.start.is_some() {
                round.start = Some(at);
                found.insert(message.thread, at);
            }
        }
        if !goes_on || message.call_rules.closes.applies(|| calls) {
            open.remove(&message.thread);
        }
    }
    found
}

/// The last round of a conversation, as far as it is known from the end.
#[derive(Default)]
struct Round {
    /// Index of its first message, once one with calls was met.
    start: Option<usize>,
    /// Index of the message of the conversation that was seen last.
    next: Option<usize>,
}

/// Calls with the id of an open call, or of any earlier call if the format requires unique ids.
fn duplicate_ids(messages: &[Message<'_>], pairs: &Pairs, pairing_rules: PairingRules) -> Vec<Fault> {
    let mut last: HashMap<u32, HashMap<Cow<'_, str>, PartRef>> = HashMap::default();
    let mut faults = Vec::new();
    let mut closing = (0..messages.len()).filter(|&at| messages[at].closes_calls()).peekable();
    for &call in pairs.calls() {
        while let Some(closing) = closing.next_if(|&at| at <= call.message) {
            last.remove(&messages[closing].thread);
        }
        if messages[call.message].call_rules.shared_ids {
            continue;
        }
        let Some(id) = call.part_in(messages).content.tool_id() else { continue };
        if let Some(earlier) = last.entry(messages[call.message].thread).or_default().insert(id.decode(), call) {
            let open = pairs.counterpart(earlier).is_none_or(|result| result > call);
            if open || pairing_rules.unique_ids {
                faults.push(Fault { kind: FaultKind::DuplicateCallId, at: call, other: Some(earlier) });
            }
        }
    }
    faults
}

/// The messages between calls and results, counted once for a transcript.
pub struct Placement<'m, 'a> {
    messages: &'m [Message<'a>],
    results: ResultPlace,
    /// Messages of other roles than tool.
    others: Obstacles,
    /// Messages that are not only answers.
    talk: Obstacles,
    /// For each message: index of the next message of its thread that is not the assistant's alone.
    turn_end: Vec<usize>,
    /// For each message: index of the first part that is no result.
    first_other: Vec<usize>,
    /// The messages of each reply that a log wrote as several, without those that are only answers. Empty for most
    /// transcripts.
    replies: OnceCell<HashMap<ReplyKey<'m>, Vec<usize>>>,
}

impl<'m, 'a> Placement<'m, 'a> {
    /// Counts `messages` for the rules of a format.
    #[must_use]
    pub fn new(messages: &'m [Message<'a>], pairing_rules: PairingRules) -> Self {
        let mut ends: HashMap<u32, usize> = HashMap::default();
        let mut turn_end = vec![messages.len(); messages.len()];
        for (at, message) in messages.iter().enumerate().rev() {
            let end = ends.entry(message.thread).or_insert(messages.len());
            turn_end[at] = *end;
            if message.role != Role::Assistant || message.is_exchange() {
                *end = at;
            }
        }
        Self {
            messages,
            results: pairing_rules.results,
            others: Obstacles::count(messages, |message| message.role != Role::Tool),
            talk: Obstacles::count(messages, |message| !is_answer(message)),
            turn_end,
            first_other: messages.iter().map(first_other).collect(),
            replies: OnceCell::new(),
        }
    }

    /// Whether `result` is where the format requires the result of `call`, which is in the same message or an earlier one.
    #[must_use]
    pub fn is_attached(&self, call: PartRef, result: PartRef) -> bool {
        if call.message == result.message {
            return true;
        }
        let calling = &self.messages[call.message];
        let answering = &self.messages[result.message];
        let hosted = answering.parts[result.part].content.result().is_some_and(|result| result.same_message);
        if hosted {
            // The result of a tool that the provider runs is in the same reply, or at the start of the next one.
            return is_same_reply(calling, answering)
                || calling.role == answering.role && self.is_next(call.message, result.message);
        }
        match self.results {
            ResultPlace::Anywhere => true,
            ResultPlace::SameMessage => false,
            ResultPlace::RightAfter => self.others.between(call.message, result.message) == 0,
            ResultPlace::RightAfterTurn | ResultPlace::NextMessage => self.is_next(call.message, result.message),
            ResultPlace::NextMessageFirst => {
                self.is_next(call.message, result.message) && result.part <= self.first_other[result.message]
            }
        }
    }

    /// Whether only the rest of the assistant's turn, other results, and the rest of the reply are between two messages:
    /// providers join consecutive messages of one role.
    fn is_next(&self, calling: usize, answering: usize) -> bool {
        let turn_end = self.turn_end[calling];
        if turn_end >= answering {
            return true;
        }
        let talk = self.talk.before[answering] - self.talk.before[turn_end];
        talk == 0 || talk == self.of_reply(calling, turn_end, answering)
    }

    /// The number of messages from `from` to just before `to` that belong to the reply of `calling` and are not only answers.
    fn of_reply(&self, calling: usize, from: usize, to: usize) -> usize {
        let replies = self.replies.get_or_init(|| {
            let mut replies: HashMap<ReplyKey<'m>, Vec<usize>> = HashMap::default();
            for (at, message) in self.messages.iter().enumerate().filter(|(at, _)| self.talk.is_one[*at]) {
                if let Some(reply) = message.reply_key() {
                    replies.entry(reply).or_default().push(at);
                }
            }
            replies
        });
        let items = self.messages[calling].reply_key().and_then(|reply| replies.get(&reply));
        items.map_or(0, |items| items.partition_point(|&at| at < to) - items.partition_point(|&at| at < from))
    }
}

/// Messages that may not come between a call and its result.
struct Obstacles {
    is_one: Vec<bool>,
    /// For each message: the number of obstacles before it in its thread.
    before: Vec<usize>,
}

impl Obstacles {
    fn count(messages: &[Message<'_>], is_one: impl Fn(&Message<'_>) -> bool) -> Self {
        let mut seen: HashMap<u32, usize> = HashMap::default();
        let is_one: Vec<bool> = messages.iter().map(is_one).collect();
        let before = messages.iter().zip(&is_one).map(|(message, &is_one)| {
            let count = seen.entry(message.thread).or_default();
            std::mem::replace(count, *count + usize::from(is_one))
        });
        Self { before: before.collect(), is_one }
    }

    /// The number of obstacles between two messages of one thread, both excluded.
    fn between(&self, from: usize, to: usize) -> usize {
        self.before[to] - self.before[from] - usize::from(self.is_one[from])
    }
}

/// Whether a message has results and no text.
pub(super) fn is_answer(message: &Message<'_>) -> bool {
    message.results().next().is_some() && !message.parts.iter().any(|part| part.content.has_text())
}

/// Index of the first part that is no result; the number of parts if there is none.
fn first_other(message: &Message<'_>) -> usize {
    message.parts.iter().take_while(|part| part.content.result().is_some()).count()
}

/// Whether two messages are parts of one reply of the provider, which session logs write as several messages.
fn is_same_reply(one: &Message<'_>, other: &Message<'_>) -> bool {
    one.role == other.role && one.id.is_some() && one.id == other.id
}
