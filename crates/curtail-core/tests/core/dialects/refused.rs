//! What is refused, and with which advice: formats that no dialect reads, and lists whose newest item is first.

use curtail_core::dialects::{Framing, Reading, detect_framing, dialect_named};
use curtail_core::pipeline::TextCutter;
use serde_json::{Value, json};

use super::files::read_transcripts;

#[test]
fn spans_that_are_not_unfolded_are_refused_with_advice() {
    let spans = [
        r#"{"attributes":{"gen_ai.input.messages":"[]"}}"#,
        r#"{"gen_ai.input.messages":"[]"}"#,
        r#"{"attributes":[{"key":"gen_ai.input.messages","value":{"stringValue":"[]"}}]}"#,
        r#"{"resourceSpans":[{"scopeSpans":[]}]}"#,
    ];
    for span in spans {
        let error = read_transcripts(span, |_, _| panic!("{span} is read")).expect_err(span);
        assert!(error.what.starts_with("no messages in these spans"), "{}", error.what);
    }
}

const AMP: &str =
    r#"[{"role": "user", "content": [{"type": "tool_result", "toolUseID": "t", "run": {"result": "lit"}}]}]"#;

#[test]
fn what_no_dialect_reads_is_refused_by_name() {
    for (text, expected) in [
        (r#"{"type": "RUN_STARTED", "threadId": "t"}"#, "a stream of AG-UI events"),
        (r#"{"type": "RUN_FINISHED", "threadId": "t"}"#, "| last | .messages"),
        (r#"{"kind": 2, "k": ["requests"], "v": []}"#, "without its first line"),
        (AMP, "which curtail does not read; describe the format with --dialect-file"),
        (r#"{"jsonrpc": "2.0", "method": "session/update", "params": {"update": {}}}"#, "the Agent Client Protocol"),
        (r#"{"type": "conversation.item.created", "item": {"type": "message"}}"#, "a log of Realtime events"),
        (r#"{"message_tree_id": "a", "prompt": {"text": "Lit?", "replies": []}}"#, "a tree of OASST"),
        (
            r#"{"message_id": "a", "parent_id": null, "text": "Lit?", "role": "prompter", "message_tree_id": "a"}"#,
            "a tree of OASST",
        ),
        (r#"{"text": "<|im_start|>user\nLit?<|im_end|>"}"#, "a chat template rendered"),
        (r#"{"text": "<|start|>user<|message|>Lit?<|end|>"}"#, "a chat template rendered"),
        (r#"{"system": "S", "chat": "USER: Lit?\n\n\nASSISTANT: Yes. <|endoftext|>"}"#, "a chat template rendered"),
        (r#"[{"ts": 1, "type": "say", "say": "task", "text": "Lit?"}]"#, "`api_conversation_history.json`"),
        (r#"{"internal": [["Lit?", "Yes."]], "visible": []}"#, "--messages-key internal"),
        (r#"{"id": "0", "data": ["Lit?", "Yes."]}"#, "a row of texts by turns"),
        (
            r#"{"type": "TeamState", "version": "1.0.0", "agent_states": {}}"#,
            "agent_states.NAME.agent_state.llm_context",
        ),
        (r#"{"role": "user", "says": "Lit?", "blocks": []}"#, "nearest are "),
    ] {
        let framing = detect_framing(text, None);
        let reading = Reading { framing, dialect: None, named: false, messages_key: None };
        let document = reading.parse(text).expect("JSON");
        let error = reading.transcripts(&document).err().unwrap_or_else(|| panic!("{text} is refused"));
        assert!(error.what.contains(expected), "{text}: {}", error.what);
    }
}

#[test]
fn lists_that_are_newest_first_are_refused() {
    let message = |at: u32, role: &str| json!({"object": "thread.message", "created_at": at, "role": role, "content": [{"type": "text", "text": {"value": "Lit?"}}]});
    let list = |messages: [Value; 2]| json!({"object": "list", "data": messages}).to_string();
    let reading = Reading { framing: Framing::Records, dialect: None, named: false, messages_key: None };
    let right = list([message(1, "user"), message(2, "assistant")]);
    assert_eq!(reading.transcripts(&reading.parse(&right).unwrap()).unwrap()[0].1.messages.len(), 2);
    let wrong = list([message(2, "assistant"), message(1, "user")]);
    // Who names the dialect would lose the newest messages as well.
    for dialect in [None, dialect_named("openai-threads")] {
        let reading = Reading { dialect, named: dialect.is_some(), ..reading.clone() };
        let error = reading.transcripts(&reading.parse(&wrong).unwrap()).err().expect("it is refused");
        assert!(error.what.contains("newest first"), "{}", error.what);
        assert!(error.what.ends_with("jq -c '.data |= reverse'"), "{}", error.what);
    }
}

/// `AgentCore` lists the newest event first, with its time as a text or in seconds.
#[test]
fn events_that_are_listed_newest_first_are_refused() {
    let event = |time: &Value, role: &str| json!({"eventId": "e", "eventTimestamp": time, "payload": [{"conversational": {"content": {"text": "Lit?"}, "role": role}}]});
    let reading = Reading { framing: Framing::Records, dialect: None, named: false, messages_key: None };
    for times in [
        ["2026-03-01T10:00:00+00:00", "2026-03-01T10:00:02+00:00"].map(Value::from),
        ["2026-03-01 10:00:00+00:00", "2026-03-01 10:00:02+00:00"].map(Value::from),
        [1_772_359_200.5, 1_772_359_202.0].map(Value::from),
    ] {
        let [first, last] = &times;
        let right = json!({"events": [event(first, "USER"), event(last, "ASSISTANT")]}).to_string();
        assert_eq!(reading.transcripts(&reading.parse(&right).unwrap()).unwrap()[0].1.messages.len(), 2);
        let wrong = json!({"events": [event(last, "ASSISTANT"), event(first, "USER")]}).to_string();
        let error = reading.transcripts(&reading.parse(&wrong).unwrap()).err().expect("it is refused");
        assert!(
            error.what.ends_with("(`eventTimestamp` falls); reverse them first: jq -c '.events |= reverse'"),
            "{}",
            error.what
        );
    }
}

const USER: &str = r#"{"type":"message","id":"m1","role":"user","content":[{"type":"input_text","text":"Lit?"}]}"#;
const CALL: &str = r#"{"type":"function_call","call_id":"c1","name":"look","arguments":"{}"}"#;
const RESULT: &str = r#"{"type":"function_call_output","call_id":"c1","output":"lit"}"#;
const REPLY: &str =
    r#"{"type":"message","id":"m2","role":"assistant","content":[{"type":"output_text","text":"It is."}]}"#;
const THOUGHT: &str = r#"{"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"A lamp."}]}"#;

/// Items as the Conversations API lists them.
fn listed(items: &[&str]) -> String {
    format!(r#"{{"object":"list","data":[{}],"first_id":"a","last_id":"b","has_more":false}}"#, items.join(","))
}

/// A server lists items newest first unless it is asked otherwise, and they have no time.
#[test]
fn items_that_are_listed_newest_first_are_refused() {
    for (items, is_refused) in [
        (&[USER, CALL, RESULT, REPLY][..], false),
        (&[REPLY, RESULT, CALL, USER], true),
        (&[RESULT, CALL], true),
        (&[USER, REPLY], false),
        (&[REPLY, USER], false),
        (&[REPLY, USER, CALL, RESULT, REPLY, USER], false),
        (&[RESULT, REPLY, USER, REPLY], false),
        (&[REPLY], false),
        (&[USER, THOUGHT, REPLY, USER], false),
        (&[REPLY, THOUGHT, USER], true),
        (&[REPLY, THOUGHT, USER, REPLY, THOUGHT, USER], true),
        // A reply that ended early, after one that did not.
        (&[USER, THOUGHT, REPLY, THOUGHT, USER], false),
        (&[THOUGHT, REPLY, THOUGHT, USER], false),
        (&[USER, REPLY, USER, REPLY, THOUGHT, USER, REPLY], false),
    ] {
        let list = listed(items);
        let error = read_transcripts(&list, |_, _| {}).err().map(|error| error.what);
        assert_eq!(error.as_ref().is_some_and(|what| what.contains("newest first")), is_refused, "{list}: {error:?}");
        assert!(error.is_none_or(|what| what.ends_with("jq -c '.data |= reverse'")), "{list}");
    }
}

/// Of texts alone, nothing shows for certain that they are listed newest first.
#[test]
fn items_that_may_be_listed_newest_first_are_remarked_on() {
    for (items, is_remarked) in [
        (&[REPLY, USER][..], true),
        (&[REPLY, USER, REPLY, USER], true),
        (&[USER, REPLY], false),
        (&[REPLY, USER, REPLY], false),
        (&[REPLY], false),
        (&[REPLY, USER, CALL, RESULT, REPLY, USER], false),
        (&[REPLY, USER, THOUGHT, REPLY, USER], false),
    ] {
        let mut cut = String::new();
        let reading = Reading::new(Framing::Document, None, None).expect("a reading");
        let notes = TextCutter::default().cut(&reading, &listed(items), &mut cut).expect("a cut").notes;
        let notes: Vec<&str> = notes.iter().map(|(_, note)| note.as_str()).collect();
        let is_right = notes.iter().all(|note| note.ends_with("reverse them first: jq -c '.data |= reverse'"));
        assert!(notes.len() == usize::from(is_remarked) && is_right, "{items:?}: {notes:?}");
    }
}
