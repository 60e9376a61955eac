//! Messages in the form that chat templates expect: that of OpenAI's chat API, as `transformers` passes it. It knows no
//! template.

use minijinja::Value;
use serde_json::{Map, Value as Json, json};

use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Role, ToolCall, ToolResult};

/// A message in the form that chat templates expect.
#[derive(Debug, Clone)]
pub struct ChatMessage(pub(super) Value);

/// What a template takes in a message, where templates differ.
#[derive(Clone, Copy, Default)]
pub(super) struct Forms {
    /// Whether the arguments of a call are a text, and not an object.
    pub(super) text_arguments: bool,
    /// Whether a content is a text, and never a list of blocks.
    pub(super) text_content: bool,
}

/// The messages that `message` becomes. If it was read in the format of chat templates and not edited, it is one message
/// with its members, in the forms that the template takes: without those that are null, and with its reasoning under each name that
/// templates read. Otherwise its texts, reasoning and calls form one message, after one for each of its results.
pub(super) fn chat_messages(message: &Message<'_>, forms: Forms) -> Vec<ChatMessage> {
    let source = message.source().filter(|source| source.is_chat && message.is_intact());
    let read = source.and_then(|source| serde_json::from_str::<Map<String, Json>>(source.value.raw()).ok());
    let all = match read {
        Some(members) => vec![normalized(members, forms)],
        None => built(message, forms),
    };
    all.into_iter().map(|members| ChatMessage(from_json(Json::Object(members)))).collect()
}

impl ChatMessage {
    /// A message with a text that is outside the list of messages.
    pub(super) fn of_role(role: Role, text: &str) -> Self {
        Self(from_json(json!({"role": role.name(), "content": text})))
    }

    /// Its text, if it gives instructions.
    pub(super) fn instructions(&self) -> Option<String> {
        let role = member(&self.0, "role");
        let is_said =
            [Role::System, Role::Developer].iter().any(|instructing| role.as_str() == Some(instructing.name()));
        member(&self.0, "content").as_str().filter(|_| is_said).map(str::to_owned)
    }

    /// The message with `text` behind its content, if it is a reply of the model.
    pub(super) fn with_reply(&self, text: &str) -> Option<Self> {
        let members = serde_json::to_value(&self.0).ok();
        let mut members = members.filter(|members| members["role"] == Role::Assistant.name())?;
        match &mut members["content"] {
            Json::Array(blocks) => blocks.push(json!({"type": "text", "text": text})),
            Json::String(said) if !said.is_empty() => {
                said.push('\n');
                said.push_str(text);
            }
            content => *content = Json::from(text),
        }
        Some(Self(from_json(members)))
    }
}

/// A JSON value as a value of a template.
pub(super) fn from_json(value: Json) -> Value {
    // This cannot fail: templates have a value for every JSON value.
    serde_json::from_value(value).unwrap_or_default()
}

/// The member of a value; without one, a value that is undefined.
pub(super) fn member(value: &Value, name: &str) -> Value {
    value.get_attr(name).unwrap_or_default()
}

// Messages in the format of chat templates.

/// A message without members that are null, as `transformers` passes it, because templates only test whether a member is
/// present. Its content and the arguments of its calls have the forms that the template takes.
fn normalized(mut members: Map<String, Json>, forms: Forms) -> Map<String, Json> {
    members.retain(|_, value| !value.is_null());
    if forms.text_content
        && let Some(content) = members.get_mut("content")
        && let Some(text) = text_of(content)
    {
        *content = Json::String(text);
    }
    for call in members.get_mut("tool_calls").and_then(Json::as_array_mut).into_iter().flatten() {
        if let Some(arguments) = call.pointer_mut("/function/arguments") {
            *arguments = arguments_for(arguments.take(), forms);
        }
    }
    with_reasoning(members)
}

/// The text of a list of blocks, if all of them are texts.
fn text_of(content: &Json) -> Option<String> {
    let texts = content.as_array()?.iter().map(|block| block["text"].as_str().filter(|_| block["type"] == "text"));
    texts.collect::<Option<Vec<&str>>>().map(|texts| texts.join("\n"))
}

/// The arguments of a call in the form that the template takes. OpenAI's API has them as a text that contains JSON; most
/// templates write them as JSON, so that they take an object.
fn arguments_for(arguments: Json, forms: Forms) -> Json {
    match arguments {
        Json::String(text) if forms.text_arguments => Json::String(text),
        Json::String(text) if text.trim().is_empty() => json!({}),
        Json::String(text) => serde_json::from_str(&text).unwrap_or(Json::String(text)),
        other if forms.text_arguments => Json::String(other.to_string()),
        other => other,
    }
}

/// The keys of reasoning. Most templates read the first one, and that of gpt-oss reads the second.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// A message with its reasoning under each key that templates read, as `transformers` passes it.
fn with_reasoning(members: Map<String, Json>) -> Map<String, Json> {
    let Some(reasoning) = REASONING.iter().find_map(|key| members.get(*key).cloned()) else { return members };
    let mut all = Map::new();
    all.insert(String::from("thinking"), reasoning.clone());
    all.extend(members);
    all.insert(String::from("reasoning_content"), reasoning);
    all
}

// Messages in other formats, and those that were edited.

/// The messages of a message's parts: one for each result, and one for its texts, reasoning and calls.
fn built(message: &Message<'_>, forms: Forms) -> Vec<Map<String, Json>> {
    let mut texts = Vec::new();
    let mut reasoning = Vec::new();
    let mut calls = Vec::new();
    let mut messages = Vec::new();
    for part in &message.parts {
        match &part.content {
            Content::Text(text) | Content::Unknown(text) => texts.push(text.decode()),
            Content::Reasoning(text) => reasoning.push(text.decode()),
            Content::ToolCall(call) => calls.push(built_call(call, forms)),
            Content::ToolResult(result) => messages.push(built_result(result)),
            // Templates know images only by their place among the texts, and each in its own way.
            Content::Media(_) | Content::Other => {}
        }
    }
    texts.extend(message.attached.iter().map(Text::decode));
    let is_only_results = texts.is_empty() && calls.is_empty() && reasoning.is_empty() && !messages.is_empty();
    if !is_only_results {
        let mut members = Map::new();
        members.insert(String::from("role"), json!(role_name(message.role)));
        members.insert(String::from("content"), json!(texts.join("\n")));
        if !reasoning.is_empty() {
            members.insert(String::from("reasoning_content"), json!(reasoning.join("\n")));
        }
        if !calls.is_empty() {
            members.insert(String::from("tool_calls"), Json::Array(calls));
        }
        messages.push(with_reasoning(members));
    }
    messages
}

/// The name of a role. Most templates know no developer, and leave what they do not know out.
const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Developer => Role::System.name(),
        role => role.name(),
    }
}

fn built_call(call: &ToolCall<'_>, forms: Forms) -> Json {
    let arguments = arguments_for(Json::String(call.arguments.decode().into_owned()), forms);
    let mut built = Map::new();
    if let Some(id) = &call.id {
        built.insert(String::from("id"), json!(id.decode()));
    }
    built.insert(String::from("type"), json!("function"));
    built.insert(String::from("function"), json!({"name": call.name.decode(), "arguments": arguments}));
    Json::Object(built)
}

fn built_result(result: &ToolResult<'_>) -> Map<String, Json> {
    let texts: Vec<_> = result.content.iter().map(Text::decode).collect();
    let mut built = Map::new();
    built.insert(String::from("role"), json!("tool"));
    if let Some(id) = &result.id {
        built.insert(String::from("tool_call_id"), json!(id.decode()));
    }
    if let Some(name) = &result.name {
        built.insert(String::from("name"), json!(name.decode()));
    }
    built.insert(String::from("content"), json!(texts.join("\n")));
    built
}
