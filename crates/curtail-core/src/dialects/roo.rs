//! What Roo Code and Kilo Code write beside the messages in their files, in the format of Anthropic or of the AI SDK: marks of
//! messages that stay in the file and are no longer sent, and thoughts of models of every provider.

use std::borrow::Cow;

use foldhash::HashSet;

use super::{Item, blocks, responses};
use crate::json::{Text, Value};
use crate::transcript::{Binding, Closes, Message, Part, PartOrigin, Role, Standing};

// A summary stands for everything before it. A mark of a truncation stands for the messages that name it.

/// Marks what the program no longer sends, and what stands for it.
pub(super) fn connect(items: &[Value<'_>], read: &mut [Item<'_>]) {
    if !items.iter().any(|item| item.has_any(["isSummary", "isTruncationMarker"])) {
        return;
    }
    let from = summarize(items, read);
    truncate(&items[from..], &mut read[from..]);
}

/// Makes summaries boundaries, and marks what they stand for. Returns the index of the first item that is sent.
fn summarize(items: &[Value<'_>], read: &mut [Item<'_>]) -> usize {
    let Some(last) = items.iter().rposition(|item| is_summary(*item)) else { return 0 };
    let mut ids: HashSet<Cow<'_, str>> = HashSet::default();
    for (item, read) in items.iter().zip(read.iter_mut()).filter(|(item, _)| is_summary(**item)) {
        ids.extend(item.get_text("condenseId").map(Text::into_decoded));
        stand(read);
    }
    for (item, read) in items.iter().zip(read).skip(last + 1) {
        let Some(message) = read.message_mut() else { continue };
        // The program leaves out results whose calls it no longer sends.
        message.call_rules.unasked = true;
        if names(*item, "condenseParent", &ids) {
            message.standing = Standing::Superseded;
        }
    }
    last
}

/// Whether an item is a summary: other programs may call something so, but do not number or date it as this one does.
fn is_summary(item: Value<'_>) -> bool {
    item.is_true("isSummary") && item.has_any(["ts", "condenseId"])
}

/// Makes a summary or a mark a boundary, which the program wrote.
fn stand(read: &mut Item<'_>) {
    if let Some(message) = read.message_mut() {
        message.set_boundary();
        message.marks_range = true;
        message.automatic = true;
    }
}

/// Marks the messages that a mark among them hides, and those that none hides: the program sends them as they are, also a result
/// whose call is hidden.
fn truncate(items: &[Value<'_>], read: &mut [Item<'_>]) {
    let mut marks = items.iter().filter(|item| is_mark(**item)).peekable();
    if marks.peek().is_none() {
        return;
    }
    let ids = marks.filter_map(|item| item.get_text("truncationId")).map(Text::into_decoded).collect();
    for (item, read) in items.iter().zip(read) {
        let is_hidden = names(*item, "truncationParent", &ids);
        if is_mark(*item) && !is_hidden {
            stand(read);
        }
        let Some(message) = read.message_mut() else { continue };
        if is_mark(*item) {
            message.call_rules.closes = Closes::Nothing;
        }
        if is_hidden {
            message.standing = Standing::Superseded;
        } else if message.standing == Standing::Live {
            message.standing = Standing::Preserved;
        }
    }
}

fn is_mark(item: Value<'_>) -> bool {
    item.is_true("isTruncationMarker")
}

/// The written `message`, which is sent no more where `subject` is not.
pub(super) fn hide_with(subject: Value<'_>, message: &str) -> String {
    let parents = ["truncationParent", "condenseParent"].into_iter();
    let named = parents.filter_map(|key| Some(format!("\"{key}\":{},", subject.some(key)?.raw())));
    message.replacen('{', &format!("{{{}", named.collect::<String>()), 1)
}

/// Whether an item names one of these ids under `key`.
fn names(item: Value<'_>, key: &str, ids: &HashSet<Cow<'_, str>>) -> bool {
    item.get_text(key).is_some_and(|id| ids.contains(&id.decode()))
}

// Thoughts: an encrypted one is an item before the message that it led to.

/// Whether an item is an encrypted thought, which OpenAI wants before the message that it led to. It has a `role` in the format of
/// Anthropic and none in that of the AI SDK.
pub(super) fn is_thought(item: Value<'_>, role: Option<&str>) -> bool {
    let is_one = item.member_is("type", "reasoning") && item.some("encrypted_content").is_some() && item.has("ts");
    is_one && item.some("role").map(Value::raw) == role
}

/// The role of an encrypted thought in the format of Anthropic.
pub(super) const THINKER: Option<&str> = Some("\"assistant\"");

/// Whether a message with this content contains a thought as the program writes one.
pub(super) fn thinks(item: Value<'_>, content: Value<'_>) -> bool {
    let mut blocks = content.items();
    item.has("ts")
        && content.is_array()
        && (item.has("reasoning_content")
            || blocks.any(|block| block.member_is("type", "reasoning") && block.has("summary")))
}

/// Reads an encrypted thought.
pub(super) fn read_thought(item: Value<'_>) -> Item<'_> {
    let mut message = Message::from_source(Role::Assistant, item);
    message.id = item.get_text("id");
    message.parts.push(unsigned(blocks::whole(item, responses::read_reasoning(item))));
    Item::Message(message)
}

/// The same thought, of which no provider demands a signature.
pub(super) fn unsigned(mut thought: Part<'_>) -> Part<'_> {
    if let PartOrigin::Source(place) = &mut thought.origin {
        place.further_mut().unsigned = true;
    }
    thought
}

/// Binds encrypted thoughts to the messages after them.
pub(super) fn bind_thoughts(items: &[Value<'_>], read: &mut [Item<'_>]) {
    for at in 0..items.len() {
        let next =
            read.get(at + 1).is_some_and(|next| matches!(next, Item::Message(next) if next.role == Role::Assistant));
        if let Some(message) =
            read[at].message_mut().filter(|_| next && (is_thought(items[at], None) || is_thought(items[at], THINKER)))
        {
            message.binding = Binding::Reasoning;
        }
    }
}
