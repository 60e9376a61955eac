//! What a dialect leaves to mark in all messages once it has read them: which are pieces of one reply, and what a boundary
//! supersedes.

use foldhash::HashSet;

use super::{Binding, Closes, Message, Role, Standing};

/// Binds consecutive assistant messages with the same id: a log wrote one reply as several messages. A message that calls
/// tools is not bound, because its results may come before the next message of the reply.
pub fn bind_split_replies(messages: &mut [Message<'_>]) {
    for at in 0..messages.len() {
        let here = &messages[at];
        let next = messages.get(at + 1);
        let same = next.is_some_and(|next| here.id.is_some() && here.id == next.id && here.thread == next.thread);
        let assistant = here.role == Role::Assistant && next.is_some_and(|next| next.role == Role::Assistant);
        let bound = same && assistant && here.calls().next().is_none();
        if here.binding != Binding::Reasoning {
            messages[at].binding = if bound { Binding::SameReply } else { Binding::None };
        }
    }
}

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
            Standing::RolledBack | Standing::Abandoned | Standing::Unsent => {}
        }
    }
}
