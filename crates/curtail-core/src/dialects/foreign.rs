//! Formats that are known by sight and that no dialect reads: read as another one, they would lose their calls.

use crate::json::Value;

/// The format that one of `items` is in, if it is one of these, with the offset of that item.
pub(super) fn format_of(items: &[Value<'_>]) -> Option<(usize, &'static str)> {
    let one = items.iter().find_map(|&item| Some((item, format_of_item(item)?)));
    let (item, format) = one.or_else(|| gptme(items).map(|item| (item, "gptme")))?;
    Some((item.span().start as usize, format))
}

fn format_of_item(item: Value<'_>) -> Option<&'static str> {
    let [kind, session] = item.get_each(["type", "sessionId"]);
    match (kind.and_then(Value::text), session) {
        (Some(kind), Some(session)) if is_iflow(session) && item.get("parentUuid").is_some() => {
            matches!(&*kind.decode(), "user" | "assistant").then_some("iFlow")
        }
        _ if is_amp(item) => Some("a thread of Amp"),
        _ => None,
    }
}

/// Results of Amp name their call as `toolUseID`, and hold what the tool did in `run`; the other blocks are those of Anthropic.
fn is_amp(item: Value<'_>) -> bool {
    let mut blocks = item.get("content").into_iter().flat_map(Value::items);
    blocks.any(|block| {
        let result = block.get("type").is_some_and(|kind| kind.is("tool_result"));
        result && block.get("toolUseID").is_some() && block.get("run").is_some()
    })
}

/// A session of iFlow has a name of its own before the UUID; the records are otherwise those of Claude Code.
fn is_iflow(session: Value<'_>) -> bool {
    const UUID: usize = 36;
    session.text().is_some_and(|name| name.decode().strip_prefix("session-").is_some_and(|id| id.len() == UUID))
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
