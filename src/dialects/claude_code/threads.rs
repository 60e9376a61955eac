//! The conversations inside one log: records of sub-agents are between the records of the main conversation.

use std::borrow::Cow;
use std::collections::HashMap;

use super::is_true;
use crate::dialects::Item;
use crate::json::{Text, Value, ValueKind};

/// Gives every message the number of its conversation: 0 for the main one, then the side conversations as they appear.
///
/// A side conversation is identified by its `agentId`, or by the record from which it descends.
pub(super) fn number_threads<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut threads = Threads::default();
    for (&item, read) in items.iter().zip(read) {
        // Streams of the program name the call that started the side conversation.
        let [side, call] = item.get_each(["isSidechain", "parent_tool_use_id"]);
        if side.is_some_and(is_true) || call.is_some_and(|call| call.kind() != ValueKind::Null) {
            let thread = threads.number_of(item);
            if let Item::Message(message) = read {
                message.thread = thread;
            }
        }
    }
}

#[derive(Default)]
struct Threads<'a> {
    by_agent: HashMap<Cow<'a, str>, u32>,
    by_record: HashMap<Cow<'a, str>, u32>,
    count: u32,
}

impl<'a> Threads<'a> {
    fn number_of(&mut self, item: Value<'a>) -> u32 {
        let agent = item.get_text("agentId").or_else(|| item.get_text("parent_tool_use_id"));
        let agent = agent.map(Text::into_decoded);
        let parent = item.get_text("parentUuid").map(Text::into_decoded);
        let known = match (&agent, &parent) {
            (Some(agent), _) => self.by_agent.get(agent).copied(),
            (None, Some(parent)) => self.by_record.get(parent).copied(),
            (None, None) => None,
        };
        let thread = known.unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        if let Some(agent) = agent {
            self.by_agent.insert(agent, thread);
        }
        if let Some(uuid) = item.get_text("uuid").map(Text::into_decoded) {
            self.by_record.insert(uuid, thread);
        }
        thread
    }
}
