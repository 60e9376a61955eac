//! Messages of exports of version 1.

use super::{is_automatic, room_for_result};
use crate::dialects::{Item, blocks, events};
use crate::json::{Text, Value};
use crate::transcript::{Content, Message, Part, PartPlace, Role, Unknown};

/// What a model reads in place of a result that was pruned.
const CLEARED: &str = "[Old tool result content cleared]";

/// What a model reads in place of the mark of a compaction.
pub(super) const ASKED: &str = "What did we do so far?";

pub(super) fn is_message(item: Value<'_>) -> bool {
    let Some(info) = item.get("info").filter(|_| !item.has("role")) else { return false };
    let named = info.has("role") && info.has("id");
    named && item.get("parts").is_some_and(Value::is_array)
}

pub(super) fn read(item: Value<'_>) -> Item<'_> {
    let Some(info) = item.get("info").filter(|info| info.is_object()) else { return Item::Unknown(Unknown::NoRole) };
    let name = info.get_text("role").map(|role| role.decode().into_owned()).unwrap_or_default();
    let role = match name.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return Item::Unknown(Unknown::role(name)),
    };
    let mut message = Message::from_source(role, item);
    message.id = info.get_text("id");
    message.parts = item.get("parts").into_iter().flat_map(Value::items).flat_map(read_part).collect();
    let is_own =
        |part: Value<'_>| part.get("synthetic").is_some_and(|flag| flag.raw() == "true") || is_compaction(part);
    message.automatic = role == Role::User && is_automatic(&message, is_own);
    Item::Message(message)
}

/// Whether a part is the mark of a compaction.
pub(super) fn is_compaction(part: Value<'_>) -> bool {
    part.get("type").is_some_and(|kind| kind.is("compaction"))
}

fn read_part(part: Value<'_>) -> Vec<Part<'_>> {
    let place = PartPlace::element(part);
    let text = part.get_text("text").unwrap_or(Text::Escaped(""));
    let content = match part.get_text("type").as_ref().map(Text::decode).as_deref() {
        Some("text") => return vec![Part::from_source(Content::Text(text), place.with_text(part.get("text")))],
        Some("reasoning") => {
            return vec![Part::from_source(Content::Reasoning(text), place).bound_to_prefix(is_signed_by_claude(part))];
        }
        Some("tool") => return read_tool(part),
        Some("file") => Content::Media(Text::Json(part.raw())),
        Some("compaction") => Content::Text(Text::Escaped(ASKED)),
        Some("step-start" | "step-finish" | "patch" | "snapshot" | "agent" | "retry") => Content::Other,
        _ => blocks::unknown(part),
    };
    vec![Part::from_source(content, place)]
}

fn is_signed_by_claude(part: Value<'_>) -> bool {
    let proof = part.some("metadata").and_then(|metadata| {
        let mut claude = ["anthropic", "bedrock"].iter().filter_map(|provider| metadata.some(provider));
        claude.find_map(|claude| claude.some("signature").or_else(|| claude.some("redactedData")))
    });
    proof.is_some()
}

fn read_tool(part: Value<'_>) -> Vec<Part<'_>> {
    let (id, name) = (part.get_text("callID"), part.get_text("tool"));
    let state = part.some("state");
    let call = events::call(id.clone(), name.clone(), state.and_then(|state| state.some("input")));
    let status = state.and_then(|state| state.get_text("status"));
    let said = match (state, status.as_ref().map(Text::decode).as_deref()) {
        (Some(state), Some("completed")) => state.get("output"),
        (Some(state), Some("error")) => state.get("error"),
        (state, _) => {
            let place = PartPlace { rewrite: state.and_then(room_for_result), ..PartPlace::element(part) };
            return vec![Part::from_source(call, place)];
        }
    };
    let mut result = events::result(id, name, said);
    let pruned = state.and_then(|state| state.some("time")).is_some_and(|time| time.some("compacted").is_some());
    let place = PartPlace::element(part);
    let place = match &mut result {
        Content::ToolResult(result) if pruned => {
            result.content = vec![Text::Escaped(CLEARED)];
            place
        }
        _ => place.with_text(said),
    };
    vec![Part::from_source(call, PartPlace::element(part)), Part::from_source(result, place)]
}
