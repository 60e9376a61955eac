//! What `curtail view` shows of a transcript: its boundaries, and every text.

use std::path::{Path, PathBuf};

use super::page;
use crate::program::{Place, root, text};

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

/// A message that is both a question and its answer names who says each, and its turn has a reply.
#[test]
fn both_sides_of_an_exchange_are_named() {
    for name in ["kiro/cancelled.json", "sharegpt/alpaca.jsonl", "gemini/adk-eval.json"] {
        let page = page(&fixture(name), &[]);
        assert!(page.contains(">person:</p>") && page.contains(">model:</p>"), "{name}");
        assert!(!page.contains("no reply"), "{name}");
        let chat = chat(&fixture(name), &[]);
        assert!(chat.contains("\nperson:\n") && chat.contains("\nmodel:\n"), "{chat}");
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

/// Of hundreds of tools, a page has the first whole, and a terminal their number and size. A definition with nothing in it is left out.
#[test]
fn many_tools_are_folded() {
    let tools: Vec<String> =
        (0..300).map(|nth| format!("{{\"name\":\"tool{nth}\",\"description\":\"Tides.\"}}")).collect();
    let row = format!(
        "{{\"tools\":[{{}},{}],\"messages\":[{{\"role\":\"user\",\"content\":\"When?\"}}]}}\n",
        tools.join(",")
    );
    let chat_of_row = chat(&row, &[]);
    assert!(
        chat_of_row.contains("\noutside the messages\n  … 300 tool definitions, 12,190 characters (--full)\n"),
        "{chat_of_row}"
    );
    let full = chat(&row, &["--full"]);
    assert!(full.contains("\"tool299\"") && !full.contains("{}"), "{full}");
    let page = page(&row.repeat(100), &[]);
    assert_eq!(page.matches("Not on this page: 297 more tool definitions, from byte ").count(), 100);
    assert!(page.contains("tool2\"") && !page.contains("tool3\"") && page.len() < 1_000_000, "{}", page.len());
    let empty = chat(&fixture("../rules/too-many-tools.jsonl"), &[]);
    assert!(!empty.contains("{}") && !empty.contains("outside the messages"), "{empty}");
}

/// What is before the messages can be what a person asked.
#[test]
fn what_is_before_the_messages_has_no_writer() {
    let row = "{\"instruction\":\"And the tide?\",\"input\":\"\",\"output\":\"At six.\",\"history\":[[\"When?\",\"At noon.\"]]}\n";
    let chat = chat(row, &[]);
    assert!(chat.contains("\noutside the messages\n  And the tide?\n"), "{chat}");
    let page = page(row, &[]);
    assert!(page.contains("<span class=\"role\">outside the messages</span>"), "{page}");
    assert!(!chat.contains("program") && !page.contains("data-by=\"program\""), "{page}");
}

/// The fixtures of all dialects.
fn dialect_fixtures() -> Vec<PathBuf> {
    let dialects = std::fs::read_dir(root().join("fixtures/dialects")).unwrap();
    let mut files: Vec<PathBuf> = dialects
        .flat_map(|dialect| std::fs::read_dir(dialect.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

/// What `view --text` prints of a file, unless it cannot be read.
fn chat_of_file(file: &Path, flags: &[&str]) -> Option<String> {
    let output = Place::new().curtail(&["view", "--text"]).args(flags).arg(file).output().unwrap();
    assert!(output.status.code() != Some(101), "{}: {}", file.display(), text(&output.stderr));
    output.status.success().then(|| text(&output.stdout))
}

/// The messages of a chat that a policy does not drop: who wrote each and its first line, without numbers of messages.
fn kept(chat: &str) -> Vec<String> {
    let blocks = chat.split("\n\n").skip(1).filter(|block| !block.contains(" [dropped"));
    let messages = blocks.filter_map(|block| {
        let (heading, text) = block.split_once('\n')?;
        let line = text.lines().find(|line| *line != "dropped:")?.split(" of message ").next()?;
        let (writer, rest) = heading.split_once(' ')?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("{writer} {line}"))
    });
    messages.collect()
}

/// With `--live`, a policy decides about fewer messages than were read, and each has its own fate.
#[test]
fn a_policy_is_shown_on_what_is_live() {
    let policy = ["--policy", "window -n 2"];
    for file in dialect_fixtures() {
        let Some(live) = chat_of_file(&file, &["--live"]) else { continue };
        let cut = chat_of_file(&file, &["--live", policy[0], policy[1]]);
        assert_eq!(kept(&cut.unwrap()).last(), kept(&live).last(), "{}", file.display());
    }
    // Where the other messages do not move the window, its messages are those that it has among all.
    for name in ["claude-code/rewind.jsonl", "codex/compacted.jsonl", "gemini/cli-resumed.jsonl", "kimi/undone.jsonl"] {
        let input = fixture(name);
        let live = kept(&chat(&input, &["--live"]));
        let expected: Vec<String> =
            kept(&chat(&input, &policy)).into_iter().filter(|message| live.contains(message)).collect();
        assert_eq!(kept(&chat(&input, &["--live", policy[0], policy[1]])), expected, "{name}");
        assert!(expected.len() < live.len(), "{name}");
    }
}
