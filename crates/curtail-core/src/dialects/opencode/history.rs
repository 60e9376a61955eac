//! Compactions and reverts. A compaction is a message of the user with nothing but a mark, and a summary of the assistant that
//! names it as its parent: a model reads both in place of everything before them.

use super::{info, version1};
use crate::dialects::{Item, Patch};
use crate::json::{Text, Value, quote, removal};
use crate::transcript::{Content, Layout, Standing};

/// Whether an item is the summary of a compaction. One that failed or is not finished replaces nothing.
pub(super) fn is_summary(item: Value<'_>) -> bool {
    let Some(info) = item.get("info") else { return false };
    let done = info.some("finish").is_some() && info.some("error").is_none();
    done && info.get("summary").is_some_and(|flag| flag.raw() == "true")
}

/// The part of an item that marks a compaction.
fn mark_of(item: Value<'_>) -> Option<Value<'_>> {
    item.get("info")?;
    item.get("parts")?.items().find(|part| version1::is_compaction(*part))
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
            (message.boundary, message.barrier) = (true, true);
            message.attached.push(Text::Escaped(version1::ASKED));
        }
        read[at - 1] = Item::With(at);
        last = Some(at);
    }
    let Some(last) = last else { return };
    for at in kept_by(items[last], &items[..last]) {
        if let Item::Message(message) = &mut read[at]
            && message.standing == Standing::Live
        {
            message.standing = Standing::Preserved;
        }
    }
}

/// Indices of the items before a summary that are read with it: its mark, and the messages from the one that the mark names to
/// the mark. All of them if there is none of that name.
pub(super) fn kept_by(summary: Value<'_>, before: &[Value<'_>]) -> Vec<usize> {
    let Some(at) = before.iter().rposition(|item| is_summary_of(summary, *item)) else { return Vec::new() };
    let from = match tail_start(before[at]) {
        Some(id) => named(id, &before[..at]).unwrap_or(0),
        None => at,
    };
    (from..=at).collect()
}

/// The id of the first message that a compaction kept word for word.
fn tail_start(item: Value<'_>) -> Option<Value<'_>> {
    mark_of(item)?.some("tail_start_id")
}

/// The last of `items` with this id.
fn named(id: Value<'_>, items: &[Value<'_>]) -> Option<usize> {
    let id = id.text()?;
    items.iter().rposition(|item| info(*item).get_text("id").is_some_and(|own| own == id))
}

/// Marks the messages that a revert took back, from the one that it names. Without that message, it would take back nothing,
/// so the others are kept or dropped with it.
pub(super) fn take_back<'a>(revert: Value<'a>, items: &[Value<'a>], read: &mut [Item<'a>]) {
    let Some(first) = revert.get("messageID").and_then(|id| named(id, items)) else { return };
    let part = revert.some("partID").and_then(Value::text);
    let own = |part: Value<'_>, id: &Text<'_>| part.get_text("id").is_some_and(|own| own == *id);
    let from = part.as_ref().map(|id| first_part(items[first], |part| own(part, id)));
    for (at, item) in read.iter_mut().enumerate().skip(first) {
        let Item::Message(message) = item else { continue };
        message.dropped_with = (at > first).then_some(first);
        match from {
            // The beginning of the message stands.
            Some(Some(start)) if at == first => {
                let undone = |place: u32| place >= start;
                for part in &mut message.parts {
                    if part.place().is_some_and(|place| undone(place.element.span().start)) {
                        part.content = Content::Other;
                    }
                }
            }
            _ => (message.standing, message.boundary) = (Standing::RolledBack, false),
        }
    }
}

/// Where the part begins that `is_first` matches.
fn first_part<'a>(item: Value<'a>, is_first: impl Fn(Value<'a>) -> bool) -> Option<u32> {
    let mut parts = item.get("parts").into_iter().flat_map(Value::items);
    parts.find(|part| is_first(*part)).map(|part| part.span().start)
}

/// Makes every compaction name the first message that is written of those that it kept. If none is, it names none, because a
/// name without a message would bring back everything before it.
pub(super) fn relink(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let items = &layout.elements;
    if !items.iter().any(|item| tail_start(*item).is_some()) {
        return Vec::new();
    }
    let stays = layout.stays(kept);
    let mut patches = Vec::new();
    for at in (0..items.len()).filter(|at| stays[*at]) {
        let Some((mark, link)) = mark_of(items[at]).zip(tail_start(items[at])) else { continue };
        let Some(first) = named(link, &items[..at]).filter(|first| !stays[*first]) else { continue };
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
