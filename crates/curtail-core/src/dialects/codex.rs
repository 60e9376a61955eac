//! Codex rollouts: `timestamp`, `type` and `payload`; a `response_item` holds an item of OpenAI Responses.
//!
//! The model reads only the instructions of `session_meta`, `response_item` lines and the `replacement_history` of the last
//! `compacted` line; the lines before that are superseded. An `event_msg` repeats a message for the screen: it is not counted,
//! and dropped with the message.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use super::codex_history::{history, is_replacement, mark, read_compacted, recount};
use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, NO_RULES, Patch, Remaining,
    SizeFigures, blocks, responses,
};
use crate::json::{Json, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, Family, Layout, Message, PairingRules, ProviderRules, ResultPlace, Role, Usage,
};

/// The dialect `codex`.
pub(super) struct Codex;

/// Types of lines that set up the session or a turn.
const SETTINGS: &[&str] = &["session_meta", "turn_context", "world_state"];

impl Dialect for Codex {
    fn format(&self) -> &'static Format {
        &Format {
            name: "codex",
            signature: "`type` `session_meta`, `response_item`, `event_msg`, `turn_context` or `compacted`, \
                with a `payload`",
            pairing: PairingRules { results: ResultPlace::Anywhere, developer: true, ..BY_ID },
            provider: ProviderRules { provider: "responses", server_state: true, ..NO_RULES },
            is_log: true,
            // A compaction that a later one superseded: what the model read then is not read any more.
            known: &["replacement_history"],
            reread: Some(responses::bind_reasoning_again),
            writer: Some(&Codex),
            log: &Codex,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let Some(kind) = item.get_text("type") else { return Fit::No };
        let kind = kind.decode();
        let known = SETTINGS.contains(&&*kind) || matches!(&*kind, "response_item" | "event_msg" | "compacted");
        if known && item.get("payload").is_some_and(Value::is_object) { Fit::Certain } else { Fit::No }
    }

    /// Whatever a response contains is sent again.
    fn unread<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let is_response = item.member_is("type", "response_item");
        let content = item.get("payload").map_or(Some(item), |payload| is_response.then_some(payload))?;
        Some(Text::Json(content.raw()))
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        // In a replacement history, items have no envelope.
        let Some(payload) = item.get("payload") else { return read_payload(item, item) };
        let kind = item.word("type");
        match &*kind {
            "response_item" => read_payload(payload, item),
            "compacted" => read_compacted(payload, item),
            // The first two name the sender of the message before them.
            "inter_agent_communication" | "inter_agent_communication_metadata" | "event_msg" => Item::Metadata,
            kind if SETTINGS.contains(&kind) => Item::Pinned,
            _ => blocks::unknown_kind(kind),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        bind_events(items, read);
        // A replacement history replaces what precedes it: no call before it can be answered in it.
        if items.first().is_some_and(|item| is_replacement(*item)) {
            blocks::put_in_compaction(read);
        }
        bind_settings(items, read);
        mark(items, read);
        responses::bind_reasoning(read);
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["instructions", "tools"])
    }

    fn instructions<'a>(&self, items: &[Value<'a>]) -> Vec<Text<'a>> {
        // A resumed session repeats them.
        let sessions = items.iter().rev().filter(|item| item.member_is("type", "session_meta"));
        let mut bases = sessions.filter_map(|item| item.get("payload")?.get("base_instructions"));
        let base = bases.next().and_then(|bases| bases.get_text("text").or_else(|| bases.text()));
        base.into_iter().collect()
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let sets = item.member_is("type", "turn_context");
        item.get("payload").filter(|_| sets)?.get_text("model")
    }
}

impl DialectWriter for Codex {
    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        recount(layout, remaining.kept)
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
}

impl LogHabits for Codex {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let usage = token_count(item)?.some("last_token_usage")?;
        Some(Usage {
            input: usage.number("input_tokens"),
            cache_read: usage.number("cached_input_tokens"),
            output: usage.number("output_tokens"),
            ..Usage::default()
        })
    }

    /// The last line decides whether Codex compacts before it answers. One without `info` only names limits.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        token_count(item).map(|_| SizeFigures::Item)
    }

    /// A fork begins with its own settings and goes on with the log of the session that it continues.
    fn lineage<'a>(&self, items: &[Value<'a>]) -> Vec<Text<'a>> {
        let settings = items.iter().filter(|item| item.member_is("type", "session_meta"));
        let payloads = settings.filter_map(|item| item.get("payload"));
        let mut ids: Vec<Text<'a>> = Vec::new();
        for id in payloads.flat_map(|payload| ["id", "forked_from_id"].map(|key| payload.get_text(key))).flatten() {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    fn replacement<'a>(&self, item: Value<'a>) -> Vec<Message<'a>> {
        let history = item.get("payload").and_then(|payload| payload.get("replacement_history"));
        let items = history.into_iter().flat_map(Value::items);
        items.filter_map(|item| read_payload(item, item).into_message()).collect()
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        history(items)
    }
}

/// What a line of token counts says, if it says more than limits.
fn token_count(item: Value<'_>) -> Option<Value<'_>> {
    item.get("payload").filter(|payload| payload.member_is("type", "token_count"))?.some("info")
}

fn read_payload<'a>(payload: Value<'a>, whole: Value<'a>) -> Item<'a> {
    if payload.member_is("type", "ghost_snapshot") {
        return Item::Metadata;
    }
    let mut item = responses::read_item(payload, whole);
    for part in item.message_mut().into_iter().flat_map(|message| &mut message.parts) {
        // The program answers local shell calls in the same way as function calls.
        if let Content::ToolCall(call) = &mut part.content
            && call.family == Family::LocalShell
        {
            call.family = Family::Function;
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
        let blocks = ["content", "summary"].into_iter().flat_map(|key| payload.items_under(key));
        for text in blocks.filter_map(|block| block.get_text("text")) {
            if let Some(event) = events.get_mut(&*text.decode()).and_then(VecDeque::pop_front) {
                read[event] = Item::With(at);
            }
        }
    }
}

/// The text of a message that an event repeats.
fn event_text(event: Value<'_>) -> Option<Text<'_>> {
    let shows = matches!(&*event.word("type"), "user_message" | "agent_message" | "agent_reasoning");
    shows.then(|| event.get_text("message").or_else(|| event.get_text("text"))).flatten()
}

/// Writes an item as the program does: its content is a list of blocks.
fn write_payload(draft: &Draft) -> String {
    if let [DraftPart::ToolResult(_) | DraftPart::Verbatim(_)] = draft.parts.as_slice() {
        return responses::write_item(draft);
    }
    let kind = if draft.role == Role::Assistant { "output_text" } else { "input_text" };
    let block = object! { "type": kind, "text": draft.joined_text() };
    object! { "type": "message", "role": draft.role.name(), "content": list([block.0]) }.0
}

// Lines that set up a turn. A long session repeats them until they are most of the file, and a resumed one reads the newest.

/// Binds a setting that a newer one replaces to the last message of its turn, so that it is kept while something of the turn
/// is. A `turn_context` is replaced by the next one; a `world_state` by a later one that is `full`, and not by changes to it.
fn bind_settings<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for kind in ["turn_context", "world_state"] {
        let mut replaced = false;
        let mut last = None;
        // The message that the next one is bound to.
        let mut next = None;
        for at in (0..items.len()).rev() {
            match &read[at] {
                Item::Message(_) => last = last.or(Some(at)),
                Item::Pinned if items[at].get("type").is_some_and(|name| name.is(kind)) => {
                    if replaced {
                        // Where nothing follows before the next one, it goes with that, or else with what was before it.
                        next = last.or(next);
                        read[at] = next.map_or(Item::Metadata, Item::With);
                    }
                    replaced |= kind == "turn_context" || is_full(items[at]);
                    last = None;
                }
                _ => {}
            }
        }
    }
}

fn is_full(item: Value<'_>) -> bool {
    item.get("payload").is_some_and(|payload| payload.is_true("full"))
}
