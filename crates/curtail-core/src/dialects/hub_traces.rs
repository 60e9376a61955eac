//! The session traces of the Hugging Face Hub: pi's envelope around messages with `toolCalls` and role `tool`, in the spelling of
//! the hub or of OpenAI.

use super::blocks;
use crate::json::{Value, object};
use crate::transcript::{Content, Draft, Part};

/// How a member is written: as the hub writes it, and as OpenAI does.
type Key = [&'static str; 2];

const CALLS: Key = ["toolCalls", "tool_calls"];
const CALL_ID: Key = ["toolCallId", "tool_call_id"];
const THOUGHT: Key = ["reasoningContent", "reasoning_content"];

fn member<'a>(message: Value<'a>, key: &Key) -> Option<Value<'a>> {
    key.iter().find_map(|key| message.some(key))
}

/// Whether an entry is the header of a trace.
pub(super) fn is_trace_header(entry: Value<'_>) -> bool {
    entry.get_text("harness").is_some()
}

/// Whether a message is written as only traces write it.
pub(super) fn is_traced(message: Value<'_>) -> bool {
    message.member_is("role", "tool") && member(message, &CALL_ID).is_some()
        || member(message, &CALLS).or_else(|| member(message, &THOUGHT)).is_some()
}

/// The thought beside the content of a message.
pub(super) fn traced_thought(message: Value<'_>) -> Option<Part<'_>> {
    let thought = member(message, &THOUGHT)?;
    thought.text().map(|text| blocks::whole(thought, Content::Reasoning(text)))
}

/// The calls beside the content of a message.
pub(super) fn traced_calls(message: Value<'_>) -> impl Iterator<Item = Part<'_>> {
    let calls = member(message, &CALLS).into_iter().flat_map(Value::items);
    calls.map(|call| {
        let made = call.some("function").filter(|function| function.is_object()).unwrap_or(call);
        let content = blocks::call(call.get_text("id"), made.get_text("name"), made.get("arguments"));
        blocks::in_shell(call, content)
    })
}

/// The result that a message with role `tool` is.
pub(super) fn traced_result<'a>(entry: Value<'a>, message: Value<'a>) -> Part<'a> {
    let content = message.get("content");
    let id = member(message, &CALL_ID).and_then(Value::text);
    let result = blocks::result(id, message.get_text("toolName").or_else(|| message.get_text("name")), content);
    blocks::result_part(entry, result, blocks::text_or_list(content))
}

/// Whether an entry is a line of a trace and not of pi, whose entries have a time or an id.
pub(super) fn is_trace_line(entry: Value<'_>) -> bool {
    let bare = ["id", "timestamp", "parentId"].iter().all(|key| !entry.has(key));
    bare && entry.get("message").is_some_and(|message| message.get_text("content").is_some() || is_traced(message))
}

/// A line with the draft, in the spelling of `anchor`.
pub(super) fn write_trace_line(draft: &Draft, anchor: Value<'_>) -> String {
    let openai =
        anchor.get("message").is_some_and(|message| [CALLS, CALL_ID].iter().any(|key| message.get(key[1]).is_some()));
    let message = match draft.only_result() {
        Some(result) => {
            let key = CALL_ID[usize::from(openai)];
            object! { "role": "tool", key: result.call_id(), "content": result.text }
        }
        None => object! { "role": blocks::role_name(draft), "content": draft.joined_text() },
    };
    object! { "type": "message", "message": message }.0
}
