//! Sessions of Goose: a head line, and messages whose blocks are `toolRequest` and, in a message of the user, `toolResponse`
//! with the same `id`.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, blocks, events, provenance};
use crate::json::{Json, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, Layout, Message, PairingRules, Part, PartPlace, ProviderRules, ResultPlace, Role,
    Standing, Unknown,
};

/// The dialect `goose`.
pub(super) struct Goose;

impl Dialect for Goose {
    fn name(&self) -> &'static str {
        "goose"
    }

    fn signature(&self) -> &'static str {
        "a line with `working_dir`; `role` and `content` with blocks `toolRequest`, `toolResponse`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let [role, content, created] = item.get_each(["role", "content", "created"]);
        if role.is_none() {
            return if is_head(item) { Fit::Certain } else { Fit::No };
        }
        let mut blocks = content.into_iter().flat_map(Value::items);
        let timed = created.is_some_and(|created| created.raw().parse::<f64>().is_ok());
        match blocks.any(is_own_block) || item.some("metadata").is_some_and(|told| told.has("agentVisible")) {
            true => Fit::Certain,
            false if timed && content.is_some_and(Value::is_array) => Fit::Possible,
            false => Fit::No,
        }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::NextMessage, unique_ids: false, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        ProviderRules { system_beside: true, ..ProviderRules::default() }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(name) = item.get_text("role") else {
            return if is_head(item) { Item::Pinned } else { Item::Unknown(Unknown::NoRole) };
        };
        let Some(role) = blocks::speaker_of(&name.decode()) else {
            return Item::Unknown(Unknown::role(name.decode().into_owned()));
        };
        let mut message = Message::from_source(role, item);
        message.id = item.get_text("id");
        message.parts = match item.get("content") {
            Some(list) if list.is_array() => list.items().map(read_block).collect(),
            content => blocks::content(content, blocks::plain_block),
        };
        let told = item.some("metadata");
        let is_false = |key: &str| told.and_then(|told| told.get(key)).is_some_and(|flag| flag.raw() == "false");
        // What only the model sees, a program wrote.
        message.automatic = role == Role::User && is_false("userVisible");
        if is_false("agentVisible") {
            message.standing = Standing::RolledBack;
        }
        Item::Message(message)
    }

    /// A compaction hides all messages before it from the model. Any other hidden message is a notice to the user.
    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        for item in &mut read {
            match item {
                Item::Message(message) if message.standing == Standing::Live => break,
                Item::Message(message) => message.standing = Standing::Superseded,
                _ => {}
            }
        }
        read
    }
}

impl DialectWriter for Goose {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let role = if draft.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = list(draft.parts.iter().map(|part| self.write_part(part)));
        let created = anchor.and_then(|anchor| anchor.get("created")).map_or("0", Value::raw);
        let told = anchor.and_then(|anchor| anchor.some("metadata")).is_some_and(|told| told.has("agentVisible"));
        let told = told.then(|| object! { "userVisible": true, "agentVisible": true });
        object! { "role": role, "created": Json(created), "content": blocks, "metadata": told }.0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => blocks::text_block(text),
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult { id, text, .. } => {
                let result = object! { "status": "error", "error": text };
                object! { "type": "toolResponse", "id": id.as_deref().unwrap_or_default(), "toolResult": result }.0
            }
        }
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_parts(message.get("content")?, parts, |json| object! { "type": "text", "text": Json(json) }.0)
    }

    /// The head line says how many messages follow.
    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        let kept = remaining.kept.iter().filter(|kept| **kept).count();
        if kept == remaining.kept.len() && remaining.written.is_empty() {
            return Vec::new();
        }
        let head = layout.elements.first().filter(|item| is_head(**item));
        let number = head.and_then(|head| head.get("message_count"));
        let text = (kept + remaining.written.len()).to_string();
        number.into_iter().map(|number| Patch { span: number.span(), text: text.clone() }).collect()
    }
}

impl LogHabits for Goose {
    fn is_log(&self) -> bool {
        true
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        item.get("created").and_then(provenance::written_time)
    }
}

/// Whether a line is the head of a session.
fn is_head(item: Value<'_>) -> bool {
    item.has("working_dir") && (item.has("message_count") || item.has("description"))
}

fn is_own_block(block: Value<'_>) -> bool {
    let Some(kind) = block.get_text("type") else { return false };
    match &*kind.decode() {
        "toolRequest" | "frontendToolRequest" => block.has("toolCall"),
        "toolResponse" => block.has("toolResult"),
        "toolConfirmationRequest" | "systemNotification" | "redactedThinking" | "conversationCompacted" => true,
        _ => false,
    }
}

fn read_block(block: Value<'_>) -> Part<'_> {
    let place = PartPlace::element(block);
    let text = |key: &str| block.get_text(key).unwrap_or(Text::Escaped(""));
    match block.get_text("type").as_ref().map(Text::decode).as_deref() {
        Some("toolRequest" | "frontendToolRequest") => Part::from_source(call(block), place),
        Some("toolResponse") => result(block),
        Some("thinking") => {
            let signed = block.get_text("signature").is_some_and(|signature| signature.len_bound() > 0);
            Part::from_source(Content::Reasoning(text("thinking")), place).bound_to_prefix(signed)
        }
        Some("redactedThinking") => {
            Part::from_source(Content::Reasoning(Text::Escaped("")), place).bound_to_prefix(true)
        }
        Some("reasoning") => Part::from_source(Content::Reasoning(text("text")), place),
        // Requests and notices of the program to its user.
        Some("toolConfirmationRequest" | "actionRequired" | "systemNotification" | "conversationCompacted") => {
            Part::from_source(Content::Other, place)
        }
        _ => blocks::part(block, blocks::plain_block(block)),
    }
}

/// A call. One that the model wrote wrongly has an error in place of a name and arguments, and may still be answered.
fn call(block: Value<'_>) -> Content<'_> {
    let call = block.some("toolCall");
    let value = call.and_then(|call| call.some("value"));
    let arguments = value.and_then(|value| value.some("arguments")).or_else(|| call?.get("error"));
    events::call(block.get_text("id"), value.and_then(|value| value.get_text("name")), arguments)
}

/// A result. In files of 2025 up to April, the value is the list of blocks itself.
fn result(block: Value<'_>) -> Part<'_> {
    let result = block.some("toolResult");
    let value = result.and_then(|result| result.some("value"));
    let list = value.and_then(|value| if value.is_object() { value.get("content") } else { Some(value) });
    let said = list.or_else(|| result?.get("error"));
    let content = events::result(block.get_text("id"), None, said);
    let place = PartPlace::element(block);
    let place = match said {
        Some(list) if list.is_array() => place.with_text_in(list, "[{\"type\":\"text\",\"text\":", "}]"),
        said => place.with_text(said),
    };
    Part::from_source(content, place)
}
