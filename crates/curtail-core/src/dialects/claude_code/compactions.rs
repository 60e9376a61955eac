//! Compactions: which calls they close, and which messages they preserve.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::branches::newest;
use super::is_boundary;
use crate::dialects::Item;
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

/// For each of `compactions`, which are indices of `items`, the messages before it that it preserved.
pub(super) fn kept_by(compactions: &[usize], items: &[Value<'_>]) -> Vec<Vec<Range<usize>>> {
    let lists: Vec<HashSet<Cow<'_, str>>> = compactions.iter().map(|&at| preserved(items[at])).collect();
    let mut places: HashMap<Cow<'_, str>, Vec<usize>> = HashMap::new();
    if lists.iter().any(|uuids| !uuids.is_empty()) {
        for (at, uuid) in items.iter().enumerate().filter_map(|(at, item)| Some((at, item.get_text("uuid")?))) {
            places.entry(uuid.into_decoded()).or_default().push(at);
        }
    }
    let kept = compactions.iter().zip(lists).map(|(&compaction, uuids)| {
        let found = uuids.iter().filter_map(|uuid| places.get(uuid)).flatten();
        let mut kept: Vec<usize> = found.copied().filter(|at| *at < compaction).collect();
        kept.sort_unstable();
        kept.into_iter().map(|at| at..at + 1).collect()
    });
    kept.collect()
}
