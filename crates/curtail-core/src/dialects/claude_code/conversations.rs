//! The conversations inside one log: records of sub-agents are between the records of the main conversation.

use std::borrow::Cow;

use foldhash::HashMap;

use super::is_true;
use crate::dialects::Item;
use crate::json::{Text, Value, ValueKind};
use crate::transcript::Unknown;

/// Gives every message the number of its conversation: 0 for the main one, then the side conversations as they appear. Returns
/// the number of each item.
///
/// A side conversation is identified by its `agentId`, or by the record without one from which it descends. A record that
/// lacks the `agentId` of its parent begins a conversation: it could not be told from others without that parent.
pub(super) fn number_threads<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) -> Vec<u32> {
    let mut threads = Threads::default();
    let numbers = items.iter().zip(read).map(|(&item, read)| {
        // Streams of the program name the call that started the side conversation.
        let [side, call] = item.get_each(["isSidechain", "parent_tool_use_id"]);
        if !side.is_some_and(is_true) && call.is_none_or(|call| call.kind() == ValueKind::Null) {
            return 0;
        }
        let thread = threads.number_of(item);
        if let Item::Message(message) = read {
            match thread {
                Some(thread) => message.thread = thread,
                None => *read = Item::Unknown(Unknown::NoId),
            }
        }
        thread.unwrap_or_default()
    });
    numbers.collect()
}

#[derive(Default)]
struct Threads<'a> {
    by_agent: HashMap<Cow<'a, str>, u32>,
    by_record: HashMap<Cow<'a, str>, u32>,
    count: u32,
}

impl<'a> Threads<'a> {
    /// The conversation of a record. A damaged one with neither name nor id is in none: only its parent tells its conversation,
    /// and a cut can drop the parent.
    fn number_of(&mut self, item: Value<'a>) -> Option<u32> {
        let agent = item.get_text("agentId").or_else(|| item.get_text("parent_tool_use_id"));
        let agent = agent.map(Text::into_decoded);
        let [uuid, parent] = ["uuid", "parentUuid"].map(|key| item.get_text(key).map(Text::into_decoded));
        agent.as_ref().or(uuid.as_ref())?;
        let known = match &agent {
            Some(agent) => self.by_agent.get(agent).copied(),
            // A record that a damaged log repeats is in one conversation with the first.
            None => [&uuid, &parent].into_iter().flatten().find_map(|id| self.by_record.get(id).copied()),
        };
        let thread = known.unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        match (agent, uuid) {
            (Some(agent), _) => self.by_agent.insert(agent, thread),
            (None, Some(uuid)) => self.by_record.insert(uuid, thread),
            (None, None) => None,
        };
        Some(thread)
    }
}
