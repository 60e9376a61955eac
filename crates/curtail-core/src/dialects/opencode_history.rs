//! Compactions and reverts. A compaction is a message of the user with nothing but a mark, and a summary of the assistant that
//! names it as its parent: a model reads both in place of everything before them.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::HashMap;

use super::opencode_messages::{ASKED, info, is_compaction};
use super::{Item, Patch, blocks};
use crate::json::{Text, Value, quote, removal};
use crate::transcript::{Content, Layout, Standing};

/// Whether an item is the summary of a compaction. One that failed or is not finished replaces nothing.
pub(super) fn is_summary(item: Value<'_>) -> bool {
    let Some(info) = item.get("info") else { return false };
    let done = info.some("finish").is_some() && info.some("error").is_none();
    done && info.is_true("summary")
}

/// The part of an item that marks a compaction.
fn mark_of(item: Value<'_>) -> Option<Value<'_>> {
    item.get("info")?;
    item.get("parts")?.items().find(|part| is_compaction(*part))
}

/// Whether `summary` is the summary of the compaction that `item` marks.
fn is_summary_of(summary: Value<'_>, item: Value<'_>) -> bool {
    let parent = info(summary).get_text("parentID");
    is_summary(summary) && mark_of(item).is_some() && parent.is_some() && parent == info(item).get_text("id")
}

/// Marks the compactions: the summary is the boundary, and its mark is kept or dropped with it.
pub(super) fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let is_live = |item: &Item<'_>| matches!(item, Item::Message(message) if message.standing == Standing::Live);
    let mut last = None;
    for at in 1..items.len() {
        if !is_summary_of(items[at], items[at - 1]) || !is_live(&read[at]) || !is_live(&read[at - 1]) {
            continue;
        }
        if let Item::Message(message) = &mut read[at] {
            message.set_boundary();
            message.attached.push(Text::Escaped(ASKED));
        }
        read[at - 1] = Item::With(at);
        last = Some(at);
    }
    if let Some(last) = last {
        blocks::preserve(read, kept_by(items[last], &items[..last], &Names::new(items)));
    }
}

/// Indices of the items before a summary that are read with it: its mark, and the messages from the one that the mark names to
/// the mark. All of them if there is none of that name.
pub(super) fn kept_by(summary: Value<'_>, before: &[Value<'_>], names: &Names<'_>) -> Vec<Range<usize>> {
    let mark = info(summary).get_text("parentID").and_then(|id| names.last(&id, before.len()));
    let Some(at) = mark.filter(|at| is_summary_of(summary, before[*at])) else { return Vec::new() };
    let from = match tail_start(before[at]) {
        Some(id) => id.text().and_then(|id| names.last(&id, at)).unwrap_or(0),
        None => at,
    };
    std::iter::once(from..at + 1).collect()
}

/// The indices of items by their ids, in order.
#[derive(Default)]
pub(super) struct Names<'a>(HashMap<Cow<'a, str>, Vec<usize>>);

impl<'a> Names<'a> {
    pub(super) fn new(items: &[Value<'a>]) -> Self {
        let mut names = Self::default();
        for (at, item) in items.iter().enumerate() {
            if let Some(id) = info(*item).get_text("id") {
                names.0.entry(id.into_decoded()).or_default().push(at);
            }
        }
        names
    }

    /// The last item before `end` with this id.
    fn last(&self, id: &Text<'_>, end: usize) -> Option<usize> {
        let places = self.0.get(&*id.decode())?;
        places[..places.partition_point(|at| *at < end)].last().copied()
    }
}

/// The id of the first message that a compaction kept word for word.
fn tail_start(item: Value<'_>) -> Option<Value<'_>> {
    mark_of(item)?.some("tail_start_id")
}

/// Marks the messages that a revert rolled back, from the one that it names. Without that message, it would roll back nothing,
/// so the others are kept or dropped with it.
pub(super) fn roll_back<'a>(revert: Value<'a>, items: &[Value<'a>], read: &mut [Item<'a>]) {
    let Some(id) = revert.get_text("messageID") else { return };
    let Some(first) = items.iter().rposition(|item| info(*item).get_text("id").as_ref() == Some(&id)) else { return };
    let undone = revert.some("partID").and_then(Value::text);
    let is_undone = |part: &Value<'a>| undone.is_some() && part.get_text("id") == undone;
    let from = items[first].items_under("parts").find(is_undone).map(|part| part.span().start);
    for (at, item) in read.iter_mut().enumerate().skip(first) {
        let Item::Message(message) = item else { continue };
        message.dropped_with = u32::try_from(first).ok().filter(|_| at > first);
        let Some(start) = from.filter(|_| at == first) else {
            message.roll_back(Standing::RolledBack);
            continue;
        };
        // The beginning of the message stands.
        for part in &mut message.parts {
            if part.place().is_some_and(|place| place.element.span().start >= start) {
                part.content = Content::Other;
            }
        }
    }
}

/// Makes every compaction name the first message that is written of those that it kept. If none is, it names none, because a
/// name without a message would bring back everything before it.
pub(super) fn relink(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let items = &layout.elements;
    if !items.iter().any(|item| tail_start(*item).is_some()) {
        return Vec::new();
    }
    let stays = layout.stays(kept);
    let names = Names::new(items);
    let mut patches = Vec::new();
    for at in (0..items.len()).filter(|at| stays[*at]) {
        let Some((mark, link)) = mark_of(items[at]).zip(tail_start(items[at])) else { continue };
        let first = link.text().and_then(|id| names.last(&id, at));
        let Some(first) = first.filter(|first| !stays[*first]) else { continue };
        let next = (first..at).find(|next| stays[*next]).and_then(|next| info(items[next]).get_text("id"));
        match next {
            Some(id) => patches.push(Patch { span: link.span(), text: quote(&id.decode()) }),
            None => patches.extend(
                removal(mark, |value| value == link).into_iter().map(|span| Patch { span, text: String::new() }),
            ),
        }
    }
    patches
}
