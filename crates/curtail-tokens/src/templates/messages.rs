//! Messages and tools in the form that chat templates expect.

use std::path::Path;

use minijinja::Value;
use serde_json::{Map, json};

use super::TemplateError;
use super::sources::read_json;
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, ToolCall};

/// A message in the form that chat templates expect.
#[derive(Debug, Clone)]
pub struct ChatMessage(pub(super) Value);

/// Tool definitions in the form that chat templates expect.
#[derive(Debug, Clone)]
pub struct ToolList(pub(super) Value);

impl ChatMessage {
    /// The messages that `message` becomes. If it was read in the format of chat templates and not edited, it is passed
    /// as it is. Otherwise its texts, reasoning and calls form one message, and each of its results another.
    pub fn from_message(message: &Message<'_>) -> Vec<Self> {
        let source = message.source().filter(|source| source.is_chat && message.is_intact());
        let raw = source.and_then(|source| serde_json::from_str(source.value.raw()).ok());
        let values = raw.map_or_else(|| built(message), |raw| vec![raw]);
        values.into_iter().map(|value| Self(from_json(normalized(value)))).collect()
    }

    /// The system message for instructions outside the list of messages.
    pub fn from_instructions(text: &str) -> Self {
        Self(from_json(json!({"role": "system", "content": text})))
    }
}

impl ToolList {
    /// Reads tools from a JSON file: a list of them, or an object with one under `tools`.
    ///
    /// # Errors
    /// The file cannot be read or contains no list.
    pub fn open(path: &Path) -> Result<Self, TemplateError> {
        let value = read_json(path)?;
        let list = if value.is_array() { &value } else { &value["tools"] };
        let none = || TemplateError::new(format!("{}: no list of tools found", path.display()));
        if list.is_array() { Ok(Self(from_json(list.clone()))) } else { Err(none()) }
    }

    /// The tools among the texts outside the messages (those that are JSON lists or objects; `None` without any), and
    /// the other texts.
    pub fn from_preamble(preamble: &[Text<'_>]) -> (Option<Self>, Vec<String>) {
        let mut tools = Vec::new();
        let mut others = Vec::new();
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

/// A JSON value as a value of a template.
pub(super) fn from_json(value: serde_json::Value) -> Value {
    // This cannot fail: templates have a value for every JSON value.
    serde_json::from_value(value).unwrap_or_default()
}

/// The keys of reasoning. Most templates read the first one, and that of gpt-oss reads the second.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// A message with its reasoning under each key that templates read, and without members that are null. `transformers`
/// leaves these out too, because templates only test whether a member is present.
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

/// A message built from its parts: one for texts, reasoning and calls, after one for each result.
fn built(message: &Message<'_>) -> Vec<serde_json::Value> {
    let mut text = Vec::new();
    let mut reasoning = Vec::new();
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for part in &message.parts {
        match &part.content {
            Content::Text(part) => text.push(part.decode()),
            Content::Reasoning(part) => reasoning.push(part.decode()),
            Content::ToolCall(call) => calls.push(built_call(call)),
            Content::ToolResult(result) => {
                let content: Vec<_> = result.content.iter().map(Text::decode).collect();
                let id = result.id.as_ref().map(Text::decode);
                let name = result.name.as_ref().map(Text::decode);
                results.push(json!({"role": "tool", "tool_call_id": id, "name": name, "content": content.join("\n")}));
            }
            Content::Unknown(part) => text.push(part.decode()),
            Content::Media(_) | Content::Other => {}
        }
    }
    text.extend(message.attached.iter().map(Text::decode));
    if text.is_empty() && calls.is_empty() && reasoning.is_empty() && !results.is_empty() {
        return results;
    }
    let mut value = json!({"role": message.role.name(), "content": text.join("\n")});
    if !reasoning.is_empty() {
        value["reasoning_content"] = json!(reasoning.join("\n"));
    }
    if !calls.is_empty() {
        value["tool_calls"] = json!(calls);
    }
    results.push(value);
    results
}

fn built_call(call: &ToolCall<'_>) -> serde_json::Value {
    let arguments = call.arguments.decode();
    let arguments =
        serde_json::from_str(&arguments).unwrap_or_else(|_| serde_json::Value::from(arguments.into_owned()));
    let id = call.id.as_ref().map(Text::decode);
    json!({"id": id, "type": "function", "function": {"name": call.name.decode(), "arguments": arguments}})
}
