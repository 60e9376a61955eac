//! Events of version 1: one class an event, named by `kind`. A reply with parallel calls is one event per call, with one
//! `llm_response_id`.

use crate::dialects::{Fit, Item, anthropic, blocks, events};
use crate::json::{ObjectWriter, Text, Value, list, object};
use crate::transcript::{Content, Draft, DraftPart, Message, Part, PartPlace, Role, Unknown};

use super::Condensation;

/// Kinds of events that the model reads.
const READ: &[&str] = &[
    "SystemPromptEvent",
    "SystemPromptUpdateEvent",
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "UserRejectObservation",
    "AgentErrorEvent",
    "Condensation",
    "CondensationSummaryEvent",
];

/// The model that an update of the state names, in the whole state or in its agent.
pub(super) fn model(event: Value<'_>) -> Option<Text<'_>> {
    let value = event.get("kind").filter(|kind| kind.is("ConversationStateUpdateEvent")).and(event.some("value"))?;
    value.some("agent").unwrap_or(value).some("llm")?.get_text("model")
}

/// Kinds of events that are not messages.
const METADATA: &[&str] = &[
    "CondensationRequest",
    "ConversationStateUpdateEvent",
    "ConversationErrorEvent",
    "LLMCompletionLogEvent",
    "TokenEvent",
    "PauseEvent",
    "InterruptEvent",
    "HookExecutionEvent",
    "StreamingDeltaEvent",
    "ACPToolCallEvent",
    "ServerErrorEvent",
    "UserActionEvent",
];

/// How well an event fits by itself.
pub(super) fn fit(event: Value<'_>) -> Fit {
    let Some(kind) = event.get_text("kind") else { return Fit::No };
    let kind = kind.decode();
    if READ.contains(&&*kind) || METADATA.contains(&&*kind) {
        Fit::Certain
    } else if event.has("id") && event.has("timestamp") {
        Fit::Possible
    } else {
        Fit::No
    }
}

/// The provider's id of the reply that an event is part of.
pub(super) fn reply_id(event: Value<'_>) -> Option<Text<'_>> {
    let kind = event.get("kind")?;
    (kind.is("ActionEvent") || kind.is("MessageEvent")).then(|| event.get_text("llm_response_id")).flatten()
}

/// Reads an event.
pub(super) fn read_event<'a>(event: Value<'a>, kind: &str) -> Item<'a> {
    match kind {
        "SystemPromptEvent" | "SystemPromptUpdateEvent" => read_prompt(event),
        "MessageEvent" => read_message(event),
        "ActionEvent" => read_action(event),
        "ObservationEvent" => read_observation(event),
        "UserRejectObservation" => read_result(event, event.get("rejection_reason")),
        "AgentErrorEvent" => read_result(event, event.get("error")),
        "Condensation" => {
            Condensation::from_event(event).map_or(Item::Metadata, |condensation| condensation.summary(event))
        }
        "CondensationSummaryEvent" => {
            let mut message = Message::from_source(Role::User, event);
            message.automatic = true;
            message.parts = blocks::content(event.get("summary"), blocks::plain_block);
            Item::Message(message)
        }
        kind if METADATA.contains(&kind) => Item::Metadata,
        kind => Item::Unknown(Unknown::kind(kind.to_owned())),
    }
}

/// The instructions, and the tools that the provider is given beside them.
fn read_prompt(event: Value<'_>) -> Item<'_> {
    let mut message = Message::from_source(Role::System, event);
    message.id = event.get_text("id");
    if let Some(text) = event.get("system_prompt").and_then(|prompt| prompt.get("text")) {
        message.parts.extend(whole_text(event, text));
    }
    if let Some(context) = event.some("dynamic_context") {
        message.parts.push(blocks::part(context, blocks::plain_block(context)));
    }
    message.attached = blocks::texts(event.some("tools"));
    Item::Message(message)
}

/// A text that cannot be cut without the rest of its event.
fn whole_text<'a>(event: Value<'a>, text: Value<'a>) -> Option<Part<'a>> {
    let place = PartPlace::element(event).with_text(Some(text));
    text.text().map(|said| Part::from_source(Content::Text(said), place).read_at(event.span().end))
}

fn read_message(event: Value<'_>) -> Item<'_> {
    let Some(said) = event.get("llm_message") else { return Item::Unknown(Unknown::NoMessage) };
    let role = said.get_text("role").map(|role| role.decode().into_owned()).unwrap_or_default();
    let Some(role) = blocks::speaker_of(&role) else { return Item::Unknown(Unknown::role(role)) };
    let mut message = Message::from_source(role, event);
    message.id = reply_id(event).or_else(|| event.get_text("id"));
    message.parts = thoughts(said);
    message.parts.extend(blocks::content(said.get("content"), blocks::plain_block));
    message.parts.extend(blocks::content(event.some("extended_content"), blocks::plain_block));
    // A hook or the program itself can send a text that the model reads as a user message.
    message.automatic = role == Role::User && !event.get("source").is_some_and(|source| source.is("user"));
    Item::Message(message)
}

/// The event is the call, so neither it nor the text before it can be cut alone.
fn read_action(event: Value<'_>) -> Item<'_> {
    let mut parts = thoughts(event);
    let said = event.get("thought").into_iter().flat_map(Value::items).filter_map(|block| block.get("text"));
    parts.extend(said.filter_map(|text| whole_text(event, text)));
    let call = event.some("tool_call");
    let arguments = call.and_then(|call| call.get("arguments")).or_else(|| event.some("action"));
    let name = event.get_text("tool_name").or_else(|| call?.get_text("name"));
    let id = event.get_text("tool_call_id").or_else(|| call?.get_text("id"));
    let call = Part::from_source(events::call(id, name, arguments), PartPlace::element(event));
    parts.push(call.read_at(event.span().end));
    let id = reply_id(event).or_else(|| event.get_text("id"));
    events::message(Role::Assistant, event, id, parts)
}

/// The thoughts of a reply, which the model reads before anything else in it. `reasoning_content` and the router's
/// `reasoning_details` repeat the blocks of the provider.
fn thoughts(reply: Value<'_>) -> Vec<Part<'_>> {
    let blocks = reply.get("thinking_blocks").into_iter().flat_map(Value::items);
    let mut parts: Vec<Part<'_>> = blocks
        .zip(reply.span().start + 1..)
        .map(|(block, read_at)| {
            let thought = block.get_text("thinking").unwrap_or(Text::Escaped(""));
            let part = Part::from_source(Content::Reasoning(thought), PartPlace::element(block));
            part.bound_to_prefix(anthropic::is_signed(block)).read_at(read_at)
        })
        .collect();
    if let Some(item) = reply.some("responses_reasoning_item") {
        let summary = blocks::texts(item.some("summary")).into_iter().next().unwrap_or(Text::Escaped(""));
        parts.push(Part::from_source(Content::Reasoning(summary), PartPlace::element(item)));
    }
    for value in ["reasoning_content", "reasoning_details"].iter().filter_map(|key| reply.some(key)) {
        match parts.first_mut() {
            Some(part) => part.add_copy(value),
            None => {
                let text = value.text().unwrap_or(Text::Escaped(""));
                parts.push(Part::from_source(Content::Reasoning(text), PartPlace::element(value)));
            }
        }
    }
    parts
}

/// The result of a tool, with the text that the program adds to it for the model.
fn read_observation(event: Value<'_>) -> Item<'_> {
    let observation = event.get("observation");
    let content = observation.map(|observation| observation.some("content").unwrap_or(observation));
    let mut item = read_result(event, content);
    if let (Item::Message(message), Some(added)) = (&mut item, event.some("extended_content")) {
        for part in &mut message.parts {
            if let Content::ToolResult(result) = &mut part.content {
                result.content.extend(blocks::texts(Some(added)));
            }
            part.add_copy(added);
        }
    }
    item
}

fn read_result<'a>(event: Value<'a>, content: Option<Value<'a>>) -> Item<'a> {
    let result = events::result(event.get_text("tool_call_id"), event.get_text("tool_name"), content);
    let place = PartPlace::element(event);
    let place = match content {
        Some(list) if list.is_array() => place.with_text_in(list, "[{\"type\":\"text\",\"text\":", "}]"),
        Some(text) if text.text().is_some() => place.with_text(Some(text)),
        _ => place,
    };
    events::message(Role::Tool, event, event.get_text("id"), vec![Part::from_source(result, place)])
}

/// An event without id: `OpenHands` assigns one when it reads the log.
pub(super) fn write_message(draft: &Draft, anchor: Option<Value<'_>>) -> String {
    let event = ObjectWriter::new().copied(anchor, &["timestamp"]);
    if let [DraftPart::ToolResult { id, name, text, .. }] = draft.parts.as_slice() {
        let event = event.member("source", "agent").member("tool_name", name);
        let event = event.member("tool_call_id", id.as_deref().unwrap_or_default()).member("error", text);
        return event.member("kind", "AgentErrorEvent").end().0;
    }
    let (source, role) = match draft.role {
        Role::User | Role::Tool => ("user", "user"),
        Role::Assistant => ("agent", "assistant"),
        Role::System | Role::Developer => ("agent", "system"),
    };
    let said = object! { "role": role, "content": list([blocks::text_block(&draft.joined_text())]) };
    event.member("source", source).member("llm_message", &said).member("kind", "MessageEvent").end().0
}
