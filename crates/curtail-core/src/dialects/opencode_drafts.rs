//! Drafts as messages, in the session and with the model of their anchor.

use foldhash::{HashMap, HashSet};

use super::opencode_messages::info;
use super::{Remaining, Written, blocks, tree};
use crate::digest::fnv1a_128;
use crate::json::{Json, ObjectWriter, Value, list, object, raw};
use crate::transcript::{Draft, DraftId, Layout, Role, SlotKind};

pub(super) fn write_version1(role: Role, id: &str, text: &str, anchor: Option<Value<'_>>) -> String {
    let info = anchor.and_then(|anchor| anchor.get("info"));
    let session = info.and_then(|info| info.get("sessionID")).map_or("\"\"", Value::raw);
    let time = Json(created(info));
    let message_id = format!("msg_{id}");
    let is_reply = role == Role::Assistant;
    let times = object! { "created": time, "completed": is_reply.then_some(&time) };
    let message =
        ObjectWriter::new().member("id", &message_id).member("sessionID", &Json(session)).member("time", &times);
    let message = if is_reply { assistant(message, info) } else { user(message, info) };
    let part = object! {
        "id": format!("prt_{id}"),
        "sessionID": Json(session),
        "messageID": message_id,
        "type": "text",
        "text": text,
    };
    object! { "info": message.end(), "parts": list([part.0]) }.0
}

fn created(info: Option<Value<'_>>) -> &str {
    info.and_then(|info| info.some("time")).and_then(|time| time.get("created")).map_or("0", Value::raw)
}

/// The agent and the model, which a message of the user names in one object and a reply in two members.
fn user(message: ObjectWriter, info: Option<Value<'_>>) -> ObjectWriter {
    let agent = info.and_then(|info| info.get("agent")).map_or("\"build\"", Value::raw);
    let message = message.member("role", "user").member("agent", &Json(agent));
    match info.and_then(|info| info.get("model")) {
        Some(model) => message.member("model", &raw(model)),
        None => {
            let [provider, model] = names(info).map(Json);
            message.member("model", &object! { "providerID": provider, "modelID": model })
        }
    }
}

fn assistant(message: ObjectWriter, info: Option<Value<'_>>) -> ObjectWriter {
    let [provider, model] = names(info);
    let parent = info.and_then(|info| info.get("parentID").or_else(|| info.get("id"))).map_or("\"\"", Value::raw);
    let agent = info.and_then(|info| info.get("agent")).map_or("\"build\"", Value::raw);
    let mode = info.and_then(|info| info.get("mode")).map_or(agent, Value::raw);
    let path = info.and_then(|info| info.get("path")).map_or("{\"cwd\":\".\",\"root\":\".\"}", Value::raw);
    let tokens = object! { "input": 0, "output": 0, "reasoning": 0, "cache": object! { "read": 0, "write": 0 } };
    let message = message.member("role", "assistant").member("parentID", &Json(parent));
    let message = message.member("providerID", &Json(provider)).member("modelID", &Json(model));
    let message = message.member("agent", &Json(agent)).member("mode", &Json(mode)).member("path", &Json(path));
    message.member("cost", &0).member("tokens", &tokens)
}

/// The provider and the model of a message, as JSON.
fn names(info: Option<Value<'_>>) -> [&str; 2] {
    ["providerID", "modelID"].map(|key| {
        let named = info.and_then(|info| info.get(key).or_else(|| info.some("model")?.get(key)));
        named.map_or("\"\"", Value::raw)
    })
}

pub(super) fn write_version2(role: Role, id: &str, text: &str, anchor: Value<'_>) -> String {
    let kind = if role == Role::Assistant { "assistant" } else { "user" };
    let message = ObjectWriter::new().member("id", &format!("msg_{id}")).member("type", kind);
    let message = message.copied(Some(anchor), &["time"]);
    let message = match role {
        Role::Assistant => message.member("content", &list([blocks::text_block(text)])),
        _ => message.member("text", text).member("files", &Json("[]")).member("agents", &Json("[]")),
    };
    message.end().0
}

/// Bits of an id below the ones by which messages of the same time are sorted.
const RANDOM: u32 = 80;

/// The first id for a draft, in front of its anchor in the order of ids. The text is not part of it, because it may be shortened
/// before it is written.
pub(super) fn first_id(draft: &Draft, anchor: Option<Value<'_>>) -> u128 {
    let neighbor = anchor.map(|anchor| info(anchor).word("id").into_owned()).unwrap_or_default();
    let sorted = neighbor.get(4..16).and_then(|digits| u128::from_str_radix(digits, 16).ok()).unwrap_or(0);
    let beside = draft.beside.map_or(neighbor, id_text);
    let origin: Vec<&str> = [draft.role.name(), &beside].into_iter().chain(tree::part_names(draft)).collect();
    (sorted.saturating_sub(1) << RANDOM) | digest(&origin.join("\n"), 0)
}

fn digest(text: &str, nth: u32) -> u128 {
    fnv1a_128(text.bytes().chain(nth.to_le_bytes())) >> (u128::BITS - RANDOM)
}

pub(super) fn id_text(id: DraftId) -> String {
    format!("{:032x}", id.number())
}

/// Sets the ids of the drafts that have none: no two messages may share one. A draft behind its anchor is sorted there.
/// The last draft of several with the same id keeps it, because later cuts drop the first ones.
pub(super) fn name_drafts(layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
    if remaining.written.is_empty() {
        return;
    }
    let read = layout.elements.iter().filter_map(|item| info(*item).get_text("id"));
    let mut taken: HashSet<String> = read.map(|id| id.decode().into_owned()).collect();
    taken.extend(remaining.written.iter().filter_map(|written| written.id).map(|id| format!("msg_{}", id_text(id))));
    let starts: HashMap<usize, u32> = layout
        .slots
        .iter()
        .filter_map(|slot| match slot.kind {
            SlotKind::Message(index) => Some((index, slot.span.start)),
            _ => None,
        })
        .collect();
    for written in remaining.written.iter_mut().rev() {
        // Whether its anchor, whose time it has, is in front of it.
        let anchored = written.place.zip(written.after.and_then(|index| starts.get(&index)));
        let follows = written.next.is_none() || anchored.is_some_and(|(anchor, after)| *after >= anchor);
        name(written, follows, &mut taken);
    }
}

fn name(written: &mut Written, follows: bool, taken: &mut HashSet<String>) {
    let Some(old_id) = own_id(&written.text).map(str::to_owned) else { return };
    let id = written.id.unwrap_or_else(|| {
        let first = u128::from_str_radix(&old_id, 16).unwrap_or_default();
        let sorted = (first >> RANDOM) + if follows { 2 } else { 0 };
        let random = first & ((1 << RANDOM) - 1);
        let randoms = std::iter::once(random).chain((1..).map(|nth| digest(&written.text, nth)));
        let mut ids = randoms.map(|random| DraftId::new(sorted << RANDOM | random));
        ids.find(|id| !taken.contains(&format!("msg_{}", id_text(*id)))).unwrap_or(DraftId::new(first))
    });
    taken.insert(format!("msg_{}", id_text(id)));
    written.text = written.text.replace(&old_id, &id_text(id));
    written.id = Some(id);
}

/// The id of a message that `write_message` wrote, without `msg_`.
fn own_id(text: &str) -> Option<&str> {
    let from = text.find("\"id\":\"msg_")? + "\"id\":\"msg_".len();
    text.get(from..from + 32)
}
