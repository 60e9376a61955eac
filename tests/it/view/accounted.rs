//! What `curtail view` shows of a transcript: its boundaries, and every text.

use super::page;
use crate::program::{Place, text};

fn fixture(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialects").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn chat(input: &str, flags: &[&str]) -> String {
    let output = Place::new().curtail(&["view", "--text"]).args(flags).write_stdin(input).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The messages below the lines that mark a boundary.
fn bounded(chat: &str) -> Vec<usize> {
    let below = chat.split("==== boundary ====\n\n").skip(1);
    below.map(|below| below.split(' ').nth(1).unwrap().trim().parse().unwrap()).collect()
}

/// A boundary is where the model stops reading what is above. That open calls are answered no more makes none.
#[test]
fn boundaries_are_where_what_the_model_reads_begins_anew() {
    for (name, boundaries) in [
        ("cursor/minimal.jsonl", [].as_slice()),
        ("antigravity/minimal.jsonl", &[]),
        ("harmony/conversation.json", &[]),
        ("smolagents-chat/messages.json", &[]),
        ("kimi/parallel.jsonl", &[5]),
        ("gemini/adk-compaction.json", &[6, 9]),
        ("gemini/cli-resumed.jsonl", &[5, 6]),
        ("copilot/compacted.jsonl", &[4]),
        ("qwen/compressed.jsonl", &[2]),
        ("ai-sdk/roo.json", &[4]),
        ("claude-code/compaction.jsonl", &[4]),
    ] {
        let input = fixture(name);
        assert_eq!(bounded(&chat(&input, &[])), boundaries, "{name}");
        let page = page(&input, &[]);
        assert_eq!(page.matches("<p class=\"boundary\">").count(), boundaries.len(), "{name}");
        assert_eq!(page.contains("<path class=\"boundaries\""), !boundaries.is_empty(), "{name}");
        assert_eq!(page.contains("<span class=\"key boundary\">"), !boundaries.is_empty(), "{name}");
    }
}

/// The context at a request after a boundary has what the boundary kept.
#[test]
fn what_a_boundary_keeps_is_in_the_context_of_later_requests() {
    let page = page(&fixture("gemini/adk-compaction.json"), &[]);
    // Messages 3, 4, 6, 7 and 8, which the last boundary keeps, and those from it on: 12 + 6 + 14 + 6 + 4 + 18 + 5 + 5 + 5.
    assert!(page.contains("at most 75 tokens, at <a href=\"#m13\">"), "the context at the last request");
}

/// Parts of unknown type, and texts in members that no format defines, are counted, so they are shown.
#[test]
fn what_is_not_known_is_shown() {
    let unknown = "What a part of an unknown type says, which is read by somebody.";
    let member = "What a member says that this format does not define at all.";
    let inner = "What such a member of a part says, in the same conversation.";
    let reply = serde_json::json!({
        "role": "assistant",
        "content": [{"type": "text", "text": "Graz."}, {"type": "riddle", "riddle": unknown}, {"type": "text", "text": "Linz.", "aside": inner}],
        "note": member,
    });
    let input = format!("{{\"role\":\"user\",\"content\":\"Where?\"}}\n{reply}\n");
    for shown in [chat(&input, &[]), chat(&input, &["--full"]), page(&input, &[])] {
        for words in [unknown, member, inner, "note", "aside"] {
            assert!(shown.contains(words), "{words}: {}", &shown[..shown.len().min(300)]);
        }
    }
}

/// Instructions, tool definitions and replies outside the messages are counted, so they are shown: before them, and after them.
#[test]
fn what_is_outside_the_messages_is_shown() {
    let body = r#"{"model":"claude-opus-4-8","max_tokens":9,"system":"Times are local.","tools":[{"name":"timetable",
        "description":"Lists trains.","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"When?"}]}"#;
    let pair = r#"{"prompt":[{"role":"user","content":"When?"}],"chosen":[{"role":"assistant","content":"At 17:58."}],
        "rejected":[{"role":"assistant","content":"Soon."}]}"#;
    for (input, texts) in [(body, ["Times are local.", "Lists trains."].as_slice()), (pair, &["At 17:58."])] {
        let input = input.replace('\n', " ");
        let page = page(&input, &[]);
        let chat = chat(&input, &["--full"]);
        for text in texts {
            assert!(page.contains(text) && chat.contains(text), "{text}: {chat}");
            assert!(chat.contains("outside the messages"), "{chat}");
        }
        assert_eq!(page.contains("no reply"), input == body.replace('\n', " "), "a reply outside the messages is one");
    }
}

/// `--max-text` holds for arguments as well.
#[test]
fn arguments_are_cut_as_other_texts() {
    let arguments = format!("{{\"words\":\"{}\"}}", "x".repeat(500));
    let call = serde_json::json!({"id": "c", "type": "function", "function": {"name": "say", "arguments": arguments}});
    let reply = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let input = format!("{{\"role\":\"user\",\"content\":\"Go.\"}}\n{reply}\n");
    let chat = chat(&input, &["--full", "--max-text", "50"]);
    assert!(!chat.contains(&"x".repeat(51)) && chat.contains("462 more characters (--max-text)"), "{chat}");
}
