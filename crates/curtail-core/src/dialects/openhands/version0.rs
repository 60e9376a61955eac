//! Events of version 0: an `action` with its `args`, and an `observation` that names the action under `cause`.

use super::condensations::{Condensation, id_of};
use crate::dialects::{Fit, Item, blocks, provenance};
use crate::json::{Json, Text, Value, object, quote, raw};
use crate::transcript::{Content, Draft, Message, Part, Role, Unknown, Usage};

/// Actions and observations of the program, which are not messages.
const METADATA: &[&str] =
    &["change_agent_state", "agent_state_changed", "recall", "null", "condensation_request", "condense", "pause"];

/// The text that a recall adds to the message that requested it.
const RECALLED: &[&str] = &[
    "repo_instructions",
    "runtime_hosts",
    "additional_agent_instructions",
    "custom_secrets_descriptions",
    "conversation_instructions",
];

/// How well an event fits by itself.
pub(super) fn fit(event: Value<'_>) -> Fit {
    let acts = event.get_text("action").is_some() && event.get("args").is_some_and(Value::is_object);
    let observes = event.get_text("observation").is_some() && event.has("content");
    if acts || observes { Fit::Certain } else { Fit::No }
}

/// The response of the provider that led to an event.
fn response(event: Value<'_>) -> Option<Value<'_>> {
    event.some("tool_call_metadata")?.some("model_response")
}

/// The provider's id of the reply that an action is part of.
pub(super) fn reply_id(event: Value<'_>) -> Option<Text<'_>> {
    event.get("action").and_then(|_| response(event)?.get_text("id"))
}

/// The model that replied.
pub(super) fn model(event: Value<'_>) -> Option<Text<'_>> {
    response(event)?.get_text("model")
}

/// The usage of a reply, in the fields that OpenAI uses.
pub(super) fn usage(event: Value<'_>) -> Option<Usage> {
    provenance::chat_usage(event.get("action").and_then(|_| response(event)?.some("usage"))?)
}

/// Reads an event.
pub(super) fn read(event: Value<'_>) -> Item<'_> {
    if let Some(action) = event.get_text("action") {
        return read_action(event, &action.decode());
    }
    let Some(observation) = event.get_text("observation") else { return Item::Unknown(Unknown::NoType) };
    match &*observation.decode() {
        "recall" => Item::Attached(recalled(event).into()),
        kind if METADATA.contains(&kind) => Item::Metadata,
        _ => read_observation(event),
    }
}

fn read_action<'a>(event: Value<'a>, action: &str) -> Item<'a> {
    let args = event.get("args");
    let source = event.word("source");
    let role = if source == "agent" { Role::Assistant } else { Role::User };
    let arg = |key: &str| args.and_then(|args| args.some(key));
    match action {
        "message" => Item::Message(read_message(event, role, &source)),
        "system" => {
            let parts = blocks::plain_parts(arg("content"));
            let attached = blocks::texts(arg("tools")).into_iter().collect();
            Item::Message(Message { parts, attached, ..Message::from_source(Role::System, event) })
        }
        // The model reads the final thought as a separate text.
        "finish" | "reject" => {
            let texts = ["thought", "final_thought"].into_iter().filter_map(arg).filter(|text| !text.is(""));
            let mut spoken: Vec<Part<'_>> = texts.flat_map(|text| blocks::plain_parts(Some(text))).collect();
            if spoken.is_empty() {
                spoken.extend(args.map(|args| blocks::whole(args, Content::Other)));
            }
            blocks::message(role, event, reply_id(event), spoken)
        }
        "condensation" => {
            Condensation::from_event(event).map_or(Item::Metadata, |condensation| condensation.summary(event))
        }
        action if METADATA.contains(&action) || source == "environment" => Item::Metadata,
        action => read_call(event, role, action),
    }
}

fn read_message<'a>(event: Value<'a>, role: Role, source: &str) -> Message<'a> {
    let args = event.get("args");
    let mut message = Message::from_source(role, event);
    message.id = reply_id(event);
    message.automatic = role == Role::User && source != "user";
    let content = args.and_then(|args| args.get("content"));
    message.parts = blocks::plain_parts(content);
    // The event repeats the text for the screen.
    let shown = event.get("message").filter(|shown| shown.text() == content.and_then(Value::text));
    if let (Some(part), Some(shown)) = (message.parts.first_mut(), shown) {
        part.add_copy(shown);
    }
    let images = args.and_then(|args| args.some("image_urls")).into_iter().flat_map(Value::items);
    message.parts.extend(images.map(|url| blocks::whole(url, Content::Media(Text::Json(url.raw())))));
    message
}

/// The event is the call, so neither it nor the thought before it can be cut alone.
fn read_call<'a>(event: Value<'a>, role: Role, action: &str) -> Item<'a> {
    let args = event.get("args");
    let thought = args.and_then(|args| args.get("thought")).filter(|thought| thought.text().is_some());
    let mut parts: Vec<Part<'_>> = Vec::new();
    if let Some(text) = thought.and_then(Value::text).filter(|text| text.len_bound() > 0) {
        parts.push(blocks::rewritable(event, Content::Text(text), thought));
    }
    let name = event.some("tool_call_metadata").and_then(|made| made.get_text("function_name"));
    let name = name.unwrap_or_else(|| Text::Owned(action.to_owned()));
    let mut call = blocks::call(event.get("id").map(id_of), Some(name), None);
    if let Content::ToolCall(call) = &mut call {
        call.arguments = requested(event).or_else(|| args.map(arguments)).unwrap_or(Text::Escaped(""));
    }
    parts.push(blocks::whole(event, call));
    blocks::message(role, event, reply_id(event), parts)
}

/// The arguments as the model wrote them.
fn requested(event: Value<'_>) -> Option<Text<'_>> {
    let id = event.some("tool_call_metadata")?.get_text("tool_call_id")?;
    let choices = response(event)?.get("choices")?.items();
    let mut calls = choices.filter_map(|choice| choice.some("message")?.some("tool_calls")).flat_map(Value::items);
    calls.find(|call| call.get_text("id").is_some_and(|name| name == id))?.some("function")?.get_text("arguments")
}

/// The arguments without the thought, which is a separate part.
fn arguments(args: Value<'_>) -> Text<'_> {
    if !args.has("thought") {
        return Text::Json(args.raw());
    }
    let source = args.source();
    let others = args.members().filter(|member| !member.key.is("thought"));
    let others: Vec<&str> = others.map(|member| member.span.slice(source)).collect();
    Text::Owned(format!("{{{}}}", others.join(",")))
}

/// An observation without a cause is a note of the program.
fn read_observation(event: Value<'_>) -> Item<'_> {
    let content = event.get("content");
    let Some(cause) = event.some("cause") else {
        return Item::Message(blocks::notice(event, None, blocks::plain_parts(content)));
    };
    let name = event.some("tool_call_metadata").and_then(|made| made.get_text("function_name"));
    let result = blocks::result(Some(id_of(cause)), name, content);
    let text = content.filter(|content| content.text().is_some());
    let part = blocks::rewritable(event, result, text);
    blocks::message(Role::Tool, event, None, vec![part])
}

fn recalled(event: Value<'_>) -> Vec<Text<'_>> {
    let Some(extras) = event.some("extras") else { return Vec::new() };
    let known = extras.items_under("microagent_knowledge");
    let known = known.filter_map(|known| known.get_text("content"));
    let set = RECALLED.iter().filter_map(|key| extras.some(key)).flat_map(|member| blocks::texts(Some(member)));
    set.filter(|text| text.len_bound() > 2).chain(known).collect()
}

/// An event without id. The result of a call gets its `tool_call_metadata` from the action.
pub(super) fn write(draft: &Draft, anchor: Value<'_>) -> String {
    if let Some(result) = draft.only_result() {
        let id = result.call_id();
        let made = anchor
            .some("tool_call_metadata")
            .filter(|_| anchor.get("id").is_some_and(|event_id| *id_of(event_id).decode() == *id));
        let cause = id.parse::<u64>().map_or_else(|_| quote(id), |number| number.to_string());
        let event = object! {
            "source": "environment",
            "observation": "error",
            "content": result.text,
            "extras": object! {},
            "cause": Json(cause),
            "tool_call_metadata": made.map(raw),
        };
        return event.0;
    }
    let (source, action) = match draft.role {
        Role::User | Role::Tool => ("user", "message"),
        Role::Assistant => ("agent", "message"),
        Role::System | Role::Developer => ("agent", "system"),
    };
    object! { "source": source, "action": action, "args": object! { "content": draft.joined_text() } }.0
}
