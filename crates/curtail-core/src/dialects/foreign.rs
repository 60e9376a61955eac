//! Formats that are known by sight and that no dialect reads: read as another one, they would lose their calls.

use crate::json::{Text, Value};

/// The format that one of `items` is in, if it is one of these, with the offset of that item.
pub(super) fn format_of(items: &[Value<'_>]) -> Option<(usize, &'static str)> {
    let one = items.iter().find_map(|&item| Some((item, format_of_item(item)?)));
    let (item, format) = one.or_else(|| gptme(items).map(|item| (item, "gptme")))?;
    Some((item.span().start as usize, format))
}

fn format_of_item(item: Value<'_>) -> Option<&'static str> {
    let [kind, role, content, session] = item.get_each(["type", "role", "content", "sessionId"]);
    match (kind.and_then(Value::text), role, session) {
        (_, Some(_), _) if has_block(content, is_goose) => Some("Goose"),
        (None, None, _) if item.get("working_dir").is_some() && item.get("message_count").is_some() => Some("Goose"),
        (Some(kind), _, Some(session)) if is_iflow(session) && item.get("parentUuid").is_some() => {
            matches!(&*kind.decode(), "user" | "assistant").then_some("iFlow")
        }
        (Some(kind), None, None) if kind.is("assistant") && has_block(content, is_opencode) => Some("OpenCode 2"),
        (Some(kind), None, None) if is_step(item, &kind) => Some("Gemini Interactions"),
        _ => None,
    }
}

fn has_block(content: Option<Value<'_>>, is_own: fn(Value<'_>, &str) -> bool) -> bool {
    let mut blocks = content.into_iter().flat_map(Value::items);
    blocks.any(|block| block.get_text("type").is_some_and(|kind| is_own(block, &kind.decode())))
}

fn is_goose(block: Value<'_>, kind: &str) -> bool {
    match kind {
        "toolRequest" | "frontendToolRequest" => block.get("toolCall").is_some(),
        "toolResponse" => block.get("toolResult").is_some(),
        _ => false,
    }
}

fn is_opencode(block: Value<'_>, kind: &str) -> bool {
    kind == "tool" && block.get("name").is_some() && block.some("state").is_some_and(Value::is_object)
}

/// A session of iFlow has a name of its own before the UUID; the records are otherwise those of Claude Code.
fn is_iflow(session: Value<'_>) -> bool {
    const UUID: usize = 36;
    session.text().is_some_and(|name| name.decode().strip_prefix("session-").is_some_and(|id| id.len() == UUID))
}

/// A step of an interaction. A call of the Responses API has its arguments as text, and a `call_id`.
fn is_step(item: Value<'_>, kind: &Text<'_>) -> bool {
    let content = || item.some("content").is_some();
    match &*kind.decode() {
        "user_input" | "model_output" => content(),
        "function_call" => {
            let named = item.some("id").is_some() && item.get("name").is_some();
            named && item.some("arguments").is_some_and(Value::is_object) && !names_call(item)
        }
        "function_result" => item.some("call_id").is_some() && item.get("result").is_some(),
        "thought" => item.get("signature").is_some() || item.get("summary").is_some(),
        _ => false,
    }
}

fn names_call(item: Value<'_>) -> bool {
    item.some("call_id").or_else(|| item.some("callId")).is_some()
}

/// A result of a tool in gptme answers no call: calls are in the text. Other results name the call, and other logs have none
/// of the keys of gptme.
fn gptme<'a>(items: &[Value<'a>]) -> Option<Value<'a>> {
    let is_result = |item: &&Value<'a>| {
        let [role, id, name, content] = item.get_each(["role", "tool_call_id", "name", "content"]);
        let said = content.is_some_and(|content| content.text().is_some());
        role.is_some_and(|role| role.is("tool")) && said && id.is_none() && name.is_none() && is_local_time(**item)
    };
    let result = items.iter().find(is_result)?;
    let own = ["files", "file_hashes", "pinned", "hide", "metadata"];
    let marked = items.iter().any(|item| own.iter().any(|key| item.get(key).is_some()));
    marked.then_some(*result)
}

/// Whether an item has a time with microseconds and without a time zone.
fn is_local_time(item: Value<'_>) -> bool {
    const WRITTEN: usize = "2026-06-13T10:00:00.000000".len();
    item.get_text("timestamp").is_some_and(|time| time.len_bound() == WRITTEN && !time.decode().ends_with('Z'))
}
