//! Messages of exports of version 2. Reasoning, compactions and failed calls were never seen in one.

use super::room_for_result;
use crate::dialects::{Item, blocks, events};
use crate::json::{Text, Value};
use crate::transcript::{Content, Message, Part, PartPlace, Role, Unknown};

pub(super) fn is_message(item: Value<'_>) -> bool {
    let [kind, time, role] = item.get_each(["type", "time", "role"]);
    let timed = role.is_none() && time.is_some_and(|time| time.has("created"));
    let own = |kind: Value<'_>| kind.is("user") && item.get_text("text").is_some() || kind.is("assistant");
    timed && kind.is_some_and(own) || role.is_none() && is_reply(item)
}

/// Whether an item without a time is a reply with a call.
fn is_reply(item: Value<'_>) -> bool {
    item.get("type").is_some_and(|kind| kind.is("assistant"))
        && item.get("content").is_some_and(|content| content.items().any(is_tool))
}

fn is_tool(block: Value<'_>) -> bool {
    let own = block.has("name") && block.some("state").is_some_and(Value::is_object);
    own && block.get("type").is_some_and(|kind| kind.is("tool"))
}

pub(super) fn read(item: Value<'_>) -> Item<'_> {
    let kind = events::kind(item);
    let (role, parts) = match kind.as_str() {
        "user" => (Role::User, blocks::content(item.get("text"), blocks::plain_block)),
        "assistant" => {
            let blocks = item.get("content").into_iter().flat_map(Value::items);
            (Role::Assistant, blocks.flat_map(read_block).collect())
        }
        _ => return events::unknown(kind),
    };
    if parts.is_empty() && item.get("text").or_else(|| item.get("content")).is_none() {
        return Item::Unknown(Unknown::NoMessage);
    }
    let mut message = Message::from_source(role, item);
    message.id = item.get_text("id");
    message.parts = parts;
    let files = item.get("files").into_iter().flat_map(Value::items);
    message
        .parts
        .extend(files.map(|file| Part::from_source(Content::Media(Text::Json(file.raw())), PartPlace::element(file))));
    Item::Message(message)
}

fn read_block(block: Value<'_>) -> Vec<Part<'_>> {
    let Some(state) = block.some("state").filter(|_| is_tool(block)) else {
        return vec![blocks::part(block, blocks::plain_block(block))];
    };
    let (id, name) = (block.get_text("id"), block.get_text("name"));
    let call = events::call(id.clone(), name.clone(), state.some("input"));
    let said = match state.get_text("status").as_ref().map(Text::decode).as_deref() {
        Some("completed") => state.get("content"),
        Some("error") => state.get("error").or_else(|| state.get("content")),
        _ => {
            let place = PartPlace { rewrite: room_for_result(state), ..PartPlace::element(block) };
            return vec![Part::from_source(call, place)];
        }
    };
    let place = PartPlace::element(block);
    let place = match said {
        Some(list) if list.is_array() => place.with_text_in(list, "[{\"type\":\"text\",\"text\":", "}]"),
        said => place.with_text(said),
    };
    vec![Part::from_source(call, PartPlace::element(block)), Part::from_source(events::result(id, name, said), place)]
}
