//! What a provider checks block by block is found in the logs that carry the same blocks, each with its place.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::program::{Place, run};

/// A PNG of one row.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA=";

/// The code and the place of every finding in a document, except the rules that are off by default.
fn places(document: &Value) -> BTreeSet<(String, String)> {
    let text = document.to_string().replace("HALF", "\\ud83e");
    let output = run(&["check", "--output-format", "json"], &text);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let findings = report["findings"].as_array().expect("findings").iter();
    let of = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    findings.map(|finding| (of(finding, "code"), of(&finding["at"], "pointer"))).collect()
}

fn expected(places: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    places.iter().map(|(code, pointer)| ((*code).to_owned(), (*pointer).to_owned())).collect()
}

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

/// Documents of Bedrock have a name of their own each, and five are accepted; of too many, the oldest make room.
#[test]
fn documents_of_bedrock_are_counted_and_have_names_of_their_own() {
    let document = |name: &str| json!({"document": {"format": "txt", "name": name, "source": {"text": "12 EUR"}}});
    let history = json!([
        {"role": "user", "content": [{"text": "Match?"}, document("bill"), document("bill.1"), document("bill")]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "read", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [document("bill"), document("c")]}}]},
        {"role": "assistant", "content": [{"text": "No."}]},
        {"role": "user", "content": [document("d")]},
        {"role": "assistant", "content": [{"text": "No."}]},
    ]);
    let found = places(&history);
    let names = ["/0/content/2", "/0/content/3", "/2/content/0"].map(|place| ("S032", place));
    let all = [("S032", "/4"), ("S017", "/4/content/0")].into_iter().chain(names).collect::<Vec<_>>();
    assert_eq!(found, expected(&all));
    let place = Place::new();
    place.write("chat.json", history.to_string().as_bytes());
    place.command(&["check", "--fix", "--unsafe-fixes", "chat.json"]).output().expect("a run");
    let mended: Value = serde_json::from_slice(&place.read("chat.json")).expect("a transcript");
    assert_eq!(mended[0]["content"][2]["document"]["name"], "bill-1");
    assert_eq!(mended[0]["content"][1]["text"], "[document: bill, removed]");
    assert_eq!(mended[2]["content"][0]["toolResult"]["content"][0]["document"]["name"], "bill-3");
    let text = std::iter::once(json!({"text": "Match?"}));
    let blocks: Vec<Value> = text.chain(["a", "b", "c (1)", "d-2", "[e]"].map(document)).collect();
    let answer = json!({"role": "assistant", "content": [{"text": "No."}]});
    let sound = json!([{"role": "user", "content": blocks}, answer]);
    assert_eq!(places(&sound), expected(&[]));
}

/// A name as long as it may be has no room for a number.
#[test]
fn a_long_name_of_a_document_gets_one_of_its_own() {
    let document = json!({"document": {"format": "txt", "name": "n".repeat(200), "source": {"text": "12 EUR"}}});
    let answer = json!({"role": "assistant", "content": [{"text": "No."}]});
    let history = json!([{"role": "user", "content": [{"text": "Match?"}, document, document]}, answer]);
    let place = Place::new();
    place.write("chat.json", history.to_string().as_bytes());
    place.command(&["check", "--fix", "--unsafe-fixes", "chat.json"]).output().expect("a run");
    let mended: Value = serde_json::from_slice(&place.read("chat.json")).expect("a transcript");
    assert_eq!(mended[0]["content"].as_array().map(Vec::len), Some(3));
    assert_eq!(places(&mended), expected(&[]));
}

/// The short form of messages is that of chats, and items beside it are not.
#[test]
fn items_after_short_messages_make_a_request_of_the_responses_api() {
    let short = json!([
        {"role": "user", "content": "Help me."},
        {"role": "assistant", "content": "So far: a question."},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "developer", "content": "Go on."},
    ]);
    assert_eq!(places(&short), expected(&[("S008", "/2")]));
    let chat =
        json!([{"role": "user", "content": "Help me."}, {"kind": "note"}, {"role": "assistant", "content": "Yes."}]);
    assert!(places(&chat).iter().all(|(code, _)| code == "S003"));
}
