//! What the log records about its own history: compactions replace it, rollbacks remove the end of it.

use crate::dialects::{Item, Patch, blocks};
use crate::json::Value;
use crate::transcript::{Content, Layout, Message, Part, PartPlace, Role, SlotKind, Standing};

/// User messages that the program writes. They do not begin a turn.
const CONTEXT: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<skill>",
    "# AGENTS.md instructions",
    // What summaries and memory write.
    "<conversation_summaries",
    "<working_memory",
];

/// Reads a `compacted` line as a boundary: a list of items inside it, or a summary in older logs.
pub(super) fn read_compacted<'a>(payload: Value<'a>, item: Value<'a>) -> Item<'a> {
    match payload.get("replacement_history").filter(|history| history.is_array()) {
        Some(history) => Item::Nested(history.items().collect()),
        None => boundary(payload, item),
    }
}

/// The summary of a `compacted` line, which the model reads in place of everything before it.
fn boundary<'a>(payload: Value<'a>, item: Value<'a>) -> Item<'a> {
    let mut message = Message::from_source(Role::User, item);
    let said = payload.get("message").filter(|said| said.text().is_some());
    let content = said.and_then(Value::text).map_or(Content::Other, Content::Text);
    message.parts = vec![Part::from_source(content, PartPlace::element(item))];
    message.set_boundary();
    Item::Message(message)
}

/// Marks the messages before the last `compacted` as superseded, and marks the turns that were rolled back.
pub(super) fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for item in &mut *read {
        if let Item::Message(message) = item {
            message.automatic |= message.role == Role::User && is_context(message);
        }
    }
    roll_back(items, read);
    let Some(last) = items.iter().rposition(|item| is_compaction(*item)) else { return };
    for (item, read) in items.iter().zip(&mut *read).take(last) {
        // The history in an earlier compaction is no longer read: the line is an earlier boundary.
        if let (Item::Nested(_), Some(payload)) = (&*read, item.get("payload")) {
            *read = boundary(payload, *item);
        }
        if let Item::Message(message) = read
            && message.standing != Standing::RolledBack
        {
            message.standing = Standing::Superseded;
        }
    }
}

/// Whether the line is a compaction. A damaged one without a payload replaces nothing.
pub(super) fn is_compaction(item: Value<'_>) -> bool {
    is(item, "compacted") && item.get("payload").is_some()
}

fn is(item: Value<'_>, kind: &str) -> bool {
    item.get("type").is_some_and(|own| own.is(kind))
}

/// Marks the turns that a `thread_rolled_back` event removes. The event and the other messages of these turns are kept or
/// dropped with the first message: without it, the event would remove other turns, and what follows it would belong to the
/// turn before.
fn roll_back<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for Rollback { event, turns } in rollbacks(items, read) {
        let start = turns[0];
        for at in start..event {
            let Item::Message(message) = &mut read[at] else { continue };
            // An earlier event may have rolled back a turn among these.
            if message.standing == Standing::RolledBack {
                continue;
            }
            let turn = turns[turns.partition_point(|turn| *turn <= at) - 1];
            let first = if turn == at { start } else { turn };
            message.dropped_with = (at > start).then_some(first);
            message.roll_back(Standing::RolledBack);
        }
        read[event] = Item::With(start);
    }
}

/// An event that rolls back turns.
pub(super) struct Rollback {
    /// Index of the event.
    pub(super) event: usize,
    /// Indices of the items that begin the turns; never empty.
    pub(super) turns: Vec<usize>,
}

/// The events that roll back turns, in order.
pub(super) fn rollbacks(items: &[Value<'_>], read: &[Item<'_>]) -> Vec<Rollback> {
    let (mut turns, mut rollbacks) = (Vec::new(), Vec::new());
    for at in 0..items.len() {
        if begins_turn(items[at], &read[at]) {
            turns.push(at);
        }
        // The items of the last compaction's list have no envelope.
        if is(items[at], "compacted") || items[at].get("payload").is_none() {
            turns.clear();
        }
        let Some(count) = turn_count(items[at]).filter(|count| *count > 0) else { continue };
        let own = turns.split_off(turns.len().saturating_sub(count));
        if !own.is_empty() {
            rollbacks.push(Rollback { event: at, turns: own });
        }
    }
    rollbacks
}

/// Whether an event rolls back turns.
pub(super) fn is_rollback(item: Value<'_>) -> bool {
    turn_count(item).is_some_and(|count| count > 0)
}

/// How many turns an event rolls back.
fn turn_count(item: Value<'_>) -> Option<usize> {
    number_of_turns(item)?.raw().parse().ok()
}

/// Where an event says how many turns it rolls back.
fn number_of_turns(item: Value<'_>) -> Option<Value<'_>> {
    let payload = item.get("payload").filter(|payload| is(item, "event_msg") && is(*payload, "thread_rolled_back"))?;
    payload.get("num_turns")
}

/// Makes every event roll back as many turns as it did, if only some of them are written.
pub(super) fn recount(layout: &Layout<'_>, read: &[Item<'_>], kept: &[bool]) -> Vec<Patch> {
    let slots = layout.slots.iter().filter(|slot| !matches!(slot.what, SlotKind::Frame { .. }));
    let is_written: Vec<bool> =
        slots.map(|slot| matches!(slot.what, SlotKind::Message(index) if kept[index])).collect();
    let patch = |Rollback { event, turns }: Rollback| {
        let left = turns.iter().filter(|turn| is_written[**turn]).count();
        let number = number_of_turns(layout.elements[event]).filter(|_| left < turns.len())?;
        Some(Patch { span: number.span(), text: left.to_string() })
    };
    rollbacks(&layout.elements, read).into_iter().filter_map(patch).collect()
}

/// Whether the program wrote the message for the user.
fn is_context(message: &Message<'_>) -> bool {
    let mut texts = message.parts.iter().filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.decode()),
        _ => None,
    });
    texts.next().is_some_and(|text| CONTEXT.iter().any(|context| text.trim_start().starts_with(context)))
}

fn begins_turn(item: Value<'_>, read: &Item<'_>) -> bool {
    let Some(payload) = item.get("payload").filter(|payload| is(item, "response_item") && is(*payload, "message"))
    else {
        return false;
    };
    let Item::Message(message) = read else { return false };
    let has_text = blocks::texts(payload.get("content")).into_iter().next().is_some();
    message.speaks_as(Role::User) && has_text && !is_context(message)
}
