//! What a provider checks block by block is found in the logs that carry the same blocks, each with its place.

use serde_json::{Value, json};

use super::{expected, places};

/// A PNG of one row.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA=";

/// Cline keeps the blocks of Anthropic's API.
#[test]
fn blocks_of_cline_are_checked() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": PNG}});
    let history = json!([
        {"role": "user", "content": [text("<task>Rain?</task>")]},
        {"role": "assistant", "content": [
            text(""), {"type": "tool_use", "id": "toolu 1", "name": "the weather", "input": {"city": "Oslo"}}
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu 1", "content": [text("rain"), image]}
        ]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, text("It is. HALF")]},
        {"role": "user", "content": [text("And?")]},
    ]);
    let found = expected(&[
        ("S004", "/1/content/0"),
        ("S014", "/1/content/1"),
        ("S018", "/1/content/1"),
        ("S022", "/2/content/0"),
        ("S011", "/3/content/0"),
        ("S023", "/3/content/1/text"),
    ]);
    assert_eq!(places(&history), found);
}

/// `OpenCode` keeps records of its own, and writes the blocks from them.
#[test]
fn blocks_of_opencode_are_checked() {
    let part = |id: &str, part: Value| {
        let mut part = part;
        part["id"] = json!(id);
        part["sessionID"] = json!("ses_1");
        part["messageID"] = json!("msg_1");
        part
    };
    let info = |id: &str, role: &str| {
        json!({"id": id, "role": role, "sessionID": "ses_1", "time": {"created": 1_790_000_000_000_u64},
            "providerID": "anthropic", "modelID": "claude-sonnet-4-5", "agent": "build"})
    };
    let call = json!({"type": "tool", "callID": "toolu_1", "tool": "the weather", "state": {
        "status": "completed", "input": {"city": "Oslo"}, "output": "rain HALF", "title": "weather", "metadata": {},
        "time": {"start": 1, "end": 2}}});
    let export = json!({
        "info": {"id": "ses_1", "title": "Weather", "version": "1.18.33", "time": {"created": 1_790_000_000_000_u64}},
        "messages": [
            {"info": info("msg_1", "user"), "parts": [part("prt_1", json!({"type": "text", "text": "Rain?"}))]},
            {"info": info("msg_2", "assistant"), "parts": [
                part("prt_2", json!({"type": "text", "text": " "})), part("prt_3", call)
            ]},
            {"info": info("msg_3", "user"), "parts": [part("prt_4", json!({"type": "text", "text": "And?"}))]},
        ],
    });
    let found = expected(&[
        ("S004", "/messages/1/parts/0"),
        ("S018", "/messages/1/parts/1"),
        ("S023", "/messages/1/parts/1/state/output"),
    ]);
    assert_eq!(places(&export), found);
}
