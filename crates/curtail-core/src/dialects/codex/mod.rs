//! Codex rollouts: `timestamp`, `type` and `payload`; a `response_item` holds an item of OpenAI Responses.
//!
//! The model reads only `response_item` lines and the `replacement_history` of the last `compacted` line; everything before
//! that line is superseded. An `event_msg` repeats a message for the screen: it is not counted, and dropped with the
//! message.

mod history;
mod settings;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, blocks, events, responses};
use crate::json::{Json, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, Family, Layout, Message, PairingRules, ProviderRules, ResultPlace, Role, Unknown, Usage,
};

/// The dialect `codex`.
pub(super) struct Codex;

/// Types of lines that set up the session or a turn.
const SETTINGS: &[&str] = &["session_meta", "turn_context", "world_state"];

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn signature(&self) -> &'static str {
        "`type` `session_meta`, `response_item`, `event_msg`, `turn_context` or `compacted`, with a `payload`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let Some(kind) = item.get_text("type") else { return Fit::No };
        let kind = kind.decode();
        let known = SETTINGS.contains(&&*kind) || matches!(&*kind, "response_item" | "event_msg" | "compacted");
        if known && item.get("payload").is_some_and(Value::is_object) { Fit::Certain } else { Fit::No }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::Anywhere, unique_ids: false, ids: true, developer: true }
    }

    fn provider_rules(&self) -> ProviderRules {
        ProviderRules { provider: "responses", server_state: true, ..ProviderRules::default() }
    }

    /// Whatever a response contains is sent again.
    fn unread<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let is_response = item.get_text("type").is_some_and(|kind| kind.is("response_item"));
        let content = item.get("payload").map_or(Some(item), |payload| is_response.then_some(payload))?;
        Some(Text::Json(content.raw()))
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        // In a replacement history, items have no envelope.
        let Some(payload) = item.get("payload") else { return read_payload(item, item) };
        let kind = item.get_text("type").map(|kind| kind.decode().into_owned()).unwrap_or_default();
        match kind.as_str() {
            "response_item" => read_payload(payload, item),
            "compacted" => history::read_compacted(payload, item),
            // The sender of the message before it.
            "inter_agent_communication" | "inter_agent_communication_metadata" => Item::Metadata,
            "event_msg" => Item::Metadata,
            kind if SETTINGS.contains(&kind) => Item::Pinned,
            _ => Item::Unknown(Unknown::kind(kind)),
        }
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        bind_events(items, &mut read);
        // A replacement history replaces what precedes it: no call before it can be answered in it.
        if items.first().is_some_and(|item| self.is_replacement(*item)) {
            events::put_in_compaction(&mut read);
        }
        settings::bind(items, &mut read);
        history::mark(items, &mut read);
        responses::bind_reasoning(read)
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["instructions", "tools"])
    }

    fn instructions<'a>(&self, items: &[Value<'a>]) -> Vec<Text<'a>> {
        // A resumed session repeats them.
        let sessions = items.iter().rev().filter(|item| item.get("type").is_some_and(|kind| kind.is("session_meta")));
        let mut said = sessions.filter_map(|item| item.get("payload")?.get("base_instructions"));
        let base = said.next().and_then(|said| said.get_text("text").or_else(|| said.text()));
        base.into_iter().collect()
    }
}

impl DialectWriter for Codex {
    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        if !layout.elements.iter().any(|item| history::is_rollback(*item)) {
            return Vec::new();
        }
        let read: Vec<Item<'_>> = layout.elements.iter().map(|&item| self.read(item)).collect();
        history::recount(layout, &read, remaining.kept)
    }

    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let payload = write_payload(draft);
        match anchor {
            // A draft next to a bare item is written without an envelope. Next to any other line, the envelope identifies
            // the format.
            Some(anchor) if anchor.get("payload").is_none() && responses::Responses.fit(anchor) != Fit::No => payload,
            _ => {
                let time = anchor.and_then(|anchor| anchor.get("timestamp")).map_or("null", Value::raw);
                object! { "timestamp": Json(time), "type": "response_item", "payload": Json(payload) }.0
            }
        }
    }

    fn write_part(&self, part: &DraftPart) -> String {
        write_payload(&Draft::part(Role::Assistant, part.clone()))
    }
}

impl LogHabits for Codex {
    fn is_log(&self) -> bool {
        true
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let payload =
            item.get("payload").filter(|payload| payload.get("type").is_some_and(|kind| kind.is("token_count")))?;
        let figures = payload.some("info")?.some("last_token_usage")?;
        Some(Usage {
            input: blocks::number(figures, "input_tokens"),
            cache_read: blocks::number(figures, "cached_input_tokens"),
            output: blocks::number(figures, "output_tokens"),
            ..Usage::default()
        })
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        history::is_compaction(item)
    }

    fn is_replacement(&self, item: Value<'_>) -> bool {
        let list = item.parent().and_then(Value::parent);
        list.is_some_and(|payload| payload.get("replacement_history").is_some())
    }

    fn replacement<'a>(&self, item: Value<'a>) -> Vec<Message<'a>> {
        let history = item.get("payload").and_then(|payload| payload.get("replacement_history"));
        let items = history.into_iter().flat_map(Value::items).map(|item| read_payload(item, item));
        items.filter_map(|item| if let Item::Message(message) = item { Some(message) } else { None }).collect()
    }

    fn rollbacks(&self, items: &[Value<'_>]) -> Vec<(usize, usize)> {
        if !items.iter().any(|item| history::is_rollback(*item)) {
            return Vec::new();
        }
        let read: Vec<Item<'_>> = items.iter().map(|&item| self.read(item)).collect();
        history::rollbacks(items, &read).into_iter().map(|rollback| (rollback.event, rollback.turns[0])).collect()
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let sets = item.get_text("type").is_some_and(|kind| kind.is("turn_context"));
        item.get("payload").filter(|_| sets)?.get_text("model")
    }
}

fn read_payload<'a>(payload: Value<'a>, whole: Value<'a>) -> Item<'a> {
    if payload.get("type").is_some_and(|kind| kind.is("ghost_snapshot")) {
        return Item::Metadata;
    }
    let mut item = responses::read_item(payload, whole);
    if let Item::Message(message) = &mut item {
        for part in &mut message.parts {
            // The program answers local shell calls in the same way as function calls.
            if let Content::ToolCall(call) = &mut part.content
                && call.family == Family::LocalShell
            {
                call.family = Family::Function;
            }
        }
    }
    item
}

/// An event that repeats the text of a message belongs to it: the first event with a text to the first message that contains
/// it, and so on. So a cut, which drops both or none, leaves the others to their messages.
fn bind_events<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut events: HashMap<Cow<'a, str>, VecDeque<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate().filter(|(at, _)| matches!(read[*at], Item::Metadata)) {
        if let Some(text) = item.get("payload").and_then(event_text) {
            events.entry(text.into_decoded()).or_default().push_back(at);
        }
    }
    if events.is_empty() {
        return;
    }
    for (at, item) in items.iter().enumerate() {
        let Some(payload) = item.get("payload").filter(|_| matches!(read[at], Item::Message(_))) else { continue };
        let blocks = ["content", "summary"].into_iter().filter_map(|key| payload.get(key)).flat_map(Value::items);
        for text in blocks.filter_map(|block| block.get_text("text")) {
            if let Some(event) = events.get_mut(&*text.decode()).and_then(VecDeque::pop_front) {
                read[event] = Item::With(at);
            }
        }
    }
}

/// The text of a message that an event repeats.
fn event_text(event: Value<'_>) -> Option<Text<'_>> {
    let kind = event.get_text("type")?;
    let shows = kind.is("user_message") || kind.is("agent_message") || kind.is("agent_reasoning");
    shows.then(|| event.get_text("message").or_else(|| event.get_text("text"))).flatten()
}

/// Writes an item as the program does: its content is a list of blocks.
fn write_payload(draft: &Draft) -> String {
    if let [DraftPart::ToolResult { .. } | DraftPart::Verbatim(_)] = draft.parts.as_slice() {
        return responses::write_item(draft);
    }
    let kind = if draft.role == Role::Assistant { "output_text" } else { "input_text" };
    let block = object! { "type": kind, "text": draft.joined_text() };
    object! { "type": "message", "role": draft.role.name(), "content": list([block.0]) }.0
}
