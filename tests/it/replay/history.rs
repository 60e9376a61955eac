//! What of a log a request contained: compactions, turns that were rolled back, links.

use serde_json::{Value, json};

use super::{item, per_request, place_with, replay, reported, tokens};

/// A Claude Code session: a question, an answer, a compaction to 20 tokens, a question, an answer.
fn compacted() -> String {
    let line = |kind: &str, content: &str, more: Value| {
        let mut line = json!({"type": kind, "uuid": content, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": kind, "content": content, "id": format!("id-{content}")}});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string() + "\n"
    };
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "isSidechain": false, "uuid": "b"});
    [
        line("user", &tokens('a', 100), json!({})),
        line("assistant", &tokens('b', 10), json!({})),
        boundary.to_string() + "\n",
        line("user", &tokens('s', 20), json!({"isCompactSummary": true})),
        line("user", &tokens('c', 100), json!({})),
        line("assistant", &tokens('d', 10), json!({})),
    ]
    .concat()
}

#[test]
fn what_was_recorded_begins_anew_at_a_compaction_and_policies_do_not() {
    let report = replay(&compacted(), &["-p", "window -n 1000"]);
    assert_eq!(per_request(&report, 0, "tokens_sent"), [100, 120]);
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210]);
    assert_eq!(report["sessions"][0]["compacted_before"], json!([2]));
    let live = replay(&compacted(), &["-p", "window -n 1000", "--live"]);
    assert_eq!(per_request(&live, 1, "tokens_sent"), [100, 120]);
}

fn codex(kind: &str, payload: &Value) -> String {
    json!({"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}).to_string() + "\n"
}

fn codex_message(role: &str, letter: char, count: usize) -> String {
    codex("response_item", &item(role, letter, count))
}

fn codex_start() -> String {
    codex("session_meta", &json!({"id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}))
}

/// A question of `count` tokens and an answer of 10.
fn codex_turn(question: char, count: usize, answer: char) -> String {
    codex_message("user", question, count) + &codex_message("assistant", answer, 10)
}

fn rolled_back(turns: u64) -> String {
    codex("event_msg", &json!({"type": "thread_rolled_back", "num_turns": turns}))
}

#[test]
fn codex_sends_the_history_that_a_compaction_wrote() {
    let compacted = |history: Value| codex("compacted", &json!({"message": "", "replacement_history": history}));
    let log = [
        codex_start(),
        codex_turn('a', 100, 'b'),
        compacted(json!([item("user", 'a', 100), item("user", 's', 20)])),
        codex_turn('c', 100, 'd'),
        compacted(json!([item("user", 'c', 100), item("user", 't', 30)])),
        codex_turn('e', 100, 'f'),
        codex_turn('g', 100, 'h'),
    ]
    .concat();
    let report = replay(&log, &["-p", "window -n 1000"]);
    assert_eq!(per_request(&report, 0, "tokens_sent"), [100, 220, 230, 340]);
    assert_eq!(report["sessions"][0]["compacted_before"], json!([2, 3]));
    // The text of the messages, without the lists that repeat and sum it up.
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210, 320, 430]);
    let live = replay(&log, &["-p", "window -n 1000", "--live"]);
    assert_eq!(per_request(&live, 1, "tokens_sent"), [100, 220, 230, 340]);
}

#[test]
fn codex_sends_no_turns_that_were_rolled_back() {
    let log =
        [codex_start(), codex_turn('a', 100, 'b'), codex_turn('c', 100, 'd'), rolled_back(1), codex_turn('e', 50, 'f')]
            .concat();
    let report = replay(&log, &["-p", "window -n 1000", "-p", "limit -t 1000"]);
    for policy in 0..3 {
        assert_eq!(per_request(&report, policy, "tokens_sent"), [100, 210, 160], "{policy}");
    }
    let rewrite = replay(&log, &["-p", "window -n 1000", "--apply", "rewrite"]);
    assert_eq!(per_request(&rewrite, 1, "tokens_sent"), [100, 210, 160]);
}

#[test]
fn codex_sends_again_what_a_rolled_back_compaction_replaced() {
    let compaction = codex("compacted", &json!({"message": tokens('s', 20)}));
    let question = codex_message("user", 'c', 100);
    let begin = codex("event_msg", &json!({"type": "task_started", "turn_id": "2"}));
    // In the middle of the turn, and at its beginning, before the message.
    for (turn, sent) in [([&begin, &question, &compaction], 20), ([&begin, &compaction, &question], 100)] {
        let log = [
            codex_start(),
            codex_turn('a', 100, 'b'),
            turn.map(String::as_str).concat(),
            codex_message("assistant", 'd', 10),
            rolled_back(1),
            codex_turn('e', 50, 'f'),
        ]
        .concat();
        let report = replay(&log, &["-p", "window -n 1000"]);
        assert_eq!(per_request(&report, 0, "tokens_sent"), [100, sent, 160]);
    }
}

#[test]
fn a_turn_is_sent_until_the_event_that_takes_it_back() {
    let log = [
        codex_start(),
        codex_turn('a', 100, 'b'),
        codex_turn('c', 100, 'd'),
        codex_turn('e', 100, 'f'),
        rolled_back(1),
        codex_turn('g', 50, 'h'),
        // Rolls back the turn before it, and the one before the turn that was rolled back first.
        rolled_back(2),
        codex_turn('i', 30, 'j'),
    ]
    .concat();
    let report = replay(&log, &["-p", "window -n 1000"]);
    for policy in 0..2 {
        assert_eq!(per_request(&report, policy, "tokens_sent"), [100, 210, 320, 270, 140], "{policy}");
    }
}

#[test]
fn pi_sends_the_messages_that_a_compaction_kept() {
    let entry = |id: u8, role: &str, letter, count| {
        let content = json!([{"type": "text", "text": tokens(letter, count)}]);
        let message = json!({"role": role, "content": content, "api": "anthropic-messages", "model": "unknown-model"});
        let parent = (id > 1).then(|| (id - 1).to_string());
        json!({"type": "message", "id": id.to_string(), "parentId": parent, "timestamp": "2026-01-01T00:00:00Z", "message": message})
            .to_string()
            + "\n"
    };
    let log = [
        entry(1, "user", 'a', 100),
        entry(2, "assistant", 'b', 10),
        entry(3, "user", 'c', 100),
        entry(4, "assistant", 'd', 10),
        json!({"type": "compaction", "id": "5", "parentId": "4", "timestamp": "2026-01-01T00:00:00Z",
            "summary": tokens('s', 20), "firstKeptEntryId": "3", "tokensBefore": 220})
        .to_string()
            + "\n",
        entry(6, "user", 'e', 100),
        entry(7, "assistant", 'f', 10),
    ]
    .concat();
    let report = replay(&log, &["-p", "window -n 1000", "--cache", "marked"]);
    assert_eq!(per_request(&report, 0, "tokens_sent"), [100, 210, 230]);
    assert_eq!(per_request(&report, 0, "messages_sent"), [1, 3, 4]);
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210, 320]);
    // The table does not know the model, but the log names its provider.
    assert_eq!(replay(&log, &[])["sessions"][0]["cache"], json!("marked"));
}

#[test]
fn a_policy_sees_what_a_later_compaction_superseded() {
    let report = replay(&compacted(), &["-p", "limit -t 105", "-p", "limit -t 105 | window -n 9"]);
    for policy in [1, 2] {
        assert_eq!(per_request(&report, policy, "tokens_sent"), [100, 100], "{policy}");
    }
}

/// Links in a circle are no reason to lose the report.
#[test]
fn links_in_a_circle_do_not_stop_a_replay() {
    let message = |id: &str, parent: Option<&str>, role: &str| {
        let content = json!([{"type": "text", "text": id}]);
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": role, "content": content}})
        .to_string()
            + "\n"
    };
    let head = json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"});
    let circle = |links: &[(&str, Option<&str>)]| {
        let roles = ["user", "assistant"].into_iter().cycle();
        let lines: String = links.iter().zip(roles).map(|((id, parent), role)| message(id, *parent, role)).collect();
        format!("{head}\n{lines}")
    };
    let place = place_with("fine.jsonl", &circle(&[("a", None), ("b", Some("a"))]));
    place.write("three.jsonl", circle(&[("a", Some("b")), ("b", Some("c")), ("c", Some("a"))]).as_bytes());
    place.write("two.jsonl", circle(&[("a", None), ("b", Some("a")), ("c", Some("d")), ("d", Some("c"))]).as_bytes());
    place.write("itself.jsonl", circle(&[("a", Some("a")), ("b", Some("b")), ("c", Some("d"))]).as_bytes());
    let report = reported(&place, &["fine.jsonl", "three.jsonl", "two.jsonl", "itself.jsonl"]);
    assert_eq!(report["total"]["sessions"], 4);
}
