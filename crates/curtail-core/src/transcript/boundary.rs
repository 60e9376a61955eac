//! Boundaries: messages that replace everything before them for the model, such as the summary of a compaction.

use foldhash::HashSet;

use super::{Closes, Message, Standing, turn_starts};

/// Marks what the last boundary of each thread supersedes: the messages before it, except instructions and what it kept.
/// A call that is open before a boundary cannot be answered after it, unless the compaction ran beside the tools.
pub fn supersede(messages: &mut [Message<'_>]) {
    let mut bounded: HashSet<u32> = HashSet::default();
    for message in messages.iter_mut().rev() {
        let behind = bounded.contains(&message.thread);
        if behind && message.standing == Standing::Live && !message.role.instructs() {
            message.standing = Standing::Superseded;
        }
        if message.is_boundary() {
            bounded.insert(message.thread);
        }
    }
    let mut over: HashSet<u32> = HashSet::default();
    for message in messages.iter_mut() {
        match message.standing {
            Standing::Superseded => {
                over.insert(message.thread);
            }
            Standing::Live | Standing::Preserved => {
                // A boundary says itself whether a call before it can be answered.
                let first = over.remove(&message.thread) && message.standing == Standing::Live;
                if first && !message.is_boundary() {
                    message.call_rules.closes = message.call_rules.closes.max(Closes::Superseded);
                }
            }
            Standing::RolledBack | Standing::Abandoned => {}
        }
    }
}

/// Index of the next boundary of the thread after the boundary `at`, where the messages end that need it; the number of messages
/// if there is none.
#[must_use]
pub fn reach(messages: &[Message<'_>], at: usize) -> usize {
    let next = messages[at + 1..].iter().position(|next| next.is_boundary() && next.thread == messages[at].thread);
    next.map_or(messages.len(), |next| at + 1 + next)
}

/// The conversation that a program continues when it resumes the log: the main one, even if a sub-agent's comes first. In a log
/// of a sub-agent alone, it is that of the sub-agent.
#[must_use]
pub fn main_thread(messages: &[Message<'_>]) -> u32 {
    let is_main = |message: &Message<'_>| message.thread == 0;
    if messages.iter().any(is_main) { 0 } else { messages.first().map_or(0, |message| message.thread) }
}

/// Index of the first message with which a turn of the main conversation begins: the task. A log that begins with a sub-agent
/// begins with what the agent asked it.
#[must_use]
pub fn first_prompt(messages: &[Message<'_>]) -> Option<usize> {
    turn_starts(messages).first().copied()
}

/// Number of messages up to the newest boundary of the main conversation that a model reads; 0 without one.
#[must_use]
pub fn behind_boundary(messages: &[Message<'_>]) -> usize {
    let main = main_thread(messages);
    let stands = |message: &Message<'_>| {
        message.thread == main && message.standing.is_read() && (message.is_boundary() || message.is_in_compaction())
    };
    messages.iter().rposition(stands).map_or(0, |at| at + 1)
}

/// Index of the message before which a block of context is written, so that a model reads it: after the newest boundary, before
/// the first message of the main conversation that gives no instructions, and not between a call that a compaction kept and its
/// result.
#[must_use]
pub fn front(messages: &[Message<'_>]) -> usize {
    let main = main_thread(messages);
    let start = behind_boundary(messages);
    let may_answer = start.checked_sub(1).is_some_and(|last| !messages[last].closes_calls());
    let is_read = |message: &&Message<'_>| {
        let answers = may_answer && message.results().next().is_some();
        message.thread == main && message.standing.is_read() && !message.role.instructs() && !answers
    };
    messages[start..].iter().position(|message| is_read(&message)).map_or(messages.len(), |at| start + at)
}
