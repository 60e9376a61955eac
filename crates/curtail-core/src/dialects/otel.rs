//! Messages of OpenTelemetry's conventions for generative AI: `role` and `parts`, each with a `type`; the text of a part is its
//! `content`.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, blocks, events};
use crate::json::{Json, Text, Value, list, object, or_null};
use crate::transcript::{
    Content, Draft, DraftPart, Family, Message, PairingRules, Part, PartPlace, ResultPlace, Role, Unknown,
};

/// The dialect `otel`.
pub(super) struct Otel;

impl Dialect for Otel {
    fn name(&self) -> &'static str {
        "otel"
    }

    fn signature(&self) -> &'static str {
        "`role` and `parts` with `type`: `text` with `content`, `tool_call`, `tool_call_response`; under `gen_ai.input.messages`"
    }

    fn has_marks(&self) -> bool {
        true
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let Some(parts) = item.get("parts").filter(|parts| parts.is_array() && !item.has("uuid")) else {
            return Fit::No;
        };
        if item.get_text("role").is_none_or(|role| blocks::role_of(&role.decode()).is_none()) {
            return Fit::No;
        }
        if is_own(parts) {
            Fit::Marked
        } else if parts.items().all(|part| part.get_text("type").is_some()) {
            Fit::Possible
        } else {
            Fit::No
        }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.members().any(|member| member.key.decode().starts_with("gen_ai."))
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::RightAfterTurn, unique_ids: false, ids: true, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(role) = item.get_text("role") else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = blocks::role_of(&role.decode()) else {
            return Item::Unknown(Unknown::role(role.decode().into_owned()));
        };
        let mut message = Message::from_source(role, item);
        message.parts = item.get("parts").into_iter().flat_map(Value::items).map(read_part).collect();
        Item::Message(message)
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        let attributes = record.some("attributes").filter(|attributes| attributes.is_object());
        let holders = std::iter::once(record).chain(attributes);
        let said = holders.flat_map(|holder| {
            let parts = holder.some("gen_ai.system_instructions").into_iter().flat_map(Value::items);
            let texts = parts.filter_map(|part| part.get_text("content")).collect::<Vec<_>>();
            texts.into_iter().chain(blocks::texts(holder.some("gen_ai.tool.definitions")))
        });
        said.collect()
    }
}

impl DialectWriter for Otel {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        let parts: Vec<String> = draft.parts.iter().map(|part| self.write_part(part)).collect();
        let role = if draft.role == Role::Developer { Role::System } else { draft.role };
        object! { "role": role.name(), "parts": list(parts) }.0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => object! { "type": "text", "content": text }.0,
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult { id, text, .. } => {
                object! { "type": "tool_call_response", "id": or_null(id.as_deref()), "response": text }.0
            }
        }
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_parts(message.get("parts")?, parts, |json| object! { "type": "text", "content": Json(json) }.0)
    }
}

impl LogHabits for Otel {
    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        ["gen_ai.response.model", "gen_ai.request.model"].iter().find_map(|key| item.get_text(key))
    }
}

/// Whether a list contains a part that only these conventions have.
fn is_own(parts: Value<'_>) -> bool {
    parts.items().any(|part| {
        let Some(kind) = part.get_text("type") else { return false };
        match &*kind.decode() {
            "text" | "reasoning" | "compaction" => part.get_text("content").is_some() && !part.has("text"),
            "tool_call" => part.get_text("name").is_some() && !part.has("toolCallId"),
            "tool_call_response" => answer(part).is_some(),
            "server_tool_call" | "server_tool_call_response" => part.has(&kind.decode()),
            "blob" | "file" | "file_data" | "uri" => part.has("modality"),
            _ => false,
        }
    })
}

/// The answer of a tool; in earlier versions of the conventions, the key is `result`.
fn answer(part: Value<'_>) -> Option<Value<'_>> {
    part.some("response").or_else(|| part.get("result"))
}

fn read_part(part: Value<'_>) -> Part<'_> {
    let place = PartPlace::element(part);
    let id = part.get_text("id");
    let text = part.get("content").filter(|content| content.text().is_some());
    let said = || text.and_then(Value::text).unwrap_or(Text::Escaped(""));
    match part.get_text("type").as_ref().map(Text::decode).as_deref() {
        Some("text") => Part::from_source(Content::Text(said()), place.with_text(text)),
        Some("reasoning") => Part::from_source(Content::Reasoning(said()), place),
        Some("tool_call") => Part::from_source(events::call(id, part.get_text("name"), part.get("arguments")), place),
        Some("tool_call_response") => {
            let result = events::result(id, part.get_text("name"), answer(part));
            Part::from_source(result, place.with_text(answer(part)))
        }
        // The provider ran the tool; its result can be an object of a fixed form.
        Some("server_tool_call") => {
            let name = part.get_text("name");
            Part::from_source(hosted(events::call(id, name, part.get("server_tool_call"))), place)
        }
        Some("server_tool_call_response") => {
            Part::from_source(hosted(events::result(id, None, part.get("server_tool_call_response"))), place)
        }
        Some("blob" | "file" | "file_data" | "uri") => Part::from_source(Content::Media(Text::Json(part.raw())), place),
        _ => Part::from_source(blocks::unknown(part), place),
    }
}

fn hosted(mut content: Content<'_>) -> Content<'_> {
    match &mut content {
        Content::ToolCall(call) => (call.family, call.hosted) = (Family::Server, true),
        Content::ToolResult(result) => (result.family, result.same_message) = (Family::Server, true),
        _ => {}
    }
    content
}
