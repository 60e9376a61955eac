//! Results that stand in the message of their calls, or several behind one.

use curtail_core::transcript::{Message, Pairs};
use curtail_core::{Cutter, ToolPolicy};

use super::files::read_transcripts;

/// For each result of the only message of Claude's export with these blocks, in order: the id that it has.
fn answered(blocks: &str) -> Vec<Option<String>> {
    let text =
        format!(r#"{{"chat_messages": [{{"uuid": "m", "sender": "assistant", "text": "", "content": [{blocks}]}}]}}"#);
    let mut ids = Vec::new();
    let read = read_transcripts(&text, |dialect, transcript| {
        assert_eq!(dialect.name(), "claude-ai");
        let results = transcript.messages.iter().flat_map(Message::results);
        ids.extend(results.map(|(_, result)| result.id.as_ref().map(|id| id.decode().into_owned())));
    });
    read.expect("it is read");
    ids
}

fn call(id: &str) -> String {
    format!(r#"{{"type": "tool_use", "id": "{id}", "name": "look", "input": {{}}}}"#)
}

fn result(id: Option<&str>) -> String {
    let id = id.map_or_else(|| String::from("null"), |id| format!("\"{id}\""));
    format!(r#"{{"type": "tool_result", "tool_use_id": {id}, "name": "look", "content": "seen"}}"#)
}

#[test]
fn a_result_without_an_id_answers_the_next_call_that_no_other_names() {
    let calls = ["a", "b", "c"].map(call).join(", ");
    for (results, expected) in [
        ([Some("a"), None, None], ["a", "b", "c"]),
        ([None, Some("a"), None], ["b", "a", "c"]),
        ([None, None, Some("b")], ["a", "c", "b"]),
        ([Some("b"), Some("c"), None], ["b", "c", "a"]),
    ] {
        let blocks = format!("{calls}, {}", results.map(result).join(", "));
        let found: Vec<String> = answered(&blocks).into_iter().flatten().collect();
        assert_eq!(found, expected, "{results:?}");
    }
}

/// A step of smolagents has what a tool said and what then went wrong.
#[test]
fn a_result_for_which_no_call_is_left_belongs_to_the_one_before_it() {
    let text = r#"[{"task": "How high is it?", "task_images": null}, {"step_number": 1, "timing": null, "tool_calls": [{"id": "c", "function": {"name": "run", "arguments": "gauge()"}}], "error": {"type": "E", "message": "no such lamp"}, "model_output": "I look.", "observations": "3 metres"}]"#;
    let mut said = Vec::new();
    let read = read_transcripts(text, |_, transcript| {
        let results = transcript.messages.iter().flat_map(Message::results);
        said.extend(results.flat_map(|(_, result)| &result.content).map(|text| text.decode().into_owned()));
    });
    read.expect("it is read");
    assert_eq!(said, ["3 metres", "no such lamp"]);
    let cutter = Cutter::builder().tools(ToolPolicy::drop_all()).build().expect("a policy");
    let shorter = cutter.cut(text).expect("it is cut");
    assert!(shorter.contains("I look.") && !shorter.contains("metres") && !shorter.contains("lamp"), "{shorter}");
}

/// A step of smolagents with what it printed, an error and an image, and one without a call.
#[test]
fn images_and_errors_of_a_step_are_results_of_its_call() {
    let text = include_str!("../../../../../fixtures/dialects/smolagents-chat/errors.json");
    let mut answered = Vec::new();
    read_transcripts(text, |_, transcript| {
        let pairs = Pairs::from_messages(&transcript.messages);
        answered.extend(pairs.results().iter().map(|&result| pairs.counterpart(result).map(|call| call.message)));
    })
    .expect("it is read");
    assert_eq!(answered, [Some(3), Some(3), None, Some(9), Some(9)], "the third is the error of a step without a call");
    let cutter = Cutter::builder().tools(ToolPolicy::drop_all()).build().expect("a policy");
    let shorter = cutter.cut(text).expect("it is cut");
    let gone = ["nine seconds", "horn is not defined", "\"image\"", "was taken"];
    assert!(gone.iter().all(|text| !shorter.contains(text)), "{shorter}");
    let alone = r#"[{"role": "assistant", "content": [{"type": "text", "text": "I look."}]}, {"role": "tool-response", "content": [{"type": "text", "text": "Error: no code"}]}]"#;
    let read = read_transcripts(alone, |_, transcript| {
        assert!(transcript.messages.iter().all(|message| message.calls().next().is_none()), "a sentence is no call");
    });
    read.expect("it is read");
}

/// Gemini 3 searches by itself beside the calls of the program.
#[test]
fn a_tool_that_google_runs_stays_when_the_call_beside_it_is_dropped() {
    let search = r#"{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["oslo"]},"id":"a"}},{"toolResponse":{"toolType":"GOOGLE_SEARCH_WEB","response":{"found":"a city"},"id":"a"},"thoughtSignature":"c2ln"}"#;
    let snake = search
        .replace("toolCall", "tool_call")
        .replace("toolResponse", "tool_response")
        .replace("toolType", "tool_type");
    for search in [search, &snake] {
        let call = r#",{"functionCall":{"name":"weather","args":{},"id":"b"}}"#;
        let answer = r#"{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"output":"cold"},"id":"b"}}]},"#;
        let chat = |call: &str, answer: &str| {
            format!(
                r#"{{"contents":[{{"role":"user","parts":[{{"text":"Go."}}]}},{{"role":"model","parts":[{search}{call}]}},{answer}{{"role":"model","parts":[{{"text":"Cold."}}]}}]}}"#
            )
        };
        let of = |tool| Cutter::builder().tools(ToolPolicy::drop_named([tool])).build().expect("a policy");
        assert_eq!(of("weather").cut(&chat(call, answer)).expect("it is cut"), chat("", ""));
        let rest = of("GOOGLE_*").cut(&chat(call, answer)).expect("it is cut");
        assert!(!rest.contains("a city") && rest.contains("weather"), "{rest}");
    }
}
