//! Reasoning of LangChain that stands in a block and beside the content.

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Strip, StripKind};
use curtail_core::transcript::Content;

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
    let mut out = String::new();
    TextCutter { chain, ..TextCutter::default() }.cut(&reading(), log, &mut out).expect("it can be cut");
    (thoughts.collect(), out)
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
