//! What a message of LangChain says in several places, in a block and beside the content: reasoning and calls; and streams of its
//! graphs.

use curtail_core::dialects::{Framing, Reading, detect_framing};
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    ClearResults, NameGlobs, Repair, RepairMode, StaleResults, Strip, StripKind, ToolFilter, ToolGlobs,
};
use curtail_core::transcript::{Content, Pairs};

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

/// `langchain-google-genai` writes each call over the `function_call` of the one before it.
#[test]
fn a_function_call_is_a_copy_of_the_last_call_of_that_function() {
    let call = |id: &str| format!(r#"{{"name":"look","args":{{}},"id":"{id}","type":"tool_call"}}"#);
    let extra = r#"{"function_call":{"name":"look","arguments":"{}"}}"#;
    let reply = format!(
        r#"{{"type":"ai","content":"","additional_kwargs":{extra},"tool_calls":[{},{}]}}"#,
        call("a"),
        call("b")
    );
    let log = format!(
        "{}\n{reply}\n{}\n",
        r#"{"type":"human","content":"Look."}"#, r#"{"type":"tool","content":"lit","tool_call_id":"a","name":"look"}"#
    );
    let repaired = cut(Chain::default().then(Repair { mode: RepairMode::Drop, pending: true }), &log);
    assert!(repaired.contains(r#""id":"a""#) && !repaired.contains("function_call"), "{repaired}");
}

/// Standard content has a block for a call whose arguments are no JSON.
#[test]
fn an_invalid_call_is_dropped_with_its_block() {
    let call = r#"{"type":"invalid_tool_call","id":"c","name":"horn","args":"{bad","error":"no JSON"}"#;
    let reply = format!(
        r#"{{"type":"ai","content":[{{"type":"text","text":"I try."}},{call}],"invalid_tool_calls":[{call}]}}"#
    );
    let log = format!("{}\n{reply}\n", r#"{"type":"human","content":"Sound it."}"#);
    let repaired = cut(Chain::default().then(Repair { mode: RepairMode::Drop, pending: true }), &log);
    assert!(repaired.contains("I try.") && !repaired.contains("horn"), "{repaired}");
}

#[test]
fn thoughts_of_bedrock_are_reasoning_and_bound_by_their_signatures() {
    for (thought, text, is_bound) in [
        (r#"{"type":"reasoning_content","reasoning_content":{"text":"Odd.","signature":"EqQB"}}"#, "Odd.", true),
        (r#"{"type":"reasoning_content","reasoningText":{"text":"Odd.","signature":"EqQB"}}"#, "Odd.", true),
        (r#"{"type":"reasoning_content","reasoning_content":{"text":"Odd.","signature":""}}"#, "Odd.", false),
        (r#"{"type":"reasoning_content","reasoning_content":{"redacted_content":"T2Rk"}}"#, "", true),
        (r#"{"type":"reasoning_content","redactedContent":"T2Rk"}"#, "", true),
    ] {
        let log = reply(thought, "{}");
        let (thoughts, without) = reasoning(&log);
        assert_eq!(thoughts, [text], "{thought}");
        assert!(!without.contains("reasoning_content") && without.contains("It is."), "{without}");
        let document = Document::parse_log(&log).expect("it is a log");
        let (_, transcript) = reading().transcripts(&document).expect("it is read").remove(0);
        let place = transcript.messages[1].parts[0].place().expect("it has a place");
        assert_eq!(place.prefix_bound, is_bound, "{thought}");
    }
}

/// Two calls of a reply through Responses, one of them of a custom tool, with their results.
const CUSTOM: &str = concat!(
    r#"{"type":"human","content":"Run it.","additional_kwargs":{}}"#,
    "\n",
    r#"{"type":"ai","content":[{"type":"function_call","call_id":"c0","name":"look","arguments":"{}"},"#,
    r#"{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"execute","input":"print(3**4)"}],"#,
    r#""tool_calls":[{"name":"look","args":{},"id":"c0"},{"name":"execute","args":{"__arg1":"print(3**4)"},"id":"c1"}],"#,
    r#""additional_kwargs":{"__gemini_function_call_thought_signatures__":{"c0":"S0","c1":"S1"}}}"#,
    "\n",
    r#"{"type":"tool","content":"ok","tool_call_id":"c0"}"#,
    "\n",
    r#"{"type":"tool","content":[{"type":"custom_tool_call_output","output":"81"}],"tool_call_id":"c1"}"#,
    "\n",
);

#[test]
fn a_call_of_a_custom_tool_is_dropped_with_its_block_and_answered_as_one() {
    let tools = NameGlobs::compile(&["execute"]).expect("a glob");
    let filter = ToolFilter { tools: ToolGlobs::Exclude(tools), persist_results: false, dropped: None };
    let without = cut(Chain::default().then(filter), CUSTOM);
    assert!(!["c1", "execute", "print", "S1"].iter().any(|gone| without.contains(gone)), "{without}");
    assert!(without.contains(r#"{"c0":"S0"}"#), "{without}");
    let (unanswered, _) = CUSTOM.trim_end().rsplit_once('\n').expect("several lines");
    let repaired = cut(Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }), unanswered);
    let stub = repaired.lines().last().expect("several lines");
    assert!(stub.contains(r#""content":[{"type":"custom_tool_call_output","output":""#), "{stub}");
}

#[test]
fn a_call_of_a_computer_is_only_a_block() {
    let log = concat!(
        r#"{"type":"human","content":"Look.","additional_kwargs":{}}"#,
        "\n",
        r#"{"type":"ai","content":[{"type":"computer_call","call_id":"c1","action":{"type":"screenshot"}}],"tool_calls":[]}"#,
        "\n",
        r#"{"type":"tool","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}],"tool_call_id":"c1"}"#,
        "\n",
    );
    let document = Document::parse_log(log).expect("it is a log");
    let (_, transcript) = reading().transcripts(&document).expect("it is read").remove(0);
    assert_eq!(Pairs::from_messages(&transcript.messages).pairs().count(), 1);
}

#[test]
fn the_state_of_the_outermost_graph_is_the_transcript() {
    let human = r#"{"type":"human","content":"Hi","additional_kwargs":{}}"#;
    let ai = r#"{"type":"ai","content":"Hello","additional_kwargs":{}}"#;
    let stream = format!(
        "[[],\"values\",{{\"messages\":[{human}]}}]\n[[],\"values\",{{\"messages\":[{human},{ai}]}}]\n[[\"sub:1\"],\"values\",{{\"messages\":[{human}]}}]\n"
    );
    assert_eq!(detect_framing(&stream, None), Framing::Lines);
    let document = Document::parse_log(&stream).expect("it is a log");
    let (_, transcript) = reading().transcripts(&document).expect("it is read").remove(0);
    assert_eq!(transcript.messages.len(), 2);
}
