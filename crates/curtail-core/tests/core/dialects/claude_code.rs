//! Sessions of Claude Code after a cut: every link points to a kept record or to none, and copies are dropped with the
//! original.

use std::collections::HashSet;

use curtail_core::dialects::Framing;
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    ClearResults, DropMessages, HistoryWindow, Keep, Live, MessageRange, Repair, RepairMode, SlidingWindow,
    StaleResults, Strip, ToolFilter, ToolGlobs, WindowUnit,
};
use curtail_core::transcript::{Content, Role};
use proptest::prelude::*;
use serde_json::json;

use super::files::{File, below, fixture, folder, read_transcripts};
use crate::laws::cases::{cleared, history, tokenizer};
use crate::laws::check::{cut_unless_refused, cut_with};

fn cut(chain: Chain, text: &str) -> String {
    cut_with(chain, Some("claude-code"), Framing::Lines, text).expect("it can be cut")
}

fn window(size: usize) -> Chain {
    Chain::default().then(history(size, WindowUnit::Items, Keep::default()))
}

fn sliding(size: usize) -> Chain {
    let keep = Keep { first: 1, ..Keep::default() };
    Chain::default().then(SlidingWindow { size, unit: WindowUnit::Items, keep, step: 1 })
}

fn without_tools() -> Chain {
    Chain::default().then(ToolFilter { tools: ToolGlobs::All, persist_results: true, dropped: None })
}

fn stubbed() -> Chain {
    let repair = |mode| Repair { mode, pending: true };
    Chain::default().then(repair(RepairMode::Stub)).then(repair(RepairMode::Drop))
}

fn text(record: Value<'_>, key: &str) -> Option<String> {
    record.get_text(key).map(|text| text.decode().into_owned())
}

/// Links of the records of `log` that lead to no record before them.
fn broken_links(log: &str) -> Vec<String> {
    let document = Document::parse_log(log).expect("a log");
    let mut known = HashSet::new();
    let mut broken = Vec::new();
    for record in document.roots() {
        broken.extend(text(record, "parentUuid").filter(|parent| !known.contains(parent)));
        if let Some(uuid) = text(record, "uuid") {
            assert!(known.insert(uuid.clone()), "{uuid} stands twice");
        }
    }
    broken
}

#[test]
fn every_link_leads_to_a_record_that_stays() {
    for File { name, text: log } in below(&folder().join("claude-code")) {
        for chain in [window(1), window(3), sliding(2), sliding(4), without_tools(), stubbed(), cleared()] {
            assert_eq!(broken_links(&cut(chain, &log)), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn what_is_written_stands_on_the_way_up_from_the_last_record() {
    let cut = cut(without_tools(), &fixture("claude-code/minimal.jsonl"));
    let document = Document::parse_all(&cut).expect("a log");
    let records: Vec<Value<'_>> = document.roots().collect();
    let is_note = |record: &&Value<'_>| record.raw().contains("Used Grep tool");
    let written = records.iter().find(is_note).expect("a note");
    let answer = records.iter().find(|record| record.raw().contains("Fourteen jars")).expect("the answer");
    assert_eq!(text(*answer, "parentUuid"), text(*written, "uuid"));
    assert_eq!(text(*written, "sessionId"), text(*answer, "sessionId"));
}

/// A line of a log: its id, the id of its parent, and its role and content.
fn record(uuid: &str, parent: &str, role: &str, content: &str) -> String {
    let id = if role == "assistant" {
        format!("\"id\":\"{}\",\"model\":\"claude-opus-5-5\",", &uuid[..2])
    } else {
        String::new()
    };
    let parent = if parent.is_empty() { String::from("null") } else { format!("\"{parent}\"") };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"{role}\",\"message\":{{{id}\"role\":\"{role}\",\"content\":[{content}]}},\"uuid\":\"{uuid}\"}}\n"
    )
}

fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":\"{text}\"}}")
}

fn call(id: &str, name: &str) -> String {
    format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{{}}}}")
}

fn answer(id: &str) -> String {
    format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"ok\"}}")
}

fn without(tool: &str) -> Chain {
    crate::laws::cases::persist(tool)
}

/// The id and the parent of each line.
fn parents(log: &str) -> Vec<(String, Option<String>)> {
    let document = Document::parse_all(log).expect("a log");
    document.roots().filter_map(|record| Some((text(record, "uuid")?, text(record, "parentUuid")))).collect()
}

/// A reply of several lines has one note, and a result that stays keeps its call as its parent.
#[test]
fn a_reply_of_several_lines_has_one_note() {
    let log = [
        record("q", "", "user", &text_block("Go.")),
        record("m1.1", "q", "assistant", &call("t1", "Read")),
        record("m1.2", "m1.1", "assistant", &call("t2", "Bash")),
        record("m1.3", "m1.2", "assistant", &call("t3", "Bash")),
        record("r1", "m1.1", "user", &answer("t1")),
        record("r2", "m1.2", "user", &answer("t2")),
        record("r3", "m1.3", "user", &answer("t3")),
        record("m2", "r3", "assistant", &text_block("Done.")),
    ];
    let out = cut(without("Bash"), &log.concat());
    assert_eq!(out.matches("Used Bash tool").count(), 1, "{out}");
    let links = parents(&out);
    let parent = |uuid: &str| links.iter().find(|(id, _)| id == uuid).and_then(|(_, parent)| parent.as_deref());
    let note = links[1].0.as_str();
    assert_eq!(
        [parent(note), parent("m1.1"), parent("r1"), parent("m2")],
        [Some("q"), Some(note), Some("m1.1"), Some("m1.1")]
    );
}

/// A note about a call before a boundary is before it: no thought behind it is bound to it.
#[test]
fn a_note_before_a_boundary_breaks_no_thought_behind_it() {
    let thought = "{\"type\":\"thinking\",\"thinking\":\"go on\",\"signature\":\"c2lnMg==\"}";
    let boundary = "{\"parentUuid\":null,\"logicalParentUuid\":\"r1\",\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b\"}\n";
    for first in [call("t1", "Edit"), format!("{},{}", text_block("Well."), call("t1", "Edit"))] {
        let log = [
            record("q", "", "user", &text_block("Fix it.")),
            record("m1", "q", "assistant", &first),
            record("r1", "m1", "user", &answer("t1")),
            boundary.to_owned(),
            record("s", "b", "user", &text_block("Summary.")).replacen('{', "{\"isCompactSummary\":true,", 1),
            record("m2.1", "s", "assistant", thought),
            record("m2.2", "m2.1", "assistant", &text_block("Done.")),
        ];
        let out = cut(without("Edit"), &log.concat());
        assert!(out.contains("Used Edit tool") && out.contains("go on"), "{out}");
    }
}

/// A note about a call of a side conversation is in that conversation, and the thoughts of the main one stay.
#[test]
fn a_note_of_a_side_conversation_stays_in_it() {
    let thought = "{\"type\":\"thinking\",\"thinking\":\"go on\",\"signature\":\"c2lnMg==\"}";
    let log = [
        record("q", "", "user", &text_block("Go.")),
        aside(&record("a1", "", "user", &text_block("Look."))),
        aside(&record("m1", "a1", "assistant", &format!("{},{}", text_block("Well."), call("t1", "Bash")))),
        aside(&record("r1", "m1", "user", &answer("t1"))),
        record("m2.1", "q", "assistant", thought),
        record("m2.2", "m2.1", "assistant", &text_block("Done.")),
    ];
    let out = cut(without("Bash"), &log.concat());
    let note = out.lines().find(|line| line.contains("Used Bash tool")).expect("a note");
    assert!(note.contains("\"isSidechain\":true,\"agentId\":\"a\"") && out.contains("go on"), "{out}");
}

/// A line that sets a value of the session stays, although the prompt that it names is dropped.
#[test]
fn the_last_prompt_stays() {
    let line = |role: &str, nth: usize, parent: &str| {
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":\"jar {nth}\"}},\"uuid\":\"u{nth}\"}}\n"
        )
    };
    let prompt = "{\"type\":\"last-prompt\",\"sessionId\":\"s\",\"lastPrompt\":\"jar 1\",\"leafUuid\":\"u2\"}\n";
    let log = [
        &line("user", 1, "null"),
        &line("assistant", 2, "\"u1\""),
        prompt,
        &line("user", 3, "\"u2\""),
        &line("assistant", 4, "\"u3\""),
    ];
    let cut = cut(window(1), &log.concat());
    assert!(!cut.contains("\"jar 1\"}") && cut.contains("\"lastPrompt\":\"jar 1\",\"leafUuid\":null"), "{cut}");
}

/// Each line that says how results are sent counts for the results that it names.
#[test]
fn a_line_about_results_stays_as_long_as_one_of_them() {
    let record = |role: &str, nth: usize, content: serde_json::Value| {
        let parent = nth.checked_sub(1).map(|parent| format!("u{parent}"));
        let message = json!({"role": role, "content": content});
        json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s", "type": role, "message": message, "uuid": format!("u{nth}")})
    };
    let calls = |nth: usize, ids: [&str; 2]| {
        record(
            "assistant",
            nth,
            ids.map(|id| json!({"type": "tool_use", "id": id, "name": "Grep", "input": {}})).into(),
        )
    };
    let result = |nth: usize, id: &str| {
        record("user", nth, json!([{"type": "tool_result", "tool_use_id": id, "content": "jar"}]))
    };
    let line = |ids: &[&str]| {
        let named: Vec<_> =
            ids.iter().map(|id| json!({"kind": "tool-result", "toolUseId": id, "replacement": "j"})).collect();
        json!({"type": "content-replacement", "sessionId": "s", "replacements": named})
    };
    let lines = [
        record("user", 0, json!("Count the jars.")),
        calls(1, ["t1", "t2"]),
        result(2, "t1"),
        result(3, "t2"),
        record("assistant", 4, json!([{"type": "text", "text": "Two."}])),
        line(&["t1"]),
        line(&["t2"]),
        line(&["t1", "t2"]),
        record("user", 5, json!("And now?")),
    ];
    let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let without = |message: usize| {
        let messages = std::iter::once(message..message + 1).collect();
        cut(Chain::default().then(DropMessages { messages, ..DropMessages::default() }), &log)
    };
    assert_eq!(without(4).matches("content-replacement").count(), 3, "all results are left");
    assert_eq!(cut(window(1), &log).matches("content-replacement").count(), 1, "none is left");
}

#[test]
fn a_cleared_result_leaves_no_copy() {
    let cut = cut(cleared(), &fixture("claude-code/media.jsonl"));
    assert!(cut.contains("[cleared]") && !cut.contains("toolUseResult"), "{cut}");
}

#[test]
fn a_stub_answers_in_the_conversation_of_its_call() {
    let cut = cut(stubbed(), &fixture("claude-code/sidechain.jsonl"));
    let document = Document::parse_all(&cut).expect("a log");
    let stub = document.roots().find(|record| record.raw().contains("[interrupted")).expect("a stub");
    assert_eq!(stub.get("isSidechain").map(Value::raw), Some("true"));
}

/// Older logs do not name the agent: the conversations differ only in the records that they descend from.
#[test]
fn a_stub_does_not_join_two_conversations() {
    let line = |nth: usize, parent: Option<usize>, role: &str, content: &str| {
        let parent = parent.map_or_else(|| String::from("null"), |parent| format!("\"u{parent}\""));
        let message = format!("{{\"role\":\"{role}\",\"content\":{content}}}");
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":true,\"sessionId\":\"s\",\"type\":\"{role}\",\"message\":{message},\"uuid\":\"u{nth}\"}}\n"
        )
    };
    let call = r#"[{"type":"tool_use","id":"toolu_1","name":"Grep","input":{}}]"#;
    let log = [
        line(0, None, "user", "\"Find the lamp.\""),
        line(1, None, "user", "\"Find the rug.\""),
        line(2, Some(0), "assistant", call),
        line(3, Some(1), "assistant", call),
        line(4, Some(0), "user", "\"And?\""),
    ];
    // A record that lost its id is no message: with its parent, a cut could drop all that tells its conversation.
    for (log, stubs) in [(log.concat(), 2), (log.concat().replace("\"uuid\":\"u3\"", "\"u\":\"u3\""), 1)] {
        let stubbed = cut(stubbed(), &log);
        assert_eq!(stubbed.matches("[interrupted").count(), stubs, "{stubbed}");
        assert!(faults(&stubbed).is_empty(), "{stubbed}");
    }
}

/// A compaction of another tree is no boundary for the one that the session went on with.
#[test]
fn a_compaction_that_was_left_closes_no_call() {
    let log = concat!(
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Look."},"uuid":"u0"}"#,
        "\n",
        r#"{"parentUuid":"u0","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Grep","input":{}}]},"uuid":"u1"}"#,
        "\n",
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Again."},"uuid":"u9"}"#,
        "\n",
        r#"{"parentUuid":null,"logicalParentUuid":"u9","isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","uuid":"u2"}"#,
        "\n",
        r#"{"parentUuid":"u2","isSidechain":false,"type":"user","isCompactSummary":true,"message":{"role":"user","content":"Summary."},"uuid":"u3"}"#,
        "\n",
        r#"{"parentUuid":"u1","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"7"}]},"uuid":"u4"}"#,
        "\n",
        r#"{"parentUuid":"u4","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Seven."}]},"uuid":"u5"}"#,
        "\n",
    );
    assert_eq!(faults(log), Vec::<String>::new());
}

/// The program goes no further back than to a record whose parent was never written. A cut does not join the two parts.
#[test]
fn a_link_out_of_the_log_stays() {
    let line = |nth: u8, parent: &str, kind: &str| {
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"message\":{{\"role\":\"{kind}\",\"content\":\"text {nth}\"}},\"uuid\":\"u{nth}\"}}\n"
        )
    };
    let log = [
        line(0, "null", "user"),
        line(1, "\"u0\"", "assistant"),
        // Its parent is not in the file.
        line(2, "\"lost\"", "user"),
        line(3, "\"u2\"", "assistant"),
        line(4, "\"u3\"", "user"),
        line(5, "\"u4\"", "assistant"),
    ];
    let once = cut(sliding(4), &log.concat());
    assert_eq!(once.matches("text").count(), 4, "{once}");
    assert_eq!(once, log[2..].concat(), "what it does not read goes first, and the link stays");
    assert_eq!(cut(Chain::default().then(Live), &once), once, "what was read is read");
}

/// Without the newest message, a turn of another tree would be the newest, and its tree the conversation.
#[test]
fn an_older_tree_does_not_become_the_newest() {
    let log = [
        record("a1", "", "user", &text_block("old")),
        record("b1", "", "user", &text_block("new")),
        record("b2", "b1", "assistant", &text_block("newer")),
        record("a2", "a1", "assistant", &text_block("older")),
        record("b3", "b2", "user", &text_block("newest")),
    ];
    let replies = Strip { roles: vec![Role::Assistant], ..Strip::default() };
    let out = cut(Chain::default().then(replies), &log.concat());
    assert!(out.contains("newer") && !out.contains("older"), "{out}");
}

/// A boundary is in the tree of the record that it names, also behind a record of another tree.
#[test]
fn a_boundary_stays_in_its_tree() {
    let boundary = r#"{"parentUuid":null,"logicalParentUuid":"a1","sessionId":"s","type":"system","subtype":"compact_boundary","uuid":"c1"}"#;
    let log = [
        record("a1", "", "user", &text_block("one")),
        record("b1", "", "user", &text_block("another")),
        format!("{boundary}\n"),
        record("c2", "c1", "user", &text_block("Summary.")),
        record("a2", "c2", "assistant", &text_block("two")),
    ];
    let out = cut(Chain::default().then(Live), &log.concat());
    assert!(out.contains("Summary.") && !out.contains("another"), "{out}");
}

/// A user who goes back to an earlier message undoes what followed it, a compaction included. The results of parallel calls
/// hang off records of their own and are sent.
#[test]
fn what_a_rewind_left_is_history() {
    let out = cut(Chain::default().then(Live), &fixture("claude-code/rewind.jsonl"));
    assert!(!out.contains("vinegar"), "{out}");
    let sent =
        ["What is ripe?", "\"content\":\"beets\"", "\"content\":\"beans\"", "Beets and beans.", "Dry the beans."];
    assert!(sent.iter().all(|text| out.contains(text)), "{out}");
}

/// A cut that drops a result leaves what was beside it. Parallel calls fork there, and the user went back to nothing.
#[test]
fn what_was_beside_a_result_begins_no_branch() {
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#);
    let beside = record("a4", "a2", "user", &text_block("Look at the lid."));
    let log = [
        record("a1", "", "user", &text_block("Which jar?")),
        record("a2", "a1", "assistant", &call("t1")),
        record("a3", "a2", "assistant", &call("t2")),
        beside.replace("\"uuid\"", "\"sourceToolAssistantUUID\":\"a2\",\"uuid\""),
        record("a5", "a3", "user", r#"{"type":"tool_result","tool_use_id":"t2","content":"glass"}"#),
    ];
    let out = cut(Chain::default().then(Live), &log.concat());
    assert_eq!(out, log.concat());
}

/// Without what both hang off, the path does not go on from the branch.
#[test]
fn a_path_does_not_join_the_branch_before_it() {
    let newest = Chain::default().then(MessageRange { from: 6, to: None, ..MessageRange::default() });
    let once = cut(newest, &fixture("claude-code/rewind.jsonl"));
    assert!(once.contains("Pickle the beets."), "{once}");
    let out = cut(Chain::default().then(Live), &once);
    assert!(out.starts_with("{\"parentUuid\":null") && out.contains("Dry the beans."), "{out}");
    assert_eq!(out.lines().count(), 2, "{out}");
}

/// A branch is known by the prompt that it begins with.
#[test]
fn a_branch_is_dropped_with_its_prompt() {
    let prompt =
        DropMessages { messages: std::iter::once(6..7).collect(), turns: Vec::new(), ..DropMessages::default() };
    let out = cut(Chain::default().then(prompt), &fixture("claude-code/rewind.jsonl"));
    assert!(!out.contains("vinegar") && out.contains("The beans are dry."), "{out}");
}

fn faults(log: &str) -> Vec<String> {
    let seen = crate::laws::check::read_seen(Some("claude-code"), Framing::Lines, log);
    seen.faults.iter().map(|fault| format!("{fault:?}")).collect()
}

/// A log in which every record hangs on any record before it, some of them metadata.
fn log() -> impl Strategy<Value = String> {
    let record = (0..5_u8, any::<prop::sample::Index>(), any::<bool>());
    prop::collection::vec(record, 1..40).prop_map(|records| {
        let written = records.iter().enumerate().map(|(nth, (kind, parent, side))| {
            let parent = if nth == 0 { String::from("null") } else { format!("\"{:04}\"", parent.index(nth)) };
            let body = match kind {
                0 => String::from("\"type\":\"progress\",\"data\":{}"),
                1 => String::from("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a\"}"),
                2 => format!("\"type\":\"assistant\",\"message\":{{\"id\":\"m{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"b\"}}]}}", nth / 3),
                3 => format!("\"type\":\"assistant\",\"message\":{{\"id\":\"m{}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{}\",\"name\":\"n\",\"input\":{{}}}}]}}", nth / 3, nth / 4),
                _ => format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{}\",\"content\":\"a long result\"}}]}},\"toolUseResult\":\"a long result\"", nth / 4),
            };
            format!("{{\"parentUuid\":{parent},\"isSidechain\":{side},{body},\"uuid\":\"{nth:04}\"}}\n")
        });
        written.collect()
    })
}

proptest! {
    #![proptest_config(crate::properties::property(128))]

    #[test]
    fn links_of_any_tree_are_mended(log in log(), size in 1..12_usize) {
        for chain in [window(size), sliding(size), without_tools(), stubbed(), cleared()] {
            // A cut that leaves nothing writes nothing.
            let Some(out) = cut_unless_refused(chain, Some("claude-code"), Framing::Lines, &log)? else { continue };
            prop_assert_eq!(broken_links(&out), Vec::<String>::new(), "in {}", log);
        }
        let Some(out) = cut_unless_refused(stubbed(), Some("claude-code"), Framing::Lines, &log)? else { return Ok(()) };
        prop_assert_eq!(faults(&out), Vec::<String>::new(), "in {}\nout {}", log, out);
    }
}

/// The record of a sub-agent instead of the main conversation.
fn aside(line: &str) -> String {
    line.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a\"")
}

/// What an agent asks a sub-agent is not the task, also where the log begins with it.
#[test]
fn the_task_is_that_of_the_main_conversation() {
    let log = [
        aside(&record("s1", "", "user", &text_block("Look for the jar."))),
        aside(&record("s2", "s1", "assistant", &text_block("It is there."))),
        record("m1", "", "user", &text_block("Fill the jar.")),
        record("m2", "m1", "assistant", &text_block("With what?")),
        record("m3", "m2", "user", &text_block("With beets.")),
        record("m4", "m3", "assistant", &text_block("It is full.")),
    ];
    let keep = Keep { first_user: true, ..Keep::default() };
    let window =
        HistoryWindow { size: 2, unit: WindowUnit::Items, max_expansion: None, cap_in_flight: false, keep, step: 1 };
    let out = cut(Chain::default().then(window), &log.concat());
    assert!(out.contains("Fill the jar.") && !out.contains("Look for the jar."), "{out}");
}

/// A message of a sub-agent does not end the round of the call that it works for.
#[test]
fn a_round_is_in_flight_while_a_sub_agent_works_for_it() {
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"Task","input":{}}"#;
    let log = [
        record("m1", "", "user", &text_block("Fill the jar.")),
        record("m2", "m1", "assistant", call),
        aside(&record("s1", "", "user", &text_block("Look for beets."))),
        aside(&record("s2", "s1", "assistant", &text_block("There are some."))),
    ];
    let out = cut(window(1), &log.concat());
    assert!(out.contains("toolu_1"), "{out}");
}

/// A sub-agent's conversation is no exchange of a window, no turn, and nothing that a person wrote.
#[test]
fn what_a_sub_agent_says_is_not_the_conversation() {
    let log = [
        record("m1", "", "user", &text_block("Fill the jar.")),
        record("m2", "m1", "assistant", &text_block("With what?")),
        record("m3", "m2", "user", &text_block("With beets.")),
        record("m4", "m3", "assistant", &text_block("It is full.")),
        aside(&record("s1", "", "user", &text_block("Look for a lid."))),
        aside(&record("s2", "s1", "assistant", &text_block("There is one."))),
    ];
    let log = log.concat();
    let keep = |start_on_user| Keep { start_on_user, ..Keep::default() };
    let cut_by = |unit, step, start_on_user| {
        let keep = keep(start_on_user);
        let window = HistoryWindow { size: 1, unit, max_expansion: None, cap_in_flight: false, keep, step };
        cut(Chain::default().then(window), &log)
    };
    for out in
        [cut_by(WindowUnit::Items, 1, false), cut_by(WindowUnit::Items, 2, false), cut_by(WindowUnit::Items, 1, true)]
    {
        assert!(out.contains("With beets.") && out.contains("It is full.") && !out.contains("Fill the jar."), "{out}");
    }
    let turn = cut_by(WindowUnit::Turns, 1, false);
    assert!(turn.contains("With beets.") && turn.contains("Look for a lid."), "{turn}");
    // Of sub-agents alone, the conversation is the sub-agent's.
    let alone: String = log.lines().skip(4).map(|line| format!("{line}\n")).collect();
    assert_eq!(cut(window(1), &alone), alone);
}

/// A compaction of the main conversation is not kept for the messages that a sub-agent wrote after it.
#[test]
fn a_boundary_is_not_kept_for_a_sub_agent() {
    let compaction = |id: &str, before: &str, text: &str| {
        let boundary = format!(
            "{{\"parentUuid\":null,\"logicalParentUuid\":\"{before}\",\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"{id}\"}}\n"
        );
        let summary = record(&format!("{id}s"), id, "user", &text_block(text));
        [
            boundary,
            summary.replace("\"type\":\"user\",\"message\"", "\"type\":\"user\",\"isCompactSummary\":true,\"message\""),
        ]
        .concat()
    };
    let log = [
        record("m1", "", "user", &text_block("Fill the jar.")),
        record("m2", "m1", "assistant", &text_block("With what?")),
        compaction("b1", "m2", "A jar is empty."),
        aside(&record("s1", "", "user", &text_block("Look for beets."))),
        aside(&record("s2", "s1", "assistant", &text_block("There are some."))),
        record("m3", "b1s", "user", &text_block("With beets.")),
        record("m4", "m3", "assistant", &text_block("It is full.")),
        compaction("b2", "m4", "A jar is full."),
        record("m5", "b2s", "user", &text_block("Close it.")),
        record("m6", "m5", "assistant", &text_block("It is closed.")),
    ];
    let out = cut(Chain::default().then(Live), &log.concat());
    assert!(!out.contains("A jar is empty.") && !out.contains("With beets."), "{out}");
    assert!(out.contains("There are some.") && out.contains("A jar is full."), "{out}");
}

/// The texts of the messages of a log that the model still reads.
fn read_texts(log: &str) -> Vec<String> {
    let mut texts = Vec::new();
    read_transcripts(log, |_, transcript| {
        let read = transcript.messages.iter().filter(|message| message.standing.is_read());
        texts.extend(read.flat_map(|message| &message.parts).filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.decode().into_owned()),
            _ => None,
        }));
    })
    .expect("it is read");
    texts
}

/// The boundary and the summary of a compaction after the message `before` that preserved the messages `kept`.
fn compaction_that_keeps(id: &str, before: &str, kept: &[&str]) -> String {
    let boundary = json!({"parentUuid": null, "logicalParentUuid": before, "isSidechain": false, "sessionId": "s",
        "type": "system", "subtype": "compact_boundary", "uuid": id,
        "compactMetadata": {"preservedMessages": {"uuids": kept}}});
    let summary = record(&format!("{id}s"), id, "user", &text_block(&format!("Summary {id}.")));
    format!("{boundary}\n{}", summary.replacen('{', "{\"isCompactSummary\":true,", 1))
}

/// Older logs name only the ends of what was preserved. Some let the next message follow the last of it instead of the summary.
#[test]
fn what_a_compaction_preserved_stands_behind_its_summary() {
    let before = [
        record("m1", "", "user", &text_block("Fill the jar.")),
        record("m2", "m1", "assistant", &text_block("With what?")),
        record("m3", "m2", "user", &text_block("With beets.")),
        record("m4", "m3", "assistant", &text_block("Red ones?")),
    ]
    .concat();
    let listed = compaction_that_keeps("b1", "m4", &["m3", "m4"]);
    let with_anchor = listed.replacen("{\"uuids\"", "{\"anchorUuid\":\"b1s\",\"uuids\"", 1);
    let segment = r#""preservedSegment":{"headUuid":"m3","tailUuid":"m4","anchorUuid":"b1s"}"#;
    let ends = listed.replacen(r#""preservedMessages":{"uuids":["m3","m4"]}"#, segment, 1);
    assert!(ends.contains(segment), "{ends}");
    for compaction in [with_anchor, ends] {
        for parent in ["b1s", "m4"] {
            let log = [&*before, &compaction, &record("m5", parent, "user", &text_block("All of them."))].concat();
            let expected = ["With beets.", "Red ones?", "Summary b1.", "All of them."];
            assert_eq!(read_texts(&log), expected, "{log}");
        }
    }
}

/// Why there was no reply is shown, and not sent with the next prompt.
#[test]
fn an_error_of_the_api_is_not_sent() {
    let error =
        record("m2", "m1", "assistant", &text_block("API Error: 529")).replace("claude-opus-5-5", "<synthetic>");
    let log = [
        record("m1", "", "user", &text_block("Fill the jar.")),
        error.replacen('{', "{\"isApiErrorMessage\":true,", 1),
        record("m3", "m2", "user", &text_block("Again.")),
    ];
    assert_eq!(read_texts(&log.concat()), ["Fill the jar.", "Again."]);
}

/// The output of a command that a person ran, and the note that a person stopped the model, are no prompts.
#[test]
fn what_the_program_writes_begins_no_turn() {
    let output = text_block("<bash-stdout>jars</bash-stdout><bash-stderr></bash-stderr>");
    let log = [
        record("m1", "", "user", &text_block("<bash-input>ls</bash-input>")),
        record("m2", "m1", "user", &output),
        record("m3", "m2", "user", &text_block("[Request interrupted by user]")),
    ];
    let mut begins = Vec::new();
    let read = read_transcripts(&log.concat(), |_, transcript| {
        begins.extend(transcript.messages.iter().map(curtail_core::transcript::Message::begins_turn));
    });
    read.expect("it is read");
    assert_eq!(begins, [true, false, false]);
}

/// The model reads what the last compaction of its own conversation preserved, and nothing that only others did.
#[test]
fn what_is_preserved_is_said_by_the_last_compaction_of_the_conversation() {
    let main = [
        record("m1", "", "user", &text_block("Fill the jar.")),
        record("m2", "m1", "assistant", &text_block("With what?")),
        record("m3", "m2", "user", &text_block("With beets.")),
        compaction_that_keeps("b1", "m3", &["m3"]),
        record("m4", "b1s", "assistant", &text_block("It is full.")),
    ]
    .concat();
    assert_eq!(read_texts(&main), ["With beets.", "Summary b1.", "It is full."]);

    let again =
        [&*main, &compaction_that_keeps("b2", "m4", &[]), &record("m5", "b2s", "assistant", &text_block("Close it?"))];
    assert_eq!(read_texts(&again.concat()), ["Summary b2.", "Close it?"]);

    let side = [
        record("s1", "", "user", &text_block("Look for beets.")),
        record("s2", "s1", "assistant", &text_block("There are some.")),
        compaction_that_keeps("b3", "s2", &["s2"]),
    ];
    let beside = [main, side.concat().lines().map(|line| aside(&format!("{line}\n"))).collect()].concat();
    let expected = ["With beets.", "Summary b1.", "It is full.", "There are some.", "Summary b3."];
    assert_eq!(read_texts(&beside), expected);
}

/// The last results are those of the main conversation, and not those of a sub-agent in the same file.
#[test]
fn a_sub_agent_has_last_results_of_its_own() {
    let record = |id: &str, parent: Option<&str>, side: bool, role: &str, content: &str| {
        let parent = parent.map_or_else(|| String::from("null"), |parent| format!("\"{parent}\""));
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":{side},"sessionId":"s","type":"{role}","message":{{"role":"{role}","content":{content}}},"uuid":"{id}"}}"#
        ) + "\n"
    };
    let mut log = record("u", None, false, "user", "\"Do it.\"");
    let mut leaf = String::from("u");
    for (nth, side) in [false, false, false, true, true, true, true].into_iter().enumerate() {
        let parent = if nth == 3 { None } else { Some(leaf.clone()) };
        let call = format!(r#"[{{"type":"tool_use","id":"t{nth}","name":"f","input":{{}}}}]"#);
        log += &record(&format!("c{nth}"), parent.as_deref(), side, "assistant", &call);
        let result =
            format!(r#"[{{"type":"tool_result","tool_use_id":"t{nth}","content":"a result with the number {nth}"}}]"#);
        leaf = format!("r{nth}");
        log += &record(&leaf, Some(&format!("c{nth}")), side, "user", &result);
    }
    let tokens = ClearResults { protected_tokens: 15, ..ClearResults::new(StaleResults::AllButLast(0), tokenizer()) };
    for clear in [ClearResults::new(StaleResults::AllButLast(2), tokenizer()), tokens] {
        let out = cut_with(Chain::default().then(clear), Some("claude-code"), Framing::Lines, &log).unwrap();
        let left: Vec<usize> = (0..7).filter(|nth| out.contains(&format!("number {nth}\""))).collect();
        assert_eq!(left, [1, 2, 5, 6], "{out}");
    }
}
