//! Lines of logs that are no messages, among the messages of a script: some belong to a message that is not the one before
//! them, and some begin the log.

use serde_json::{Value, json};

use super::{Serializer, Turn, claude_code, codex, cursor, droid, gemini, kimi, pi, qwen};

/// A line of metadata that may refer to `item`, an item of the log.
type Line = fn(item: &Value) -> Value;

/// A log, and the lines of metadata that it may contain.
pub type Noted = (Serializer, &'static [Line]);

/// Every log with metadata.
pub const NOTED: &[Noted] = &[
    (("claude-code", claude_code::serialize), &[snapshot, snapshot, claude_state, claude_attachment]),
    (("codex", codex::serialize), &[codex_event, codex_event, codex_count, codex_context]),
    (
        ("kimi", kimi::serialize),
        &[
            |_| json!({"type": "turn.prompt", "input": "x", "origin": {"kind": "user"}}),
            |_| json!({"type": "usage.record"}),
        ],
    ),
    (("pi", pi::serialize), &[pi_label]),
    (("droid", droid::serialize), &[|_| json!({"type": "todo_state", "todos": "x"})]),
    (("qwen", qwen::serialize), &[|_| json!({"type": "system", "subtype": "ui_telemetry"})]),
    (("cursor", cursor::serialize), &[|_| json!({"type": "turn_ended"})]),
    (("gemini", gemini::serialize_recording), &[|_| json!({"$set": {"lastUpdated": "x"}})]),
];

fn snapshot(item: &Value) -> Value {
    json!({"type": "file-history-snapshot", "messageId": item["uuid"], "snapshot": {}, "isSnapshotUpdate": false})
}

/// A label that the user wrote after going back to an item.
fn pi_label(item: &Value) -> Value {
    let nth = item["id"].as_str().unwrap_or_default();
    json!({"type": "label", "id": format!("l{nth}"), "parentId": item["id"], "label": "x"})
}

fn claude_state(item: &Value) -> Value {
    let kind = if item["type"] == "user" { "permission-mode" } else { "custom-title" };
    json!({"type": kind, "sessionId": "s", "value": "x"})
}

fn claude_attachment(_: &Value) -> Value {
    json!({"type": "attachment", "sessionId": "s", "attachment": {"type": "edited_text_file", "snippet": "a line"}})
}

/// An event that repeats the first text of an item.
fn codex_event(item: &Value) -> Value {
    let blocks = ["/payload/content/0", "/payload/summary/0"].iter().find_map(|place| item.pointer(place));
    let text = blocks.map_or_else(|| json!("nothing of the log"), |block| block["text"].clone());
    let kind = match item["payload"]["role"].as_str() {
        Some("user") => "user_message",
        Some(_) => "agent_message",
        None => "agent_reasoning",
    };
    json!({"timestamp": "t", "type": "event_msg", "payload": {"type": kind, "message": text}})
}

fn codex_count(_: &Value) -> Value {
    json!({"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count"}})
}

fn codex_context(_: &Value) -> Value {
    json!({"timestamp": "t", "type": "turn_context", "payload": {"cwd": "/w", "model": "gpt-5"}})
}

/// The items of `script` with lines of metadata: the kind of each, where it is, and which item it refers to.
pub fn serialize(script: &[Turn], noted: &Noted, lines: &[[usize; 3]]) -> Vec<String> {
    let ((dialect, serializer), kinds) = noted;
    let mut items = serializer(script);
    let messages = items.clone();
    for [kind, place, item] in lines {
        let item = messages.get(item % messages.len().max(1));
        let read: Value = item.map_or(Value::Null, |item| serde_json::from_str(item).expect("JSON"));
        let line = kinds[kind % kinds.len()](&read).to_string();
        // Only what exists gets a label.
        let item = items.iter().position(|other| Some(other) == item).filter(|_| *dialect == "pi");
        let first = item.map_or(0, |item| item + 1);
        items.insert(first + place % (items.len() + 1 - first), line);
    }
    items
}
