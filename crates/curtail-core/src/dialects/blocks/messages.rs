//! Messages, each read from the element that contains it.

use std::borrow::Cow;
use std::ops::Range;

use crate::dialects::Item;
use crate::json::{Text, Value};
use crate::transcript::{Closes, Content, Message, Origin, Part, Role, Standing, Unknown};

/// The role with one of the four common names.
pub(in crate::dialects) fn role_of(role: &str) -> Option<Role> {
    match role {
        "system" => Some(Role::System),
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "tool" => Some(Role::Tool),
        _ => None,
    }
}

/// The role with one of these names, in formats that write the results of tools into messages of the user.
pub(in crate::dialects) fn speaker_of(role: &str) -> Option<Role> {
    role_of(role).filter(|role| *role != Role::Tool)
}

/// Reads `item` as a message of the role called `name`, with what `read` finds in it. An item without a name, or with another
/// one, is unknown.
pub(in crate::dialects) fn read_message<'a>(
    item: Value<'a>,
    name: Option<Text<'a>>,
    role_of: impl Fn(&str) -> Option<Role>,
    read: impl FnOnce(&mut Message<'a>),
) -> Item<'a> {
    let Some(name) = name.map(Text::into_decoded) else { return Item::Unknown(Unknown::NoRole) };
    let Some(role) = role_of(&name) else { return Item::Unknown(Unknown::Named(name.into_owned())) };
    let mut message = Message::from_source(role, item);
    read(&mut message);
    Item::Message(message)
}

/// An event of a type that the dialect does not define.
pub(in crate::dialects) fn unknown_kind<'a>(kind: Cow<'_, str>) -> Item<'a> {
    Item::Unknown(Unknown::kind(kind.into_owned()))
}

/// A message that `event` contains.
pub(in crate::dialects) fn message<'a>(
    role: Role,
    event: Value<'a>,
    id: Option<Text<'a>>,
    parts: Vec<Part<'a>>,
) -> Item<'a> {
    Item::Message(Message { id, parts, ..Message::from_source(role, event) })
}

/// A message that `event` contains, and which a model reads in place of everything before it.
pub(in crate::dialects) fn boundary<'a>(
    role: Role,
    event: Value<'a>,
    id: Option<Text<'a>>,
    parts: Vec<Part<'a>>,
) -> Item<'a> {
    let mut item = message(role, event, id, parts);
    if let Some(message) = item.message_mut() {
        message.set_boundary();
    }
    item
}

/// A message with the role of the user that the program wrote, not a person.
pub(in crate::dialects) fn notice<'a>(event: Value<'a>, id: Option<Text<'a>>, parts: Vec<Part<'a>>) -> Message<'a> {
    Message { id, parts, automatic: true, ..Message::from_source(Role::User, event) }
}

/// The first text of a message.
pub(in crate::dialects) fn first_text<'m, 'a>(message: &'m Message<'a>) -> Option<&'m Text<'a>> {
    message.parts.iter().find_map(|part| if let Content::Text(text) = &part.content { Some(text) } else { None })
}

/// For formats without ids: closes open calls at the next calls, because later results belong to those.
pub(in crate::dialects) fn close_rounds(items: &mut [Item<'_>]) {
    for message in items.iter_mut().filter_map(Item::message_mut) {
        message.call_rules.closes = message.call_rules.closes.max(Closes::AtCalls);
    }
}

/// Marks the messages at these ranges of indices, which a compaction kept. What was rolled back stays so.
pub(in crate::dialects) fn preserve(items: &mut [Item<'_>], kept: Vec<Range<usize>>) {
    for at in kept.into_iter().flatten() {
        if let Item::Message(message) = &mut items[at]
            && message.standing == Standing::Live
        {
            message.standing = Standing::Preserved;
        }
    }
}

/// For the list inside a compaction, which replaces what precedes it: no call before it can be answered in it.
pub(in crate::dialects) fn put_in_compaction(items: &mut [Item<'_>]) {
    if let Some(Item::Message(first)) = items.first_mut() {
        first.begin_context();
    }
    for message in items.iter_mut().filter_map(Item::message_mut) {
        if let Origin::Source(source) = &mut message.origin {
            source.in_compaction = true;
        }
    }
}

/// Whether `item`, or the message in it, names who speaks. Outside of logs, every item with a role or a type does.
pub(in crate::dialects) fn names_speaker(item: Value<'_>, is_log: bool) -> bool {
    match item.get("message").filter(|message| message.is_object()) {
        Some(message) => message.get_text("role").is_some(),
        None if is_log => item.get_text("role").is_some(),
        None => ["role", "from", "type", "kind"].iter().any(|key| item.get_text(key).is_some()),
    }
}

/// What `item` contains under a key under which some format keeps the content of messages; `None` if that is empty. For a
/// message of which nothing was read, this is what another dialect would have read.
pub(in crate::dialects) fn content_of(item: Value<'_>) -> Option<Value<'_>> {
    const KEYS: &[&str] = &[
        "content", "parts", "text", "value", "message", "blocks", "data", "kwargs", "tool_calls", "arguments", "input",
        "output",
    ];
    KEYS.iter().filter_map(|key| item.get(key)).find_map(|value| match value {
        value if has_text(value) => Some(value),
        list if list.is_array() => list.items().any(|block| has_text(block) || block.is_object()).then_some(list),
        envelope => content_of(envelope),
    })
}

fn has_text(value: Value<'_>) -> bool {
    value.text().is_some_and(|text| !text.is_blank())
}
