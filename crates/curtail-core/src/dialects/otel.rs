//! Messages of OpenTelemetry's conventions for generative AI: `role` and `parts`, each with a `type`; the text of a part is its
//! `content`.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, Patch, blocks};
use crate::json::{Json, Text, Value, object, or_null};
use crate::transcript::{Content, Draft, DraftResult, PairingRules, Part, ResultPlace};

/// The dialect `otel`.
pub(super) struct Otel;

impl Dialect for Otel {
    fn format(&self) -> &'static Format {
        &Format {
            name: "otel",
            signature: "`role` and `parts` with `type`: `text` with `content`, `tool_call`, `tool_call_response`; \
                under `gen_ai.input.messages`",
            pairing: PairingRules { results: ResultPlace::RightAfterTurn, ..BY_ID },
            has_marks: true,
            writer: Some(&Otel),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let Some(parts) = item.get("parts").filter(|parts| parts.is_array()) else { return Fit::No };
        let known = blocks::role_of(&item.word("role")).is_some() && !item.has("uuid");
        if known && is_own(parts) {
            Fit::Marked
        } else if known && parts.items().all(|part| part.get_text("type").is_some()) {
            Fit::Possible
        } else {
            Fit::No
        }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.members().any(|member| member.key.decode().starts_with("gen_ai."))
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        blocks::read_message(item, item.some_text("role"), blocks::role_of, |message| {
            message.parts = item.items_under("parts").map(read_part).collect();
            // The provider reads its state of the conversation in place of what is before it.
            if item.items_under("parts").any(|part| part.member_is("type", "compaction")) {
                message.set_boundary();
            }
        })
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        let attributes = record.some("attributes").filter(|attributes| attributes.is_object());
        let holders = std::iter::once(record).chain(attributes);
        let preambles = holders.flat_map(|holder| {
            let parts = holder.items_under("gen_ai.system_instructions");
            let texts = parts.filter_map(|part| part.get_text("content")).collect::<Vec<_>>();
            texts.into_iter().chain(blocks::texts(holder.some("gen_ai.tool.definitions")))
        });
        preambles.collect()
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        ["gen_ai.response.model", "gen_ai.request.model"].iter().find_map(|key| item.get_text(key))
    }
}

impl DialectWriter for Otel {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        object! { "role": blocks::role_name(draft), "parts": blocks::parts(self, draft) }.0
    }

    fn write_text(&self, text: &str) -> String {
        object! { "type": "text", "content": text }.0
    }

    fn write_result(&self, DraftResult { id, text, .. }: &DraftResult) -> String {
        object! { "type": "tool_call_response", "id": or_null(id.as_deref()), "response": text }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_parts(message.get("parts")?, parts, |json| object! { "type": "text", "content": Json(json) }.0)
    }
}

/// Whether a list contains a part that only these conventions have.
fn is_own(parts: Value<'_>) -> bool {
    parts.items().any(|part| {
        let kind = part.word("type");
        match &*kind {
            "text" | "reasoning" => part.get_text("content").is_some() && !part.has("text"),
            // A provider that encrypts its state leaves the content out.
            "compaction" => part.get("content").is_some() && !part.has("text"),
            "tool_call" => part.get_text("name").is_some() && !part.has("toolCallId"),
            "tool_call_response" => answer(part).is_some(),
            "server_tool_call" | "server_tool_call_response" => part.has(&kind),
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
    let id = part.get_text("id");
    let text = part.get("content").filter(|content| content.text().is_some());
    let content = match &*part.word("type") {
        "text" => return blocks::rewritable(part, Content::Text(part.text_or_empty("content")), text),
        "reasoning" => Content::Reasoning(part.text_or_empty("content")),
        "compaction" => part.get_text("content").map_or(Content::Other, Content::Text),
        "tool_call" => blocks::call(id, part.get_text("name"), part.get("arguments")),
        "tool_call_response" => {
            let result = blocks::result(id, part.get_text("name"), answer(part));
            return blocks::rewritable(part, result, answer(part));
        }
        // The provider ran the tool; its result can be an object of a fixed form.
        "server_tool_call" => blocks::hosted(blocks::call(id, part.get_text("name"), part.get("server_tool_call"))),
        "server_tool_call_response" => blocks::hosted(blocks::result(id, None, part.get("server_tool_call_response"))),
        "blob" | "file" | "file_data" | "uri" => Content::Media(Text::Json(part.raw())),
        _ => blocks::unknown(part),
    };
    blocks::whole(part, content)
}
