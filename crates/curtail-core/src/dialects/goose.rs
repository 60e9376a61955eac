//! Sessions of Goose: a head line, and messages whose blocks are `toolRequest` and, in a message of the user, `toolResponse`
//! with the same `id`.

use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, Remaining, SizeFigures, blocks,
    provenance,
};
use crate::json::{Json, Text, Value, object};
use crate::transcript::{
    Content, Draft, DraftResult, Layout, PairingRules, Part, ProviderRules, ResultPlace, Role, Standing,
};

/// The dialect `goose`.
pub(super) struct Goose;

impl Dialect for Goose {
    fn format(&self) -> &'static Format {
        &Format {
            name: "goose",
            signature: "a line with `working_dir`; `role` and `content` with blocks `toolRequest`, `toolResponse`",
            pairing: PairingRules { results: ResultPlace::NextMessage, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            is_log: true,
            writer: Some(&Goose),
            log: &Goose,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let [role, content, created] = item.get_each(["role", "content", "created"]);
        if role.is_none() {
            return if is_head(item) { Fit::Certain } else { Fit::No };
        }
        let mut blocks = content.into_iter().flat_map(Value::items);
        let timed = created.is_some_and(|created| created.raw().parse::<f64>().is_ok());
        match blocks.any(is_own_block) || item.some("metadata").is_some_and(|metadata| metadata.has("agentVisible")) {
            true => Fit::Certain,
            false if timed && content.is_some_and(Value::is_array) => Fit::Possible,
            false => Fit::No,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.get_text("role").is_none() && is_head(item) {
            return Item::Pinned;
        }
        let metadata = item.some("metadata");
        let is_false =
            |key: &str| metadata.and_then(|metadata| metadata.get(key)).is_some_and(|flag| flag.raw() == "false");
        blocks::read_message(item, item.some_text("role"), blocks::speaker_of, |message| {
            message.id = item.get_text("id");
            message.parts = blocks::text_or_parts(item.get("content"), read_block);
            // What only the model sees, a program wrote.
            message.automatic = message.role == Role::User && is_false("userVisible");
            // A compaction hides what was said. A notice to the user is never sent.
            if is_false("agentVisible") {
                let is_notice = message.parts.iter().all(|part| matches!(part.content, Content::Other));
                message.standing = if is_notice { Standing::Unsent } else { Standing::Superseded };
            }
        })
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        item.get("created").and_then(provenance::written_time)
    }
}

impl DialectWriter for Goose {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let role = blocks::speaker(draft);
        let created = anchor.and_then(|anchor| anchor.get("created")).map_or("0", Value::raw);
        let metadata = anchor.and_then(|anchor| anchor.some("metadata"));
        let metadata = metadata.filter(|metadata| metadata.has("agentVisible"));
        let metadata = metadata.map(|_| object! { "userVisible": true, "agentVisible": true });
        object! { "role": role, "created": Json(created), "content": blocks::parts(self, draft), "metadata": metadata }
            .0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let outcome = object! { "status": "error", "error": result.text };
        object! { "type": "toolResponse", "id": result.call_id(), "toolResult": outcome }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_blocks(message.get("content"), parts)
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
    /// Goose compares its head with the context window of the model. What the session used in all stays.
    fn size_figures<'a>(&self, holder: Value<'a>) -> Option<SizeFigures<'a>> {
        let head = Some(holder).filter(|holder| is_head(*holder))?;
        let [total, input, output, usage] = head.get_each(["total_tokens", "input_tokens", "output_tokens", "usage"]);
        let holders = [total, input, output, usage].into_iter().flatten();
        Some(SizeFigures::Whole(holders.flat_map(|value| blocks::numbers(value, &[])).collect()))
    }
}

/// Whether a line is the head of a session.
fn is_head(item: Value<'_>) -> bool {
    item.has("working_dir") && (item.has("message_count") || item.has("description"))
}

fn is_own_block(block: Value<'_>) -> bool {
    match &*block.word("type") {
        "toolRequest" | "frontendToolRequest" => block.has("toolCall"),
        "toolResponse" => block.has("toolResult"),
        "toolConfirmationRequest" | "systemNotification" | "redactedThinking" | "conversationCompacted" => true,
        _ => false,
    }
}

fn read_block(block: Value<'_>) -> Part<'_> {
    match &*block.word("type") {
        "toolRequest" | "frontendToolRequest" => blocks::whole(block, call(block)),
        "toolResponse" => result(block),
        "thinking" => reasoning(block, "thinking").bound_to_prefix(block.some_text("signature").is_some()),
        "redactedThinking" => blocks::whole(block, Content::Reasoning(Text::Escaped(""))).bound_to_prefix(true),
        "reasoning" => reasoning(block, "text"),
        // Requests and notices of the program to its user.
        "toolConfirmationRequest" | "actionRequired" | "systemNotification" | "conversationCompacted" => {
            blocks::whole(block, Content::Other)
        }
        _ => blocks::part(block, blocks::plain_block(block)),
    }
}

fn reasoning<'a>(block: Value<'a>, key: &str) -> Part<'a> {
    blocks::whole(block, Content::Reasoning(block.text_or_empty(key)))
}

/// A call. One that the model wrote wrongly has an error in place of a name and arguments, and may still be answered.
fn call(block: Value<'_>) -> Content<'_> {
    let call = block.some("toolCall");
    let value = call.and_then(|call| call.some("value"));
    let arguments = value.and_then(|value| value.some("arguments")).or_else(|| call?.get("error"));
    blocks::call(block.get_text("id"), value.and_then(|value| value.get_text("name")), arguments)
}

/// A result. In files of 2025 up to April, the value is the list of blocks itself.
fn result(block: Value<'_>) -> Part<'_> {
    let result = block.some("toolResult");
    let value = result.and_then(|result| result.some("value"));
    let list = value.and_then(|value| if value.is_object() { value.get("content") } else { Some(value) });
    let content = list.or_else(|| result?.get("error"));
    let mut part = blocks::result_part(block, blocks::result(block.get_text("id"), None, content), content);
    let items = content.into_iter().flat_map(Value::items);
    let (sent, shown): (Vec<_>, Vec<_>) = items.partition(|item| is_for_model(*item));
    if let (Content::ToolResult(result), false) = (&mut part.content, shown.is_empty()) {
        result.content = sent.iter().filter_map(|item| text_of(*item)).collect();
        result.media = sent.iter().filter(|item| blocks::is_media(**item)).count();
    }
    // Tools say the same to the user in other words.
    shown.into_iter().for_each(|item| part.add_copy(item));
    part
}

/// Whether an item of a result is sent to the model: it names no audience, or the model among it.
fn is_for_model(item: Value<'_>) -> bool {
    let audience = item.some("annotations").and_then(|annotations| annotations.some("audience"));
    audience.is_none_or(|audience| audience.items().any(|who| who.is("assistant")))
}

fn text_of(item: Value<'_>) -> Option<Text<'_>> {
    match blocks::plain_block(item) {
        Content::Text(text) | Content::Unknown(text) => Some(text),
        _ => None,
    }
}
