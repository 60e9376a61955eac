//! What a message of LangChain says in several places: reasoning, and the arguments of a call.

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{ClearResults, StaleResults, Strip, StripKind};
use curtail_core::transcript::Content;

use super::files::cut;
use crate::laws::cases::tokenizer;

fn reading() -> Reading {
    Reading::new(Framing::Lines, Some("langchain"), None).expect("it is a dialect")
}

/// The reasoning that is read of a log, and what is left of the log without it.
fn reasoning(log: &str) -> (Vec<String>, String) {
    let document = Document::parse_log(log).expect("it is a log");
    let (_, transcript) = reading().transcripts(&document).expect("it is read").remove(0);
    let parts = transcript.messages.iter().flat_map(|message| &message.parts);
    let thoughts = parts.filter_map(|part| match &part.content {
        Content::Reasoning(text) => Some(text.decode().into_owned()),
        _ => None,
    });
    let chain = Chain::default().then(Strip { kinds: vec![StripKind::AllReasoning], ..Strip::default() });
    (thoughts.collect(), cut(chain, log))
}

fn reply(thought: &str, extra: &str) -> String {
    let content = format!(r#"[{thought},{{"type":"text","text":"It is."}}]"#);
    format!(
        "{{\"type\":\"human\",\"data\":{{\"content\":\"Is 7 prime?\",\"type\":\"human\"}}}}\n{{\"type\":\"ai\",\"data\":{{\"content\":{content},\"additional_kwargs\":{extra},\"type\":\"ai\"}}}}\n"
    )
}

#[test]
fn reasoning_that_stands_twice_is_read_once_and_cut_twice() {
    let summary = r#""summary":[{"type":"summary_text","text":"Two"},{"type":"summary_text","text":"no."}]"#;
    for (thought, extra, text) in [
        (r#"{"type":"reasoning","reasoning":"Odd."}"#.to_owned(), r#"{"reasoning_content":"Odd."}"#.to_owned(), "Odd."),
        (r#"{"type":"thinking","thinking":"Odd."}"#.to_owned(), r#"{"reasoning":"Odd."}"#.to_owned(), "Odd."),
        (format!(r#"{{"type":"reasoning",{summary}}}"#), format!(r#"{{"reasoning":{{{summary}}}}}"#), "Two\nno."),
    ] {
        let (thoughts, without) = reasoning(&reply(&thought, &extra));
        assert_eq!(thoughts, [text], "{thought}");
        assert!(!without.contains("Odd") && !without.contains("Two"), "{without}");
    }
    let (thoughts, _) =
        reasoning(&reply(r#"{"type":"reasoning","reasoning":"Odd."}"#, r#"{"reasoning_content":"Even?"}"#));
    assert_eq!(thoughts, ["Even?", "Odd."]);
}

/// `LangChain` reads the calls of a chunk from its chunks of calls: arguments are cleared there as well, and no copy is lost.
#[test]
fn arguments_are_cleared_in_every_copy_of_a_call() {
    let path = "a/very/long/folder/name/that/is/worth/clearing/".repeat(4);
    let spaced = serde_json::json!(format!("{{\"path\": \"{path}\"}}"));
    let chunk = serde_json::json!({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessageChunk"], "kwargs": {
        "content": [],
        "additional_kwargs": {"__openai_function_call_ids__": {"call_1": "fc_1"}},
        "response_metadata": {"output": [{"id": "fc_1", "type": "function_call", "arguments": spaced, "call_id": "call_1", "name": "read"}]},
        "tool_call_chunks": [{"type": "tool_call_chunk", "name": "read", "args": spaced, "id": "call_1", "index": 1}],
        "tool_calls": [{"name": "read", "args": {"path": path}, "id": "call_1", "type": "tool_call"}],
        "invalid_tool_calls": [],
    }});
    let result = serde_json::json!({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "ToolMessage"], "kwargs": {
        "status": "success", "content": "A line of many.\n".repeat(40), "tool_call_id": "call_1", "name": "read",
    }});
    let clear = ClearResults { clear_inputs: true, ..ClearResults::new(StaleResults::AllButLast(0), tokenizer()) };
    let out = cut(Chain::default().then(clear), &format!("{chunk}\n{result}\n"));
    assert!(out.contains("[cleared]") && !out.contains("very/long"), "{out}");
    let chunk: serde_json::Value = serde_json::from_str(out.lines().next().expect("a chunk")).expect("JSON");
    let kwargs = &chunk["kwargs"];
    assert_eq!(kwargs["tool_calls"][0]["args"], serde_json::json!({}));
    assert_eq!(
        (&kwargs["tool_call_chunks"][0]["args"], &kwargs["tool_call_chunks"][0]["id"]),
        (&"{}".into(), &"call_1".into())
    );
    assert_eq!(kwargs["response_metadata"]["output"][0]["arguments"], "{}");
    assert_eq!(kwargs["additional_kwargs"]["__openai_function_call_ids__"]["call_1"], "fc_1");
}
