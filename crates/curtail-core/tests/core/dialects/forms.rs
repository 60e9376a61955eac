//! Forms of agents and evaluations: condensations, results in the step of their call, and messages inside spans.

use std::collections::HashSet;

use curtail_core::dialects::{Framing, Reading, detect_framing, dialect_named};
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{
    ClearResults, Keep, MessageRange, NameGlobs, Repair, RepairMode, SlidingWindow, StaleResults, ToolFilter,
    ToolGlobs, WindowUnit,
};
use curtail_core::transcript::{Message, Role, Standing};
use serde_json::json;

use super::files::{File, fixtures, read_transcripts};

fn fixture(name: &str) -> String {
    let found: Option<File> = fixtures().into_iter().find(|file| file.name == name);
    found.unwrap_or_else(|| panic!("there is no {name}")).text
}

fn cut(chain: Chain, text: &str) -> String {
    let reading = Reading::new(detect_framing(text, None), None, None).expect("no dialect is named");
    let mut out = String::new();
    TextCutter { chain, explain: false, counting: None }.cut(&reading, text, &mut out).expect("it can be cut");
    out
}

fn without(tool: &str) -> Chain {
    let tools = NameGlobs::compile(&[tool.to_owned()]).expect("a pattern");
    Chain::default().then(ToolFilter { tools: ToolGlobs::Exclude(tools), persist_results: false, dropped: None })
}

fn last(size: usize) -> Chain {
    let keep = Keep { system: false, ..Keep::default() };
    Chain::default().then(SlidingWindow { size, unit: WindowUnit::Items, keep, step: 1 })
}

fn repair(mode: RepairMode) -> Chain {
    Repair { mode, pending: true }.with_drop().into_iter().fold(Chain::default(), Chain::then)
}

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

/// What a condensation forgot stays forgotten when a note takes its place.
#[test]
fn a_note_in_place_of_a_forgotten_result_is_forgotten() {
    let tools = NameGlobs::compile(&["terminal".to_owned(), "run".to_owned()]).expect("patterns");
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

/// A record of an id that was there before takes its place, so two notes of one text need two ids.
#[test]
fn notes_of_one_text_have_ids_of_their_own() {
    let recording: String = (0..3)
        .map(|nth| {
            format!(
                concat!(
                    r#"{{"id":"u{0}","timestamp":"t","type":"user","content":[{{"text":"And now?"}}]}}"#,
                    "\n",
                    r#"{{"id":"g{0}","timestamp":"t","type":"gemini","content":"","toolCalls":[{{"id":"c{0}","name":"weigh","args":{{}},"#,
                    r#""result":[{{"functionResponse":{{"id":"c{0}","name":"weigh","response":{{"output":"7"}}}}}}],"status":"success"}}]}}"#,
                    "\n",
                ),
                nth
            )
        })
        .collect();
    let shown: String = (0..3)
        .map(|nth| {
            format!(
                concat!(
                    r#"{{"id":"u{0}","role":"user","parts":[{{"type":"text","text":"And now?"}}]}}"#,
                    "\n",
                    r#"{{"id":"g{0}","role":"assistant","parts":[{{"type":"tool-weigh","toolCallId":"c{0}","state":"output-available","input":{{}},"output":"7"}}]}}"#,
                    "\n",
                ),
                nth
            )
        })
        .collect();
    for text in [recording, shown] {
        let tools = ToolGlobs::Exclude(NameGlobs::compile(&["weigh".to_owned()]).expect("a pattern"));
        let out = cut(Chain::default().then(ToolFilter { tools, persist_results: true, dropped: None }), &text);
        let ids: HashSet<&str> = out.split("{\"id\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(out.matches("Used weigh tool").count(), 3, "{out}");
        assert_eq!(ids.len(), 6, "{out}");
    }
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
    let tokenizer = curtail_tokens::tokenizers::tokenizer_by_name("o200k_base").expect("the default is there");
    let clear = ClearResults { clear_inputs: true, ..ClearResults::new(StaleResults::AllButLast(0), tokenizer) };
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

/// Programs resume with what the newest record leads back to, whatever a cut leaves of it.
#[test]
fn what_a_rewind_left_is_not_read() {
    let label = r#"{"type":"label","id":"l","parentId":"b9","targetId":"b8","label":"green"}"#;
    let stray = r#"{"type":"message","id":"s","parentId":"b3","message":{"role":"user","content":[{"type":"text","text":"Or white?"}]}}"#;
    let logs = [
        (fixture("qwen/rewind.jsonl"), "Coarse.", "Ground."),
        (fixture("claude-code/rewind.jsonl"), "vinegar", "The beans are dry."),
        (fixture("pi/branches.jsonl"), "no cobalt left\"", "green is mixed."),
        (fixture("pi/branches.jsonl") + stray + "\n" + label + "\n", "Or white?", "green is mixed."),
    ];
    for (log, left, newest) in logs {
        for chain in [Chain::default(), last(4), last(2), without("grind"), without("bash"), without("Bash")] {
            let out = cut(chain, &log);
            read_transcripts(&out, |_, transcript| {
                let read: Vec<&str> = transcript
                    .messages
                    .iter()
                    .filter(|message| message.standing.is_read())
                    .filter_map(|message| message.value().map(Value::raw))
                    .collect();
                assert!(!read.iter().any(|message| message.contains(left)), "{out}");
                assert!(read.iter().any(|message| message.contains(newest)), "{out}");
            })
            .expect("it is read");
        }
    }
}

/// pi would resume from a label of a branch if the messages behind it were dropped without it.
#[test]
fn a_label_of_a_branch_does_not_become_the_newest_entry() {
    let message = |id: &str, parent: &str, text: &str| {
        let message = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
        format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{message}}}"#) + "\n"
    };
    let label = r#"{"type":"label","id":"l","parentId":"a","targetId":"a","label":"clay"}"#.to_owned() + "\n";
    let (before, newest) = (message("b", "\"a\"", "Throw a jug."), message("c", "\"b\"", "Fire it."));
    let log = [message("a", "null", "Knead the clay."), before.clone(), label.clone(), newest].concat();
    let out = cut(Chain::default().then(MessageRange { from: 0, to: Some(2), ..MessageRange::default() }), &log);
    assert!(out.ends_with(&before), "{out}");
    let out = cut(Chain::default().then(MessageRange { from: 2, to: None, ..MessageRange::default() }), &log);
    assert!(out.starts_with(&label.replace("\"parentId\":\"a\"", "\"parentId\":null")), "{out}");
}

/// `OpenCode` orders messages by their time and then their id: a note behind what is left of its message has a later one.
#[test]
fn a_note_behind_a_message_is_sorted_behind_it() {
    let filter = ToolFilter {
        tools: ToolGlobs::Exclude(NameGlobs::compile(&["read".to_owned()]).expect("a pattern")),
        persist_results: true,
        dropped: None,
    };
    let out = cut(Chain::default().then(filter), &fixture("opencode/parallel.json"));
    let export: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let info = export["messages"].as_array().expect("messages").iter().map(|message| &message["info"]);
    let keys: Vec<_> = info.map(|info| (info["time"]["created"].as_u64(), info["id"].as_str())).collect();
    assert!(out.contains("Used read tool") && keys.is_sorted(), "{keys:?}");
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

/// A result is cut and another is added in one step: exactly one comma stands between what stays.
#[test]
fn a_step_loses_a_result_and_gets_another() {
    let step = |results: &str| {
        format!(
            r#"{{"schema_version":"ATIF-v1.4","agent":{{}},"steps":[{{"step_id":1,"source":"user","message":"Look."}},{{"step_id":2,"source":"agent","message":"","tool_calls":[{{"tool_call_id":"a","function_name":"look","arguments":{{}}}},{{"tool_call_id":"b","function_name":"look","arguments":{{}}}}],"observation":{{"results":[{results}]}}}}]}}"#
        )
    };
    let strange = r#"{"source_call_id":"z","content":"from nowhere"}"#;
    let known = r#"{"source_call_id":"a","content":"seen"}"#;
    for (results, left) in [
        (strange.to_owned(), vec!["a", "b"]),
        (format!("{strange}, {known}"), vec!["b", "a"]),
        (format!("{known}, {strange}"), vec!["b", "a"]),
        (String::new(), vec!["a", "b"]),
    ] {
        let out = cut(repair(RepairMode::Stub), &step(&results));
        let read: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
        let results = read["steps"][1]["observation"]["results"].as_array().expect("a list");
        let ids: Vec<&str> = results.iter().filter_map(|result| result["source_call_id"].as_str()).collect();
        assert_eq!(ids, left, "{out}");
    }
}

#[test]
fn a_result_moves_into_the_step_of_its_call() {
    let text = r#"{"schema_version":"1.4","agent":{},"steps":[{"step_id":1,"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"look","arguments":{}}]},{"step_id":2,"source":"system","message":"","observation":{"results":[{"source_call_id":"a","content":"seen"}]}},{"step_id":3,"source":"agent","message":"Done."}]}"#;
    let read: serde_json::Value = serde_json::from_str(&cut(repair(RepairMode::Move), text)).expect("JSON");
    let steps = read["steps"].as_array().expect("steps");
    assert_eq!(steps.iter().map(|step| step["step_id"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert_eq!(steps[0]["observation"]["results"][0]["content"], "seen");
}

/// Harbor refuses a trajectory whose steps are not numbered from 1.
#[test]
fn the_steps_of_a_cut_trajectory_are_numbered_from_one() {
    let persisted = |tool: &str| {
        let tools = NameGlobs::compile(&[tool.to_owned()]).expect("a pattern");
        Chain::default().then(ToolFilter { tools: ToolGlobs::Exclude(tools), persist_results: true, dropped: None })
    };
    let chains = || [last(1), last(2), without("*"), persisted("*"), persisted("*").then(Repair::default())];
    for name in ["atif/minimal.jsonl", "atif/parallel.json", "atif/in-flight.jsonl", "atif/observations.jsonl"] {
        for (nth, chain) in chains().into_iter().enumerate() {
            let out: serde_json::Value = serde_json::from_str(&cut(chain, &fixture(name))).expect("JSON");
            let steps = out["steps"].as_array().expect("steps");
            let numbers: Vec<_> = steps.iter().filter_map(|step| step["step_id"].as_u64()).collect();
            assert_eq!(numbers, (1..=steps.len() as u64).collect::<Vec<_>>(), "{name}, chain {nth}");
        }
    }
}

/// `validateUIMessages` refuses a message without an id, and Gemini CLI passes over one when it resumes a recording.
#[test]
fn a_message_is_written_with_an_id_where_all_have_one() {
    for (name, key) in [("ai-sdk/ui-parallel.json", None), ("gemini/cli.json", Some("messages"))] {
        let tools = NameGlobs::compile(&["*".to_owned()]).expect("a pattern");
        let chain = Chain::default().then(ToolFilter {
            tools: ToolGlobs::Exclude(tools),
            persist_results: true,
            dropped: None,
        });
        let text = cut(chain, &fixture(name));
        let out: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let messages = key.map_or(&out, |key| &out[key]).as_array().expect("messages");
        assert!(text.contains("Used ") && messages.iter().all(|message| message["id"].is_string()), "{name}: {out:#}");
    }
}

#[test]
fn calls_with_one_observation_stay_together() {
    let text =
        fixture("atif/observations.jsonl").replacen("\"function_name\":\"shell\"", "\"function_name\":\"mop\"", 1);
    let out = cut(without("mop"), &text);
    assert!(!out.contains("call_1_1") && !out.contains("call_1_2") && out.contains("Two commands."), "{out}");
}

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

#[test]
fn a_messages_key_can_contain_dots() {
    let text = fixture("otel/span.jsonl");
    for (key, count) in [("attributes.gen_ai.output.messages", 1), ("attributes.gen_ai.input.messages", 3)] {
        let reading = Reading::new(Framing::Records, None, Some(key.to_owned())).expect("no dialect is named");
        let document = Document::parse_all(&text).expect("JSON");
        let transcripts = reading.transcripts(&document).expect("messages");
        assert_eq!(transcripts[0].1.messages.len(), count, "{key}");
    }
}

#[test]
fn trajectories_of_sub_agents_stay_and_a_cut_says_so() {
    let text = fixture("atif/embedded.json");
    let reading = Reading::new(detect_framing(&text, None), None, None).expect("no dialect is named");
    let printed = |chain: Chain| {
        let mut out = String::new();
        let cut =
            TextCutter { chain, explain: false, counting: None }.cut(&reading, &text, &mut out).expect("it can be cut");
        (out, cut.notes.into_iter().map(|(_, note)| note).collect::<Vec<_>>())
    };
    let (out, notes) = printed(last(1));
    let embedded = |text: &str| text[text.find("\"subagent_trajectories\"").expect("they stay")..].to_owned();
    assert!(out.len() < text.len() && embedded(&out) == embedded(&text), "{out}");
    assert!(notes.iter().any(|note| note.contains("1 sub-agent")), "{notes:?}");
    assert_eq!(printed(last(100)), (text.clone(), Vec::new()), "what is not cut needs no note");
}

/// A comma before an element with a list inside it goes with what stood before the comma.
#[test]
fn an_element_with_a_list_inside_it_can_be_the_first() {
    let message = |text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        )
    };
    let compacted = r#"{"type":"compacted","payload":{"replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"It is 42."}]}]}}"#;
    let log = format!("[{}, {compacted}, {}]\n", message("What is the key?"), message("Thanks."));
    assert_eq!(cut(last(2), &log), format!("[{compacted}, {}]\n", message("Thanks.")));
    let lines = format!("{}\n{compacted}\n{}\n", message("What is the key?"), message("Thanks."));
    assert_eq!(cut(last(2), &lines), format!("{compacted}\n{}\n", message("Thanks.")));
}
