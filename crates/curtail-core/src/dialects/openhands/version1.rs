//! Events of version 1: one class an event, named by `kind`. A reply with parallel calls is one event per call, with one
//! `llm_response_id`.

use super::condensations::Condensation;
use crate::dialects::{Fit, Item, anthropic, blocks};
use crate::json::{ObjectWriter, Text, Value, list, object};
use crate::transcript::{Content, Draft, Leader, Message, Part, PartOrigin, PartPlace, Role, Unknown};

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
pub(super) fn model_of_state(event: Value<'_>) -> Option<Text<'_>> {
    let value = event.some("value").filter(|_| event.member_is("kind", "ConversationStateUpdateEvent"))?;
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
    let kind = event.word("kind");
    if READ.contains(&&*kind) || METADATA.contains(&&*kind) {
        Fit::Certain
    } else if event.get_text("kind").is_some() && event.has("id") && event.has("timestamp") {
        Fit::Possible
    } else {
        Fit::No
    }
}

/// The provider's id of the reply that an event is part of.
pub(super) fn reply_id(event: Value<'_>) -> Option<Text<'_>> {
    event.get_text("llm_response_id").filter(|_| matches!(&*event.word("kind"), "ActionEvent" | "MessageEvent"))
}

/// Reads an event.
pub(super) fn read<'a>(event: Value<'a>, kind: &str) -> Item<'a> {
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
            Item::Message(blocks::notice(event, None, blocks::plain_parts(event.get("summary"))))
        }
        kind if METADATA.contains(&kind) => Item::Metadata,
        kind => blocks::unknown_kind(kind.into()),
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
    message.attached.extend(blocks::texts(event.some("tools")));
    Item::Message(message)
}

/// A text that cannot be cut without the rest of its event.
fn whole_text<'a>(event: Value<'a>, text: Value<'a>) -> Option<Part<'a>> {
    let place = PartPlace::element(event).with_text(Some(text));
    text.text().map(|whole| Part::from_source(Content::Text(whole), place).read_at(event.span().end))
}

fn read_message(event: Value<'_>) -> Item<'_> {
    let Some(body) = event.get("llm_message") else { return Item::Unknown(Unknown::NoMessage) };
    blocks::read_message(event, body.some_text("role"), blocks::speaker_of, |message| {
        message.id = reply_id(event).or_else(|| event.get_text("id"));
        message.parts = thoughts(body);
        message.parts.extend(blocks::plain_parts(body.get("content")));
        message.parts.extend(blocks::plain_parts(event.some("extended_content")));
        // A hook or the program itself can send a text that the model reads as a user message.
        message.automatic = message.role == Role::User && !event.member_is("source", "user");
    })
}

/// The event is the call, so neither it nor the text before it can be cut alone.
fn read_action(event: Value<'_>) -> Item<'_> {
    let mut parts = thoughts(event);
    let texts = event.items_under("thought").filter_map(|block| block.get("text"));
    parts.extend(texts.filter_map(|text| whole_text(event, text)));
    let call = event.some("tool_call");
    let arguments = call.and_then(|call| call.get("arguments")).or_else(|| event.some("action"));
    let name = event.get_text("tool_name").or_else(|| call?.get_text("name"));
    let id = event.get_text("tool_call_id").or_else(|| call?.get_text("id"));
    let call = blocks::whole(event, blocks::call(id, name, arguments));
    parts.push(call.read_at(event.span().end));
    let id = reply_id(event).or_else(|| event.get_text("id"));
    blocks::message(Role::Assistant, event, id, parts)
}

/// The thoughts of a reply, which the model reads before anything else in it. `reasoning_content` and the router's
/// `reasoning_details` repeat the blocks of the provider.
fn thoughts(reply: Value<'_>) -> Vec<Part<'_>> {
    let blocks = reply.items_under("thinking_blocks");
    let mut parts: Vec<Part<'_>> = blocks
        .zip(reply.span().start + 1..)
        .map(|(block, read_at)| {
            let thought = block.text_or_empty("thinking");
            let part = blocks::whole(block, Content::Reasoning(thought));
            part.bound_to_prefix(anthropic::is_signed(block)).read_at(read_at)
        })
        .collect();
    if let Some(item) = reply.some("responses_reasoning_item") {
        let mut texts = blocks::texts(item.some("summary"));
        let summary = if texts.len() > 1 { blocks::joined(texts) } else { texts.pop().unwrap_or(Text::Escaped("")) };
        parts.push(blocks::whole(item, Content::Reasoning(summary)));
    }
    for value in ["reasoning_content", "reasoning_details"].iter().filter_map(|key| reply.some(key)) {
        match parts.first_mut() {
            Some(part) => part.add_copy(value),
            None => {
                let text = value.text().unwrap_or(Text::Escaped(""));
                parts.push(blocks::whole(value, Content::Reasoning(text)));
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
    let result = blocks::result(event.get_text("tool_call_id"), event.get_text("tool_name"), content);
    let part = blocks::result_part(event, result, blocks::text_or_list(content));
    blocks::message(Role::Tool, event, event.get_text("id"), vec![part])
}

/// An event without id: `OpenHands` assigns one when it reads the log.
pub(super) fn write(draft: &Draft, anchor: Option<Value<'_>>) -> String {
    let event = ObjectWriter::new().copied(anchor, &["timestamp"]);
    if let Some(result) = draft.only_result() {
        let event = event.member("source", "agent").member("tool_name", &result.name);
        let event = event.member("tool_call_id", result.call_id()).member("error", &result.text);
        return event.member("kind", "AgentErrorEvent").end().0;
    }
    let (source, role) = match draft.role {
        Role::User | Role::Tool => ("user", "user"),
        Role::Assistant => ("agent", "assistant"),
        Role::System | Role::Developer => ("agent", "system"),
    };
    let message = object! { "role": role, "content": list([blocks::text_block(&draft.joined_text())]) };
    event.member("source", source).member("llm_message", &message).member("kind", "MessageEvent").end().0
}

/// Joins the parallel calls of a reply with signed thoughts: the event of the first call contains the thoughts.
pub(super) fn join_signed<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut first: Option<(Text<'a>, Value<'a>)> = None;
    for (&item, read) in items.iter().zip(read) {
        let Item::Message(message) = read else { continue };
        let reply = reply_id(item).filter(|_| message.role == Role::Assistant);
        match (reply, &first) {
            (Some(reply), Some((id, call))) if reply == *id => name_first(message, *call),
            (Some(reply), _) => {
                let signed = message.parts.iter().any(Part::is_prefix_bound);
                first = item.get("tool_call_id").filter(|_| signed).map(|call| (reply, call));
            }
            (None, _) => {}
        }
    }
}

fn name_first<'a>(message: &mut Message<'a>, first: Value<'a>) {
    for part in message.parts.iter_mut().filter(|part| part.content.call().is_some()) {
        if let PartOrigin::Source(place) = &mut part.origin {
            place.set_leader(Some(Leader::Thinking(first)));
        }
    }
}
