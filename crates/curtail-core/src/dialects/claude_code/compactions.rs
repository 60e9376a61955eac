//! Compactions: which calls they close, and which messages they preserve.

use std::cell::LazyCell;

use foldhash::{HashMap, HashMapExt as _};

use super::branches::newest;
use super::is_boundary;
use super::preserved::{anchored, kept_at, records_by_uuid};
use crate::dialects::{HistoryChange, Item, blocks};
use crate::json::Value;
use crate::transcript::MessageKind;

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
            let last = boundaries.last().copied();
            conversation.last = last.filter(|at| is_read && anchored(items[*at]).is_some());
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
    // Calls in these messages may be answered after the boundary.
    let last = conversations.into_values().filter_map(|conversation| conversation.last);
    blocks::preserve(read, last.flat_map(|boundary| kept_at(items, boundary, &records)).map(|at| at..at + 1).collect());
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
