//! Events of `OpenHands`: what a condensation forgets, thoughts that several calls share, and usage.

use curtail_core::dialects::dialect_named;
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::Chain;
use curtail_core::processors::{ToolFilter, ToolGlobs};
use curtail_core::transcript::{Message, Role, Standing};
use serde_json::json;

use super::files::{cut, fixture, read_transcripts};
use crate::laws::cases::{globs, last, without};

#[test]
fn a_condensation_keeps_what_it_does_not_name() {
    for (name, forgotten) in [("openhands/condensed.jsonl", 2..6), ("openhands/version0-history.jsonl", 1..5)] {
        let reported = read_transcripts(&fixture(name), |_, transcript| {
            for (at, message) in transcript.messages.iter().enumerate() {
                let superseded = message.standing == Standing::Superseded;
                assert_eq!(superseded, forgotten.contains(&at), "{name}: message {at}");
            }
        });
        reported.expect("it is read");
    }
}

#[test]
fn a_second_condensation_can_forget_the_summary_of_the_first() {
    let second = r#"{"id":"c2","source":"environment","forgotten_event_ids":["c1-summary","u1"],"summary":"Picked.","summary_offset":1,"kind":"Condensation"}"#;
    let text = format!("{}{second}\n", fixture("openhands/condensed.jsonl"));
    let mut seen = Vec::new();
    read_transcripts(&text, |_, transcript| seen.extend(transcript.messages.iter().map(|message| message.standing)))
        .expect("read");
    let still: Vec<usize> = (0..seen.len()).filter(|&at| seen[at].is_read()).collect();
    assert_eq!(still, [0, 7, 8, 9, 10], "the prompt, and what follows the first condensation");
}

/// What a condensation forgot stays forgotten when a note takes its place.
#[test]
fn a_note_in_place_of_a_forgotten_result_is_forgotten() {
    let tools = globs(&["terminal", "run"]);
    for name in ["openhands/condensed.jsonl", "openhands/version0-history.jsonl"] {
        let filter = ToolFilter { tools: ToolGlobs::Exclude(tools.clone()), persist_results: true, dropped: None };
        let text = cut(Chain::default().then(filter), &fixture(name));
        let mut seen = Vec::new();
        read_transcripts(&text, |_, transcript| {
            let summary = transcript.messages.iter().position(Message::is_boundary).expect("a condensation");
            seen.extend(transcript.messages[..summary].iter().map(|message| (message.role, message.standing)));
        })
        .expect("it is read");
        let replies = seen.iter().filter(|(role, standing)| *role == Role::Assistant && standing.is_read());
        assert_eq!(replies.count(), 0, "{name}: {text}");
        assert!(seen.iter().any(|(_, standing)| *standing == Standing::Superseded), "{name}: {text}");
    }
}

#[test]
fn the_place_of_a_summary_follows_a_cut() {
    let text = fixture("openhands/condensed.jsonl");
    for (size, place) in [(4, "\"summary_offset\":0"), (9, "\"summary_offset\":1"), (10, "\"summary_offset\":2")] {
        let out = cut(last(size), &text);
        assert!(out.contains(place), "{size}: {out}");
    }
}

#[test]
fn calls_under_one_signed_thought_stay_together() {
    let signed = fixture("openhands/reasoning.jsonl").replace(
        r#""tool_name":"terminal","tool_call_id":"call_1b""#,
        r#""tool_name":"ruler","tool_call_id":"call_1b""#,
    );
    let out = cut(without("ruler"), &signed);
    assert!(!out.contains("call_1a") && !out.contains("call_1b") && out.contains("call_2a"), "{out}");
    let unsigned = signed.replace(r#","signature":"c2lnbmVkLW9uZQ==""#, "");
    let out = cut(without("ruler"), &unsigned);
    assert!(out.contains("call_1a") && !out.contains("call_1b"), "{out}");
}

/// The usage of a reply is that of the list, also for events that are written after it; sums say what no list does.
#[test]
fn each_usage_of_openhands_is_of_one_reply() {
    let reply = |id: &str| json!({"kind": "ActionEvent", "source": "agent", "llm_response_id": id});
    let update = |sum: u64, list: &[(&str, u64)]| {
        let list = list.iter().map(|(id, input)| json!({"response_id": id, "prompt_tokens": input}));
        let metrics =
            json!({"accumulated_token_usage": {"prompt_tokens": sum}, "token_usages": list.collect::<Vec<_>>()});
        json!({"kind": "ConversationStateUpdateEvent", "value": {"usage_to_metrics": {"agent": metrics}}})
    };
    let events = json!([
        reply("r0"),
        reply("r0"),
        update(100, &[("r0", 100)]),
        reply("r1"),
        update(300, &[("r0", 100), ("r1", 200)]),
        update(300, &[]),
        reply("r2"),
        update(350, &[]),
        reply("r3"),
        reply("r4"),
        update(500, &[]),
        reply("r1"),
    ]);
    let text = events.to_string();
    let document = Document::parse(&text).expect("JSON");
    let events: Vec<Value<'_>> = document.roots().flat_map(Value::items).collect();
    let usages = dialect_named("openhands").expect("a dialect").log().usages(&events);
    let inputs: Vec<_> = usages.into_iter().map(|usage| usage.map_or(0, |usage| usage.input)).collect();
    assert_eq!(inputs, [100, 100, 0, 200, 0, 0, 0, 50, 0, 0, 0, 200]);
}
