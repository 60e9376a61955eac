//! The compactions of agents' logs: what the model read before one and after it, whatever agent wrote the log.
//!
//! Each log tells the same: the user names the orders 48213 and 55120, and then the invoice 77001; the summary names only the
//! order 48213; the invoice stands in what the agent kept word for word, if it keeps anything.

use serde_json::{Value, json};

use crate::program::{Place, run, text};

const ASKED: &str = "Fix the orders 48213 and 55120 in src/cart.py. Never push to main.";
const LATER: &str = "Also look at invoice 77001.";
const SUMMARY: &str = "The user wants order 48213 to be fixed in src/cart.py. Never push to main.";

/// The log of an agent.
struct Log {
    agent: &'static str,
    /// The name of its file.
    name: &'static str,
    text: String,
    /// Whether the agent keeps what the user said last.
    keeps_last: bool,
}

fn log(agent: &'static str, keeps_last: bool, items: &[Value]) -> Log {
    let text = items.iter().map(|item| item.to_string() + "\n").collect();
    Log { agent, name: "log.jsonl", text, keeps_last }
}

fn document(agent: &'static str, keeps_last: bool, document: &Value) -> Log {
    Log { agent, name: "log.json", text: document.to_string(), keeps_last }
}

fn claude_code() -> Log {
    let line = |kind: &str, nth: u32, parent: Option<u32>, more: &Value| {
        let id = |nth: u32| format!("5b0e7c1a-0000-4000-8000-00000000000{nth}");
        let mut line = json!({"parentUuid": parent.map(id), "isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "s", "version": "2.1.33", "type": kind, "uuid": id(nth), "timestamp": format!("2026-03-02T09:00:0{nth}.000Z")});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let said = |role: &str, text: &str| json!({"message": {"role": role, "content": text}});
    let mut summary = said("user", SUMMARY);
    summary["isCompactSummary"] = json!(true);
    log(
        "Claude Code",
        false,
        &[
            line("user", 1, None, &said("user", ASKED)),
            line("assistant", 2, Some(1), &said("assistant", "I will.")),
            line("user", 3, Some(2), &said("user", LATER)),
            line(
                "system",
                4,
                None,
                &json!({"subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "5b0e7c1a-0000-4000-8000-000000000003", "compactMetadata": {"trigger": "auto", "preTokens": 9000}}),
            ),
            line("user", 5, Some(4), &summary),
            line("assistant", 6, Some(5), &said("assistant", "I go on.")),
        ],
    )
}

fn codex_line(kind: &str, payload: &Value) -> Value {
    json!({"timestamp": "2026-04-11T08:01:05.000Z", "type": kind, "payload": payload})
}

fn spoken(role: &str, text: &str) -> Value {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// A session of Codex with this compaction, and then with `more`.
fn codex(agent: &'static str, keeps_last: bool, compacted: &Value, more: &[Value]) -> Log {
    let mut lines = vec![
        codex_line(
            "session_meta",
            &json!({"id": "019d", "timestamp": "2026-04-11T08:00:00.000Z", "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.106.0"}),
        ),
        codex_line("response_item", &spoken("user", ASKED)),
        codex_line("response_item", &spoken("assistant", "I will.")),
        codex_line("response_item", &spoken("user", LATER)),
        codex_line("compacted", compacted),
        codex_line("response_item", &spoken("assistant", "I go on.")),
    ];
    lines.extend(more.iter().cloned());
    log(agent, keeps_last, &lines)
}

fn pi() -> Log {
    let entry = |nth: u32, parent: Option<&str>, role: &str, text: &str| json!({"type": "message", "id": format!("e{nth}"), "parentId": parent, "timestamp": "2026-05-01T10:00:01.000Z", "message": {"role": role, "content": [{"type": "text", "text": text}]}});
    log(
        "pi",
        true,
        &[
            json!({"type": "session", "version": 3, "id": "019e", "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/w"}),
            entry(1, None, "user", ASKED),
            entry(2, Some("e1"), "assistant", "I will."),
            entry(3, Some("e2"), "user", LATER),
            json!({"type": "compaction", "id": "e4", "parentId": "e3", "timestamp": "2026-05-01T10:00:04.000Z", "summary": SUMMARY, "firstKeptEntryId": "e3", "tokensBefore": 9000}),
            entry(5, Some("e4"), "assistant", "I go on."),
        ],
    )
}

fn gemini_cli() -> Log {
    let line = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": "2026-11-22T18:39:19.000Z", "type": kind, "content": [{"text": text}]});
    let snapshot = format!("<state_snapshot>{SUMMARY}</state_snapshot>");
    let context = line("c0", "user", "<session_context>\nToday is Sunday.\n</session_context>");
    log(
        "Gemini CLI",
        true,
        &[
            json!({"sessionId": "c-3", "projectHash": "9f2c", "startTime": "2026-11-22T18:39:18.588Z", "lastUpdated": "2026-11-22T18:39:18.588Z", "kind": "main"}),
            json!({"$set": {"messages": [context], "lastUpdated": "2026-11-22T18:39:18.000Z"}}),
            line("u1", "user", ASKED),
            line("g1", "gemini", "I will."),
            line("u2", "user", LATER),
            json!({"$set": {"messages": [line("s1", "user", &snapshot), line("s2", "gemini", "Got it. Thanks for the additional context!"), line("u2", "user", LATER)], "lastUpdated": "2026-11-22T18:39:40.000Z"}}),
            line("g2", "gemini", "I go on."),
        ],
    )
}

fn qwen() -> Log {
    let line = |nth: u32, parent: Option<u32>, kind: &str, more: &Value| {
        let id = |nth: u32| format!("7a1b0000-0000-4000-8000-00000000040{nth}");
        let mut line = json!({"uuid": id(nth), "parentUuid": parent.map(id), "sessionId": "q-4", "timestamp": "2026-08-01T09:00:01.000Z", "type": kind, "cwd": "/w", "version": "0.21.13"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let said = |role: &str, text: &str| json!({"message": {"role": role, "parts": [{"text": text}]}});
    let snapshot = format!("<state_snapshot>{SUMMARY}</state_snapshot>");
    let part = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    log(
        "Qwen Code",
        true,
        &[
            line(1, None, "user", &said("user", ASKED)),
            line(2, Some(1), "assistant", &said("model", "I will.")),
            line(3, Some(2), "user", &said("user", LATER)),
            line(
                4,
                Some(3),
                "system",
                &json!({"subtype": "chat_compression", "systemPayload": {"info": {"originalTokenCount": 900, "newTokenCount": 400, "compressionStatus": 1}, "compressedHistory": [part("user", &snapshot), part("model", "Got it. Thanks for the additional context!"), part("user", LATER)]}}),
            ),
            line(5, Some(4), "assistant", &said("model", "I go on.")),
        ],
    )
}

fn copilot() -> Log {
    let event = |nth: u32, kind: &str, data: &Value| json!({"type": kind, "data": data, "id": format!("c4-{nth}"), "timestamp": format!("2026-03-04T09:00:0{nth}.000Z"), "parentId": (nth > 1).then(|| format!("c4-{}", nth - 1))});
    log(
        "Copilot",
        false,
        &[
            event(1, "session.start", &json!({"sessionId": "c4", "version": 1, "producer": "copilot-agent"})),
            event(2, "user.message", &json!({"content": ASKED, "attachments": []})),
            event(3, "assistant.message", &json!({"messageId": "m-1", "content": "I will.", "toolRequests": []})),
            event(4, "user.message", &json!({"content": LATER, "attachments": []})),
            event(5, "session.compaction_start", &json!({})),
            event(
                6,
                "session.compaction_complete",
                &json!({"success": true, "preCompactionTokens": 9000, "preCompactionMessagesLength": 3, "summaryContent": SUMMARY, "checkpointNumber": 1}),
            ),
            event(7, "assistant.message", &json!({"messageId": "m-2", "content": "I go on.", "toolRequests": []})),
        ],
    )
}

fn opencode() -> Log {
    let message = |nth: u32, role: &str, more: &Value, parts: &[Value]| {
        let id = format!("msg_20a00000{nth}000LampOilWickFog");
        let mut info = json!({"id": id, "sessionID": "ses_1", "role": role, "time": {"created": 1_790_000_000_000_u64 + u64::from(nth) * 1000}, "agent": "build"});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let parts: Vec<Value> = (0..)
            .zip(parts)
            .map(|(at, part)| {
                let mut part = part.clone();
                part["id"] = json!(format!("prt_{nth}{at}"));
                part["messageID"] = json!(id);
                part["sessionID"] = json!("ses_1");
                part
            })
            .collect();
        json!({"info": info, "parts": parts})
    };
    let said = |text: &str| json!({"type": "text", "text": text});
    let reply = |parent: u32| json!({"parentID": format!("msg_20a00000{parent}000LampOilWickFog"), "mode": "build", "finish": "stop", "modelID": "m", "providerID": "p", "time": {"created": 1_790_000_009_000_u64, "completed": 1_790_000_009_500_u64}});
    let mut summary = reply(4);
    summary["summary"] = json!(true);
    summary["mode"] = json!("compaction");
    summary["agent"] = json!("compaction");
    document(
        "OpenCode",
        false,
        &json!({
            "info": {"id": "ses_1", "slug": "s", "projectID": "global", "directory": "/w", "title": "t", "version": "1.18.33", "time": {"created": 1_790_000_000_000_u64, "updated": 1_790_000_009_000_u64}},
            "messages": [
                message(1, "user", &json!({}), &[said(ASKED)]),
                message(2, "assistant", &reply(1), &[said("I will.")]),
                message(3, "user", &json!({}), &[said(LATER)]),
                message(4, "user", &json!({}), &[json!({"type": "compaction", "auto": true})]),
                message(5, "assistant", &summary, &[said(SUMMARY)]),
                message(6, "user", &json!({}), &[json!({"type": "text", "text": "Continue if you have next steps", "synthetic": true})]),
                message(7, "assistant", &reply(6), &[said("I go on.")]),
            ],
        }),
    )
}

fn openhands() -> Log {
    let said = |id: &str, source: &str, role: &str, text: &str| json!({"id": id, "timestamp": "2026-03-02T09:14:02.120000", "source": source, "llm_message": {"role": role, "content": [{"cache_prompt": false, "type": "text", "text": text}], "thinking_blocks": []}, "activated_skills": [], "extended_content": [], "kind": "MessageEvent"});
    log(
        "OpenHands",
        true,
        &[
            said("u1", "user", "user", ASKED),
            said("a1", "agent", "assistant", "I will."),
            said("u2", "user", "user", LATER),
            json!({"id": "c1", "timestamp": "2026-03-02T09:14:08.120000", "source": "environment", "forgotten_event_ids": ["u1", "a1"], "summary": SUMMARY, "summary_offset": 0, "llm_response_id": "resp_3", "kind": "Condensation"}),
            said("a2", "agent", "assistant", "I go on."),
        ],
    )
}

fn adk() -> Log {
    let actions =
        json!({"stateDelta": {}, "artifactDelta": {}, "requestedAuthConfigs": {}, "requestedToolConfirmations": {}});
    let event = |nth: u32, author: &str, role: &str, text: &str| json!({"content": {"parts": [{"text": text}], "role": role}, "invocationId": format!("e-{nth}"), "author": author, "actions": actions, "id": format!("ev-{nth}"), "timestamp": 1_771_000_000.0 + f64::from(nth)});
    let mut compaction = actions.clone();
    compaction["compaction"] = json!({"startTimestamp": 1_771_000_001.0, "endTimestamp": 1_771_000_002.0, "compactedContent": {"parts": [{"text": SUMMARY}], "role": "model"}});
    document(
        "ADK",
        true,
        &json!({
            "id": "s-2", "appName": "guide", "userId": "u-1", "state": {},
            "events": [
                event(1, "user", "user", ASKED),
                event(2, "guide", "model", "I will."),
                event(3, "user", "user", LATER),
                {"invocationId": "c-3.5", "author": "user", "actions": compaction, "id": "ev-c", "timestamp": 1_771_000_003.5},
                event(5, "guide", "model", "I go on."),
            ],
        }),
    )
}

fn roo() -> Log {
    let said = |role: &str, text: &str, ts: u32, more: &Value| {
        let mut line = json!({"role": role, "content": [{"type": "text", "text": text}], "ts": ts});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let hidden = json!({"condenseParent": "c-1"});
    document(
        "Roo",
        false,
        &json!([
            said("user", &format!("<user_message>\n{ASKED}\n</user_message>"), 1, &hidden),
            said("assistant", "I will.", 2, &hidden),
            said("user", &format!("<user_message>\n{LATER}\n</user_message>"), 3, &hidden),
            said(
                "user",
                &format!("## Conversation Summary\n{SUMMARY}"),
                4,
                &json!({"isSummary": true, "condenseId": "c-1"})
            ),
            said("assistant", "I go on.", 5, &json!({})),
        ]),
    )
}

fn anthropic() -> Log {
    log(
        "Anthropic",
        false,
        &[
            json!({"role": "user", "content": ASKED}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "I will."}]}),
            json!({"role": "user", "content": LATER}),
            json!({"role": "assistant", "content": [{"type": "compaction", "content": SUMMARY}, {"type": "text", "text": "I go on."}]}),
        ],
    )
}

/// Codex with a summary in a list, which a later compaction superseded.
fn codex_superseded() -> Log {
    let list = json!({"message": "", "replacement_history": [spoken("user", LATER), spoken("user", SUMMARY)]});
    let next = json!({"message": "", "replacement_history": [spoken("user", "Nothing is left.")]});
    let more = [codex_line("compacted", &next), codex_line("response_item", &spoken("assistant", "Done."))];
    codex("Codex, superseded", true, &list, &more)
}

fn logs() -> Vec<Log> {
    let list = json!({"message": "", "replacement_history": [spoken("user", LATER), spoken("user", SUMMARY)]});
    vec![
        claude_code(),
        codex("Codex", true, &list, &[]),
        codex("Codex, text", false, &json!({"message": SUMMARY}), &[]),
        codex_superseded(),
        pi(),
        gemini_cli(),
        qwen(),
        copilot(),
        opencode(),
        openhands(),
        adk(),
        roo(),
        anthropic(),
    ]
}

/// The comparisons of the compactions of a log.
fn compactions(log: &Log) -> Vec<Value> {
    let place = Place::new();
    place.write(log.name, log.text.as_bytes());
    let path = place.path(log.name).display().to_string();
    let output = run(&["verify", "--output-format", "json", &path], "");
    let report: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    report["pairs"].as_array().unwrap().clone()
}

fn fate(pair: &Value, words: &str) -> Option<String> {
    let facts = pair["facts"].as_array().unwrap();
    let fact = facts.iter().find(|fact| fact["kind"] == "identifier" && fact["text"] == words)?;
    Some(fact["fate"].as_str().unwrap().to_owned())
}

#[test]
fn before_and_after_are_what_the_model_read() {
    let mut wrong = String::new();
    for log in logs() {
        let found = compactions(&log);
        let Some(first) = found.first() else {
            wrong += &format!("{}: no compaction\n", log.agent);
            continue;
        };
        let last = if log.keeps_last { "kept" } else { "lost" };
        for (words, expected) in [("48213", "kept"), ("55120", "lost"), ("77001", last)] {
            let fate = fate(first, words);
            if fate.as_deref() != Some(expected) {
                wrong += &format!("{}: {words} is {fate:?}, not {expected}\n", log.agent);
            }
        }
        let expected = if log.agent == "Codex, superseded" { 2 } else { 1 };
        if found.len() != expected {
            wrong += &format!("{}: {} compactions\n", log.agent, found.len());
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Nobody can know what a provider encrypted, wherever it stands.
#[test]
fn what_is_encrypted_is_unknown() {
    let item = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABo".repeat(20)});
    let responses = [
        spoken("user", ASKED),
        spoken("assistant", "I will."),
        spoken("user", LATER),
        item.clone(),
        spoken("user", "Go on."),
    ];
    let list = json!({"message": "", "replacement_history": [spoken("user", LATER), item]});
    let next = json!({"message": "", "replacement_history": [spoken("user", "Nothing is left.")]});
    let more = [codex_line("compacted", &next), codex_line("response_item", &spoken("assistant", "Done."))];
    for log in [
        log("Responses", false, &responses),
        codex("Codex", true, &list, &[]),
        codex("Codex, superseded", true, &list, &more),
    ] {
        let found = compactions(&log);
        let first = &found[0];
        assert_eq!(
            (fate(first, "48213").as_deref(), first["kept"]["share"].is_null()),
            (Some("unknown"), true),
            "{}",
            log.agent
        );
        let last = if log.keeps_last { "kept" } else { "unknown" };
        assert_eq!(fate(first, "77001").as_deref(), Some(last), "{}", log.agent);
    }
}

/// A resumed session writes its history again: nothing is lost, and nothing is reported.
#[test]
fn a_history_that_is_written_again_is_no_compaction() {
    let found = run(&["verify", "--all", "fixtures/dialects/gemini/cli-resumed.jsonl"], "");
    assert_eq!((found.status.code(), text(&found.stdout)), (Some(0), String::new()));
    assert_eq!(text(&found.stderr), "curtail: no compaction found; pass BEFORE and AFTER to compare two files\n");
}
