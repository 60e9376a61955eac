//! Compactions: which calls they close, and which messages they preserve.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::branches::newest;
use super::is_boundary;
use crate::dialects::{HistoryChange, Item};
use crate::json::{Text, Value};
use crate::transcript::{MessageKind, Standing};

/// Calls that are open at a compaction are never answered: the next message of its conversation closes them. The boundary
/// belongs to that message. `trees` are those of the main conversation.
pub(super) fn close_at_compactions<'a>(
    items: &[Value<'a>],
    threads: &[u32],
    trees: &[Option<usize>],
    read: &mut [Item<'a>],
) {
    let newest = newest(trees, read);
    let mut open: HashMap<(u32, Option<usize>), Compactions> = HashMap::new();
    let mut last_preserving = None;
    let mut previous = 0;
    for (at, &item) in items.iter().enumerate() {
        let conversation = (threads[at], trees[at]);
        if is_boundary(item) && matches!(read[at], Item::Metadata) {
            // A compaction that is not read preserved nothing that is.
            let is_read = threads[at] > 0 || trees[at] == newest;
            let preserves = is_read && !preserved(item).is_empty();
            last_preserving = Some(at).filter(|_| preserves).or(last_preserving);
            let compactions = open.entry(conversation).or_default();
            compactions.lines.push(at);
            compactions.closes = !preserves;
        }
        let Item::Message(message) = &mut read[at] else { continue };
        let summary = item.is_true("isCompactSummary");
        let compactions = open.remove(&conversation);
        if summary || compactions.is_some() {
            message.kind = MessageKind::Boundary;
        }
        if summary || compactions.as_ref().is_some_and(|compactions| compactions.closes) {
            message.begin_context();
        }
        for line in compactions.into_iter().flat_map(|compactions| compactions.lines) {
            read[line] = if line < previous { Item::With(at) } else { Item::Ahead };
        }
        previous = at;
    }
    if let Some(at) = last_preserving {
        preserve(items[at], &mut read[..at]);
    }
}

/// The compactions of a conversation that no message of it follows yet.
#[derive(Default)]
struct Compactions {
    /// Indices of their boundaries.
    lines: Vec<usize>,
    /// Whether the last one leaves open calls without an answer.
    closes: bool,
}

/// Marks the messages of `before` that a compaction preserved. Their calls may be answered after the boundary.
fn preserve(boundary: Value<'_>, before: &mut [Item<'_>]) {
    let uuids = preserved(boundary);
    for message in before.iter_mut().filter_map(Item::message_mut) {
        let uuid = message.value().and_then(|value| value.get_text("uuid"));
        if uuid.is_some_and(|uuid| uuids.contains(&*uuid.decode())) {
            message.standing = Standing::Preserved;
        }
    }
}

/// The ids of the messages that a compaction preserved.
pub(super) fn preserved(boundary: Value<'_>) -> HashSet<Cow<'_, str>> {
    let metadata = boundary.get("compactMetadata");
    let preserved = metadata.and_then(|metadata| metadata.get("preservedMessages"));
    let uuids = preserved.and_then(|preserved| preserved.get("uuids"));
    uuids.into_iter().flat_map(Value::items).filter_map(Value::text).map(Text::into_decoded).collect()
}

/// The compactions among `items`, and the messages that they preserved.
pub(super) fn compactions(items: &[Value<'_>]) -> Vec<HistoryChange> {
    let mut records = None;
    HistoryChange::compactions(items.len(), |at| {
        let uuids = (is_boundary(items[at]) || items[at].is_true("isCompactSummary")).then(|| preserved(items[at]))?;
        if uuids.is_empty() {
            return Some(Vec::new());
        }
        let records = records.get_or_insert_with(|| records_by_uuid(items));
        let found = uuids.iter().filter_map(|uuid| records.get(uuid)).flatten();
        let mut kept: Vec<usize> = found.copied().filter(|record| *record < at).collect();
        kept.sort_unstable();
        Some(kept.into_iter().map(|at| at..at + 1).collect())
    })
}

fn records_by_uuid<'a>(items: &[Value<'a>]) -> HashMap<Cow<'a, str>, Vec<usize>> {
    let mut records: HashMap<Cow<'a, str>, Vec<usize>> = HashMap::new();
    for (at, uuid) in items.iter().enumerate().filter_map(|(at, item)| Some((at, item.get_text("uuid")?))) {
        records.entry(uuid.into_decoded()).or_default().push(at);
    }
    records
}
