//! What a message says twice is counted once, and a cut leaves neither; what is written in place of a result; and what no part of a
//! description has.

use curtail_core::dialects::Description;
use curtail_core::json::Document;
use curtail_core::transcript::{Content, Message};
use serde_json::{Value, json};

use super::files::{cut, fixture, read_transcripts};
use crate::laws::cases::{cleared, without};

/// Texts that no part has, and parts that nothing knows.
fn unread(text: &str) -> usize {
    let mut unread = 0;
    let read = read_transcripts(text, |_, transcript| {
        let messages = &transcript.messages;
        let parts = || messages.iter().flat_map(|message| &message.parts);
        let unknown = parts().filter(|part| matches!(part.content, Content::Unknown(_) | Content::Other));
        let estimated = parts().filter_map(|part| part.place()).map(|place| place.estimated().len());
        let attached = |message: &Message<'_>| message.attached.len() + message.estimated.len();
        unread += unknown.count() + estimated.sum::<usize>() + messages.iter().map(attached).sum::<usize>();
    });
    read.expect("it is read");
    unread
}

#[test]
fn what_repeats_a_part_is_counted_once() {
    // Marks of steps are no texts.
    for (name, marks) in [("ai-sdk/v4.jsonl", 2), ("ai-studio/prompt.json", 0), ("continue/session.json", 0)] {
        assert_eq!(unread(&fixture(name)), marks, "{name}");
    }
}

/// Another text under the same key is no copy.
#[test]
fn what_says_something_else_is_no_copy() {
    let other = fixture("ai-sdk/v4.jsonl").replacen("\"content\":\"What", "\"content\":\"Whenever you like: what", 1);
    assert_eq!(unread(&other), 3, "{other}");
}

#[test]
fn what_repeats_a_call_goes_with_it() {
    for (name, call) in [("ai-sdk/v4.jsonl", "call_t1"), ("continue/session.json", "call_1")] {
        let out = cut(without("*"), &fixture(name));
        assert!(!out.contains(call) && !out.contains("Invocation\":{"), "{name}: {out}");
    }
}

#[test]
fn what_repeats_a_result_is_cleared_with_it() {
    let out = cut(cleared(), &fixture("ai-sdk/v4.jsonl"));
    assert!(out.contains("[cleared]") && !out.contains("old town open"), "{out}");
    let out: Value = serde_json::from_str(&cut(cleared(), &fixture("continue/session.json"))).expect("JSON");
    let results = out["history"].as_array().expect("a list").iter().filter(|item| item["message"]["role"] == "tool");
    for result in results {
        assert_eq!(result["message"]["content"], "[cleared]");
        assert_eq!(result["contextItems"], json!([]));
    }
}

/// Several blocks of a result become one, written as the format writes a result.
#[test]
fn a_cleared_list_of_blocks_has_their_form() {
    let look = json!({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}});
    let document = |text: &str| json!({"type": "document", "document": {"data": text}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let long = "The lamp is lit and turns once in nine seconds. ".repeat(9);
    let cohere = json!({"messages": [
        {"role": "user", "content": "Is the lamp lit?"},
        {"role": "assistant", "tool_plan": "I look.", "tool_calls": [look]},
        {"role": "tool", "tool_call_id": "c1", "content": [document(&long), document("The horn is silent.")]},
    ]});
    let out: Value = serde_json::from_str(&cut(cleared(), &cohere.to_string())).expect("JSON");
    assert_eq!(out["messages"][2]["content"], "[cleared]");
    let claude = json!({"chat_messages": [
        {"uuid": "m0", "sender": "human", "text": "", "content": [text("Is the lamp lit?")]},
        {"uuid": "m1", "sender": "assistant", "text": "", "content": [
            {"type": "tool_use", "id": "c1", "name": "look", "input": {}},
            {"type": "tool_result", "tool_use_id": "c1", "name": "look", "content": [text(&long), text("The horn is silent.")]},
        ]},
    ]});
    let out: Value = serde_json::from_str(&cut(cleared(), &claude.to_string())).expect("JSON");
    assert_eq!(out["chat_messages"][1]["content"][1]["content"], json!([text("[cleared]")]));
    let framework = json!({"messages": [
        {"type": "message", "role": "user", "contents": [text("Is the lamp lit?")]},
        {"type": "message", "role": "assistant", "contents": [
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
        ]},
        {"type": "message", "role": "tool", "contents": [
            {"type": "function_result", "call_id": "c1", "items": [text(&long), text("The horn is silent.")]}
        ]},
    ]});
    let out: Value = serde_json::from_str(&cut(cleared(), &framework.to_string())).expect("JSON");
    assert_eq!(out["messages"][2]["contents"][0]["items"], json!([text("[cleared]")]));
}

/// A text is long by its characters, not by the bytes of their escapes.
#[test]
fn a_short_text_is_short_in_every_spelling() {
    let description = Description::read(
        "name = \"own\"\nfits = { who = true }\n[role]\nat = \"who\"\n[[part]]\nis = \"text\"\nat = \"say\"\n",
    )
    .expect("a description");
    for (note, is_read) in [
        ("\\u706f\\u5854\\u7684\\u706f\\u4eae\\u7740\\u3002".to_owned(), true),
        ("x".repeat(39), true),
        ("x".repeat(40), false),
        ("\\u706f".repeat(40), false),
    ] {
        let text = format!(r#"{{"who": "user", "say": "Hello", "note": "{note}"}}"#);
        let document = Document::parse(&text).expect("JSON");
        let item = document.roots().next().expect("an item");
        assert_eq!(description.unaccounted(item).is_empty(), is_read, "{note}");
    }
}

/// Letta sends the results in `tool_returns`, which the content repeats, and the first message has the instructions of the agent.
/// A cut would leave the ids of dropped messages in the file, with which Letta cannot import it.
#[test]
fn results_and_instructions_of_letta_are_read_once_and_not_cut() {
    for (name, copies) in [("letta/agent.json", &[1][..]), ("letta/parallel.json", &[1, 0])] {
        let read = read_transcripts(&fixture(name), |dialect, transcript| {
            assert!(transcript.layout.preamble.is_empty() && dialect.writer().is_none(), "{name}");
            let parts = transcript.messages.iter().flat_map(|message| &message.parts);
            let places = parts.filter(|part| part.content.result().is_some()).filter_map(|part| part.place());
            let found: Vec<_> =
                places.map(|place| (place.element.pointer().contains("/tool_returns/"), place.copies.len())).collect();
            let expected: Vec<_> = copies.iter().map(|copies| (true, *copies)).collect();
            assert_eq!(found, expected, "{name}");
        });
        read.expect("it is read");
    }
}

/// What a description does not say is not read in silence.
#[test]
fn texts_without_a_part_are_estimates() {
    let description = Description::read(
        "name = \"tram\"\nfits = { who = true }\n[role]\nat = \"who\"\nuser = \"rider\"\nassistant = \"driver\"\n[[part]]\nis = \"text\"\nat = \"say\"\n",
    )
    .expect("a description");
    let text =
        json!([{"who": "rider", "say": "When?", "aside": "I stand at the third stop, and it begins to rain here."}])
            .to_string();
    let document = Document::parse(&text).unwrap();
    let item = document.roots().next().and_then(|list| list.items().next()).expect("an item");
    let unread: Vec<String> = description.unaccounted(item).iter().map(|value| value.pointer()).collect();
    assert_eq!(unread, ["/0/aside"]);
    let Some(writer) = description.dialect().writer() else { return };
    panic!("a description without `[write]` is read-only, and writes {}", writer.write_text("x"));
}
