//! What a provider or a program accepts has no finding.

use crate::checked::{detected, inspection, warned};
use crate::dialects::files::fixture;

/// The codes of what is found in `text` by the requirements of `provider`, or by those of its own format.
fn codes(provider: &str, warn: &[&str], text: &str) -> Vec<&'static str> {
    let findings = inspection(provider).examine_all(&detected(text), &warned(warn), text);
    findings.into_iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn a_spoken_reply_has_content() {
    let chat = concat!(
        r#"{"role":"user","content":"Rain?"}"#,
        "\n",
        r#"{"role":"assistant","content":null,"audio":{"id":"audio_1"}}"#,
        "\n",
        r#"{"role":"user","content":"Thanks."}"#,
        "\n",
    );
    assert!(codes("openai", &[], chat).is_empty());
    assert_eq!(codes("openai", &[], &chat.replace(r#","audio":{"id":"audio_1"}"#, "")), ["S004"]);
}

/// A program may send a request to a provider, or define a tool that takes a mark.
#[test]
fn what_a_tool_takes_is_no_cache_mark() {
    let mark = r#"{"cache_control":{"type":"ephemeral"}}"#;
    let marks = [mark; 5].join(",");
    let chat = |input: &str, text: &str| {
        format!(
            concat!(
                r#"{{"model":"claude","tools":[{{"name":"post","input_schema":{{"type":"object","properties":{}}}}}],"#,
                r#""messages":[{{"role":"user","content":[{{"type":"text","text":"Send it."{}}}]}},"#,
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_1","name":"post","input":{{"body":[{}]}}}}]}},"#,
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","content":[{{"type":"text","text":"ok"{}}}]}}]}}]}}"#,
                "\n"
            ),
            mark, text, input, text
        )
    };
    assert!(codes("", &[], &chat(&marks, "")).is_empty());
    let hour = r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;
    let minutes = r#","cache_control":{"type":"ephemeral"}"#;
    assert!(codes("", &[], &chat(&marks, minutes)).is_empty());
    let late =
        chat("", minutes).replacen(minutes, "", 1).replacen(r#""input""#, &format!("{},\"input\"", &minutes[1..]), 1);
    assert!(codes("", &[], &late).is_empty());
    let in_wrong_order = chat("", hour).replacen(hour, minutes, 1);
    assert_eq!(codes("", &[], &in_wrong_order), ["S021"]);
}

/// The mark of a whole request is one of the four, unless the last block has one itself.
#[test]
fn the_mark_of_a_request_takes_a_place() {
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let has_too_many = |whole: &str, marks: [&str; 5]| {
        let blocks = marks.map(|mark| format!(r#"{{"type":"text","text":"Rain?"{mark}}}"#)).join(",");
        let message = format!(r#"{{"role":"user","content":[{blocks}]}}"#);
        codes("", &[], &format!(r#"{{"model":"claude"{whole},"messages":[{message}]}}"#)).contains(&"S021")
    };
    assert!(!has_too_many("", [mark, mark, mark, mark, ""]));
    assert!(!has_too_many(mark, ["", mark, mark, mark, mark]));
    assert!(has_too_many(mark, [mark, mark, mark, mark, ""]));
}

/// Of any number of marks, OpenAI writes the latest.
#[test]
fn a_request_to_openai_may_have_many_marks() {
    let block = r#"{"type":"input_text","text":"Rain?","prompt_cache_breakpoint":{"mode":"explicit"}}"#;
    let blocks = [block; 6].join(",");
    let request = format!(r#"{{"model":"gpt","input":[{{"role":"user","content":[{blocks}]}}]}}"#);
    assert!(!codes("responses", &[], &request).contains(&"S021"));
}

/// Gemini examines the signatures since the last text of the user.
#[test]
fn a_turn_that_is_over_needs_no_signature() {
    let ask = r#"{"role":"user","parts":[{"text":"Roll."}]}"#;
    let call = r#"{"role":"model","parts":[{"functionCall":{"name":"roll","args":{}}}]}"#;
    let signed = r#"{"role":"model","parts":[{"functionCall":{"name":"roll","args":{}},"thoughtSignature":"c2ln"}]}"#;
    let result = r#"{"role":"user","parts":[{"functionResponse":{"name":"roll","response":{"eyes":4}}}]}"#;
    let answer = r#"{"role":"model","parts":[{"text":"4"}]}"#;
    let over = [ask, call, result, answer, ask, signed, result, answer].map(|line| format!("{line}\n")).concat();
    assert!(codes("", &[], &over).is_empty());
    let open = [ask, call, result, answer, ask, signed, result, call, result].map(|line| format!("{line}\n")).concat();
    assert_eq!(codes("", &[], &open), ["S011"]);
}

/// A model that thinks adaptively may think after other content.
#[test]
fn adaptive_thinking_may_come_late() {
    let request = |kind: &str| {
        let blocks = r#"{"type":"text","text":"Well."},{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"Yes."}"#;
        format!(
            r#"{{"model":"claude","thinking":{{"type":"{kind}"}},"messages":[{{"role":"user","content":"Rain?"}},{{"role":"assistant","content":[{blocks}]}},{{"role":"user","content":"And?"}}]}}"#
        )
    };
    assert!(codes("", &[], &request("adaptive")).is_empty());
    assert_eq!(codes("", &[], &request("enabled")), ["S029"]);
}

#[test]
fn logs_of_sound_sessions_have_no_finding() {
    // A call that runs long is answered at once, and later again.
    assert!(codes("", &["pending-call"], &fixture("gemini/adk-long-running.jsonl")).is_empty());
    // Each run has a list of its own, which begins with its instructions.
    assert!(codes("", &[], &fixture("agno/session.json")).is_empty());
    // An entry is a question and its answer.
    assert!(codes("", &[], &fixture("kiro/stored.json")).is_empty());
    // Models that sign no thought have none without a signature.
    assert!(codes("", &["pending-call"], &fixture("pi/trace.jsonl")).is_empty());
    // What a compaction replaced began with the user.
    assert!(codes("", &[], &fixture("anthropic/compaction.jsonl")).is_empty());
    // A call that could not be read is an error in the log, and is not sent.
    assert_eq!(codes("", &[], &fixture("goose/failed.jsonl")), ["S022", "S016", "P003"]);
}

/// A boundary that keeps what it replaces in another member is not empty.
#[test]
fn a_compaction_without_a_summary_is_not_empty() {
    let log = fixture("codex/compacted.jsonl");
    let blank = log.lines().map(|line| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        if record["type"] == "compacted" {
            record["payload"]["message"] = "".into();
        }
        record.to_string() + "\n"
    });
    assert_eq!(codes("", &[], &blank.collect::<String>()), codes("", &[], &log));
}

/// What is written for one provider gets another form before another one reads it.
#[test]
fn the_form_of_another_provider_is_not_reshaped() {
    let chat = concat!(
        r#"{"model":"x","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"No."}]}"#,
        "\n"
    );
    assert!(codes("gemini", &[], chat).is_empty());
    let contents = concat!(
        r#"{"model":"x","contents":[{"role":"user","parts":[{"text":"Rain?"}]},"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]},"#,
        r#"{"role":"function","parts":[{"functionResponse":{"name":"look","response":{}}}]}]}"#,
        "\n"
    );
    assert!(codes("openai", &[], contents).is_empty());
}

/// The provider has the call.
#[test]
fn a_request_that_continues_a_stored_response_has_its_results_alone() {
    let request = |beside: &str| {
        format!(
            r#"{{"model":"gpt-5",{beside}"input":[{{"type":"function_call_output","call_id":"call_1","output":"rain"}}]}}"#
        ) + "\n"
    };
    assert!(codes("", &[], &request(r#""previous_response_id":"resp_1","#)).is_empty());
    assert!(codes("", &[], &request(r#""previous_response_id":null,"#)).contains(&"P001"));
}
