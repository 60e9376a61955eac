//! Pieces that logs of events share: a message, a call, a result, each read from the event that holds it.

use super::{Item, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Family, Message, Part, Role, ToolCall, ToolResult};

/// The type of an event, or nothing.
pub(super) fn kind(event: Value<'_>) -> String {
    event.get_text("type").map(|kind| kind.decode().into_owned()).unwrap_or_default()
}

/// An event of a type that the dialect does not know.
pub(super) fn unknown<'a>(kind: String) -> Item<'a> {
    Item::Unknown(if kind.is_empty() { String::from("no type") } else { kind })
}

/// A message that `event` holds.
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

/// What a function answers.
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

/// Closes, where calls have no ids, what is still open when the next calls are made: a later result of that name answers
/// those.
pub(super) fn close_rounds(items: &mut [Item<'_>]) {
    for item in items {
        if let Item::Message(message) = item {
            let calls = message.calls().next().is_some();
            message.barrier = calls;
        }
    }
}

/// `,"key":value` for every key of `keys` that `near` has.
pub(super) fn envelope(anchor: Option<Value<'_>>, keys: &[&str]) -> String {
    let found = keys.iter().filter_map(|key| Some((key, anchor?.get(key)?)));
    found.map(|(key, value)| [",\"", key, "\":", value.raw()].concat()).collect()
}
