//! Messages and tools as chat templates take them.

use minijinja::Value;
use serde_json::{Map, json};

use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, PartOrigin, ToolCall};

/// A message as a chat template takes it.
#[derive(Debug, Clone)]
pub struct ChatMessage(pub(super) Value);

/// Tool definitions as a chat template takes them.
#[derive(Debug, Clone)]
pub struct ToolList(pub(super) Value);

impl ChatMessage {
    /// The messages of `message`: as it was read if its format is the one of chat templates and no part of it was edited.
    /// Otherwise its texts, reasoning and calls are one message, and each result is one.
    #[must_use]
    pub fn from_message(message: &Message<'_>) -> Vec<Self> {
        let unchanged =
            message.cut.is_empty() && message.parts.iter().all(|part| matches!(part.origin, PartOrigin::Source(_)));
        let own = message.value().filter(|_| message.is_chat && unchanged);
        let raw = own.and_then(|value| serde_json::from_str(value.raw()).ok());
        let values = raw.map_or_else(|| spelt(message), |raw| vec![raw]);
        values.into_iter().map(|value| Self(from_json(normalized(value)))).collect()
    }

    /// Instructions that are not in the list of messages.
    #[must_use]
    pub fn from_instructions(text: &str) -> Self {
        Self(from_json(json!({"role": "system", "content": text})))
    }
}

impl ToolList {
    /// The tools among the texts outside the messages, and the other texts.
    #[must_use]
    pub fn from_preamble(preamble: &[Text<'_>]) -> (Option<Self>, Vec<String>) {
        let (mut tools, mut others) = (Vec::new(), Vec::new());
        for text in preamble {
            let text = text.decode();
            match serde_json::from_str(&text) {
                Ok(serde_json::Value::Array(list)) => tools.extend(list),
                Ok(tool @ serde_json::Value::Object(_)) => tools.push(tool),
                _ => others.push(text.into_owned()),
            }
        }
        let list = (!tools.is_empty()).then(|| Self(from_json(serde_json::Value::Array(tools))));
        (list, others)
    }
}

/// A JSON value as templates read it.
pub(super) fn from_json(value: serde_json::Value) -> Value {
    // Every JSON value is a value of a template.
    serde_json::from_value(value).unwrap_or_default()
}

/// The names under which reasoning is passed; the first is the one that templates read, and gpt-oss reads the second.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// A message with its reasoning under each name that templates read, and without what is null: `transformers` leaves these
/// members out, because templates expect that what is there has a value.
fn normalized(message: serde_json::Value) -> serde_json::Value {
    let serde_json::Value::Object(mut members) = message else { return message };
    members.retain(|_, value| !value.is_null());
    let found = REASONING.iter().find_map(|key| members.get(*key).cloned());
    let Some(reasoning) = found else { return serde_json::Value::Object(members) };
    let mut all = Map::new();
    all.insert(String::from("thinking"), reasoning.clone());
    all.extend(members);
    all.insert(String::from("reasoning_content"), reasoning);
    serde_json::Value::Object(all)
}

fn spelt(message: &Message<'_>) -> Vec<serde_json::Value> {
    let (mut text, mut reasoning, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for part in &message.parts {
        match &part.content {
            Content::Text(own) => text.push(own.decode()),
            Content::Reasoning(own) => reasoning.push(own.decode()),
            Content::ToolCall(call) => calls.push(spelt_call(call)),
            Content::ToolResult(result) => {
                let content: Vec<_> = result.content.iter().map(Text::decode).collect();
                let id = result.id.as_ref().map(Text::decode);
                let name = result.name.as_ref().map(Text::decode);
                results.push(json!({"role": "tool", "tool_call_id": id, "name": name, "content": content.join("\n")}));
            }
            Content::Unknown(own) => text.push(own.decode()),
            Content::Media(_) | Content::Other => {}
        }
    }
    text.extend(message.attached.iter().map(Text::decode));
    if text.is_empty() && calls.is_empty() && reasoning.is_empty() && !results.is_empty() {
        return results;
    }
    let mut own = json!({"role": message.role.name(), "content": text.join("\n")});
    if !reasoning.is_empty() {
        own["reasoning_content"] = json!(reasoning.join("\n"));
    }
    if !calls.is_empty() {
        own["tool_calls"] = json!(calls);
    }
    results.push(own);
    results
}

fn spelt_call(call: &ToolCall<'_>) -> serde_json::Value {
    let arguments = call.arguments.decode();
    let arguments =
        serde_json::from_str(&arguments).unwrap_or_else(|_| serde_json::Value::from(arguments.into_owned()));
    let id = call.id.as_ref().map(Text::decode);
    json!({"id": id, "type": "function", "function": {"name": call.name.decode(), "arguments": arguments}})
}
