//! What the program that writes a format adds to the messages.

use std::ops::Range;

use crate::json::{Text, Value};
use crate::transcript::{Message, Usage};

/// What the program that writes a format adds to the messages: usage, compactions, rewinds.
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

    /// Whether `item` replaces everything before it, such as the mark or the summary of a compaction.
    fn replaces_past(&self, _item: Value<'_>) -> bool {
        false
    }

    /// Whether `item` belongs to a list inside a compaction, which replaces everything before the compaction.
    fn is_replacement(&self, _item: Value<'_>) -> bool {
        false
    }

    /// The messages that the model reads in place of `item`, a compaction that a later one superseded.
    fn replacement<'a>(&self, _item: Value<'a>) -> Vec<Message<'a>> {
        Vec::new()
    }

    /// For each of `compactions`, which are indices of `items`, the indices of items before it that the model still reads, as
    /// ascending ranges.
    fn kept_by(&self, compactions: &[usize], _items: &[Value<'_>]) -> Vec<Vec<Range<usize>>> {
        vec![Vec::new(); compactions.len()]
    }

    /// Ids of the provider by which the reply that `item` is part of can be recognized in other files: no other reply has them.
    fn provider_ids<'a>(&self, item: Value<'a>) -> Vec<Text<'a>> {
        self.reply_id(item).into_iter().collect()
    }

    /// The ids of the sessions whose history `items` repeat or are: of the session itself and those it was forked from.
    fn lineage<'a>(&self, _items: &[Value<'a>]) -> Vec<Text<'a>> {
        Vec::new()
    }

    /// The indices of `items` that roll back turns before them, in order, each with the index of the first item that the
    /// model no longer reads.
    fn rollbacks(&self, _items: &[Value<'_>]) -> Vec<(usize, usize)> {
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
