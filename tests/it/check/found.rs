//! What is a fault and what is none, by provider, state and form.

use std::fs;

use serde_json::{Value, json};

use super::{ASK, CALL, RESULT, SAY, curtail, expected, json, lines, places, reported};
use crate::program::{Place, text};

#[test]
fn broken_lines_are_findings_and_the_rest_is_checked() {
    let text =
        lines(&[ASK, r#"{"role":"assistant","content":"Let me"#, RESULT, SAY, r#"{"role":"user","content":nul"#]);
    let report = json(&[], &text);
    assert_eq!(reported(&report), ["invalid-json deny 2:38", "orphan-result deny 3:1", "invalid-json deny 5:26"]);
    let document = json(&[], "[\n  {\"role\": \"user\", \"content\": \"x\",}\n]\n");
    assert_eq!(reported(&document), ["invalid-json deny 2:35"]);
    let records = format!(
        "{{\"messages\":[{ASK},{SAY}]}}\n{{\"messages\":[{ASK},{SAY}}}\n{{\"messages\":[{ASK},{RESULT},{SAY}]}}\n"
    );
    let report = json(&[], &records);
    assert_eq!(reported(&report)[0].split(' ').next(), Some("invalid-json"));
    assert!(reported(&report)[1].starts_with("orphan-result deny 3:"), "{report}");
    assert_eq!(report["findings"][1]["at"]["pointer"], "/messages/1");
    let at = &report["findings"][1]["at"];
    let offset = usize::try_from(at["offset"].as_u64().unwrap()).unwrap();
    assert_eq!(&records[offset..offset + RESULT.len()], RESULT);
}

#[test]
fn another_providers_rules_can_be_asked_for() {
    let late = r#"{"role":"system","content":"Be brief."}"#;
    let text = lines(&[SAY, ASK, CALL, RESULT, SAY, late]);
    assert_eq!(reported(&json(&[], &text)), ["system-not-first warn 6:1"]);
    // Anthropic takes instructions anywhere.
    assert_eq!(reported(&json(&["--profile", "anthropic"], &text)), ["first-speaker deny 1:1"]);
    let report = json(&["--profile", "bedrock"], &lines(&[ASK, ASK, CALL, RESULT, SAY]));
    assert_eq!(reported(&report), ["alternation warn 2:1"]);
    assert!(report["findings"][0]["provider_answer"].as_str().unwrap().starts_with("A conversation must alternate"));
    let items = lines(&[
        r#"{"type":"message","role":"user","content":"x"}"#,
        r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#,
        r#"{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}"#,
        r#"{"type":"function_call_output","call_id":"b","output":"1"}"#,
        r#"{"type":"function_call_output","call_id":"a","output":"2"}"#,
        r#"{"type":"message","role":"assistant","content":"y"}"#,
    ]);
    for profile in ["openai", "anthropic", "gemini", "bedrock", "responses"] {
        assert_eq!(reported(&json(&["--profile", profile], &items)), Vec::<String>::new(), "{profile}");
    }
}

#[test]
fn a_provider_that_holds_state_may_be_sent_a_lone_result() {
    let text = r#"{"type":"function_call_output","call_id":"a","output":"2"}
{"type":"message","role":"assistant","content":"y"}
{"type":"reasoning","id":"rs_1","summary":[]}
"#;
    assert_eq!(reported(&json(&["-A", "turn"], text)), ["orphan-result deny 1:1", "reasoning-without-call deny 3:1"]);
    assert_eq!(reported(&json(&["-A", "turn", "--stateful"], text)), Vec::<String>::new());
}

#[test]
fn copies_are_found_across_files() {
    let record = |id: usize, sky: &str| {
        format!("{{\"id\":{id},\"messages\":[{ASK}, {{\"role\":\"assistant\",\"content\":\"{sky}\"}}]}}\n")
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), record(1, "rain") + &record(2, "sun")).unwrap();
    fs::write(folder.path().join("b.jsonl"), record(3, "rain").replace(", {", ",{") + &record(4, "snow")).unwrap();
    let quiet = curtail(folder.path(), &["check", "a.jsonl", "b.jsonl"]);
    assert_eq!(quiet.status.code(), Some(0));
    let output = curtail(
        folder.path(),
        &["check", "-D", "duplicate-transcript", "--output-format", "json", "a.jsonl", "b.jsonl"],
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    assert_eq!(report["findings"][0]["message"], "the transcript has the same messages as a.jsonl:1");
    assert_eq!(output.status.code(), Some(1));
    let beside = format!("[{}, {}]\n", record(1, "rain").trim_end(), record(2, "rain").trim_end());
    fs::write(folder.path().join("list.json"), beside).unwrap();
    let output = curtail(folder.path(), &["check", "-D", "duplicate-transcript", "list.json"]);
    assert_eq!(output.status.code(), Some(1), "two of one line: {}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn what_the_provider_runs_needs_no_signature() {
    let signed = lines(&[
        r#"{"role":"user","parts":[{"text":"Roll."}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"roll","args":{}},"thoughtSignature":"c2ln"}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"roll","response":{"eyes":4}}}]}"#,
        r#"{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"2*4"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"8"}},{"text":"8"}]}"#,
    ]);
    assert!(reported(&json(&[], &signed)).is_empty());
}

/// Anthropic accepts an empty answer at the end, and no blank block anywhere.
#[test]
fn a_blank_block_at_the_end_is_refused() {
    for (content, level) in [(r#""""#, "warn"), ("[]", "warn"), (r#"[{"type":"text","text":" "}]"#, "deny")] {
        let empty = format!(r#"{{"role":"assistant","content":{content}}}"#);
        let report = json(&["--profile", "anthropic"], &lines(&[ASK, &empty]));
        assert_eq!(reported(&report), [format!("empty-content {level} 2:1")], "{content}");
    }
}

/// A provider reads nothing before a compaction, so that a conversation may begin with one of the model.
#[test]
fn a_conversation_may_begin_with_a_compaction() {
    let compacted = r#"{"role":"assistant","content":[{"type":"compaction","content":"It was raining in Oslo."}]}"#;
    assert_eq!(reported(&json(&[], &lines(&[compacted, ASK, SAY]))), Vec::<String>::new());
}

#[test]
fn an_item_with_question_and_answer_is_an_answer() {
    // A turn of an evaluation holds the question, the calls that answer it, and the last words, if there are any.
    let call = r#"{"user_content":{"role":"user","parts":[{"text":"Is it raining?"}]},"intermediate_data":{"tool_uses":[{"name":"weather","args":{}}]}}"#;
    for items in [&[call][..], &[ASK, CALL, RESULT]] {
        let report = json(&["-A", "all", "-W", "no-assistant-message"], &lines(items));
        assert_eq!(reported(&report), Vec::<String>::new(), "{items:?}");
    }
    let report = json(&["-A", "all", "-W", "no-assistant-message"], &lines(&[ASK]));
    assert_eq!(reported(&report).len(), 1);
}

/// A message of the system without content sets the effort from there on: it is preserved, and nothing is missing in it.
#[test]
fn a_message_that_sets_the_effort_is_not_empty() {
    let effort = "{\"role\":\"system\",\"content\":[],\"output_config\":{\"effort\":\"low\"}}\n";
    let chat = lines(&[ASK, SAY]);
    let place = Place::new();
    place.write("chat.jsonl", format!("{chat}{effort}{chat}").as_bytes());
    let named = ["--dialect", "anthropic", "chat.jsonl"];
    let checked = place.curtail(&[&["check"][..], &named].concat()).output().unwrap();
    assert!(!text(&checked.stdout).contains("S004"), "{}", text(&checked.stdout));
    let cut = place.curtail(&[&["window", "-n", "1"][..], &named].concat()).output().unwrap();
    assert!(text(&cut.stdout).starts_with(effort), "{}", text(&cut.stdout));
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
