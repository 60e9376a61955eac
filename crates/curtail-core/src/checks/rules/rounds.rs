//! Rounds: a turn of calls and the messages that answer it. Which of them have the wrong number of results, and which calls
//! another finding explains.

use std::collections::HashSet;
use std::ops::Range;

use crate::checks::RuleContext;
use crate::transcript::{FaultKind, Message, PartRef, Role};

/// A turn and the messages that answer it, of which one has more calls or results than the other.
pub(super) struct MiscountedRound {
    /// The messages of the turn.
    pub(super) turn: Range<usize>,
    /// The number of its calls.
    pub(super) calls: usize,
    /// The messages that answer it.
    pub(super) answers: Range<usize>,
    /// The number of their results.
    pub(super) results: usize,
}

/// The rounds in which the numbers of calls and results differ, in a format where they must be equal. Messages of one role in a
/// row are one turn, as for the place of a result.
pub(super) fn miscounted_rounds(context: &RuleContext<'_, '_>) -> Vec<MiscountedRound> {
    if !context.provider_rules.results_together {
        return Vec::new();
    }
    let mut runs: Vec<Range<usize>> = Vec::new();
    for run in context.messages.chunk_by(|one, next| is_reply(one) == is_reply(next)) {
        let start = runs.last().map_or(0, |before| before.end);
        runs.push(start..start + run.len());
    }
    let turns = runs.windows(2).filter(|pair| is_reply(&context.messages[pair[0].start]));
    turns.filter_map(|pair| miscounted(context, pair[0].clone(), pair[1].clone())).collect()
}

fn is_reply(message: &Message<'_>) -> bool {
    message.role == Role::Assistant
}

/// The round of a turn and the messages after it. A round in flight may lack results.
fn miscounted(context: &RuleContext<'_, '_>, turn: Range<usize>, after: Range<usize>) -> Option<MiscountedRound> {
    let answering = after.clone().take_while(|at| results_of(context, *at).next().is_some());
    let answers = after.start..after.start + answering.count();
    let calls: usize = turn.clone().map(|at| calls_of(context, at)).sum();
    let answered = answers.clone().flat_map(|at| results_of(context, at)).filter_map(|result| {
        match context.pairs.counterpart(result) {
            // The answer to a call that may be answered late, and again, is of no round.
            Some(call) if call.message < turn.start && is_deferred(context, call) => None,
            call => Some(call.unwrap_or(result)),
        }
    });
    let results = answered.collect::<HashSet<PartRef>>().len();
    let pending = results < calls && answers.end == context.messages.len();
    let is_wrong = calls > 0 && results > 0 && results != calls && !pending;
    is_wrong.then_some(MiscountedRound { turn, calls, answers, results })
}

/// The messages of rounds with the wrong number of results, which is reported once.
pub(super) fn miscounted_messages(context: &RuleContext<'_, '_>) -> HashSet<usize> {
    miscounted_rounds(context).into_iter().flat_map(|round| round.turn.chain(round.answers)).collect()
}

/// How many calls of a message another message must answer.
fn calls_of(context: &RuleContext<'_, '_>, message: usize) -> usize {
    let wanted = context.messages[message].calls().filter(|(_, call)| !call.hosted);
    wanted.filter(|(part, _)| !is_answered_inside(context, PartRef { message, part: *part })).count()
}

/// The results of a message that answer calls of another message.
fn results_of(context: &RuleContext<'_, '_>, message: usize) -> impl Iterator<Item = PartRef> {
    let results = context.messages[message].results().map(move |(part, _)| PartRef { message, part });
    results.filter(move |&result| !is_answered_inside(context, result))
}

fn is_answered_inside(context: &RuleContext<'_, '_>, at: PartRef) -> bool {
    context.pairs.counterpart(at).is_some_and(|other| other.message == at.message)
}

fn is_deferred(context: &RuleContext<'_, '_>, call: PartRef) -> bool {
    call.part_in(context.messages).content.call().is_some_and(|call| call.deferred)
}

/// The calls whose missing result another finding explains: their result comes before them or is of another kind, or two
/// calls of one round share an id.
pub(super) fn explained_calls(context: &RuleContext<'_, '_>) -> HashSet<PartRef> {
    // The number of messages before each one that end a round: those without calls and results.
    let ends_before = context.messages.iter().scan(0, |ends, message| {
        let before = *ends;
        *ends += usize::from(!message.has_tools());
        Some(before)
    });
    let ends_before: Vec<usize> = ends_before.collect();
    let mut explained = HashSet::new();
    for fault in context.faults {
        match (fault.kind, fault.other) {
            (FaultKind::ResultBeforeCall | FaultKind::FamilyMismatch, Some(call)) => drop(explained.insert(call)),
            (FaultKind::DuplicateCallId, Some(call)) if ends_before[call.message] == ends_before[fault.at.message] => {
                explained.extend([call, fault.at]);
            }
            _ => {}
        }
    }
    explained
}
