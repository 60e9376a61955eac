//! Shrunk cases that once broke a law.

use std::fmt::Write as _;

use curtail_core::dialects::Framing;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    ClearResults, DropMessages, Keep, MediaLimits, Overflow, Repair, RepairMode, StaleResults, Strip, StripKind,
    WindowUnit,
};
use curtail_core::transcript::Role;
use curtail_memory::rolling::Counted;
use proptest::test_runner::TestCaseError;

use super::cases::{CASES, history, keep, limit, persist, rolling, tokenizer};
use super::check::{Stage, check_laws, check_stages, cut_with, is_refused};
use crate::dialects::files::{folder, paths};

fn holds(dialect: &str, items: &[&str]) {
    let text = items.iter().map(|item| format!("{item}\n")).collect::<String>();
    for case in CASES {
        check_laws(case, Some(dialect), Framing::Lines, &text).unwrap_or_else(|error| panic!("{error}"));
    }
}

const FETCH: &str = r#"{"from":"function_call","value":"{\"name\":\"fetch\",\"arguments\":{}}"}"#;
const SEARCH: &str = r#"{"from":"function_call","value":"{\"name\":\"search\",\"arguments\":{}}"}"#;
const BATCH: &str = r#"{"from":"function_call","value":"[{\"name\":\"search\",\"arguments\":{}},{\"name\":\"bash\",\"arguments\":{}}]"}"#;
const RESULT: &str = r#"{"from":"observation","value":"found"}"#;
const SAYS: &str = r#"{"from":"gpt","value":"One moment"}"#;
const ASKS: &str = r#"{"from":"human","value":"Now?"}"#;

/// Without the batch and its result, an earlier call of the turn would take a result that is not its own.
#[test]
fn a_result_is_not_handed_to_another_call() {
    holds("sharegpt", &[ASKS, FETCH, SAYS, BATCH, RESULT, FETCH, RESULT, RESULT, SAYS, ASKS]);
    holds("sharegpt", &[ASKS, SEARCH, SAYS, BATCH, RESULT, RESULT, SAYS, RESULT, ASKS]);
}

/// A repeated result is dropped with the call that it names: the text beside it is not in flight.
#[test]
fn a_text_beside_a_repeated_result_is_not_in_flight() {
    let question = r#"{"role":"user","content":[{"type":"text","text":"Key?"}]}"#;
    let reply = r#"{"role":"assistant","content":[{"type":"text","text":"One moment."}]}"#;
    let calls = |id: &str| {
        format!(r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"search","input":{{}}}}]}}"#)
    };
    let result = |text: &str, id: &str| {
        format!(r#"{{"role":"user","content":[{text}{{"type":"tool_result","tool_use_id":"{id}","content":"mat"}}]}}"#)
    };
    let (first, last) = (calls("a"), calls("c"));
    let (answer, again) = (result("", "a"), result(r#"{"type":"text","text":"Still there."},"#, "a"));
    holds("anthropic", &[question, &first, &answer, reply, question, reply, &again, &last, &result("", "c")]);
}

/// A window that has to start on a user does not start inside the round in flight, on what a person wrote beside a result.
#[test]
fn a_window_starts_on_no_user_in_flight() {
    let reply = r#"{"role":"assistant","content":[{"type":"text","text":"One moment."},{"type":"tool_use","id":"a","name":"search","input":{}}]}"#;
    let answer = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"mat"},{"type":"text","text":"Still there?"}]}"#;
    holds("anthropic", &[reply, answer]);
    let text = format!("{reply}\n{answer}\n");
    let window = Chain::default().then(history(2, WindowUnit::Items, keep(true, 2, true)));
    assert_eq!(cut_with(window, Some("anthropic"), Framing::Lines, &text).unwrap(), text);
}

/// A path to the newest entry that begins with a link out of the log takes a block of memory as any other does.
#[test]
fn a_block_joins_a_path_that_begins_outside_the_log() {
    let entry = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let [question, reply] = [entry("b1", "null", "user", "Which jug?"), entry("b2", "\"b1\"", "assistant", "Blue.")];
    let [second_question, second_reply] =
        [entry("b8", "\"b7\"", "user", "Green."), entry("b9", "\"b8\"", "assistant", "Mixed.")];
    let items = [&*question, &reply, &second_question, &second_reply];
    holds("pi", &items);
    let text = items.map(|item| format!("{item}\n")).concat();
    let case = CASES.iter().find(|case| case.name == "memory").expect("a case");
    let out = cut_with((case.chain)(), Some("pi"), Framing::Lines, &text).unwrap();
    let block = out.lines().find(|line| line.contains("orking_memory")).expect("it is written");
    let child = out.lines().find(|line| line.contains("Green.")).expect("it stays");
    assert!(block.contains(r#""parentId":"b7""#) && !child.contains("b7"), "{out}");
}

/// A head and a window meet: what was between them kept a call and a result apart.
#[test]
fn a_head_and_a_window_do_not_join_strangers() {
    holds("sharegpt", &[ASKS, SEARCH, ASKS, SEARCH, RESULT, RESULT, SAYS, RESULT]);
    holds("sharegpt", &[ASKS, FETCH, ASKS, SAYS, SAYS, SAYS, RESULT, SAYS, SAYS]);
}

/// A message closes earlier calls only as long as it has calls itself.
#[test]
fn a_message_that_lost_its_calls_closes_nothing() {
    let reply = |text: &str, calls: &[&str]| {
        let text = (!text.is_empty()).then(|| format!(r#"{{"type":"text","text":"{text}"}}"#));
        let calls = calls.iter().map(|name| format!(r#"{{"type":"tool_use","name":"{name}","input":{{}}}}"#));
        let blocks: Vec<String> = text.into_iter().chain(calls).collect();
        format!(r#"{{"role":"assistant","message":{{"content":[{}]}}}}"#, blocks.join(","))
    };
    let result =
        r#"{"role":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"found"}]}]}}"#;
    let items =
        [reply("a", &["bash"]), result.into(), reply("", &["search", "fetch"]), reply("a", &["bash"]), result.into()];
    holds("cursor", &items.iter().map(String::as_str).collect::<Vec<_>>());
}

/// What a message between two results keeps apart, belongs together once it is dropped: the first result no longer answers
/// all calls.
#[test]
fn a_result_that_gets_a_neighbor_answers_one_call() {
    holds("sharegpt", &[ASKS, BATCH, RESULT, ASKS, RESULT, SAYS]);
    holds("sharegpt", &[ASKS, BATCH, RESULT, SAYS, RESULT, ASKS, SAYS]);
    holds("sharegpt", &[BATCH, RESULT, ASKS, ASKS, RESULT, RESULT, ASKS, SAYS]);
}

/// A result that answers nothing leaves with what kept it apart from calls in a text, which stay with the results that they had.
#[test]
fn an_exchange_in_texts_takes_no_further_result() {
    let calls = r#"{"from":"gpt","value":"[search(query='a'), bash(query='b'), fetch(query='c')]"}"#;
    let [result, rule] = ["tool", "system"].map(|from| format!(r#"{{"from":"{from}","value":"Mind the gap"}}"#));
    let without_rules =
        || Chain::default().then(Strip { roles: vec![Role::Assistant, Role::Tool], ..Strip::default() });
    for (text, items, kept) in [
        ("a result more", vec![ASKS, calls, &result, &rule, &result, SAYS], vec![1, 2, 5]),
        ("the first result", vec![ASKS, SAYS, &rule, &result, SAYS], vec![1, 4]),
        ("a result more than calls", vec![ASKS, calls, &result, &result, &result, &rule, &result], vec![0, 1, 2, 3, 4]),
    ] {
        holds("sharegpt", &items);
        let lines = |items: &[&str]| items.iter().map(|item| format!("{item}\n")).collect::<String>();
        let out = cut_with(without_rules(), Some("sharegpt"), Framing::Lines, &lines(&items)).unwrap();
        let expected: Vec<&str> = kept.iter().map(|&at| items[at]).collect();
        assert_eq!(out, lines(&expected), "{text}");
    }
}

/// A step of a tool without a call does not become the result of a call that a cut brings next to it.
#[test]
fn a_step_without_a_call_stays_one() {
    let question = r#"{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","content":"Now?"}"#;
    let calls = r#"{"step_index":1,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","content":"","tool_calls":[{"name":"search","args":{}}]}"#;
    let step = r#"{"step_index":2,"source":"MODEL","type":"GENERIC","status":"DONE","content":"found"}"#;
    let reply = r#"{"step_index":3,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","content":"Done."}"#;
    holds("antigravity", &[question, calls, question, step, reply, step, question, reply]);
    holds("antigravity", &[calls, question, question, step, question, reply, question, reply]);
    holds("antigravity", &[question, calls, reply, step, step, calls, step, step, question]);
}

/// A thought binds the calls of its reply. Where the cut drops the thought, the calls are decided on as a second run would.
#[test]
fn calls_are_bound_only_as_long_as_their_thought_is_there() {
    let event = |id: &str, rest: &str| format!("{{\"id\":\"{id}\",\"timestamp\":\"2026-01-21T20:40:08\",{rest}}}");
    let action = |id: &str, call: &str, name: &str, thought: &str| {
        let call = format!(
            r#""tool_name":"{name}","tool_call_id":"{call}","tool_call":{{"id":"{call}","name":"{name}","arguments":"{{}}"}}"#
        );
        event(
            id,
            &format!(r#""source":"agent","thought":[],{thought}{call},"llm_response_id":"r9","kind":"ActionEvent""#),
        )
    };
    let reply = |id: &str, who: &str, role: &str, text: &str| {
        let message = format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}"#);
        event(id, &format!(r#""source":"{who}","llm_message":{message},"kind":"MessageEvent""#))
    };
    let observation = |id: &str, call: &str| {
        let result = r#"{"content":[{"type":"text","text":"a long walk by the sea, and back before it rained"}],"is_error":false}"#;
        let call = format!(r#""tool_name":"fetch","tool_call_id":"{call}","observation":{result},"action_id":"a""#);
        event(id, &format!(r#""source":"environment",{call},"kind":"ObservationEvent""#))
    };
    let thought = r#""reasoning_content":"first this","thinking_blocks":[{"type":"thinking","thinking":"first this","signature":"c2ln"}],"#;
    let items = [
        observation("e0", "c0"),
        reply("e1", "agent", "assistant", "One moment"),
        reply("e2", "user", "user", "What now, and what then?"),
        action("e9-0", "c0", "fetch", thought),
        action("e9-1", "c1", "fetch", ""),
        action("e9-2", "c2", "bash", ""),
        reply("e10", "user", "user", "a walk by the sea"),
        observation("e11", "c1"),
    ];
    holds("openhands", &items.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The history of a compaction is between a thought and the call after it: they are not one.
#[test]
fn a_thought_before_a_compaction_leads_to_nothing_after_it() {
    let item = |payload: &str| format!("{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{payload}}}");
    let message = |role: &str, kind: &str| {
        format!("{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"Words\"}}]}}")
    };
    let (question, answer) = (message("user", "input_text"), message("assistant", "output_text"));
    let thought = item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]}"#);
    let compacted = format!(
        "{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{{\"message\":\"\",\"replacement_history\":[{question},{question}]}}}}"
    );
    let call = item(r#"{"type":"function_call","call_id":"call_1","name":"search","arguments":"{}"}"#);
    let result = item(r#"{"type":"function_call_output","call_id":"call_1","output":"found"}"#);
    let (question, answer) = (item(&question), item(&answer));
    holds("codex", &[&thought, &compacted, &call, &result, &answer, &question, &answer]);
}

/// A result in flight loses its call, and the instructions beside it stay: they are not in flight, and take a place in the window.
#[test]
fn what_is_left_of_a_round_in_flight_counts() {
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"search","input":{{}}}}"#);
    let calls = format!(r#"{{"role":"assistant","content":[{},{}]}}"#, call("c0"), call("c1"));
    let result = |rule: &str| {
        let rule = format!(r#"{{"type":"mid_conv_system","content":[{{"type":"text","text":"{rule}"}}]}}"#);
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c1","content":[{{"type":"text","text":"found"}}]}},{rule}]}}"#
        )
    };
    let question = r#"{"role":"user","content":"Now?"}"#.to_owned();
    let items = [calls.clone(), calls, result("rule 0"), question, result("rule 1")];
    holds("anthropic", &items.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A message of the user that loses everything but instructions is one of the application.
#[test]
fn instructions_alone_are_not_said_by_the_user() {
    let rule = r#"{"type":"mid_conv_system","content":[{"type":"text","text":"The pier closes at nine."}]}"#;
    let question = r#"{"role":"user","content":"Where is the ferry?"}"#;
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"ferry","input":{}}]}"#;
    let result =
        format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c","content":"there"}},{rule}]}}"#);
    holds("anthropic", &[question, call, &result, r#"{"role":"assistant","content":"At the pier."}"#]);
}

/// The lines of a log of Claude Code, each with the line before it as its parent.
fn claude_code(entries: &[String]) -> String {
    let mut parent = "null".to_owned();
    let line = |(nth, entries): (usize, &String)| {
        let (role, content) = entries.split_once(' ').expect("a role and a content");
        let id = format!("\"00000000-0000-4000-8000-{nth:012}\"");
        let message = format!(r#"{{"role":"{role}","content":{content}}}"#);
        let line = format!(
            r#"{{"parentUuid":{parent},"uuid":{id},"isSidechain":false,"sessionId":"s","type":"{role}","message":{message}}}"#
        );
        parent = id;
        line + "\n"
    };
    entries.iter().enumerate().map(line).collect()
}

fn calls(id: &str, tool: &str) -> String {
    format!(r#"assistant [{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{}}}}]"#)
}

fn text_and_call(id: &str, tool: &str) -> String {
    calls(id, tool).replace('[', r#"[{"type":"text","text":"One moment"},"#)
}

fn results(ids: &[&str]) -> String {
    let result =
        |id: &&str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"four words and more"}}"#);
    format!("user [{}]", ids.iter().map(result).collect::<Vec<_>>().join(","))
}

/// The ids of notes are those that the stage gave them, whatever later stages do to their texts.
#[test]
fn notes_keep_their_ids_in_a_chain() {
    let entries = [calls("s0", "search"), calls("f0", "fetch"), calls("b0", "bash"), calls("b1", "bash")];
    let text = claude_code(&[&entries[..], &[results(&["s0", "b0", "b1"])]].concat());
    for tokens in 1..60 {
        let truncate = move || Chain::default().then(limit(tokens, Overflow::Truncate));
        chain_is_its_stages(&[Box::new(|| persist("bash")), Box::new(truncate)], &text);
    }
}

/// Notes of two stages before one pending call: the first keeps its id.
#[test]
fn a_note_of_a_later_stage_takes_no_id() {
    let entries = [calls("f0", "fetch"), calls("s0", "search"), calls("b0", "bash"), results(&["s0", "b0"])];
    let text = claude_code(&[&["user \"Now?\"".into()], &entries[..]].concat());
    chain_is_its_stages(&[Box::new(|| persist("search")), Box::new(|| persist("bash"))], &text);
    chain_is_its_stages(&[Box::new(|| persist("bash")), Box::new(|| persist("search"))], &text);
}

/// A note beside a note of an earlier stage has the id that it would have beside a message that was read.
#[test]
fn a_note_beside_a_note_has_an_id_of_its_own() {
    let entries = ["user \"Now?\"".into(), text_and_call("s0", "search"), calls("b0", "bash"), results(&["s0", "b0"])];
    let text = claude_code(&[&entries[..], &["assistant \"Done.\"".into()]].concat());
    chain_is_its_stages(&[Box::new(|| persist("bash")), Box::new(|| persist("search"))], &text);
}

/// Notes hang from what precedes them in the log, and nothing before a compaction becomes part of what follows it.
#[test]
fn notes_are_linked_in_a_chain_as_by_stages() {
    for dialect in ["claude-code", "copilot", "droid", "pi", "qwen"] {
        for file in paths(&folder().join(dialect)) {
            let text = std::fs::read_to_string(&file).expect("fixtures are UTF-8");
            for size in 1..6 {
                let window = move || Chain::default().then(history(size, WindowUnit::Items, keep(true, 0, false)));
                let summary = move || Chain::default().then(rolling(size, 3, Counted::Message));
                for then in [Box::new(window) as Stage, Box::new(summary)] {
                    let stages: [Stage; 2] = [Box::new(|| persist("*")), then];
                    check_stages(&stages, Some(dialect), Framing::Lines, &text)
                        .unwrap_or_else(|error| panic!("{}, {size}: {error}", file.display()));
                }
            }
        }
    }
}

/// The newest record hangs off one that hangs off the first: whether the two are dropped at once or one after another, it
/// continues the same record.
#[test]
fn a_record_has_one_home_however_its_ancestors_are_dropped() {
    let record = |id: usize, parent: &str, content: &str| {
        format!(
            r#"{{"parentUuid":{parent},"uuid":"u{id}","isSidechain":false,"sessionId":"s","type":"user","message":{{"role":"user","content":"{content}"}}}}"#
        ) + "\n"
    };
    let reply = |id: usize, parent: usize| record(id, &format!("\"u{parent}\""), "Now?");
    let mark = r#"{"parentUuid":null,"logicalParentUuid":"u0","uuid":"u9","isSidechain":false,"sessionId":"s","type":"system","subtype":"compact_boundary"}"#;
    let begins = record(0, "null", "go");
    let forked = [begins.clone(), reply(1, 0), reply(2, 1), reply(3, 0), reply(4, 2), reply(5, 3)].concat();
    let compacted =
        [begins, reply(1, 0), reply(2, 0), mark.to_owned() + "\n", reply(3, 9), reply(4, 2), reply(5, 3)].concat();
    let drops = |message: usize| -> Stage {
        Box::new(move || {
            Chain::default().then(DropMessages {
                messages: std::iter::once(message..message + 1).collect(),
                ..DropMessages::default()
            })
        })
    };
    for text in [forked, compacted] {
        for first in 0..5 {
            for second in 0..4 {
                chain_is_its_stages(&[drops(first), drops(second)], &text);
                for third in 0..3 {
                    chain_is_its_stages(&[drops(first), drops(second), drops(third)], &text);
                }
            }
        }
    }
}

/// A result that an earlier stage shortened is as long as its current text: the placeholder has to be shorter than that.
#[test]
fn a_shortened_result_is_cleared_as_if_it_were_read_again() {
    let entries = [calls("s0", "search"), results(&["s0"]), calls("s1", "search"), results(&["s1"])];
    let text = claude_code(&entries).replace("four words and more", "a b c d e f g h i j k l m n o p");
    let clear = || Chain::default().then(ClearResults::new(StaleResults::AllButLast(1), tokenizer()));
    for tokens in 1..60 {
        let truncate = move || Chain::default().then(limit(tokens, Overflow::Truncate));
        chain_is_its_stages(&[Box::new(truncate), Box::new(clear)], &text);
    }
}

/// Without the result beside it, a prompt is one that somebody typed: it begins a turn, in the same run as in the next.
#[test]
fn a_prompt_that_loses_its_result_begins_a_turn() {
    let call =
        r#"{"parts":[{"tool_name":"look","args":{},"tool_call_id":"a","part_kind":"tool-call"}],"kind":"response"}"#;
    let question = r#"{"parts":[{"content":"Now?","part_kind":"user-prompt"}],"kind":"request"}"#;
    let reply = r#"{"parts":[{"content":"Soon.","part_kind":"text"}],"kind":"response"}"#;
    let both = r#"{"parts":[{"tool_name":"look","content":"a lamp","tool_call_id":"a","part_kind":"tool-return"},{"content":"And?","part_kind":"user-prompt"}],"kind":"request"}"#;
    holds("pydantic-ai", &[call, question, reply, both, reply]);
    holds("pydantic-ai", &[question, reply, call, question, both, reply, call, both]);
}

/// Of two settings in a row, the first sets nothing that the second does not: both are dropped with the turn.
#[test]
fn settings_in_a_row_are_dropped_together() {
    let line =
        |kind: &str, payload: &str| format!("{{\"timestamp\":\"t\",\"type\":\"{kind}\",\"payload\":{payload}}}\n");
    let sets = || line("turn_context", r#"{"cwd":"/w","model":"gpt-5"}"#);
    let reply = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}"#;
    let call = r#"{"type":"function_call","call_id":"c","name":"search","arguments":"{}"}"#;
    let log = [sets(), sets(), line("response_item", reply), line("response_item", call), sets(), sets()].concat();
    let stages: [Stage; 2] = [
        Box::new(|| Chain::default().then(Repair { mode: RepairMode::Drop, pending: true })),
        Box::new(|| {
            Chain::default().then(DropMessages { messages: std::iter::once(0..1).collect(), ..DropMessages::default() })
        }),
    ];
    check_stages(&stages, Some("codex"), Framing::Lines, &log).unwrap();
}

/// Items of xAI have a content that only the provider reads, as those of OpenAI have: a compaction is a boundary, and the
/// reasoning for a call is dropped with it.
#[test]
fn opaque_items_of_xai_are_kept_or_dropped_as_those_of_openai() {
    let message = |role: &str, kind: &str, text: &str| {
        format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#)
    };
    let items = [
        message("user", "input_text", "Where is the ferry?"),
        message("assistant", "output_text", "At the pier."),
        r#"{"type":"compaction","id":"cmp_1","encrypted_content":"eGFpMQ=="}"#.to_owned(),
        r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eGFpMg==","status":"completed"}"#
            .to_owned(),
        r#"{"type":"function_call","call_id":"c1","name":"search","arguments":"{}"}"#.to_owned(),
        r#"{"type":"function_call_output","call_id":"c1","output":"at nine"}"#.to_owned(),
        message("assistant", "output_text", "At nine."),
        message("user", "input_text", "And back?"),
    ];
    holds("responses", &items.iter().map(String::as_str).collect::<Vec<_>>());
    let text = items.iter().map(|item| format!("{item}\n")).collect::<String>();
    let cut = |chain: Chain| cut_with(chain, Some("responses"), Framing::Lines, &text).unwrap();
    let window = cut(Chain::default().then(history(2, WindowUnit::Items, keep(true, 0, false))));
    assert!(window.contains("cmp_1") && !window.contains("pier") && !window.contains("rs_1"), "{window}");
    let filtered = cut(persist("search"));
    assert!(filtered.contains("cmp_1") && !filtered.contains("rs_1") && filtered.contains("pier"), "{filtered}");
}

fn chain_is_its_stages(stages: &[Stage], text: &str) {
    let claude_code = Some("claude-code");
    // A budget below what must stay is refused, and nothing is written.
    match check_stages(stages, claude_code, Framing::Lines, text) {
        Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => {}
        other => other.unwrap_or_else(|error| panic!("{error}")),
    }
}

/// A call that depends on the thought of an earlier event is dropped with it, and with the words beside it. The window does not
/// count them.
#[test]
fn a_window_does_not_count_words_that_are_dropped_with_a_thought() {
    let event = |id: &str, rest: &str| format!("{{\"id\":\"{id}\",\"timestamp\":\"2026-03-02T09:14:03\",{rest}}}");
    let action = |id: &str, reply: &str, rest: &str| {
        let call = format!(
            r#""tool_name":"terminal","tool_call_id":"{id}","tool_call":{{"id":"{id}","name":"terminal","arguments":"{{}}"}}"#
        );
        event(id, &format!(r#""source":"agent",{rest},{call},"llm_response_id":"{reply}","kind":"ActionEvent""#))
    };
    let signed = r#""thought":[{"type":"text","text":"I compare two."}],"thinking_blocks":[{"type":"thinking","thinking":"Rings tell the age.","signature":"c2ln"}],"reasoning_content":"Rings tell the age.""#;
    let first = action("c1", "r1", signed);
    let second = action("c2", "r2", r#""thought":[],"thinking_blocks":[]"#);
    let noted = r#"{"content":[{"type":"text","text":"noted"}],"is_error":false}"#;
    let result = event(
        "o2",
        &format!(
            r#""source":"environment","tool_name":"terminal","tool_call_id":"c2","observation":{noted},"action_id":"c2","kind":"ObservationEvent""#
        ),
    );
    let thought = event(
        "m1",
        r#""source":"agent","llm_message":{"role":"assistant","content":[],"reasoning_content":"Eighty rings.","thinking_blocks":[]},"llm_response_id":"r3","kind":"MessageEvent""#,
    );
    holds("openhands", &[&first, &first, &second, &result, &result, &thought]);
    holds("openhands", &[&first, &second, &first, &second, &result, &thought]);
}

/// The signature of a thought in the same event is not that of the call: without the thought, the arguments are cleared alike.
#[test]
fn a_thought_beside_a_call_does_not_sign_it() {
    let action = |id: &str, thinking: &str| {
        let call = format!(r#""tool_call":{{"id":"{id}","name":"search","arguments":"{{\"query\":\"a\"}}"}}"#);
        format!(
            r#"{{"id":"a{id}","timestamp":"2026-01-21T20:40:08.5","source":"agent","thought":[],"thinking_blocks":[{thinking}],"tool_name":"search","tool_call_id":"{id}",{call},"llm_response_id":"r{id}","kind":"ActionEvent"}}"#
        )
    };
    let result = |id: &str| {
        let content = r#"{"content":[{"type":"text","text":"a result that is long enough"}],"is_error":false}"#;
        format!(
            r#"{{"id":"o{id}","timestamp":"2026-01-21T20:40:08.5","source":"environment","tool_name":"search","tool_call_id":"{id}","observation":{content},"action_id":"a{id}","kind":"ObservationEvent"}}"#
        )
    };
    let thinking = r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#;
    let items = [action("c1", ""), result("c1"), action("c2", thinking), result("c2"), action("c3", ""), result("c3")];
    holds("openhands", &items.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Every call that the window drops takes one more message out of the round in flight, more often than the window is moved
/// step by step.
#[test]
fn a_round_in_flight_retreats_until_it_is_whole() {
    for calls in [3, 4, 5, 8, 13, 40, 90] {
        let log = retreating(calls);
        holds("anthropic", &log.lines().collect::<Vec<_>>());
    }
}

/// Calls whose results come three calls later, each beside a text: a window that drops a call takes a text out of the round in
/// flight, reaches less far back, and drops the next call.
fn retreating(calls: usize) -> String {
    let question = "{\"role\":\"user\",\"content\":\"go\"}\n";
    let mut text = String::from(question);
    for nth in 0..calls {
        let call = format!(r#"{{"type":"tool_use","id":"c{nth}","name":"f","input":{{}}}}"#);
        let _ = writeln!(text, r#"{{"role":"assistant","content":[{{"type":"text","text":"so"}},{call}]}}"#);
        if nth == 0 {
            let reply = "{\"role\":\"assistant\",\"content\":\"well\"}\n";
            text.push_str(&[reply, question, reply].concat());
        }
        if let Some(answered) = nth.checked_sub(3) {
            let result = format!(r#"{{"type":"tool_result","tool_use_id":"c{answered}","content":"ok"}}"#);
            let _ = writeln!(text, r#"{{"role":"user","content":[{result},{{"type":"text","text":"and"}}]}}"#);
        }
    }
    text
}

/// Of a key that is there twice, the last value counts: an image goes from there, and the first one stays as it is.
#[test]
fn an_image_under_a_repeated_key_goes_where_it_counts() {
    let image = r#"[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]"#;
    let call = r#"{"type":"function_call","call_id":"a","name":"look","arguments":"{}"}"#;
    let result =
        |last: &str| format!(r#"{{"type":"function_call_output","call_id":"a","output":{image},"output":{last}}}"#);
    holds("responses", &[call, &result(image)]);
    let limits = MediaLimits { keep_last: Some(0), ..MediaLimits::default() };
    let text = format!("{call}\n{}\n", result(image));
    let cut = cut_with(Chain::default().then(limits), Some("responses"), Framing::Lines, &text).unwrap();
    let removed = r#"[{"type":"input_text","text":"[image: png, 8 bytes, removed]"}]"#;
    assert_eq!(cut, format!("{call}\n{}\n", result(removed)));
}

/// Gemini CLI takes a line with an id for a message, also if it updates the header: its last state, in place of those before it.
#[test]
fn a_message_that_updates_the_header_is_a_message() {
    let header = r#"{"sessionId":"c","projectHash":"9f2c","startTime":"2026-11-22T18:39:18.588Z","kind":"main"}"#;
    let user = |id: &str, more: &str| {
        format!(
            r#"{{{more}"id":"{id}","timestamp":"2026-11-22T18:39:19.000Z","type":"user","content":[{{"text":"Go on."}}]}}"#
        )
    };
    let reply = r#"{"id":"g1","timestamp":"2026-11-22T18:39:20.000Z","type":"gemini","content":"Done.","model":"m"}"#;
    let update = r#""$set":{"lastUpdated":"2026-11-22T18:39:20.000Z"},"#;
    holds("gemini", &[header, &user("u1", ""), reply, &user("u1", update), &user("u2", "")]);
    let list = r#""$set":{"messages":[]},"#;
    holds("gemini", &[header, &user("u1", ""), reply, &user("u2", list), &user("u3", "")]);
}

/// A message that stands twice begins no other tree the second time.
#[test]
fn a_repeated_message_begins_no_tree() {
    let record = |id: &str, parent: &str, message: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"9d","version":"2.1.33",{message},"uuid":"{id}"}}"#
        )
    };
    let user = record("1", "null", r#""type":"user","message":{"role":"user","content":"Sterilise the jars."}"#);
    let call = r#""type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}"#;
    holds("claude-code", &[&user, &user, &record("3", r#""2""#, call)]);
}

/// A call whose id is used three times is dropped if the middle one goes with a result that was rolled back.
#[test]
fn calls_beside_a_rolled_back_result_keep_their_ids_apart() {
    let record = |id: &str, parent: &str, kind: &str, part: &str| {
        format!(
            r#"{{"uuid":"{id}","parentUuid":{parent},"sessionId":"q","type":"{kind}","message":{{"parts":[{part}]}}}}"#
        )
    };
    let call = r#"{"functionCall":{"id":"c","name":"weigh","args":{}}}"#;
    let result = r#"{"functionResponse":{"id":"c","name":"weigh","response":{"output":"3"}}}"#;
    let records = [
        record("1", "null", "assistant", call),
        record("2", r#""1""#, "assistant", call),
        record("3", r#""2""#, "tool_result", result),
        record("4", r#""2""#, "assistant", call),
    ];
    holds("qwen", &records.each_ref().map(String::as_str));
}

/// Reasoning that a cut brings next to an item is bound to it, in the same run as in the next.
#[test]
fn reasoning_is_bound_to_the_item_that_a_cut_leaves_behind_it() {
    let items = [
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Is it raining?"}]}"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello?"}]}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is."}]}"#,
    ];
    let lines = items.map(|item| format!("{item}\n")).concat();
    let rollout = items.map(|item| format!("{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{item}}}\n"));
    let stages: [Stage; 2] = [
        Box::new(|| {
            Chain::default().then(DropMessages { messages: std::iter::once(2..3).collect(), ..DropMessages::default() })
        }),
        Box::new(|| Chain::default().then(Strip { kinds: vec![StripKind::Reasoning], ..Strip::default() })),
    ];
    for (dialect, text) in [("responses", lines), ("codex", rollout.concat())] {
        check_stages(&stages, Some(dialect), Framing::Lines, &text).unwrap();
    }
}

/// A result says more beside its images: Kimi a note to the model, Goose the same in other words to the user alone.
#[test]
fn what_is_said_beside_a_removed_image_stays() {
    let data = format!("iVBORw0KGgo{}=", "A".repeat(100));
    let without_images = |dialect: &str, items: &[&str]| {
        holds(dialect, items);
        let text = items.iter().map(|item| format!("{item}\n")).collect::<String>();
        let limits = MediaLimits { keep_last: Some(0), ..MediaLimits::default() };
        cut_with(Chain::default().then(limits), Some(dialect), Framing::Lines, &text).expect("it is cut")
    };
    let event = |event: &str| format!(r#"{{"type":"context.append_loop_event","time":1,"event":{event}}}"#);
    let call = event(r#"{"type":"tool.call","uuid":"u","toolCallId":"b","name":"look","args":{}}"#);
    let output = |image: &str| {
        event(&format!(
            r#"{{"type":"tool.result","toolCallId":"b","result":{{"output":[{{"type":"text","text":"lit"}},{image}],"note":"Stay."}}}}"#
        ))
    };
    let image = format!(r#"{{"type":"image_url","imageUrl":{{"url":"data:image/png;base64,{data}"}}}}"#);
    let cut = without_images("kimi", &[r#"{"type":"metadata","protocol_version":"1.4"}"#, &call, &output(&image)]);
    assert!(cut.contains("removed]") && cut.contains(r#""note":"Stay.""#) && !cut.contains(&data), "{cut}");

    let head = r#"{"working_dir":"/w","description":"d","message_count":2}"#;
    let call = r#"{"role":"assistant","created":1,"content":[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"read","arguments":{}}}}]}"#;
    let result = |content: &str| {
        format!(
            r#"{{"role":"user","created":1,"content":[{{"type":"toolResponse","id":"c","toolResult":{{"status":"success","value":[{content}]}}}}]}}"#
        )
    };
    let shown = r#"{"type":"text","text":"Shown.","annotations":{"audience":["user"]}}"#;
    let image = |more: &str| format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"{more}}}"#);
    let (sent, other) = (image(""), image(r#","annotations":{"audience":["user"]}"#));
    let cut = without_images("goose", &[head, call, &result(&format!("{other},{shown},{sent}"))]);
    assert!(cut.contains("removed]") && cut.contains(shown) && !cut.contains(&sent), "{cut}");
    // An image that only the user sees is not sent.
    assert!(without_images("goose", &[head, call, &result(&other)]).contains(&other));
}

/// Beside the system prompt of the same request, a prompt of several values is dropped with its last one: a prompt without any
/// would be sent as an empty message.
#[test]
fn a_prompt_of_several_values_leaves_no_empty_prompt() {
    let system = r#"{"content":"Be brief.","part_kind":"system-prompt"}"#;
    let values = r#"["What is it?",{"url":"https://a.example/b.png","kind":"image-url"}]"#;
    let prompt = format!(r#"{{"content":{values},"part_kind":"user-prompt"}}"#);
    let request = |parts: &str| format!(r#"{{"parts":[{parts}],"kind":"request"}}"#);
    let reply = r#"{"parts":[{"content":"A cat.","part_kind":"text"}],"kind":"response"}"#;
    let items = [&*request(&format!("{system},{prompt}")), reply, &request(&prompt), reply];
    holds("pydantic-ai", &items);
    let text = items.map(|item| format!("{item}\n")).concat();
    let window = Chain::default().then(history(2, WindowUnit::Items, Keep::default()));
    let out = cut_with(window, Some("pydantic-ai"), Framing::Lines, &text).unwrap();
    assert_eq!(out, [&*request(system), &request(&prompt), reply].map(|item| format!("{item}\n")).concat());
}
