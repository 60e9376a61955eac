//! What logs of events have in common: messages, calls and results, each read from the event that contains it.

use super::{Item, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Closes, Content, Family, Message, Origin, Part, Role, ToolCall, ToolResult, Unknown};

/// The type of an event; empty if it has none.
pub(super) fn kind(event: Value<'_>) -> String {
    event.get_text("type").map(|kind| kind.decode().into_owned()).unwrap_or_default()
}

/// An event of a type that the dialect does not define.
pub(super) fn unknown<'a>(kind: String) -> Item<'a> {
    Item::Unknown(Unknown::kind(kind))
}

/// A message that `event` contains.
pub(super) fn message<'a>(role: Role, event: Value<'a>, id: Option<Text<'a>>, parts: Vec<Part<'a>>) -> Item<'a> {
    let mut message = Message::from_source(role, event);
    message.id = id;
    message.parts = parts;
    Item::Message(message)
}

/// A call of a function.
pub(super) fn call<'a>(id: Option<Text<'a>>, name: Option<Text<'a>>, arguments: Option<Value<'a>>) -> Content<'a> {
    Content::ToolCall(ToolCall {
        id,
        name: name.unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(arguments),
        family: Family::Function,
        hosted: false,
    })
}

/// The result of a function.
pub(super) fn result<'a>(id: Option<Text<'a>>, name: Option<Text<'a>>, content: Option<Value<'a>>) -> Content<'a> {
    Content::ToolResult(ToolResult {
        id,
        name,
        content: blocks::texts(content),
        media: blocks::count_media(content),
        family: Family::Function,
        same_message: false,
    })
}

/// For formats without ids: closes open calls at the next calls, because later results belong to those.
pub(super) fn close_rounds(items: &mut [Item<'_>]) {
    for item in items {
        if let Item::Message(message) = item {
            message.call_rules.closes = message.call_rules.closes.max(Closes::AtCalls);
        }
    }
}

/// For the list inside a compaction, which replaces what precedes it: no call before it can be answered in it.
pub(super) fn put_in_compaction(items: &mut [Item<'_>]) {
    if let Some(Item::Message(first)) = items.first_mut() {
        first.begin_context();
    }
    for item in items {
        if let Item::Message(Message { origin: Origin::Source(source), .. }) = item {
            source.in_compaction = true;
        }
    }
}
