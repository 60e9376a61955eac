//! What the program that writes a format adds to the messages.

use std::ops::Range;

use crate::json::{Text, Value};
use crate::transcript::{Message, Usage};

/// What the program that writes a format adds to the messages: what it counted, whether it still sends them, and whose they are.
pub trait LogHabits: Sync {
    /// What `record` contains besides its messages that a cut leaves as it is although a user may expect otherwise, as a
    /// sentence.
    fn set_aside(&self, _record: Value<'_>) -> Option<String> {
        None
    }

    /// The provider's id of the reply that `item` is part of. Items that share it are one reply.
    fn reply_id<'a>(&self, _item: Value<'a>) -> Option<Text<'a>> {
        None
    }

    /// What the provider counted for a request, if `item` says it: for its reply, or for the reply nearest to it.
    fn usage(&self, _item: Value<'_>) -> Option<Usage> {
        None
    }

    /// What the provider counted, by item of a transcript: what [`usage`](Self::usage) says of each, unless the counts are
    /// elsewhere in the record or have to be compared with earlier ones.
    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        items.iter().map(|&item| self.usage(item)).collect()
    }

    /// The figures in `holder`, which is an item or the record around all items, that the program takes for the size of the
    /// conversation when it resumes; `None` if it counts by itself.
    fn size_figures<'a>(&self, _holder: Value<'a>) -> Option<SizeFigures<'a>> {
        None
    }

    /// The compactions and rollbacks of `items`, in order.
    fn history(&self, _items: &[Value<'_>]) -> Vec<HistoryChange> {
        Vec::new()
    }

    /// The messages that the model reads in place of `item`, a compaction that a later one superseded.
    fn replacement<'a>(&self, _item: Value<'a>) -> Vec<Message<'a>> {
        Vec::new()
    }

    /// Ids of the provider by which the reply that `item` is part of can be recognized in other files: no other reply has them.
    fn provider_ids<'a>(&self, item: Value<'a>) -> Vec<Text<'a>> {
        self.reply_id(item).into_iter().collect()
    }

    /// The ids of the sessions whose history `items` repeat or are: of the session itself and those it was forked from.
    fn lineage<'a>(&self, _items: &[Value<'a>]) -> Vec<Text<'a>> {
        Vec::new()
    }

    /// The provider that `item` says it was sent to: one that [`ProviderRules`](crate::transcript::ProviderRules) can name.
    fn provider(&self, _item: Value<'_>) -> Option<&'static str> {
        None
    }
}

/// A format whose items are messages and no more.
pub(super) struct NoHabits;

impl LogHabits for NoHabits {}

/// An item at which the program changes what it sends of the items before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryChange {
    /// Index of the item.
    pub at: usize,
    /// What it does.
    pub kind: ChangeKind,
}

/// What becomes of the items before another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// From the item on, the program sends what it sent before the item with the index `first` was written.
    Rollback {
        /// Not above the index of the change itself, except in a damaged log.
        first: usize,
    },
    /// The item replaces everything before it, such as the mark or the summary of a compaction, or the line around a list of
    /// messages.
    Compaction {
        /// The indices of items before it that the model still reads, as ascending ranges. What was rolled back may be among
        /// them.
        kept: Vec<Range<usize>>,
    },
}

impl HistoryChange {
    pub(super) const fn rollback(at: usize, first: usize) -> Self {
        Self { at, kind: ChangeKind::Rollback { first } }
    }

    pub(super) const fn compaction(at: usize, kept: Vec<Range<usize>>) -> Self {
        Self { at, kind: ChangeKind::Compaction { kept } }
    }

    /// The compactions of a log of `count` items. `kept` returns what the item with an index kept if it is a compaction.
    pub(super) fn compactions(count: usize, mut kept: impl FnMut(usize) -> Option<Vec<Range<usize>>>) -> Vec<Self> {
        (0..count).filter_map(|at| Some(Self::compaction(at, kept(at)?))).collect()
    }

    /// Puts changes in order. An item that begins a branch is not rolled back with what is before it.
    pub(super) fn in_order(mut changes: Vec<Self>) -> Vec<Self> {
        changes.sort_by_key(|change| (change.at, matches!(change.kind, ChangeKind::Compaction { .. })));
        changes
    }
}

/// Where a log says how large the conversation is. A program that believes it compacts a short copy of a long session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeFigures<'a> {
    /// The item contains nothing else. It counts what precedes it.
    Item,
    /// These numbers count what precedes their item, and the item itself.
    SoFar(Vec<Value<'a>>),
    /// These numbers count the whole conversation.
    Whole(Vec<Value<'a>>),
}
