//! The updates in a transcript become the state.

use super::{OPENAI, Place, STATE};

const JSON: [&str; 4] = ["memory", "apply", "--output-format", "json"];

/// The same two updates as each format writes them, with arguments as a string or as an object, under either name.
pub(super) const UPDATES: &[(&str, &str)] = &[
    ("openai", OPENAI),
    (
        "responses",
        r#"{"type":"message","role":"user","content":"Ship v2"}
{"type":"function_call","call_id":"c1","name":"working-memory/update","arguments":"{\"goal\":\"ship v2\",\"by\":{\"day\":\"Friday\"}}"}
{"type":"function_call_output","call_id":"c1","output":"ok"}
{"type":"function_call","call_id":"c2","name":"updateWorkingMemory","arguments":"{\"by\":{\"hour\":5},\"steps\":[\"build\"]}"}
{"type":"function_call_output","call_id":"c2","output":"ok"}
"#,
    ),
    (
        "anthropic",
        r#"{"role":"user","content":"Ship v2"}
{"role":"assistant","content":[{"type":"text","text":"Noted."},{"type":"tool_use","id":"t1","name":"updateWorkingMemory","input":{"goal":"ship v2", "by":{"day":"Friday"}}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"working-memory/update","input":{"by":{"hour":5},"steps":["build"]}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]}
"#,
    ),
    (
        "agentkit",
        r#"{"type":"text","role":"user","content":"Ship v2"}
{"type":"tool_call","role":"assistant","tools":[{"type":"tool","id":"a1","name":"updateWorkingMemory","input":{"goal":"ship v2","by":{"day":"Friday"}}},{"type":"tool","id":"a2","name":"working-memory/update","input":{"by":{"hour":5},"steps":["build"]}}]}
"#,
    ),
    (
        "gemini",
        r#"{"role":"user","parts":[{"text":"Ship v2"}]}
{"role":"model","parts":[{"functionCall":{"name":"updateWorkingMemory","args":{"goal":"ship v2","by":{"day":"Friday"}}}}]}
{"role":"user","parts":[{"functionResponse":{"name":"updateWorkingMemory","response":{"output":"ok"}}}]}
{"role":"model","parts":[{"functionCall":{"name":"working-memory/update","args":{"by":{"hour":5},"steps":["build"]}}}]}
{"role":"user","parts":[{"functionResponse":{"name":"working-memory/update","response":{"output":"ok"}}}]}
"#,
    ),
    (
        "bedrock",
        r#"{"role":"user","content":[{"text":"Ship v2"}]}
{"role":"assistant","content":[{"toolUse":{"toolUseId":"b1","name":"updateWorkingMemory","input":{"goal":"ship v2","by":{"day":"Friday"}}}}]}
{"role":"user","content":[{"toolResult":{"toolUseId":"b1","content":[{"text":"ok"}]}}]}
{"role":"assistant","content":[{"toolUse":{"toolUseId":"b2","name":"working-memory/update","input":{"by":{"hour":5},"steps":["build"]}}}]}
{"role":"user","content":[{"toolResult":{"toolUseId":"b2","content":[{"text":"ok"}]}}]}
"#,
    ),
    (
        "ai-sdk",
        r#"{"role":"user","content":"Ship v2"}
{"role":"assistant","content":[{"type":"tool-call","toolCallId":"x1","toolName":"updateWorkingMemory","input":{"goal":"ship v2","by":{"day":"Friday"}}},{"type":"tool-call","toolCallId":"x2","toolName":"working-memory/update","input":{"by":{"hour":5},"steps":["build"]}}]}
{"role":"tool","content":[{"type":"tool-result","toolCallId":"x1","toolName":"updateWorkingMemory","output":{"type":"text","value":"ok"}},{"type":"tool-result","toolCallId":"x2","toolName":"working-memory/update","output":{"type":"text","value":"ok"}}]}
"#,
    ),
    (
        "langchain",
        r#"{"type":"human","data":{"content":"Ship v2"}}
{"type":"ai","data":{"content":"","tool_calls":[{"name":"updateWorkingMemory","args":{"goal":"ship v2","by":{"day":"Friday"}},"id":"l1","type":"tool_call"},{"name":"working-memory/update","args":{"by":{"hour":5},"steps":["build"]},"id":"l2","type":"tool_call"}]}}
{"type":"tool","data":{"content":"ok","tool_call_id":"l1"}}
{"type":"tool","data":{"content":"ok","tool_call_id":"l2"}}
"#,
    ),
    (
        "sharegpt",
        r#"{"from":"human","value":"Ship v2"}
{"from":"function_call","value":"{\"name\": \"updateWorkingMemory\", \"arguments\": {\"goal\": \"ship v2\", \"by\": {\"day\": \"Friday\"}}}"}
{"from":"observation","value":"ok"}
{"from":"function_call","value":"{\"name\": \"working-memory/update\", \"arguments\": {\"by\": {\"hour\": 5}, \"steps\": [\"build\"]}}"}
{"from":"observation","value":"ok"}
"#,
    ),
    // The update of the subagent is its own.
    (
        "claude-code",
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Ship v2"},"uuid":"u1","sessionId":"s1","version":"2.0.76","timestamp":"2026-01-07T16:44:33.047Z"}
{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"updateWorkingMemory","input":{"goal":"ship v2","by":{"day":"Friday"}}}]},"uuid":"u2","sessionId":"s1","version":"2.0.76","timestamp":"2026-01-07T16:44:33.047Z"}
{"parentUuid":"u2","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"ok"}]},"uuid":"u3","sessionId":"s1","version":"2.0.76","timestamp":"2026-01-07T16:44:33.047Z"}
{"parentUuid":"u3","isSidechain":true,"type":"user","message":{"role":"user","content":"a subagent's task"},"uuid":"s1","sessionId":"s1","version":"2.0.76","timestamp":"2026-01-07T16:44:33.047Z"}
{"parentUuid":"s1","isSidechain":true,"type":"assistant","message":{"id":"m9","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t9","name":"updateWorkingMemory","input":{"goal":"another"}}]},"uuid":"s2","sessionId":"s1","version":"2.0.76","timestamp":"2026-01-07T16:44:33.047Z"}
{"parentUuid":"u3","isSidechain":false,"type":"assistant","message":{"id":"m2","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"working-memory/update","input":{"by":{"hour":5},"steps":["build"]}}]},"uuid":"u4","sessionId":"s1","version":"2.0.76","timestamp":"2026-01-07T16:44:33.047Z"}
{"parentUuid":"u4","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t2","type":"tool_result","content":"ok"}]},"uuid":"u5","sessionId":"s1","version":"2.0.76","timestamp":"2026-01-07T16:44:33.047Z"}
"#,
    ),
];

#[test]
fn every_dialect_comes_to_the_same_state() {
    let place = Place::new();
    for (dialect, text) in UPDATES {
        let mut args = JSON.to_vec();
        args.extend(["--dialect", dialect]);
        assert_eq!(place.pipe(&args, text).quietly(), format!("{STATE}\n"), "{dialect}");
        assert_eq!(place.pipe(&JSON, text).quietly(), format!("{STATE}\n"), "{dialect}, sniffed");
    }
    assert!(!place.has_store(), "without an id nothing is kept");
}

#[test]
fn every_framing_comes_to_the_same_state() {
    let place = Place::new();
    let list = format!("[{}]", OPENAI.trim().replace('\n', ","));
    let records = format!("{{\"messages\":{list}}}\n{{\"id\":2,\"messages\":[]}}\n{{\"messages\":{list}}}\n");
    assert_eq!(place.pipe(&JSON, &list).quietly(), format!("{STATE}\n"));
    assert_eq!(place.pipe(&JSON, &records).quietly(), format!("{STATE}\n\"\"\n{STATE}\n"));
    assert_eq!(place.pipe(&JSON, "").quietly(), "\"\"\n");
}

#[test]
fn an_object_is_indented_and_text_is_as_it_is() {
    let place = Place::new();
    let notes = place.file("notes.md", "# Goal\nnone yet\n");
    let apply = |extra: &[&str], input: &str| place.pipe(&[&["memory", "apply"], extra].concat(), input).quietly();
    let chat = r#"{"role":"user","content":"Hi"}"#;
    assert_eq!(apply(&["--template", &notes], chat), "# Goal\nnone yet\n");
    assert_eq!(apply(&["--state", &notes], chat), "# Goal\nnone yet\n");
    assert_eq!(apply(&[], chat), "");
    let indented = "{\n  \"_previous\": \"# Goal\\nnone yet\\n\",\n  \"goal\": \"ship v2\",\n";
    assert!(apply(&["--state", &notes], OPENAI).starts_with(indented));
}

#[test]
fn malformed_arguments_are_told_with_line_and_call_and_the_rest_is_applied() {
    let place = Place::new();
    let broken = OPENAI.replace("{\\\"goal\\\":\\\"ship v2\\\"", "{\\\"goal\\\":ship v2");
    let file = place.file("chat.jsonl", &broken);
    let done = place.run(&["memory", "apply", "--output-format", "json", &file]);
    assert_eq!((done.code, done.out.as_str()), (0, "{\"by\":{\"hour\":5},\"steps\":[\"build\"]}\n"));
    let expected = format!("curtail: {file}:3: call \"call_1\": the update is malformed: arguments are not JSON:");
    assert!(done.err.starts_with(&expected) && done.err.lines().count() == 1, "{}", done.err);
}

#[test]
fn an_update_that_breaks_the_schema_is_dropped_and_the_state_before_stands() {
    let place = Place::new();
    let schema = place.file("schema.json", r#"{"properties":{"steps":{"items":{"type":"number"}}}}"#);
    let done = place.pipe(&[&JSON[..], &["--schema", &schema]].concat(), OPENAI);
    assert_eq!((done.code, done.out.as_str()), (0, "{\"goal\":\"ship v2\",\"by\":{\"day\":\"Friday\"}}\n"));
    let expected =
        "curtail: stdin:5: call \"call_3\": the update is refused: /steps/0: \"build\" is not of type \"number\"\n";
    assert_eq!(done.err, expected);
}

#[test]
fn explain_tells_of_every_update() {
    let place = Place::new();
    let text = place.pipe(&["memory", "apply", "--explain", "--stdin-filename", "a.jsonl"], OPENAI);
    assert_eq!(text.err, "a.jsonl:3: call \"call_1\": applied\na.jsonl:5: call \"call_3\": applied\n");
    let text = place.pipe(&["memory", "apply", "--explain", "--read-only"], OPENAI);
    assert!(text.out.is_empty() && text.err.lines().all(|line| line.ends_with("ignored: the memory is read-only")));
    let json = place.pipe(&["memory", "apply", "--explain=json", "--thread", "t"], OPENAI);
    let first: serde_json::Value = serde_json::from_str(json.err.lines().next().unwrap()).unwrap();
    assert_eq!((&first["line"], &first["action"]), (&3.into(), &"applied".into()));
    let again = place.pipe(&["memory", "apply", "--explain", "--thread", "t"], OPENAI);
    assert!(again.err.lines().all(|line| line.ends_with(": known")), "{}", again.err);
}

#[test]
fn what_is_no_transcript_is_an_error_with_its_place() {
    let place = Place::new();
    let cases = [
        ("{\"role\":\"user\",\"content\":\"Hi\"}\n{\"role\":\n", "broken.jsonl:"),
        ("{\"a\":1}\n", "broken.jsonl:1:1: "),
    ];
    for (text, expected) in cases {
        let file = place.file("broken.jsonl", text);
        let done = place.run(&["memory", "apply", "--thread", "t", &file]);
        assert!(done.code == 2 && done.out.is_empty() && done.err.contains(expected), "{done:?}");
    }
    assert_eq!(place.run(&["memory", "apply", "nowhere.jsonl"]).code, 2);
}

/// A record that cannot be read costs only its own updates.
#[test]
fn a_record_between_others_that_cannot_be_read_is_left_out() {
    let place = Place::new();
    let record = |member: &str| {
        let call = serde_json::json!({"id": member, "type": "function",
            "function": {"name": "updateWorkingMemory", "arguments": format!("{{\"{member}\":1}}")}});
        let messages = serde_json::json!([{"role": "user", "content": "Note it."},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": member, "content": "ok"}]);
        format!("{}\n", serde_json::json!({"messages": messages}))
    };
    let file = place.file("records.jsonl", &format!("{}{{\"messages\":[\n{}", record("first"), record("last")));
    let done = place.run(&["memory", "apply", "--thread", "t", "--output-format", "json", &file]);
    assert!(done.code == 2 && done.err.contains("records.jsonl:2:"), "{done:?}");
    assert_eq!(done.out, "{\"first\":1,\"last\":1}\n");
}
