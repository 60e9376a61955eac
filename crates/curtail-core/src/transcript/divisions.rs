//! How a transcript is divided: into segments and turns, by the in-flight round, and by boundaries. A boundary is a message that
//! replaces everything before it for the model, such as the summary of a compaction.

use std::ops::Range;

use foldhash::HashSet;

use super::faults::is_answer;
use super::pairing::deferred;
use super::{Message, Pairs, PartRef, Standing};
use crate::json::Text;

/// The segments of a transcript, in order: maximal runs of messages in which a call is open, and all other messages alone.
///
/// A message that is bound to the next one, such as reasoning before its call, belongs to the segment of that message.
///
/// What is between a deferred call and an answer that comes later does not belong to them.
#[must_use]
pub fn segments(messages: &[Message<'_>], pairs: &Pairs) -> Vec<Range<usize>> {
    let mut answered: Vec<usize> = (0..messages.len()).collect();
    for at in (1..messages.len()).rev().filter(|&at| is_answer(&messages[at])) {
        answered[at - 1] = answered[at];
    }
    runs(messages, pairs, |call, result| match deferred(messages, call) {
        Some(_) => first_answer(pairs, call, result, answered[call.message]),
        None => result.message,
    })
}

/// The message of the first answer to a deferred call if it is among those right behind the call, up to `last`; the call's own, if
/// all come later.
fn first_answer(pairs: &Pairs, call: PartRef, result: PartRef, last: usize) -> usize {
    let first = pairs.claimants(call).iter().fold(result.message, |first, interim| first.min(interim.message));
    if first <= last { first } else { call.message }
}

/// The same, each with all of its pairs: what is between a deferred call and a later answer belongs to their segment.
#[must_use]
pub fn whole_segments(messages: &[Message<'_>], pairs: &Pairs) -> Vec<Range<usize>> {
    runs(messages, pairs, |_, result| result.message)
}

/// Maximal runs of messages of which none ends before the message that `end` names for a pair in it.
fn runs(messages: &[Message<'_>], pairs: &Pairs, end: impl Fn(PartRef, PartRef) -> usize) -> Vec<Range<usize>> {
    let mut reach: Vec<usize> = (0..messages.len()).collect();
    for (call, result) in pairs.pairs() {
        reach[call.message] = reach[call.message].max(end(call, result));
    }
    for (call, program) in pairs.callers() {
        let end = pairs.counterpart(call).map_or(call.message, |result| result.message.max(call.message));
        reach[program.message] = reach[program.message].max(end);
    }
    for (at, message) in messages.iter().enumerate() {
        if message.is_bound() && at + 1 < messages.len() {
            reach[at] = reach[at].max(at + 1);
        }
    }
    let mut segments = Vec::new();
    let mut start = 0;
    while start < messages.len() {
        let mut end = start;
        let mut at = start;
        while at <= end {
            end = end.max(reach[at]);
            at += 1;
        }
        segments.push(start..end + 1);
        start = end + 1;
    }
    segments
}

/// Indices of the messages before which no call is open, and their number if none is open at the end. Only the messages before
/// each index decide, so appending to a transcript removes none of them. A call is open until its result, or until a message
/// with text and without calls and results.
#[must_use]
pub fn joints_and_end(messages: &[Message<'_>], pairs: &Pairs) -> Vec<usize> {
    let mut joints = Vec::new();
    let mut open: HashSet<PartRef> = HashSet::default();
    for at in 0..=messages.len() {
        if open.is_empty() && !(at > 0 && messages[at - 1].is_bound()) {
            joints.push(at);
        }
        let Some(message) = messages.get(at) else { break };
        if !message.has_tools() && message.parts.iter().any(|part| part.content.has_text()) {
            open.clear();
        }
        for (part, _) in message.calls() {
            let call = PartRef { message: at, part };
            if pairs.counterpart(call).is_none_or(|result| result.message > at) {
                open.insert(call);
            }
        }
        for (part, _) in message.results() {
            if let Some(call) = pairs.counterpart(PartRef { message: at, part }) {
                open.remove(&call);
            }
        }
    }
    joints
}

/// Indices of the messages before which no call is open.
#[must_use]
pub fn joints(messages: &[Message<'_>], pairs: &Pairs) -> Vec<usize> {
    let mut joints = joints_and_end(messages, pairs);
    joints.pop_if(|at| *at == messages.len());
    joints
}

/// Indices of the messages that begin turns of the main conversation: a person wrote them, they contain text or media, and were not
/// rolled back.
#[must_use]
pub fn turn_starts(messages: &[Message<'_>]) -> Vec<usize> {
    let main = main_thread(messages);
    (0..messages.len()).filter(|&at| messages[at].counts_in(main) && messages[at].begins_turn()).collect()
}

/// The turns of a transcript, which begin at the [`turn_starts`]. Messages before the first one are a turn too.
#[must_use]
pub fn turns(messages: &[Message<'_>]) -> Vec<Range<usize>> {
    let mut starts = turn_starts(messages);
    if !messages.is_empty() && starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([messages.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Index of the first message of the in-flight round: the run of messages with calls or results at the end of the main
/// conversation, or of the sub-agent's that works last. The number of messages if neither ends in one.
#[must_use]
pub fn in_flight(messages: &[Message<'_>]) -> usize {
    let last = messages.iter().rfind(|message| !message.standing.is_rolled_back());
    last.map_or(messages.len(), |last| in_flight_in(messages, 0).min(in_flight_in(messages, last.thread)))
}

/// The same of the conversation `thread` alone.
fn in_flight_in(messages: &[Message<'_>], thread: u32) -> usize {
    let mut start = messages.len();
    let newest = messages.iter().rposition(|message| message.counts_in(thread));
    for (at, message) in messages.iter().enumerate().rev().filter(|(_, message)| message.counts_in(thread)) {
        let is_bound = message.is_bound() && Some(at) != newest;
        if !message.has_tools() && !is_bound {
            break;
        }
        start = at;
    }
    start
}

/// Index of the first message of the main conversation after the last one that ended a round; the number of messages if there is
/// none. A message ends a round if it has no calls and no results, and is neither reasoning nor blank. This holds for the text
/// of a reply whose calls are messages of their own, too, so that appended messages never move the index back.
#[must_use]
pub fn settled(messages: &[Message<'_>]) -> usize {
    let main = main_thread(messages);
    let end = messages.iter().rposition(|message| {
        let is_empty = message.parts.iter().all(|part| part.content.text().is_some_and(Text::is_blank));
        message.counts_in(main) && !message.has_tools() && !message.is_reasoning() && !is_empty
    });
    let end = end.map_or(0, |last| last + 1);
    messages[end..].iter().position(|message| message.counts_in(main)).map_or(messages.len(), |first| end + first)
}

/// Index of the next boundary of the thread after the boundary `at`, where the messages end that need it; the number of messages
/// if there is none, or if the later ones kept this one.
#[must_use]
pub fn reach(messages: &[Message<'_>], at: usize) -> usize {
    if messages[at].standing == Standing::Preserved {
        return messages.len();
    }
    let next = messages[at + 1..].iter().position(|next| next.is_boundary() && next.thread == messages[at].thread);
    next.map_or(messages.len(), |next| at + 1 + next)
}

/// The conversation that a program continues when it resumes the log: the main one, even if a sub-agent's comes first. In a log
/// of a sub-agent alone, it is that of the sub-agent.
#[must_use]
pub fn main_thread(messages: &[Message<'_>]) -> u32 {
    if messages.iter().any(|message| message.thread == 0) {
        return 0;
    }
    messages.first().map_or(0, |message| message.thread)
}

/// Index of the first of the [`prompts`]: the task. A log that begins with a sub-agent begins with what the agent asked it.
#[must_use]
pub fn first_prompt(messages: &[Message<'_>]) -> Option<usize> {
    prompts(messages).first().copied()
}

/// Indices of the messages of a person that a model reads and that begin turns of the main conversation. Nobody asked anything
/// with the summary of a compaction.
#[must_use]
pub fn prompts(messages: &[Message<'_>]) -> Vec<usize> {
    let mut prompts = turn_starts(messages);
    prompts.retain(|&at| messages[at].standing.is_read() && !messages[at].is_boundary());
    prompts
}

/// Indices of the messages of a person that the in-flight round answers: the one that began it, and the newest one if a person
/// wrote more while a call was open. None without a round in flight.
///
/// ```text
/// 0 user "Plan it."   1 assistant calls a, b   2 result of a   3 user "By train."   4 result of b       0 and 3
/// ```
#[must_use]
pub fn open_questions(messages: &[Message<'_>], pairs: &Pairs) -> Vec<usize> {
    if in_flight(messages) == messages.len() {
        return Vec::new();
    }
    let prompts = prompts(messages);
    // A result without a call of its own belongs to no round.
    let segments = segments(messages, pairs).into_iter().rev();
    let round = segments
        .take_while(|segment| messages[segment.clone()].iter().any(|message| message.calls().next().is_some()))
        .last();
    let start = round.map_or(messages.len(), |segment| segment.start);
    let mut questions: Vec<usize> = prompts.iter().rfind(|&&at| at < start).copied().into_iter().collect();
    questions.extend(prompts.last());
    questions.dedup();
    questions
}

/// Number of messages up to the newest boundary of the main conversation that a model reads; 0 without one.
#[must_use]
pub fn behind_boundary(messages: &[Message<'_>]) -> usize {
    let main = main_thread(messages);
    let newest = messages.iter().rposition(|message| {
        message.thread == main && message.standing.is_read() && (message.is_boundary() || message.is_in_compaction())
    });
    newest.map_or(0, |at| at + 1)
}

/// Index of the message before which a block of context is written, so that a model reads it: after the newest boundary, before
/// the first message of the main conversation that gives no instructions, and not between a call that a compaction kept and its
/// result.
#[must_use]
pub fn front(messages: &[Message<'_>]) -> usize {
    let main = main_thread(messages);
    let start = behind_boundary(messages);
    let may_answer = start.checked_sub(1).is_some_and(|last| !messages[last].closes_calls());
    let first = messages[start..].iter().position(|message| {
        let answers = may_answer && message.results().next().is_some();
        message.thread == main && message.standing.is_read() && !message.role.instructs() && !answers
    });
    first.map_or(messages.len(), |at| start + at)
}
