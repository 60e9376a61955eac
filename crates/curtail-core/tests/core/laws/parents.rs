//! What a cut inserts is on the line that a program walks when it resumes a log: from the newest message back through the
//! parents.

use std::collections::{HashMap, HashSet};

use curtail_core::dialects::Framing;
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Live, ToolFilter, ToolGlobs};
use proptest::prelude::*;

use super::cases::{CASES, Change, LawCase, memory};
use super::check::{check_laws, cut_with, is_refused};
use crate::properties::{drawn, tried};
use crate::serializers::{Turn, claude_code, copilot, droid, pi, qwen, sound_script};

/// A dialect with links, its serializer, and the keys of a record's id and its parent.
type Linked = (&'static str, fn(&[Turn]) -> Vec<String>, [&'static str; 2]);

const LINKED: &[Linked] = &[
    ("claude-code", claude_code::serialize, ["uuid", "parentUuid"]),
    ("claude-code", claude_code::serialize_session, ["uuid", "parentUuid"]),
    ("claude-code", claude_code::serialize_torn, ["uuid", "parentUuid"]),
    ("qwen", qwen::serialize, ["uuid", "parentUuid"]),
    ("qwen", qwen::serialize_branches, ["uuid", "parentUuid"]),
    ("qwen", qwen::serialize_compressed, ["uuid", "parentUuid"]),
    ("pi", pi::serialize, ["id", "parentId"]),
    ("pi", pi::serialize_branches, ["id", "parentId"]),
    ("copilot", copilot::serialize, ["id", "parentId"]),
    ("droid", droid::serialize, ["id", "parentId"]),
];

const OTHERS: &[LawCase] = &[
    LawCase {
        name: "filter all, persist",
        chain: || Chain::default().then(ToolFilter { tools: ToolGlobs::All, persist_results: true, dropped: None }),
        change: Change::Writes,
    },
    LawCase {
        name: "live, memory",
        chain: || Chain::default().then(Live).then(memory("{\"goal\":\"ship\"}")),
        change: Change::Writes,
    },
];

/// A record that has an id.
struct Record {
    id: String,
    parent: Option<String>,
    /// Whether it belongs to the conversation of a sub-agent.
    side: bool,
}

/// The records of a log that have ids, in order.
fn records(log: &str, [id, parent]: [&str; 2]) -> Vec<Record> {
    let document = Document::parse_log(log).expect("what we write is JSON");
    let text = |record: Value<'_>, key: &str| record.get_text(key).map(|text| text.decode().into_owned());
    let side = |record: Value<'_>| record.get("isSidechain").is_some_and(|flag| flag.raw() == "true");
    let record = |item: Value<'_>| Some(Record { id: text(item, id)?, parent: text(item, parent), side: side(item) });
    document.roots().filter_map(record).collect()
}

/// The ids of the records that a program reads when it resumes a log: the newest one of the main conversation, its parent, and
/// so on.
fn path(records: &[Record]) -> HashSet<&str> {
    // Of the records that share an id, Qwen Code follows the first one.
    let mut parents: HashMap<&str, Option<&str>> = HashMap::new();
    for record in records {
        parents.entry(record.id.as_str()).or_insert(record.parent.as_deref());
    }
    let up = |id: &&str| parents.get(id).copied().flatten();
    let newest = records.iter().rfind(|record| !record.side).map(|record| record.id.as_str());
    std::iter::successors(newest, up).take(records.len()).collect()
}

/// Every new record belongs to the main conversation, unless it is about a sub-agent's, and hangs off a record of its
/// conversation before it. If a resumed program reads the branch that it is in, it is on the path to the newest message.
fn check_line(linked: &Linked, name: &str, text: &str, out: &str) -> Result<(), TestCaseError> {
    let (before, after) = (records(text, linked.2), records(out, linked.2));
    let (read_before, line) = (path(&before), path(&after));
    let known_before: HashSet<&str> = before.iter().map(|record| record.id.as_str()).collect();
    // Links to records that were never written lead nowhere.
    let named: HashSet<&str> = before.iter().filter_map(|record| record.parent.as_deref()).collect();
    let leads_out = |parent: &str| named.contains(parent) && !known_before.contains(parent);
    let is_root = |record: &Record| record.parent.as_deref().is_none_or(leads_out) && !record.side;
    let root = after.iter().rposition(is_root).unwrap_or_default();
    let is_abandoned = |id: &str| known_before.contains(id) && !read_before.contains(id);
    let place = |id: &str| before.iter().position(|record| record.id == id);
    // Among the records around it in the log, as it was, is one of a branch.
    let in_branch = |nth: usize| {
        let (earlier, later) = after.split_at(nth);
        let start = earlier.iter().rev().find_map(|record| place(&record.id)).unwrap_or_default();
        let end = later.iter().find_map(|record| place(&record.id)).map_or(before.len(), |end| end + 1);
        before[start..end.max(start)].iter().any(|record| is_abandoned(&record.id))
    };
    let mut known: HashMap<&str, bool> = HashMap::new();
    for (nth, new) in after.iter().enumerate() {
        let Record { id, parent, side } = new;
        if !known_before.contains(id.as_str()) {
            let is_above = |parent: &str| known.get(parent) == Some(side) || leads_out(parent);
            let above = parent.as_deref().is_none_or(is_above);
            prop_assert!(above, "{}: {} hangs off nothing before it\nin  {}\nout {}", name, id, text, out);
            let read = *side || nth < root || in_branch(nth) || line.contains(id.as_str());
            prop_assert!(read, "{}: {} is off the line\nin  {}\nout {}", name, id, text, out);
        }
        known.insert(id, *side);
    }
    // What is written for the model stands where it reads it.
    let document = Document::parse_log(out).expect("what we write is JSON");
    let tags = ["<working_memory", "<conversation_summaries", "<\\u0077orking_memory", "<\\u0063onversation_summaries"];
    for record in document.roots().filter(|record| tags.iter().any(|tag| record.raw().contains(tag))) {
        let id = record.get_text(linked.2[0]).map(|id| id.decode().into_owned()).unwrap_or_default();
        prop_assert!(line.contains(id.as_str()), "{}: a block is not read\nin  {}\nout {}", name, text, out);
    }
    Ok(())
}

/// A resumed program goes back through the same records as before a cut that keeps the newest one, as far as they are kept.
fn check_path(keys: [&'static str; 2], name: &str, text: &str, out: &str) -> Result<(), TestCaseError> {
    let (before, after) = (records(text, keys), records(out, keys));
    let newest = |records: &[Record]| records.last().map(|record| record.id.clone());
    if newest(&before) == newest(&after) {
        let known: HashSet<&str> = before.iter().map(|record| record.id.as_str()).collect();
        let kept: HashSet<&str> = after.iter().map(|record| record.id.as_str()).collect();
        let expected: HashSet<&str> = path(&before).intersection(&kept).copied().collect();
        let walked: HashSet<&str> = path(&after).intersection(&known).copied().collect();
        prop_assert_eq!(walked, expected, "{}\nin  {}\nout {}", name, text, out);
    }
    Ok(())
}

/// A record of the main conversation, or of a sub-agent's.
fn record(id: &str, parent: Option<&str>, side: bool, role: &str) -> String {
    let parent = parent.map_or_else(|| String::from("null"), |parent| format!("\"{parent}\""));
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":{side},\"sessionId\":\"s\",\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{id} said\"}},\"uuid\":\"{id}\"}}\n"
    )
}

/// A block is in the main conversation and behind its newest boundary, also where the log, or what is left of it, begins with
/// the conversation of a sub-agent.
#[test]
fn a_block_is_in_the_main_conversation_beside_sub_agents() {
    let agent = |id: &str| {
        let answer = record(&format!("{id}2"), Some(id), true, "assistant");
        record(id, None, true, "user") + &answer
    };
    let main = |first: &str, parent: Option<&str>| {
        let answer = record(&format!("{first}2"), Some(first), false, "assistant");
        record(first, parent, false, "user") + &answer
    };
    let boundary = "{\"parentUuid\":null,\"logicalParentUuid\":\"m2\",\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b\"}\n";
    let logs = [
        agent("a") + &main("m", None),
        main("m", None) + &agent("a") + boundary + &main("n", Some("b")),
        main("m", None) + &agent("a") + boundary + &agent("c") + &main("n", Some("b")),
        main("m", None) + &agent("a") + &main("n", None) + &agent("c") + &main("o", Some("n2")),
    ];
    let cases =
        CASES.iter().chain(OTHERS).filter(|case| case.name.contains("memory") || case.name.contains("summarize"));
    for case in cases {
        for log in &logs {
            let out = cut_with((case.chain)(), Some("claude-code"), Framing::Lines, log).unwrap();
            check_line(&LINKED[1], case.name, log, &out).unwrap_or_else(|error| panic!("{error}"));
            if let Some(block) = out.find("<\\u00") {
                assert!(out.find(boundary).is_none_or(|boundary| boundary < block), "{}: {out}", case.name);
            }
        }
    }
}

/// The pieces of a reply share its id: what is inserted before it becomes the parent of all of them, and nothing parts them.
#[test]
fn a_block_is_read_where_records_share_an_id() {
    let record = |id: &str, parent: &str, kind: &str, part: &str| {
        format!(
            "{{\"uuid\":\"{id}\",\"parentUuid\":{parent},\"type\":\"{kind}\",\"message\":{{\"role\":\"model\",\"parts\":[{part}]}}}}\n"
        )
    };
    let call = "{\"functionCall\":{\"id\":\"c1\",\"name\":\"n\",\"args\":{}}}";
    let result = "{\"functionResponse\":{\"id\":\"c1\",\"name\":\"n\",\"response\":{\"output\":\"coarse\"}}}";
    let log = [
        record("a", "null", "user", "{\"text\":\"Grind it.\"}"),
        record("b", "\"a\"", "assistant", "{\"text\":\"Hm.\",\"thought\":true}"),
        record("b", "\"a\"", "assistant", call),
        record("c", "\"b\"", "tool_result", result),
        record("d", "\"c\"", "assistant", "{\"text\":\"Coarse,\"}"),
        record("d", "\"c\"", "assistant", "{\"text\":\" then fine.\"}"),
    ];
    let log = log.concat();
    for case in CASES.iter().chain(OTHERS).filter(|case| case.writes()) {
        check_laws(case, Some("qwen"), Framing::Lines, &log).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        match cut_with((case.chain)(), Some("qwen"), Framing::Lines, &log) {
            Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => {}
            out => check_line(&LINKED[2], case.name, &log, &out.unwrap()).unwrap_or_else(|error| panic!("{error}")),
        }
    }
}

/// A damaged log repeats a record before those that it descends from.
#[test]
fn a_block_is_read_where_a_record_precedes_its_parent() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/dialects/qwen/rewind.jsonl");
    let log = std::fs::read_to_string(fixture).unwrap();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let damaged = [3, 0, 1, 2, 3, 4, 5].map(|line: usize| lines[line]).concat();
    for case in CASES.iter().chain(OTHERS) {
        check_laws(case, Some("qwen"), Framing::Lines, &damaged).unwrap_or_else(|error| panic!("{error}"));
    }
}

proptest! {
    #![proptest_config(crate::properties::property(16))]

    /// A link out of the log stays one: what a program does not go back to is not joined to what it does.
    #[test]
    fn a_link_out_of_the_log_joins_nothing(script in sound_script(), drawn in drawn()) {
        let text: String = claude_code::serialize_torn(&script).iter().map(|item| format!("{item}\n")).collect();
        for case in tried(CASES, drawn) {
            let out = match cut_with((case.chain)(), Some("claude-code"), Framing::Lines, &text) {
                Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => continue,
                out => out?,
            };
            check_path(["uuid", "parentUuid"], case.name, &text, &out)?;
        }
    }

    #[test]
    fn what_is_inserted_is_on_the_line_of_the_newest_message(
        script in sound_script(),
        linked in prop::sample::select(LINKED),
        drawn in drawn(),
    ) {
        let text: String = (linked.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        for case in tried(CASES.iter().chain(OTHERS).filter(|case| case.writes()), drawn) {
            check_laws(case, Some(linked.0), Framing::Lines, &text)?;
            let out = match cut_with((case.chain)(), Some(linked.0), Framing::Lines, &text) {
                Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => continue,
                out => out?,
            };
            check_line(&linked, case.name, &text, &out)?;
        }
    }
}
