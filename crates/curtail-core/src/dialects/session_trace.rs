//! The session traces of the Hugging Face Hub: pi's envelope around messages with `toolCalls` and role `tool`, in the spelling of
//! the hub or of OpenAI.

use super::{blocks, events};
use crate::json::{Json, Value, object};
use crate::transcript::{Content, Draft, DraftPart, Part, PartPlace, Role};

/// How a member is written: as the hub writes it, and as OpenAI does.
type Key = [&'static str; 2];

const CALLS: Key = ["toolCalls", "tool_calls"];
const CALL_ID: Key = ["toolCallId", "tool_call_id"];
const THOUGHT: Key = ["reasoningContent", "reasoning_content"];

fn member<'a>(said: Value<'a>, key: &Key) -> Option<Value<'a>> {
    key.iter().find_map(|key| said.some(key))
}

/// Whether an entry is the header of a trace.
pub(super) fn is_header(entry: Value<'_>) -> bool {
    entry.get("harness").is_some_and(|harness| harness.text().is_some())
}

/// Whether a message is written as only traces write it.
pub(super) fn is_own(said: Value<'_>) -> bool {
    let called = || said.get("role").is_some_and(|role| role.is("tool")) && member(said, &CALL_ID).is_some();
    called() || member(said, &CALLS).or_else(|| member(said, &THOUGHT)).is_some()
}

/// The thought beside the content of a message.
pub(super) fn thought(said: Value<'_>) -> Option<Part<'_>> {
    let thought = member(said, &THOUGHT)?;
    thought.text().map(|text| Part::from_source(Content::Reasoning(text), PartPlace::element(thought)))
}

/// The calls beside the content of a message.
pub(super) fn calls(said: Value<'_>) -> impl Iterator<Item = Part<'_>> {
    let calls = member(said, &CALLS).into_iter().flat_map(Value::items);
    calls.map(|call| {
        let made = call.some("function").filter(|function| function.is_object()).unwrap_or(call);
        let content = events::call(call.get_text("id"), made.get_text("name"), made.get("arguments"));
        Part::from_source(content, PartPlace::in_shell(call))
    })
}

/// The result that a message with role `tool` is.
pub(super) fn result<'a>(entry: Value<'a>, said: Value<'a>) -> Part<'a> {
    let content = said.get("content");
    let id = member(said, &CALL_ID).and_then(Value::text);
    let result = events::result(id, said.get_text("toolName").or_else(|| said.get_text("name")), content);
    let text = content.filter(|content| content.text().is_some());
    let place = PartPlace::element(entry).with_text(text);
    let list = content.filter(|content| content.is_array());
    let place = match list {
        Some(list) => place.with_text_in(list, "[{\"type\":\"text\",\"text\":", "}]"),
        None => place,
    };
    Part::from_source(result, place)
}

/// Whether an entry is a line of a trace and not of pi, whose entries have a time or an id.
pub(super) fn is_line(entry: Value<'_>) -> bool {
    let bare = ["id", "timestamp", "parentId"].iter().all(|key| !entry.has(key));
    bare && entry.get("message").is_some_and(|said| said.get_text("content").is_some() || is_own(said))
}

/// A line with the draft, in the spelling of `anchor`.
pub(super) fn write_message(draft: &Draft, anchor: Value<'_>) -> String {
    let openai =
        anchor.get("message").is_some_and(|said| [CALLS, CALL_ID].iter().any(|key| said.get(key[1]).is_some()));
    let said = match draft.parts.as_slice() {
        [DraftPart::ToolResult { id, text, .. }] => {
            let key = CALL_ID[usize::from(openai)];
            object! { "role": "tool", key: id.as_deref().unwrap_or_default(), "content": text }.0
        }
        _ => {
            let role = if draft.role == Role::Developer { Role::System } else { draft.role };
            blocks::role_and_content(role.name(), &draft.joined_text())
        }
    };
    object! { "type": "message", "message": Json(said) }.0
}
