//! Drafts as messages, in the session and with the model of their anchor.

use foldhash::HashSet;

use super::info;
use crate::dialects::{Remaining, Written, events};
use crate::digest::fnv1a_128;
use crate::json::{Value, quote};
use crate::transcript::{Draft, DraftId, DraftPart, Layout, Role};

/// Writes a message. Exports have no role for instructions, and results are written inside their calls.
pub(super) fn spell(draft: &Draft, anchor: Option<Value<'_>>) -> String {
    let id = id_text(DraftId(first_id(draft, anchor)));
    let text = draft_text(draft);
    match anchor {
        Some(anchor) if anchor.get("info").is_none() && anchor.get("parts").is_none() => {
            version2(draft.role, &id, &text, anchor)
        }
        _ => version1(draft.role, &id, &text, anchor),
    }
}

fn draft_text(draft: &Draft) -> String {
    let texts: Vec<&str> = draft
        .parts
        .iter()
        .map(|part| match part {
            DraftPart::Text(text) | DraftPart::ToolResult { text, .. } | DraftPart::Verbatim(text) => text.as_str(),
        })
        .collect();
    quote(&texts.join("\n"))
}

fn version1(role: Role, id: &str, text: &str, anchor: Option<Value<'_>>) -> String {
    let info = anchor.and_then(|anchor| anchor.get("info"));
    let session = info.and_then(|info| info.get("sessionID")).map_or("\"\"", Value::raw);
    let time = created(info);
    let head = format!("\"id\":\"msg_{id}\",\"sessionID\":{session}");
    let said = if role == Role::Assistant { assistant(info) } else { user(info) };
    format!(
        "{{\"info\":{{{head},\"time\":{{\"created\":{time}{}}}{said}}},\"parts\":[{{\"id\":\"prt_{id}\",\"sessionID\":{session},\"messageID\":\"msg_{id}\",\"type\":\"text\",\"text\":{text}}}]}}",
        if role == Role::Assistant { format!(",\"completed\":{time}") } else { String::new() }
    )
}

fn created(info: Option<Value<'_>>) -> &str {
    info.and_then(|info| info.some("time")).and_then(|time| time.get("created")).map_or("0", Value::raw)
}

/// The agent and the model, which a message of the user names in one object and a reply in two members.
fn user(info: Option<Value<'_>>) -> String {
    let agent = info.and_then(|info| info.get("agent")).map_or("\"build\"", Value::raw);
    let model = info.and_then(|info| info.get("model")).map(|model| model.raw().to_owned());
    let model = model.unwrap_or_else(|| {
        let [provider, model] = names(info);
        format!("{{\"providerID\":{provider},\"modelID\":{model}}}")
    });
    format!(",\"role\":\"user\",\"agent\":{agent},\"model\":{model}")
}

fn assistant(info: Option<Value<'_>>) -> String {
    let [provider, model] = names(info);
    let parent = info.and_then(|info| info.get("parentID").or_else(|| info.get("id"))).map_or("\"\"", Value::raw);
    let agent = info.and_then(|info| info.get("agent")).map_or("\"build\"", Value::raw);
    let mode = info.and_then(|info| info.get("mode")).map_or(agent, Value::raw);
    let path = info.and_then(|info| info.get("path")).map_or("{\"cwd\":\".\",\"root\":\".\"}", Value::raw);
    format!(
        ",\"role\":\"assistant\",\"parentID\":{parent},\"providerID\":{provider},\"modelID\":{model},\"agent\":{agent},\"mode\":{mode},\"path\":{path},\"cost\":0,\"tokens\":{{\"input\":0,\"output\":0,\"reasoning\":0,\"cache\":{{\"read\":0,\"write\":0}}}}"
    )
}

/// The provider and the model of a message, as JSON.
fn names(info: Option<Value<'_>>) -> [&str; 2] {
    ["providerID", "modelID"].map(|key| {
        let named = info.and_then(|info| info.get(key).or_else(|| info.some("model")?.get(key)));
        named.map_or("\"\"", Value::raw)
    })
}

fn version2(role: Role, id: &str, text: &str, anchor: Value<'_>) -> String {
    let time = events::envelope(Some(anchor), &["time"]);
    if role == Role::Assistant {
        return format!(
            "{{\"id\":\"msg_{id}\",\"type\":\"assistant\"{time},\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}"
        );
    }
    format!("{{\"id\":\"msg_{id}\",\"type\":\"user\"{time},\"text\":{text},\"files\":[],\"agents\":[]}}")
}

/// Bits of an id below the ones by which messages of the same time are sorted.
const RANDOM: u32 = 80;

/// The first id for a draft, in front of its anchor in the order of ids. The text is not part of it, because it may be shortened
/// before it is written.
fn first_id(draft: &Draft, anchor: Option<Value<'_>>) -> u128 {
    let own = anchor.and_then(|anchor| info(anchor).get_text("id"));
    let own = own.map(|id| id.decode().into_owned()).unwrap_or_default();
    let sorted = own.get(4..16).and_then(|digits| u128::from_str_radix(digits, 16).ok()).unwrap_or(0);
    let beside = draft.beside.map_or(own, id_text);
    let parts = draft.parts.iter().map(|part| match part {
        DraftPart::Text(_) => "",
        DraftPart::ToolResult { id, .. } => id.as_deref().unwrap_or_default(),
        DraftPart::Verbatim(raw) => raw,
    });
    let what: Vec<&str> = [draft.role.name(), &beside].into_iter().chain(parts).collect();
    (sorted.saturating_sub(1) << RANDOM) | digest(&what.join("\n"), 0)
}

fn digest(text: &str, nth: u32) -> u128 {
    fnv1a_128(text.bytes().chain(nth.to_le_bytes())) >> (u128::BITS - RANDOM)
}

fn id_text(DraftId(id): DraftId) -> String {
    format!("{id:032x}")
}

/// Sets the ids of the drafts that have none: no two messages may share one. A draft at the end is sorted behind its anchor.
/// The last draft of several with the same id keeps it, because later cuts drop the first ones.
pub(super) fn name_drafts(layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
    if remaining.written.is_empty() {
        return;
    }
    let read = layout.elements.iter().filter_map(|item| info(*item).get_text("id"));
    let mut taken: HashSet<String> = read.map(|id| id.decode().into_owned()).collect();
    taken.extend(remaining.written.iter().filter_map(|written| written.id).map(|id| format!("msg_{}", id_text(id))));
    for written in remaining.written.iter_mut().rev() {
        name(written, &mut taken);
    }
}

fn name(written: &mut Written, taken: &mut HashSet<String>) {
    let Some(spelt) = own_id(&written.text).map(str::to_owned) else { return };
    let id = written.id.unwrap_or_else(|| {
        let first = u128::from_str_radix(&spelt, 16).unwrap_or_default();
        let sorted = (first >> RANDOM) + if written.before.is_none() { 2 } else { 0 };
        let random = first & ((1 << RANDOM) - 1);
        let mut others = (1..).map(|nth| digest(&written.text, nth));
        let mut random = Some(random);
        loop {
            let Some(random) = random.take().or_else(|| others.next()) else { return DraftId(first) };
            let id = DraftId(sorted << RANDOM | random);
            if !taken.contains(&format!("msg_{}", id_text(id))) {
                return id;
            }
        }
    });
    taken.insert(format!("msg_{}", id_text(id)));
    written.text = written.text.replace(&spelt, &id_text(id));
    written.id = Some(id);
}

/// The id of a message that [`spell`] wrote, without `msg_`.
fn own_id(text: &str) -> Option<&str> {
    let from = text.find("\"id\":\"msg_")? + "\"id\":\"msg_".len();
    text.get(from..from + 32)
}
