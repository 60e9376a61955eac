//! Kiro CLI, and Amazon Q before it: lines with `kind` and `data`, or a stored conversation with a `history` of entries.

use super::kiro_entries::{is_entry, prepend_results, read_entry, write_entry};
use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, NO_RULES, Patch, blocks};
use crate::json::{Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, PairingRules, Part, PartPlace, ProviderRules, ResultPlace, Role, Unknown,
};

/// The dialect `kiro`.
pub(super) struct Kiro;

impl Dialect for Kiro {
    fn format(&self) -> &'static Format {
        &Format {
            name: "kiro",
            signature: "`kind` `Prompt`, `AssistantMessage`, `ToolResults` and `data`; \
                or `user` and `assistant` with `Response` or `ToolUse`",
            pairing: PairingRules { results: ResultPlace::NextMessage, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            is_log: true,
            writer: Some(&Kiro),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if is_entry(item) {
            return Fit::Certain;
        }
        let known = item.get_text("kind").is_some_and(|kind| role_of(&kind.decode()).is_some());
        if known && item.some("data").is_some_and(|data| data.get("content").is_some()) {
            Fit::Certain
        } else {
            Fit::No
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if is_entry(item) {
            return read_entry(item);
        }
        let kind = item.word("kind");
        let Some(role) = role_of(&kind) else { return blocks::unknown_kind(kind) };
        let Some(content) = item.some("data").and_then(|data| data.get("content")) else {
            return Item::Unknown(Unknown::NoMessage);
        };
        let id = item.some("data").and_then(|data| data.get_text("message_id"));
        blocks::message(role, item, id, blocks::text_or_parts(Some(content), read_block))
    }
}

impl DialectWriter for Kiro {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        if anchor.is_some_and(is_entry) {
            return write_entry(draft);
        }
        let results = draft.parts.iter().any(|part| matches!(part, DraftPart::ToolResult(_) | DraftPart::Verbatim(_)));
        let kind = match draft.role {
            Role::Assistant => "AssistantMessage",
            _ if results => "ToolResults",
            _ => "Prompt",
        };
        object! { "kind": kind, "data": object! { "content": blocks::parts(self, draft) } }.0
    }

    fn write_text(&self, text: &str) -> String {
        object! { "kind": "text", "data": text }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let content = list([self.write_text(&result.text)]);
        let data = object! { "toolUseId": result.call_id(), "content": content, "status": "error" };
        object! { "kind": "toolResult", "data": data }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        if is_entry(message) {
            return prepend_results(message, parts);
        }
        let list = message.some("data")?.get("content").filter(|content| content.is_array())?;
        blocks::prepend_parts(list, parts, str::to_owned)
    }
}

fn role_of(kind: &str) -> Option<Role> {
    match kind {
        "Prompt" | "ToolResults" => Some(Role::User),
        "AssistantMessage" => Some(Role::Assistant),
        _ => None,
    }
}

fn read_block(block: Value<'_>) -> Part<'_> {
    let data = block.get("data");
    match (&*block.word("kind"), data, data.and_then(Value::text)) {
        ("text", _, Some(text)) => blocks::rewritable(block, Content::Text(text), data),
        ("thinking", Some(thought), _) => {
            let text = thought.get_text("text").unwrap_or(Text::Escaped(""));
            let is_signed = thought.some("signature").is_some() || thought.some("redactedContent").is_some();
            blocks::whole(block, Content::Reasoning(text)).bound_to_prefix(is_signed)
        }
        ("toolUse", Some(call), _) => blocks::whole(block, blocks::call_in(call, ["toolUseId", "name", "input"])),
        ("toolResult", Some(result), _) => {
            let content =
                blocks::result_of(result.get_text("toolUseId"), None, content_texts(result.get("content")), 0);
            let place = PartPlace::element(block);
            let place = match result.get("content") {
                Some(list) if list.is_array() => place.with_text_in(list, &["[{\"kind\":\"text\",\"data\":", "}]"]),
                content => place.with_text(content),
            };
            Part::from_source(content, place)
        }
        ("image" | "document", ..) => blocks::whole(block, Content::Media(Text::Json(block.raw()))),
        _ => blocks::whole(block, blocks::unknown(block)),
    }
}

/// The texts of a result: blocks with `data`, or any JSON.
fn content_texts(content: Option<Value<'_>>) -> Vec<Text<'_>> {
    match content {
        Some(list) if list.is_array() => list
            .items()
            .map(|block| block.get_text("data").or_else(|| block.text()).unwrap_or(Text::Json(block.raw())))
            .collect(),
        content => blocks::texts(content),
    }
}
