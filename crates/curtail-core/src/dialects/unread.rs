//! What is shown of an item that no dialect reads.

use super::accounting::{LONG, is_common, is_long};
use crate::json::{Text, Value};
use crate::steps;

/// Words in the type of a line of a log that has something for a model.
const WORDS: &[&str] = &[
    "message", "tool", "call", "result", "assistant", "user", "prompt", "reason", "think", "text", "chunk", "content",
    "turn", "reply", "response",
];

/// Whether the type of a line of a log, or of what is in its envelope, is that of something for a model.
pub(super) fn is_like_message(line: Value<'_>) -> bool {
    let inner = ["message", "payload", "data", "event", "item"].iter().filter_map(|key| line.get(key));
    let types = std::iter::once(line).chain(inner).filter_map(|value| value.get_text("type"));
    types.into_iter().any(|kind| {
        let kind = kind.decode().to_ascii_lowercase();
        WORDS.iter().any(|word| kind.contains(word))
    })
}

/// The longest member of a line, in bytes, in which a text is long; `None` if there is none.
pub(super) fn body(line: Value<'_>) -> Option<Value<'_>> {
    open_members(line).filter(|value| has_text(*value)).max_by_key(|value| value.span().len())
}

/// Whether a text in a value is long, and under no member that has no text for a model.
fn has_text(value: Value<'_>) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        steps::count(1);
        if value.text().is_some_and(|text| is_long(&text)) {
            return true;
        }
        let inner = value.items().chain(open_members(value));
        open.extend(inner.filter(|value| value.span().len() >= LONG));
    }
    false
}

/// The members of a value that may have text for a model.
fn open_members(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let members = value.members().filter(|member| matches!(&member.key, Text::Escaped(key) if !is_common(key)));
    members.map(|member| member.value)
}
