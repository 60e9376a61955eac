//! AgentKit messages: `type` is `text`, `tool_call` with `tools`, or `tool_result` with `tool`.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, blocks};
use crate::json::{Text, Value, object};
use crate::transcript::{
    Content, Draft, DraftPart, Family, Message, PairingRules, Part, PartPlace, ResultPlace, Role, ToolCall, ToolResult,
    Unknown,
};

/// The dialect `agentkit`.
pub(super) struct AgentKit;

impl Dialect for AgentKit {
    fn name(&self) -> &'static str {
        "agentkit"
    }

    fn signature(&self) -> &'static str {
        "`type`: `text`, `tool_call` with `tools`, `tool_result` with `tool`"
    }

    /// Items are what other formats write as parts of messages.
    fn unread<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        Some(Text::Json(item.raw()))
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let Some(kind) = item.get_text("type") else { return Fit::No };
        let fits = kind.is("tool_call") && item.get("tools").is_some_and(Value::is_array)
            || kind.is("tool_result") && item.get("tool").is_some_and(Value::is_object)
            || kind.is("text") && item.has("role") && item.has("content");
        if fits { Fit::Certain } else { Fit::No }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::RightAfter, unique_ids: false, ids: true, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(kind) = item.get_text("type") else { return Item::Unknown(Unknown::NoType) };
        let role = item.get_text("role").map(|role| role.decode().into_owned());
        let (role, parts) = match (&*kind.decode(), role.as_deref()) {
            ("tool_result", _) => (Role::Tool, vec![read_result(item)]),
            ("tool_call", Some("user")) => (Role::User, read_calls(item)),
            ("tool_call", _) => (Role::Assistant, read_calls(item)),
            ("text", Some("system")) => (Role::System, said(item)),
            ("text", Some("user")) => (Role::User, said(item)),
            ("text", Some("assistant")) => (Role::Assistant, said(item)),
            ("text", Some(other)) => return Item::Unknown(Unknown::Named(other.to_owned())),
            ("text", None) => return Item::Unknown(Unknown::NoRole),
            (other, _) => return Item::Unknown(Unknown::Named(other.to_owned())),
        };
        let mut message = Message::from_source(role, item);
        message.id = item.get_text("id");
        message.parts = parts;
        Item::Message(message)
    }
}

impl DialectWriter for AgentKit {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        if let [DraftPart::ToolResult { id, name, text, .. }] = draft.parts.as_slice() {
            let id = id.as_deref().unwrap_or_default();
            let result = object! {
                "type": "tool_result",
                "role": "tool_result",
                "tool": object! { "type": "tool", "id": id, "name": name, "input": object! {} },
                "content": object! { "error": text },
                "stop_reason": "tool",
            };
            result.0
        } else {
            let role = if draft.role == Role::Developer { Role::System } else { draft.role };
            object! { "type": "text", "role": role.name(), "content": draft.joined_text() }.0
        }
    }

    fn write_part(&self, part: &DraftPart) -> String {
        self.write_message(&Draft::part(Role::Assistant, part.clone()), None)
    }
}

impl LogHabits for AgentKit {}

fn said(item: Value<'_>) -> Vec<Part<'_>> {
    blocks::content(item.get("content"), blocks::plain_block)
}

fn read_calls(item: Value<'_>) -> Vec<Part<'_>> {
    let mut parts = if item.some("content").is_some() { said(item) } else { Vec::new() };
    let calls = item.get("tools").into_iter().flat_map(Value::items);
    parts.extend(calls.map(|call| Part::from_source(read_call(call), PartPlace::in_shell(call))));
    parts
}

fn read_call(tool: Value<'_>) -> Content<'_> {
    Content::ToolCall(ToolCall {
        id: tool.get_text("id"),
        name: tool.get_text("name").unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(tool.get("input")),
        family: Family::Function,
        hosted: false,
    })
}

fn read_result(item: Value<'_>) -> Part<'_> {
    let tool = item.get("tool");
    let content = item.get("content");
    let result = ToolResult {
        id: tool.and_then(|tool| tool.get_text("id")),
        name: tool.and_then(|tool| tool.get_text("name")),
        // AgentKit reads a result that is not a string as its JSON.
        content: content.map(|value| value.text().unwrap_or(Text::Json(value.raw()))).into_iter().collect(),
        media: 0,
        family: Family::Function,
        same_message: false,
    };
    Part::from_source(Content::ToolResult(result), PartPlace::element(item).with_text(content))
}
