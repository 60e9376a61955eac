//! What `count` says of transcripts that were counted by hand.

use crate::program::{Place, text};

/// Tokens: 19 for the tool, 3 system, 3 and an image for the user, 2 + 6 and 2 + 1 for the calls, 3 and 3 for their results,
/// 3 for the answer; then 1 and 2.
const CHATS: &str = r#"{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Look: \u4e2d"},{"type":"image_url","image_url":{"url":"data:x"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get_time","arguments":"{\"tz\": \"UTC\"}"}},{"id":"b","type":"function","function":{"name":"get_time","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"12:00"},{"role":"tool","tool_call_id":"b","content":"13:00"},{"role":"assistant","content":"Noon."}],"tools":[{"type":"function", "function":{"name":"get_time", "parameters":{"type":"object"}}}]}
{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello there"}]}
"#;

fn counted(arguments: &[&str]) -> String {
    let place = Place::new();
    place.write("a.jsonl", CHATS.as_bytes());
    let done = place.curtail(&[&["count", "a.jsonl"], arguments].concat()).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn rows_add_up_by_file_transcript_role_and_tool() {
    for (by, rows) in [
        ("file", "file,transcripts,messages,calls,tokens\na.jsonl,2,8,2,813\n"),
        ("transcript", "transcript,messages,calls,tokens\na.jsonl:1,6,2,810\na.jsonl:2,2,0,3\n"),
        (
            "role",
            "role,messages,calls,tokens\nassistant,3,2,16\noutside,0,0,19\nsystem,1,0,3\ntool,2,0,6\nuser,2,0,769\n",
        ),
        ("tool", "tool,calls,tokens\nget_time,2,17\n"),
    ] {
        assert_eq!(counted(&["--by", by, "--output-format", "csv"]), rows);
    }
}

#[test]
fn json_has_percentiles_and_the_longest() {
    let json: serde_json::Value = serde_json::from_str(&counted(&["--output-format", "json"])).unwrap();
    assert_eq!(json["percentiles"], serde_json::json!({"p50": 3, "p90": 810, "p99": 810, "p100": 810}));
    assert_eq!(json["longest"], serde_json::json!({"file": "a.jsonl", "line": 1, "tokens": 810}));
    assert_eq!((&json["tokens"], &json["exact"]), (&813.into(), &true.into()));
}

#[test]
fn overhead_is_three_a_message_and_three_for_the_reply() {
    let total = |arguments: &[&str]| {
        let csv = counted(&[arguments, &["--output-format", "csv"]].concat());
        csv.trim().rsplit(',').next().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(total(&["--overhead", "openai"]), 813 + 3 * 8 + 3 * 2);
}

#[test]
fn a_budget_to_the_token_keeps_the_whole_and_one_less_does_not() {
    let place = Place::new();
    place.write("a.jsonl", CHATS.as_bytes());
    let limited = |budget: &str| text(&place.curtail(&["limit", "-t", budget, "a.jsonl"]).output().unwrap().stdout);
    assert!(limited("810") == CHATS && limited("1m") == CHATS && limited("809") != CHATS);
}
