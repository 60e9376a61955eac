//! The provider's usage as the programs write it, and the times that a cache depends on.

use serde_json::{Value, json};

use super::{per_request, replay, replay_named, tokens};

/// Input, tokens read from and written to the cache, as the log has them, of every request of `as recorded`.
fn recorded(report: &Value) -> Vec<Option<[u64; 3]>> {
    let requests = report["sessions"][0]["policies"][0]["requests"].as_array().unwrap();
    let figure = |request: &Value, name: &str| request["recorded"][name].as_u64();
    let three = |request: &Value| {
        Some([figure(request, "tokens_sent")?, figure(request, "cache_read")?, figure(request, "cache_write")?])
    };
    requests.iter().map(three).collect()
}

fn lines(items: &[Value]) -> String {
    items.iter().map(|item| item.to_string() + "\n").collect()
}

#[test]
fn kimi_counts_at_the_end_of_a_step() {
    let event = |kind: &str, more: Value, time: u64| {
        let mut event = json!({"type": kind, "stepUuid": format!("s{time}")});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"type": "context.append_loop_event", "event": event, "time": 1_785_613_800_000 + time * 1000})
    };
    let asked = |letter: char| {
        let message =
            json!({"role": "user", "content": [{"type": "text", "text": tokens(letter, 100)}], "toolCalls": []});
        json!({"type": "context.append_message", "message": message, "time": 1_785_613_800_000_u64})
    };
    let usage = |other: u64, read: u64| json!({"inputOther": other, "output": 5, "inputCacheRead": read, "inputCacheCreation": 0});
    let record = |usage: Value| json!({"type": "usage.record", "model": "m", "usage": usage, "usageScope": "session", "time": 1});
    let log = lines(&[
        json!({"type": "metadata", "protocol_version": "1", "created_at": 1}),
        asked('a'),
        event("content.part", json!({"part": {"type": "text", "text": "Yes."}}), 1),
        event("tool.call", json!({"toolCallId": "c", "name": "ls", "args": {}}), 1),
        event("tool.result", json!({"toolCallId": "c", "result": {"output": "a.txt"}}), 1),
        event("step.end", json!({"usage": usage(120, 0)}), 1),
        record(usage(120, 0)),
        asked('b'),
        event("content.part", json!({"part": {"type": "text", "text": "No."}}), 1000),
        event("step.end", json!({"usage": usage(150, 100)}), 1000),
        record(usage(9000, 0)),
    ]);
    let report = replay(&log, &["-p", "window", "--cache", "marked"]);
    assert_eq!(recorded(&report), [Some([120, 0, 0]), Some([250, 100, 0])]);
    // Both steps are one request each, at times in milliseconds. The log says what was in the cache after 999 seconds.
    let times: Vec<&Value> = report["sessions"][0]["policies"][0]["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|request| &request["time"])
        .collect();
    assert_eq!(times, ["2026-08-01T19:50:01.000Z", "2026-08-01T20:06:40.000Z"]);
    assert_eq!((&report["sessions"][0]["times"], &report["sessions"][0]["paused_before"]), (&json!(true), &json!([2])));
    assert_eq!(per_request(&report, 0, "cache_read"), [0, 100]);
}

#[test]
fn seconds_since_1970_are_times() {
    let message = |role: &str, content: String, time: f64| json!({"role": role, "content": content, "extra": {"timestamp": time}, "model": "m"});
    let chat = |pause: f64| {
        lines(&[
            message("user", tokens('a', 100), 1.78e9),
            message("assistant", tokens('d', 10), 1.78e9 + 0.5),
            message("user", tokens('b', 100), 1.78e9 + 1.0),
            message("assistant", tokens('d', 10), 1.78e9 + pause),
        ])
    };
    for (pause, read) in [(200.0, 100), (400.0, 0)] {
        let report = replay(&chat(pause), &["-p", "window"]);
        assert_eq!(per_request(&report, 0, "cache_read"), [0, read]);
        assert_eq!(report["sessions"][0]["times"], json!(true));
    }
}

#[test]
fn gemini_langchain_and_atif_count_beside_a_reply() {
    let api = json!({"promptTokenCount": 90, "cachedContentTokenCount": 64, "candidatesTokenCount": 5});
    let gemini = lines(&[
        json!({"author": "user", "invocation_id": "i", "content": {"role": "user", "parts": [{"text": "Hi."}]}}),
        json!({"author": "a", "invocation_id": "i", "content": {"role": "model", "parts": [{"text": "Hi."}]}, "usageMetadata": api}),
    ]);
    let recording = lines(&[
        json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"}),
        json!({"id": "1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": [{"text": "Hi."}]}),
        json!({"id": "2", "timestamp": "2026-01-01T00:00:01Z", "type": "gemini", "content": "Hi.",
            "tokens": {"input": 90, "output": 5, "cached": 64, "thoughts": 1, "tool": 0, "total": 96}}),
    ]);
    let qwen = lines(&[
        json!({"uuid": "1", "parentUuid": null, "type": "user", "message": {"role": "user", "parts": [{"text": "Hi."}]}}),
        json!({"uuid": "2", "parentUuid": "1", "type": "assistant", "usageMetadata": api,
            "message": {"role": "model", "parts": [{"text": "Hi."}]}}),
    ]);
    let split = json!({"input_tokens": 90, "output_tokens": 5, "input_token_details": {"cache_read": 64}});
    let langchain = lines(&[
        json!({"type": "human", "data": {"content": "Hi."}}),
        json!({"type": "ai", "data": {"content": "Hi.", "usage_metadata": split}}),
    ]);
    let metrics = json!({"prompt_tokens": 90, "cached_tokens": 64, "completion_tokens": 5});
    let atif = json!({"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": [
        {"step_id": 1, "source": "user", "message": "Hi."},
        {"step_id": 2, "source": "agent", "message": "Hi.", "metrics": metrics},
    ]});
    for (name, log) in [
        ("gemini.jsonl", gemini),
        ("recording.jsonl", recording),
        ("qwen.jsonl", qwen),
        ("langchain.jsonl", langchain),
        ("atif.json", atif.to_string()),
    ] {
        let report = replay_named(name, &log, &["-p", "window"]);
        assert_eq!(recorded(&report), [Some([90, 64, 0])], "{name}");
    }
}

/// A sample of `inspect_ai` with two replies, and the events of a model; `id` is whether replies have ids.
fn sample(id: bool, events: &[Value]) -> String {
    let message = |role: &str, number: &str| match id {
        true => {
            json!({"id": number, "role": role, "content": "Hi.", "source": if role == "user" { "input" } else { "generate" }})
        }
        false => json!({"role": role, "content": "Hi.", "source": "generate"}),
    };
    let messages =
        [message("user", "u1"), message("assistant", "a1"), message("user", "u2"), message("assistant", "a2")];
    json!({"eval": {}, "samples": [{"id": 1, "epoch": 1, "target": "", "messages": messages, "events": events}]})
        .to_string()
}

fn model_event(id: Option<&str>, input: u64, read: u64) -> Value {
    let usage =
        json!({"input_tokens": input, "output_tokens": 5, "total_tokens": input + 5, "input_tokens_cache_read": read});
    let mut message = json!({"role": "assistant", "content": "Hi."});
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    json!({"event": "model", "model": "openai/m", "output": {"choices": [{"message": message}], "usage": usage}})
}

#[test]
fn inspect_counts_in_the_events_of_a_sample() {
    // A judge's reply is no message of the sample.
    let events = [model_event(Some("a1"), 90, 0), model_event(Some("judge"), 7, 0), model_event(Some("a2"), 190, 64)];
    let named = replay_named("log.json", &sample(true, &events), &["-p", "window"]);
    assert_eq!(recorded(&named), [Some([90, 0, 0]), Some([190, 64, 0])]);
    let nameless = [model_event(None, 90, 0), model_event(None, 190, 64)];
    let in_order = replay_named("log.json", &sample(false, &nameless), &["-p", "window"]);
    assert_eq!(recorded(&in_order), [Some([90, 0, 0]), Some([190, 64, 0])]);
    // With another number of replies than messages, nothing tells which is which.
    let unclear = replay_named("log.json", &sample(false, &nameless[..1]), &["-p", "window"]);
    assert_eq!(recorded(&unclear), [None, None]);
}

#[test]
fn openhands_counts_in_updates_of_its_state() {
    let event = |source: &str, role: &str, id: Option<&str>| {
        json!({"kind": "MessageEvent", "source": source, "id": id.unwrap_or("u"), "timestamp": "2026-01-01T00:00:00",
            "llm_message": {"role": role, "content": [{"type": "text", "text": "Hi."}]}, "llm_response_id": id})
    };
    let stats = |input: u64, read: u64, more: Value| {
        let mut agent = json!({"model_name": "m", "accumulated_token_usage": {"prompt_tokens": input, "completion_tokens": 5,
            "cache_read_tokens": read, "cache_write_tokens": 0}});
        agent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"kind": "ConversationStateUpdateEvent", "source": "environment", "id": "s", "key": "stats",
            "value": {"usage_to_metrics": {"agent": agent, "condenser": {"accumulated_token_usage": {"prompt_tokens": 7}}}}})
    };
    let (asked, none) = (event("user", "user", None), json!({}));
    let reply = |id| event("agent", "assistant", Some(id));
    let after = [
        asked.clone(),
        reply("r1"),
        stats(90, 0, none.clone()),
        stats(90, 0, none.clone()),
        asked.clone(),
        reply("r2"),
        stats(280, 64, none.clone()),
    ];
    assert_eq!(recorded(&replay(&lines(&after), &["-p", "window"])), [Some([90, 0, 0]), Some([190, 64, 0])]);
    let before = [
        asked.clone(),
        stats(90, 0, none.clone()),
        reply("r1"),
        asked.clone(),
        stats(280, 64, none.clone()),
        reply("r2"),
    ];
    assert_eq!(recorded(&replay(&lines(&before), &["-p", "window"])), [Some([90, 0, 0]), Some([190, 64, 0])]);
    // One update after two replies: the sum of both is the figure of neither, unless a list names them.
    let late = |more: Value| {
        let log = lines(&[asked.clone(), reply("r1"), asked.clone(), reply("r2"), stats(280, 64, more)]);
        recorded(&replay(&log, &["-p", "window"]))
    };
    assert_eq!(late(none), [None, None]);
    let one = |id: &str, input: u64, read: u64| json!({"response_id": id, "prompt_tokens": input, "cache_read_tokens": read, "cache_write_tokens": 0});
    let named = late(json!({"token_usages": [one("r1", 90, 0), one("r2", 190, 64)]}));
    assert_eq!(named, [Some([90, 0, 0]), Some([190, 64, 0])]);
}
