//! Reasoning and calls of LangChain that stand in a block and beside the content, and streams of its graphs.

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{NameGlobs, Processor, Repair, RepairMode, Strip, StripKind, ToolFilter, ToolGlobs};
use curtail_core::transcript::{Content, Pairs};

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
    (thoughts.collect(), cut(log, Strip { kinds: vec![StripKind::AllReasoning], ..Strip::default() }))
}

fn cut(log: &str, processor: impl Processor + 'static) -> String {
    let chain = Chain::default().then(processor);
    let mut out = String::new();
    TextCutter { chain, ..TextCutter::default() }.cut(&reading(), log, &mut out).expect("it can be cut");
    out
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
    let without = cut(CUSTOM, filter);
    assert!(!["c1", "execute", "print", "S1"].iter().any(|gone| without.contains(gone)), "{without}");
    assert!(without.contains(r#"{"c0":"S0"}"#), "{without}");
    let (unanswered, _) = CUSTOM.trim_end().rsplit_once('\n').expect("several lines");
    let repaired = cut(unanswered, Repair { mode: RepairMode::Stub, pending: true });
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
    let document = Document::parse_log(&stream).expect("it is a log");
    let (_, transcript) = reading().transcripts(&document).expect("it is read").remove(0);
    assert_eq!(transcript.messages.len(), 2);
}
