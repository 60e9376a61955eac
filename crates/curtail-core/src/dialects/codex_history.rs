//! What the log records about its own history: compactions replace it, rollbacks remove the end of it.

use super::{Item, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Message, Role, Standing};

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
    let content = payload.get_text("message").map_or(Content::Other, Content::Text);
    blocks::boundary(Role::User, item, None, vec![blocks::whole(item, content)])
}

/// Marks the messages before the last `compacted` as superseded, and marks the turns that were rolled back.
pub(super) fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for message in read.iter_mut().filter_map(Item::message_mut) {
        message.automatic |= message.role == Role::User && is_context(message);
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
    item.member_is("type", "compacted") && item.get("payload").is_some()
}

/// Marks the turns that a `thread_rolled_back` event removes. The event and the other messages of these turns are kept or
/// dropped with the first message: without it, the event would remove other turns, and what follows it would belong to the
/// turn before.
fn roll_back<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for Rollback { event, turns } in rollbacks(items, |at| begins_turn(items[at], &read[at])) {
        let start = turns[0];
        for at in start..event {
            let Item::Message(message) = &mut read[at] else { continue };
            // An earlier event may have rolled back a turn among these.
            if message.standing == Standing::RolledBack {
                continue;
            }
            let turn = turns[turns.partition_point(|turn| *turn <= at) - 1];
            let first = if turn == at { start } else { turn };
            message.dropped_with = u32::try_from(first).ok().filter(|_| at > start);
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

/// The events that roll back turns, in order. `begins_turn` says whether the item with an index begins a turn.
pub(super) fn rollbacks(items: &[Value<'_>], begins_turn: impl Fn(usize) -> bool) -> Vec<Rollback> {
    let mut turns = Vec::new();
    let mut rollbacks = Vec::new();
    for (at, &item) in items.iter().enumerate() {
        if begins_turn(at) {
            turns.push(at);
        }
        // The last compaction is read as the items of its list.
        if item.member_is("type", "compacted") || is_replacement(item) {
            turns.clear();
        }
        let Some(count) = turn_count(item) else { continue };
        let rolled_back = turns.split_off(turns.len().saturating_sub(count));
        if !rolled_back.is_empty() {
            rollbacks.push(Rollback { event: at, turns: rolled_back });
        }
    }
    rollbacks
}

/// How many turns an event rolls back, if it does.
pub(super) fn turn_count(item: Value<'_>) -> Option<usize> {
    number_of_turns(item)?.raw().parse().ok().filter(|count| *count > 0)
}

/// Where an event says how many turns it rolls back.
pub(super) fn number_of_turns(item: Value<'_>) -> Option<Value<'_>> {
    let payload = item
        .get("payload")
        .filter(|payload| item.member_is("type", "event_msg") && payload.member_is("type", "thread_rolled_back"))?;
    payload.get("num_turns")
}

/// Whether the program wrote the message for the user.
fn is_context(message: &Message<'_>) -> bool {
    let text = blocks::first_text(message).map(Text::decode);
    text.is_some_and(|text| CONTEXT.iter().any(|context| text.trim_start().starts_with(context)))
}

/// Whether an item is a message of the user, before it is read.
pub(super) fn may_begin_turn(item: Value<'_>) -> bool {
    item.get("payload").is_some_and(|payload| payload.member_is("role", "user"))
}

pub(super) fn begins_turn(item: Value<'_>, read: &Item<'_>) -> bool {
    let Some(payload) = item
        .get("payload")
        .filter(|payload| item.member_is("type", "response_item") && payload.member_is("type", "message"))
    else {
        return false;
    };
    let Item::Message(message) = read else { return false };
    let has_text = blocks::texts(payload.get("content")).into_iter().next().is_some();
    message.has_text_as(Role::User) && has_text && !is_context(message)
}

/// Whether an item is in the list of a compaction.
pub(super) fn is_replacement(item: Value<'_>) -> bool {
    let list = item.parent().and_then(Value::parent);
    list.is_some_and(|payload| payload.get("replacement_history").is_some())
}
