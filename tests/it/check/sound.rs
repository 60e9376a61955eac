//! What programs write themselves is no fault.

use super::{json, lines, reported};

/// Transcripts in which nothing is wrong, each with what could be taken for a fault.
const SOUND: &[(&str, &str, &[&str])] = &[
    (
        "the input of a custom tool is any text",
        "openai",
        &[
            r#"{"role":"user","content":"Light the lamp."}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"lamp","input":"light it\nuntil dawn"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"lit"}"#,
            r#"{"role":"assistant","content":"It is lit."}"#,
        ],
    ),
    (
        "an answer that was spoken has no other text",
        "openai",
        &[
            r#"{"role":"user","content":"Is the lamp lit?"}"#,
            r#"{"role":"assistant","content":null,"audio":{"id":"a1","data":"UklGRg==","expires_at":1772359200,"transcript":"It is lit."}}"#,
            r#"{"role":"user","content":"And the horn?"}"#,
            r#"{"role":"assistant","content":"It is silent."}"#,
        ],
    ),
    (
        "what models of other providers think is not signed in a task of Cline",
        "anthropic",
        &[
            r#"{"role":"user","content":[{"type":"text","text":"<task>Light the lamp.</task>"}],"ts":1772359200000}"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Oil first.","signature":"","summary":[]},{"type":"tool_use","id":"t1","name":"lamp","input":{},"call_id":"r1"}],"ts":1772359201000,"modelInfo":{"modelId":"m","providerId":"cline","mode":"act"}}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"lit"}],"ts":1772359202000}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"It is lit."}],"ts":1772359203000,"modelInfo":{"modelId":"m","providerId":"cline","mode":"act"}}"#,
        ],
    ),
    (
        "results without ids answer in their order where calls have none",
        "ollama",
        &[
            r#"{"model":"m","messages":[{"role":"user","content":"Light the lamp."},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"lamp","arguments":{"until":"dawn"}}}]},{"role":"tool","tool_name":"lamp","content":"lit"},{"role":"assistant","content":"It is lit."}],"options":{"num_ctx":4096}}"#,
        ],
    ),
    (
        "marks of a program are no messages",
        "kimi-context",
        &[
            r#"{"role":"_checkpoint","id":0}"#,
            r#"{"role":"user","content":"Is the lamp lit?"}"#,
            r#"{"role":"assistant","content":[{"type":"think","think":"I see it."},{"type":"text","text":"It is."}]}"#,
            r#"{"role":"_usage","token_count":210}"#,
        ],
    ),
    (
        "the short form of messages is sound in a request of the Responses API",
        "responses",
        &[
            r#"{"model":"m","instructions":"You keep the lighthouse.","input":[{"role":"developer","content":"Be brief."},{"role":"user","content":"Is the lamp lit?"},{"role":"assistant","content":"It is."},{"role":"user","content":"And the horn?"}]}"#,
        ],
    ),
    (
        "the header and the end of a turn are no messages in a session of Zencoder",
        "zencoder",
        &[
            r#"{"id":"s","chatId":"c","creationReason":"newChat","version":"1"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Is the lamp lit?","tag":"user-input"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"It is."}]}"#,
            r#"{"role":"finish","reason":"endTurn"}"#,
        ],
    ),
    (
        "the error of a step is what came of its call",
        "smolagents",
        &[
            r#"{"task":"Light the lamp.","task_images":null}"#,
            r#"{"step_number":1,"timing":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"lamp","arguments":{}}}],"error":{"type":"AgentToolExecutionError","message":"no oil"},"model_output":null,"observations":null}"#,
            r#"{"step_number":2,"timing":null,"tool_calls":[],"error":null,"model_output":"There is no oil.","observations":null}"#,
        ],
    ),
];

#[test]
fn what_programs_write_is_sound() {
    for (why, dialect, transcript) in SOUND {
        let report = json(&[], &lines(transcript));
        assert_eq!(reported(&report), Vec::<String>::new(), "{why}");
        let named = json(&["--dialect", dialect], &lines(transcript));
        assert_eq!(named["findings"], report["findings"], "{why}: as `{dialect}`");
    }
}

/// The same, where it is a fault.
#[test]
fn what_only_looks_like_it_is_a_fault() {
    for (rule, transcript) in [
        (
            "signature-lost",
            &[
                r#"{"role":"user","content":"Light the lamp."}"#,
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Oil first."},{"type":"text","text":"It is lit."}]}"#,
            ][..],
        ),
        (
            "invalid-arguments",
            &[
                r#"{"role":"user","content":"Light the lamp."}"#,
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"lamp","arguments":"light it"}}]}"#,
                r#"{"role":"tool","tool_call_id":"c1","content":"lit"}"#,
            ],
        ),
        (
            "unknown-role",
            &[
                r#"{"role":"user","content":"Is the lamp lit?"}"#,
                r#"{"role":"finish","content":"It is."}"#,
                r#"{"role":"assistant","content":"It is."}"#,
            ],
        ),
    ] {
        let report = json(&[], &lines(transcript));
        assert!(reported(&report).iter().any(|found| found.starts_with(rule)), "{rule}: {:?}", reported(&report));
    }
}
