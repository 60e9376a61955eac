//! What the log records about its own history: compactions replace it, rollbacks remove the end of it.

use super::{HistoryChange, Item, Patch, blocks};
use crate::json::Value;
use crate::steps;
use crate::transcript::{Content, Layout, Part, Role, Standing};

/// How texts begin and end that the program writes into messages of the user. These messages do not begin a turn.
const CONTEXT: &[(&str, &str)] = &[
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<skill>", "</skill>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<hook_prompt", "</hook_prompt>"),
    ("<codex_internal_context", "</codex_internal_context>"),
    ("<goal_context>", "</goal_context>"),
    ("<external_context", "</external_context>"),
    ("<extension_context>", "</extension_context>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<task_model_guidance>", "</task_model_guidance>"),
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("Warning: apply_patch was requested via ", "Use the apply_patch tool instead of exec_command."),
    // What summaries and memory write.
    ("<conversation_summaries", ""),
    ("<working_memory", ""),
];

/// Reads a `compacted` line as a boundary: a list of items inside it, or a summary in older logs.
pub(super) fn read_compacted<'a>(payload: Value<'a>, item: Value<'a>) -> Item<'a> {
    match payload.get("replacement_history").filter(|history| history.is_array()) {
        Some(history) => Item::Nested(history.items().collect()),
        None => summary(item),
    }
}

/// The summary of a `compacted` line, which the model reads in place of everything before it.
fn summary(item: Value<'_>) -> Item<'_> {
    let text = item.get("payload").and_then(|payload| payload.get_text("message"));
    let content = text.map_or(Content::Other, Content::Text);
    blocks::boundary(Role::User, item, None, vec![blocks::whole(item, content)])
}

/// Marks the turns that were rolled back, and the messages before the last `compacted` that was not as superseded.
pub(super) fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for message in read.iter_mut().filter_map(Item::message_mut) {
        message.automatic |= message.role == Role::User && has_context(&message.parts);
    }
    for rollback in rollbacks(items) {
        roll_back(&rollback, items, read);
    }
    let mut lines = items.iter().zip(&*read);
    let Some(last) = lines.rposition(|(item, read)| is_compaction(*item) && !is_rolled_back(read)) else { return };
    for (item, read) in items.iter().zip(&mut *read).take(last) {
        // The history in an earlier compaction is no longer read: the line is an earlier boundary.
        if matches!(read, Item::Nested(_)) {
            *read = summary(*item);
        }
        if let Item::Message(message) = read
            && message.standing != Standing::RolledBack
        {
            message.standing = Standing::Superseded;
        }
    }
}

/// The compactions and rollbacks of a log.
pub(super) fn history(items: &[Value<'_>]) -> Vec<HistoryChange> {
    let mut changes = HistoryChange::compactions(items.len(), |at| is_compaction(items[at]).then(Vec::new));
    changes.extend(rollbacks(items).iter().map(|rollback| HistoryChange::rollback(rollback.event, rollback.begin)));
    HistoryChange::in_order(changes)
}

/// Makes every event roll back as many turns as it did, if only some of them are written.
pub(super) fn recount(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    if !layout.has_references(|item| written_count(item).is_some()) {
        return Vec::new();
    }
    let stays = layout.stays(kept);
    let patches = rollbacks(&layout.elements).into_iter().filter_map(|rollback| {
        let left = rollback.turns().filter(|turn| stays[*turn]).count();
        let number = written_count(layout.elements[rollback.event]).filter(|_| left < rollback.turns().count())?;
        Some(Patch { span: number.span(), text: left.to_string() })
    });
    patches.collect()
}

/// Whether an item is rolled back; one that goes with a message is no longer read by itself.
const fn is_rolled_back(read: &Item<'_>) -> bool {
    match read {
        Item::With(_) => true,
        Item::Message(message) => message.standing.is_rolled_back(),
        _ => false,
    }
}

/// Whether the line is a compaction. A damaged one without a payload replaces nothing.
fn is_compaction(item: Value<'_>) -> bool {
    item.member_is("type", "compacted") && item.get("payload").is_some()
}

/// Marks the turns that a `thread_rolled_back` event removes. The event and the other messages of these turns are kept or
/// dropped with the first message: without it, the event would remove other turns, and what follows it would belong to the
/// turn before. Compactions since the first of these turns are rolled back as well.
fn roll_back<'a>(rollback: &Rollback, items: &[Value<'a>], read: &mut [Item<'a>]) {
    let &Rollback { event, begin, first: start, ref others, ref compactions } = rollback;
    for &at in compactions {
        // One at the beginning of the first turn is before its first message, and goes with it.
        read[at] = if at < start { Item::With(start) } else { summary(items[at]) };
    }
    for (at, item) in read.iter_mut().enumerate().take(event).skip(start) {
        let Item::Message(message) = item else { continue };
        // An earlier event may have rolled back a turn among these.
        if message.standing == Standing::RolledBack {
            continue;
        }
        let begun = others.partition_point(|turn| *turn <= at);
        let turn = others[..begun].last().copied().filter(|turn| *turn < at);
        message.dropped_with = u32::try_from(turn.unwrap_or(start)).ok().filter(|_| at > start);
        message.roll_back(Standing::RolledBack);
    }
    // Without the beginning of the turn, a compaction there would be one before it.
    for at in [begin, event] {
        if at != start {
            read[at] = Item::With(start);
        }
    }
}

/// An event that rolls back turns.
struct Rollback {
    /// Index of the event.
    event: usize,
    /// Index of the item with which the first of these turns begins: its first message, or the event before it.
    begin: usize,
    /// Index of the first message of the first of these turns.
    first: usize,
    /// Indices of the first messages of the others.
    others: Vec<usize>,
    /// Indices of the compactions that are rolled back with them.
    compactions: Vec<usize>,
}

impl Rollback {
    /// Indices of the first messages of the turns.
    fn turns(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

/// A turn of the user.
struct UserTurn {
    begin: usize,
    message: usize,
}

/// The events that roll back turns, in order.
///
/// Turns count across compactions: Codex reads the log again, and what a compaction of these turns replaced is sent again.
fn rollbacks(items: &[Value<'_>]) -> Vec<Rollback> {
    steps::count(items.len());
    if !items.iter().any(|item| written_count(*item).is_some()) {
        return Vec::new();
    }
    let mut turns: Vec<UserTurn> = Vec::new();
    let mut compactions = Vec::new();
    let mut begin = None;
    let mut rollbacks = Vec::new();
    for (at, &item) in items.iter().enumerate() {
        if begins_turn(item) {
            turns.push(UserTurn { begin: begin.take().unwrap_or(at), message: at });
        } else if is_compaction(item) {
            compactions.push(at);
        } else if let Some(event) = event(item) {
            match &*event.word("type") {
                "task_started" | "turn_started" => begin = Some(at),
                "task_complete" | "turn_complete" | "turn_aborted" => begin = None,
                _ => {}
            }
        }
        let Some(count) = written_count(item).and_then(|count| count.raw().parse().ok()) else { continue };
        let mut rolled_back = turns.split_off(turns.len().saturating_sub(count)).into_iter();
        let Some(first) = rolled_back.next() else { continue };
        rollbacks.push(Rollback {
            event: at,
            begin: first.begin,
            first: first.message,
            others: rolled_back.map(|turn| turn.message).collect(),
            compactions: compactions.split_off(compactions.partition_point(|at| *at < first.begin)),
        });
    }
    rollbacks
}

/// The number of turns in an event that rolls back turns.
fn written_count(item: Value<'_>) -> Option<Value<'_>> {
    event(item).filter(|event| event.member_is("type", "thread_rolled_back"))?.get("num_turns")
}

/// What a line of an event contains.
fn event(item: Value<'_>) -> Option<Value<'_>> {
    item.get("payload").filter(|_| item.member_is("type", "event_msg"))
}

/// Whether a turn begins with an item: a text that the user wrote, or the task or the answer of another agent.
fn begins_turn(item: Value<'_>) -> bool {
    let Some(payload) = item.get("payload").filter(|_| item.member_is("type", "response_item")) else { return false };
    if !payload.member_is("type", "message") || !payload.member_is("role", "user") {
        return payload.member_is("type", "agent_message");
    }
    let parts = blocks::plain_parts(payload.get("content"));
    !has_context(&parts) && parts.iter().any(|part| part.content.has_text())
}

/// Whether one of the texts of a user message is one that the program writes.
fn has_context(parts: &[Part<'_>]) -> bool {
    parts.iter().any(|part| matches!(&part.content, Content::Text(text) if is_context(&text.decode())))
}

/// Whether a text begins and ends as one that the program writes, or as two of them.
fn is_context(text: &str) -> bool {
    let [begun, ended] = [text.trim_start(), text.trim_end()];
    let is_ended = CONTEXT.iter().any(|(_, end)| !end.is_empty() && ended.ends_with(end));
    CONTEXT.iter().any(|(begin, end)| begun.starts_with(begin) && (end.is_empty() || is_ended))
}

/// Whether an item is in the list of a compaction.
pub(super) fn is_replacement(item: Value<'_>) -> bool {
    let list = item.parent().and_then(Value::parent);
    list.is_some_and(|payload| payload.get("replacement_history").is_some())
}
