//! AgentKit messages: `type` is `text`, `tool_call` with `tools`, or `tool_result` with `tool`.

use super::{Dialect, DialectWriter, Fit, Format, Item, blocks};
use crate::json::{Text, Value, object};
use crate::transcript::{Draft, Part, Role, Unknown};

/// The dialect `agentkit`.
pub(super) struct AgentKit;

impl Dialect for AgentKit {
    fn format(&self) -> &'static Format {
        &Format {
            name: "agentkit",
            signature: "`type`: `text`, `tool_call` with `tools`, `tool_result` with `tool`",
            has_flat_items: true,
            writer: Some(&AgentKit),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let fits = match &*item.word("type") {
            "tool_call" => item.get("tools").is_some_and(Value::is_array),
            "tool_result" => item.get("tool").is_some_and(Value::is_object),
            "text" => item.has("role") && item.has("content"),
            _ => false,
        };
        if fits { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(kind) = item.get_text("type") else { return Item::Unknown(Unknown::NoType) };
        let role = item.get_text("role").map(Text::into_decoded);
        let (role, parts) = match (&*kind.decode(), role.as_deref()) {
            ("tool_result", _) => (Role::Tool, vec![read_result(item)]),
            ("tool_call", Some("user")) => (Role::User, read_calls(item)),
            ("tool_call", _) => (Role::Assistant, read_calls(item)),
            ("text", Some(name)) if let Some(role) = blocks::speaker_of(name) => {
                (role, blocks::plain_parts(item.get("content")))
            }
            ("text", None) => return Item::Unknown(Unknown::NoRole),
            ("text", Some(other)) | (other, _) => return Item::Unknown(Unknown::Named(other.to_owned())),
        };
        blocks::message(role, item, item.get_text("id"), parts)
    }
}

impl DialectWriter for AgentKit {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        let Some(result) = draft.only_result() else {
            return object! { "type": "text", "role": blocks::role_name(draft), "content": draft.joined_text() }.0;
        };
        let tool = object! { "type": "tool", "id": result.call_id(), "name": result.name, "input": object! {} };
        let message = object! {
            "type": "tool_result",
            "role": "tool_result",
            "tool": tool,
            "content": object! { "error": result.text },
            "stop_reason": "tool",
        };
        message.0
    }
}

fn read_calls(item: Value<'_>) -> Vec<Part<'_>> {
    let mut parts = blocks::plain_parts(item.some("content"));
    let calls = item.items_under("tools");
    parts.extend(calls.map(|call| blocks::in_shell(call, blocks::call_in(call, ["id", "name", "input"]))));
    parts
}

fn read_result(item: Value<'_>) -> Part<'_> {
    let tool = item.get("tool");
    let content = item.get("content");
    let [id, name] = ["id", "name"].map(|key| tool.and_then(|tool| tool.get_text(key)));
    // AgentKit reads a result that is not a string as its JSON.
    let text = content.map(|value| value.text().unwrap_or(Text::Json(value.raw())));
    blocks::rewritable(item, blocks::result_of(id, name, text.into_iter().collect(), 0), content)
}
