//! What other tools find, drop and repair, where curtail agrees with them. The transcripts are invented in the shapes of
//! theirs.

use crate::program::run;

fn curtail(args: &[&str], text: &str) -> String {
    String::from_utf8(run(args, text).stdout).unwrap()
}

fn lines(items: &[&str]) -> String {
    items.iter().map(|item| format!("{item}\n")).collect()
}

/// A dialect, items, how they are repaired, and which of them stay.
type Kept = (&'static str, &'static [&'static str], &'static [&'static str], &'static [usize]);

const KEPT: &[Kept] = &[
    // A call without output is dropped, also between items that are not messages.
    (
        "responses",
        &["--mode", "drop"],
        &[
            r#"{"type":"message","role":"user","content":"hi"}"#,
            r#"{"type":"function_call","call_id":"lost","name":"a","arguments":"{}"}"#,
            r#"{"type":"function_call","call_id":"kept","name":"b","arguments":"{}"}"#,
            r#"{"type":"function_call_output","call_id":"kept","output":"fine"}"#,
            r#"{"call_id":"neither call nor output"}"#,
            r#"{"type":"message","role":"assistant","content":"done"}"#,
        ],
        &[0, 2, 3, 4, 5],
    ),
    // Reasoning by itself has no counterpart.
    ("responses", &["--mode", "drop"], &[r#"{"type":"reasoning","id":"rs_1","summary":[]}"#], &[0]),
    // A program's calls belong to it.
    (
        "responses",
        &["--mode", "drop"],
        &[
            r#"{"type":"program","call_id":"p","code":"await tools.look()","fingerprint":"x"}"#,
            r#"{"type":"function_call","call_id":"f","name":"look","arguments":"{}","caller":{"type":"program","caller_id":"p"}}"#,
            r#"{"type":"function_call_output","call_id":"f","output":"seen","caller":{"type":"program","caller_id":"p"}}"#,
        ],
        &[0, 1, 2],
    ),
    // Two users who say the same are no copies.
    (
        "responses",
        &["--mode", "drop"],
        &[
            r#"{"role":"user","content":"again","type":"message"}"#,
            r#"{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}"#,
            r#"{"type":"function_call_output","call_id":"c","output":"1"}"#,
            r#"{"role":"user","content":"again","type":"message"}"#,
        ],
        &[0, 1, 2, 3],
    ),
    // Outputs of no call go, of every kind.
    ("responses", &[], &[r#"{"type":"function_call_output","call_id":"x","output":"1"}"#], &[]),
    ("responses", &[], &[r#"{"type":"custom_tool_call_output","call_id":"x","output":"1"}"#], &[]),
    // Of two results the first stays.
    (
        "pi",
        &[],
        &[
            r#"{"type":"message","id":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}]}}"#,
            r#"{"type":"message","id":"2","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"one"}],"isError":false}}"#,
            r#"{"type":"message","id":"3","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"two"}],"isError":false}}"#,
            r#"{"type":"message","id":"4","message":{"role":"user","content":"good"}}"#,
        ],
        &[0, 1, 3],
    ),
    (
        "pi",
        &[],
        &[
            r#"{"type":"message","id":"1","message":{"role":"user","content":"hi"}}"#,
            r#"{"type":"message","id":"2","message":{"role":"toolResult","toolCallId":"x","toolName":"read","content":[{"type":"text","text":"?"}],"isError":false}}"#,
            r#"{"type":"message","id":"3","message":{"role":"assistant","content":[{"type":"text","text":"ok"}]}}"#,
        ],
        &[0, 2],
    ),
    // Snapshots of different messages are no copies.
    (
        "claude-code",
        &[],
        &[
            r#"{"type":"file-history-snapshot","messageId":"m1","snapshot":{"messageId":"m1"},"isSnapshotUpdate":false}"#,
            r#"{"type":"file-history-snapshot","messageId":"m2","snapshot":{"messageId":"m2"},"isSnapshotUpdate":false}"#,
        ],
        &[0, 1],
    ),
];

#[test]
fn what_others_keep_we_keep() {
    for (dialect, mode, items, kept) in KEPT {
        let args = [&["repair", "--framing", "lines", "--dialect", dialect][..], mode].concat();
        let expected: Vec<&str> = kept.iter().map(|nth| items[*nth]).collect();
        let left = curtail(&args, &lines(items));
        assert_eq!(left.lines().collect::<Vec<_>>(), expected, "{dialect}");
    }
}

#[test]
fn a_call_without_output_gets_one_of_its_kind() {
    let stub = ["repair", "--framing", "lines", "--mode", "stub", "--pending", "--dialect"];
    let calls = [
        ("responses", r#"{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}"#, "function_call_output"),
        ("responses", r#"{"type":"custom_tool_call","call_id":"c","name":"a","input":"x"}"#, "custom_tool_call_output"),
        (
            "pi",
            r#"{"type":"message","id":"1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read","arguments":{}}]}}"#,
            "toolResult",
        ),
    ];
    for (dialect, call, kind) in calls {
        let mended = curtail(&[&stub[..], &[dialect]].concat(), &lines(&[call]));
        let rest = mended.strip_prefix(&lines(&[call])).unwrap_or_else(|| panic!("{dialect}: {mended}"));
        assert!(rest.lines().count() == 1 && rest.contains(kind) && rest.contains("\"c\""), "{dialect}: {mended}");
    }
}

#[test]
fn what_others_find_in_rollouts_we_find() {
    let item = |payload: &str| {
        format!("{{\"timestamp\":\"2026-08-12T00:00:02Z\",\"type\":\"response_item\",\"payload\":{payload}}}\n")
    };
    let meta = "{\"timestamp\":\"2026-08-12T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\",\"cwd\":\"/repo\",\"cli_version\":\"0.147.0\"}}\n";
    let call = |id: &str| {
        item(&format!("{{\"type\":\"function_call\",\"call_id\":\"{id}\",\"name\":\"sh\",\"arguments\":\"{{}}\"}}"))
    };
    let output =
        |id: &str| item(&format!("{{\"type\":\"function_call_output\",\"call_id\":\"{id}\",\"output\":\"1\"}}"));
    let custom = item("{\"type\":\"custom_tool_call\",\"call_id\":\"t\",\"name\":\"lint\",\"input\":\"{}\"}")
        + &item("{\"type\":\"custom_tool_call_output\",\"call_id\":\"t\",\"output\":\"clean\"}");
    let cases: [(String, &[&str]); 5] = [
        (call("a"), &["pending-call"]),
        (output("a"), &["orphan-result"]),
        (call("a") + &call("a") + &output("a"), &["duplicate-call-id"]),
        (call("a") + &output("a"), &[]),
        (custom, &[]),
    ];
    for (items, expected) in cases {
        let out =
            curtail(&["check", "-A", "turn", "-A", "dataset", "--output-format", "json"], &format!("{meta}{items}"));
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        let found = report["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), expected, "{items}");
    }
}
