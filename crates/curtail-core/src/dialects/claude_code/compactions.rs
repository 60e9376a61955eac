//! Compactions: which calls they close, and which messages they preserve.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ops::Deref;

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
    let mut conversations: HashMap<(u32, Option<usize>), Conversation> = HashMap::new();
    let mut previous = 0;
    for (at, &item) in items.iter().enumerate() {
        let conversation = conversations.entry((threads[at], trees[at])).or_default();
        if is_boundary(item) && matches!(read[at], Item::Metadata) {
            conversation.pending.push(at);
        }
        let Item::Message(message) = &mut read[at] else { continue };
        let boundaries = std::mem::take(&mut conversation.pending);
        if item.is_true("isCompactSummary") || !boundaries.is_empty() {
            message.kind = MessageKind::Boundary;
            // A compaction that is not read preserved nothing that is.
            let is_read = threads[at] > 0 || trees[at] == newest;
            let preserves = |at: &usize| is_read && !preserved(items[*at]).is_empty();
            conversation.last = boundaries.last().copied().filter(preserves);
            if item.is_true("isCompactSummary") || conversation.last.is_none() {
                message.begin_context();
            }
        }
        for line in boundaries {
            read[line] = if line < previous { Item::With(at) } else { Item::Ahead };
        }
        previous = at;
    }
    let records = LazyCell::new(|| records_by_uuid(items));
    for boundary in conversations.into_values().filter_map(|conversation| conversation.last) {
        for at in kept_at(items, boundary, &records) {
            // Its calls may be answered after the boundary.
            if let Item::Message(message) = &mut read[at] {
                message.standing = Standing::Preserved;
            }
        }
    }
}

/// What is known of the compactions of a conversation.
#[derive(Default)]
struct Conversation {
    /// Indices of the boundaries that no message of it follows yet.
    pending: Vec<usize>,
    /// Index of the boundary of the last compaction that a message follows, if that preserves messages.
    last: Option<usize>,
}

/// The compactions among `items`, and the messages that they preserved.
pub(super) fn compactions(items: &[Value<'_>]) -> Vec<HistoryChange> {
    let records = LazyCell::new(|| records_by_uuid(items));
    HistoryChange::compactions(items.len(), |at| {
        let is_compaction = is_boundary(items[at]) || items[at].is_true("isCompactSummary");
        is_compaction.then(|| kept_at(items, at, &records).into_iter().map(|at| at..at + 1).collect())
    })
}

/// Indices of the records that the compaction at `at` preserved, in order.
fn kept_at<'a>(items: &[Value<'a>], at: usize, records: &impl Deref<Target = Records<'a>>) -> Vec<usize> {
    let uuids = preserved(items[at]);
    let found = uuids.iter().filter_map(|uuid| records.get(uuid)).flatten();
    let mut kept: Vec<usize> = found.copied().filter(|record| *record < at).collect();
    kept.sort_unstable();
    kept
}

/// The ids of the messages that a compaction preserved.
pub(super) fn preserved(boundary: Value<'_>) -> HashSet<Cow<'_, str>> {
    let metadata = boundary.get("compactMetadata");
    let preserved = metadata.and_then(|metadata| metadata.get("preservedMessages"));
    let uuids = preserved.and_then(|preserved| preserved.get("uuids"));
    uuids.into_iter().flat_map(Value::items).filter_map(Value::text).map(Text::into_decoded).collect()
}

/// Indices of the records with each id.
type Records<'a> = HashMap<Cow<'a, str>, Vec<usize>>;

fn records_by_uuid<'a>(items: &[Value<'a>]) -> Records<'a> {
    let mut records = Records::new();
    for (at, uuid) in items.iter().enumerate().filter_map(|(at, item)| Some((at, item.get_text("uuid")?))) {
        records.entry(uuid.into_decoded()).or_default().push(at);
    }
    records
}
