//! Codex rollouts: context, events that repeat it, and lines that are always kept.

use std::path::Path;

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Keep, SlidingWindow, ToolFilter, ToolGlobs, WindowUnit};
use curtail_core::transcript::Pairs;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dialects/codex").join(name);
    std::fs::read_to_string(path).expect("the fixture can be read")
}

fn reading() -> Reading {
    Reading { framing: Framing::Lines, dialect: None, named: false, messages_key: None }
}

fn last(size: usize) -> Chain {
    let keep = Keep { system: false, ..Keep::default() };
    Chain::default().then(SlidingWindow { size, unit: WindowUnit::Items, keep, step: 1 })
}

fn cut(chain: Chain, name: &str) -> String {
    let text = fixture(name);
    let mut out = String::new();
    TextCutter { chain, explain: false, counting: None }.cut(&reading(), &text, &mut out).expect("it can be cut");
    out
}

/// How many messages and pairs are read, and what counts as instructions.
fn read_rollout(name: &str) -> (usize, usize, Vec<String>) {
    let text = fixture(name);
    let document = Document::parse_log(&text).expect("a rollout");
    let read = reading().transcripts(&document).expect("a transcript");
    let (dialect, transcript) = &read[0];
    assert_eq!(dialect.name(), "codex");
    let preamble = transcript.layout.preamble.iter().map(|text| text.decode().into_owned()).collect();
    (transcript.messages.len(), Pairs::from_messages(&transcript.messages).pairs().count(), preamble)
}

#[test]
fn only_items_are_context() {
    for (name, messages, pairs) in [
        ("minimal.jsonl", 5, 1),
        ("parallel.jsonl", 6, 2),
        ("reasoning.jsonl", 6, 1),
        ("tools.jsonl", 10, 3),
        ("compacted.jsonl", 7, 1),
        ("compacted-text.jsonl", 5, 0),
        ("torn.jsonl", 3, 1),
    ] {
        let (read_messages, read_pairs, _) = read_rollout(name);
        assert_eq!((read_messages, read_pairs), (messages, pairs), "{name}");
    }
}

#[test]
fn instructions_count() {
    assert_eq!(read_rollout("minimal.jsonl").2, ["You weave code."]);
    assert_eq!(read_rollout("compacted-text.jsonl").2, ["You weave code."]);
}

#[test]
fn settings_stay_and_mirrors_go_with_what_they_mirror() {
    let out = cut(last(1), "minimal.jsonl");
    assert!(out.contains("session_meta") && out.contains("turn_context"), "{out}");
    assert!(out.contains("\"agent_message\"") && out.contains("Only the blue one."), "{out}");
    assert!(!out.contains("\"user_message\"") && !out.contains("call_1a"), "{out}");
}

#[test]
fn older_settings_go_with_their_turn() {
    let out = cut(last(2), "settings.jsonl");
    let kept = |words: &str| out.contains(words);
    assert!(!kept(r#""cwd":"/one""#) && kept(r#""cwd":"/two""#) && kept(r#""cwd":"/three""#), "{out}");
    // Changes mean nothing without the state that they change.
    assert!(kept(r#""full":true"#) && kept(r#""full":false"#), "{out}");
    assert_eq!(cut(last(1), "settings.jsonl").matches("turn_context").count(), 1);
}

#[test]
fn thoughts_mirrored_ahead_go_with_the_call_they_led_to() {
    let tools = ToolFilter { tools: ToolGlobs::All, persist_results: false };
    let out = cut(Chain::default().then(tools), "reasoning.jsonl");
    assert!(!out.contains("Looking for the tear") && out.contains("**Mended**"), "{out}");
}

#[test]
fn a_compaction_is_cut_inside_and_stays() {
    let out = cut(last(4), "compacted.jsonl");
    let text = fixture("compacted.jsonl");
    let (before, after): (Vec<&str>, Vec<&str>) = (text.lines().collect(), out.lines().collect());
    // What it replaced is older than what is left.
    assert_eq!(before[..1], after[..1]);
    assert!(after[1].contains("\"replacement_history\":[{") && !after[1].contains("Weave a scarf."), "{}", after[1]);
    assert_eq!(before[4..], after[2..]);
}

#[test]
fn a_torn_line_stays() {
    let out = cut(last(2), "torn.jsonl");
    assert!(out.ends_with("\"role\":\"assi"), "{out}");
}
