//! One planted fault at a time, in every dialect: `check` finds it, by its name and at its place, and `repair` repairs it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::program::command;
use crate::serializers::{Call, SERIALIZERS, Serializer, Turn};
use curtail_core::dialects::{Framing, Reading, dialect_named};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Repair, RepairMode};
use curtail_core::transcript::ResultPlace;

fn call(id: &str, name: &str) -> Call {
    Call { id: id.to_owned(), name: name.to_owned(), arguments: format!("{{\"for\":\"{id}\"}}") }
}

fn result(id: &str, name: &str) -> Turn {
    Turn::Result { id: id.to_owned(), name: name.to_owned(), text: format!("what {name} found") }
}

fn assistant_text(text: &str) -> Turn {
    Turn::Assistant { reasoning: None, text: Some(text.to_owned()), calls: Vec::new() }
}

fn calls(calls: Vec<Call>) -> Turn {
    Turn::Assistant { reasoning: None, text: None, calls }
}

fn user(text: &str) -> Turn {
    Turn::User(text.to_owned())
}

/// Two rounds of calls, all answered, between two users' words.
fn clean() -> Vec<Turn> {
    vec![
        user("What is the weather like?"),
        calls(vec![call("call-a", "search"), call("call-b", "fetch")]),
        result("call-a", "search"),
        result("call-b", "fetch"),
        assistant_text("It is sunny."),
        user("And tomorrow?"),
        calls(vec![call("call-c", "forecast")]),
        result("call-c", "forecast"),
        assistant_text("It will rain."),
    ]
}

/// What is done to the clean script.
type Plant = (&'static str, fn(&mut Vec<Turn>));

const PLANTS: &[Plant] = &[
    ("drop a result", |script| drop(script.remove(3))),
    ("drop the only result", |script| drop(script.remove(7))),
    ("drop a call", |script| script[1] = calls(vec![call("call-a", "search")])),
    ("drop the only call", |script| drop(script.remove(6))),
    ("swap call and result", |script| script.swap(6, 7)),
    ("duplicate a result", |script| script.insert(8, result("call-c", "forecast"))),
    ("duplicate a call", |script| script[6] = calls(vec![call("call-c", "forecast"), call("call-c", "forecast")])),
    ("detach a result", |script| script.insert(7, user("Hello?"))),
    ("rename an id", |script| script[7] = result("call-x", "forecast")),
    ("end on a call", |script| script.truncate(7)),
];

/// What an entry has in it that holds a question and its answer.
const CUT_WHOLE: &str = r#""assistant":{"ToolUse""#;

/// What `check` must say of a plant in a dialect; nothing where the dialect cannot write the fault.
fn expected(serializer: usize, plant: &str) -> &'static [&'static str] {
    let (dialect, _) = SERIALIZERS[serializer];
    // Where call and result are one record, there are no unpaired results, and an id is written once.
    let earlier = SERIALIZERS[..serializer].iter().filter(|(earlier, _)| *earlier == dialect).count();
    let second = earlier > 0;
    // Events of the Agent Development Kit and messages with approvals have ids, and results of their own.
    let events = dialect == "gemini" && earlier == 4;
    let apart = events || dialect == "ai-sdk" && earlier == 2;
    let one_record =
        second && !apart && matches!(dialect, "gemini" | "ai-sdk") || matches!(dialect, "opencode" | "mastra");
    let by_place = matches!(dialect, "gemini" | "sharegpt" | "cursor" | "ollama") && !one_record && !events;
    let anywhere = dialect_named(dialect).unwrap().pairing_rules().results == ResultPlace::Anywhere;
    let counted = dialect == "gemini" && !one_record && !events;
    // The lines of a recording of Gemini CLI repeat the results of a message as one message.
    let lines = dialect == "gemini" && matches!(earlier, 2 | 3);
    match plant {
        _ if dialect == "simple" => &[],
        "duplicate a call" if lines => &["duplicate-result", "response-count"],
        "end on a call" => &["pending-call"],
        // Only the call before it makes a step a result.
        "drop a call" | "drop the only call" | "duplicate a result" if dialect == "antigravity" => &[],
        "swap call and result" | "detach a result" if dialect == "antigravity" => &["unanswered-call"],
        "drop a result" if dialect == "sharegpt" => &[],
        // The person takes the turn back in which the result is missing.
        "drop a result" if dialect == "kimi" && second => &[],
        // The program joins every answer with its call, wherever it is, and takes the last one.
        "detach a result" | "duplicate a result" if events => &[],
        "drop a call" | "drop a result" if events => &["response-count"],
        "duplicate a call" if events => &["duplicate-call-id", "response-count"],
        // The result is written into the record of its call.
        "detach a result" if dialect == "gemini" && earlier == 3 => &[],
        "drop a result" if counted || lines => &["response-count"],
        "drop a result" | "drop the only result" => &["unanswered-call"],
        "drop a call" if counted => &["response-count"],
        "drop a call" | "drop the only call" | "duplicate a result" if one_record => &[],
        "drop a call" | "drop the only call" => &["orphan-result"],
        // The result is written into the record of its call, wherever it is.
        "swap call and result" | "detach a result" if dialect == "mastra" => &[],
        "swap call and result" if one_record => &["unanswered-call"],
        "swap call and result" if by_place => &["orphan-result", "unanswered-call"],
        "swap call and result" => &["result-before-call"],
        "duplicate a result" if counted => &["response-count"],
        "duplicate a result" if by_place => &["orphan-result"],
        "duplicate a result" => &["duplicate-result"],
        // The second copy stays open.
        "duplicate a call" if dialect == "opencode" => &["unanswered-call"],
        // Each copy is closed before the next begins; and where a text lists calls, one answer is for all of them.
        "duplicate a call" if one_record || dialect == "sharegpt" => &[],
        "duplicate a call" if counted => &["response-count"],
        "duplicate a call" if by_place || dialect == "antigravity" => &["unanswered-call"],
        "duplicate a call" => &["duplicate-call-id"],
        // No result stands apart from its call, or from the answer to it.
        "detach a result" if dialect == "opencode" || second && dialect == "kiro" => &[],
        // A list of items has no place for results: they may be anywhere after their call.
        "detach a result" if anywhere && dialect != "antigravity" => &[],
        // Without ids, only the item right after a call can be its result.
        "detach a result" if by_place => &["orphan-result", "unanswered-call"],
        "detach a result" if one_record => &["unanswered-call"],
        "detach a result" => &["detached-result"],
        "rename an id" if by_place || dialect == "antigravity" => &[],
        "rename an id" if one_record => &["unanswered-call"],
        _ => &["orphan-result", "unanswered-call"],
    }
}

fn lines(serializer: Serializer, script: &[Turn]) -> String {
    (serializer.1)(script).iter().map(|item| format!("{item}\n")).collect()
}

/// The clean script with one planted fault each, in a dialect.
fn planted(serializer: Serializer) -> Vec<(&'static str, String)> {
    let planted = PLANTS.iter().map(|(plant, change)| {
        let mut script = clean();
        change(&mut script);
        (*plant, lines(serializer, &script))
    });
    planted.collect()
}

fn curtail(folder: &Path, args: &[&str]) -> String {
    String::from_utf8(command(folder, args).output().unwrap().stdout).unwrap()
}

fn write(texts: &[String]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (nth, text) in texts.iter().enumerate() {
        fs::write(folder.path().join(format!("{nth}.jsonl")), text).unwrap();
    }
    folder
}

/// The findings of `check` in each text, as JSON.
fn findings(dialect: &str, texts: &[String]) -> Vec<Vec<serde_json::Value>> {
    let folder = write(texts);
    let args = ["check", "--framing", "lines", "--dialect", dialect, "-A", "turn", "--output-format", "json", "."];
    let out = curtail(folder.path(), &args);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let all = report["findings"].as_array().unwrap();
    let findings_of =
        |nth: usize| all.iter().filter(move |one| one["file"] == format!("./{nth}.jsonl")).cloned().collect();
    let each: Vec<Vec<_>> = (0..texts.len()).map(findings_of).collect();
    assert_eq!(each.iter().map(Vec::len).sum::<usize>(), all.len(), "every finding belongs to a file");
    each
}

fn rules(findings: &[serde_json::Value]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

fn repaired(dialect: &str, mode: &str, texts: &[String]) -> Vec<String> {
    let mode = match mode {
        "drop" => RepairMode::Drop,
        "stub" => RepairMode::Stub,
        "move" => RepairMode::Move,
        _ => panic!("no mode {mode}"),
    };
    let chain = Repair { mode, pending: true }.with_drop().into_iter().fold(Chain::default(), Chain::then);
    let reading = Reading::new(Framing::Lines, Some(dialect), None).unwrap();
    let cutter = TextCutter { chain, explain: false, counting: None };
    let repair = |text: &String| {
        let mut repaired = String::new();
        cutter.cut(&reading, text, &mut repaired).unwrap();
        repaired
    };
    texts.iter().map(repair).collect()
}

#[test]
fn a_clean_script_raises_nothing_and_is_not_mended() {
    for &serializer in SERIALIZERS {
        let text = vec![lines(serializer, &clean())];
        assert_eq!(findings(serializer.0, &text), [Vec::<serde_json::Value>::new()], "{}: {text:?}", serializer.0);
        for mode in ["drop", "stub", "move"] {
            assert_eq!(repaired(serializer.0, mode, &text), text, "{}", serializer.0);
        }
    }
}

/// The value at the place of a finding, found by line and pointer, and again by byte offset.
fn placed(text: &str, place: &serde_json::Value) -> serde_json::Value {
    let number = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
    let line = text.lines().nth(number("line") - 1).unwrap();
    let whole: serde_json::Value = serde_json::from_str(line).unwrap();
    let value =
        whole.pointer(place["pointer"].as_str().unwrap()).unwrap_or_else(|| panic!("{place} in {line}")).clone();
    let bytes = &text[number("offset")..number("offset") + number("length")];
    assert_eq!(serde_json::from_str::<serde_json::Value>(bytes).unwrap(), value, "{place}");
    assert!(line.chars().skip(number("column") - 1).collect::<String>().starts_with(bytes), "{place}");
    value
}

#[test]
fn a_planted_fault_raises_its_rule_at_its_place() {
    let mut wrong = Vec::new();
    for (nth, &serializer) in SERIALIZERS.iter().enumerate() {
        let planted = planted(serializer);
        let texts: Vec<String> = planted.iter().map(|(_, text)| text.clone()).collect();
        for ((plant, text), found) in planted.iter().zip(findings(serializer.0, &texts)) {
            if rules(&found) != expected(nth, plant).iter().copied().collect() {
                wrong.push(format!("{} {nth}, {plant}: {:?}\n{text}", serializer.0, rules(&found)));
            }
            let tool = if matches!(*plant, "drop a result" | "drop a call") { "fetch" } else { "forecast" };
            for finding in found {
                let there = placed(text, &finding["at"]).to_string();
                // A message that answers too few calls is pointed at as a whole: what is missing cannot be.
                let whole = finding["rule"] == "response-count"
                    && ["functionResponse", "function_response"].iter().any(|key| there.contains(key));
                let hit = whole || ["call-b", "call-c", "call-x", tool].iter().any(|id| there.contains(id));
                assert!(hit, "{} {plant}: {finding} at {there}", serializer.0);
                if finding["other_half"].is_object() {
                    placed(text, &finding["other_half"]);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mode_repairs_every_plant_once_and_for_all() {
    for &serializer in SERIALIZERS {
        let texts: Vec<String> = planted(serializer).into_iter().map(|(_, text)| text).collect();
        for mode in ["drop", "stub", "move"] {
            let after_repair = repaired(serializer.0, mode, &texts);
            assert_eq!(repaired(serializer.0, mode, &after_repair), after_repair, "{} {mode}", serializer.0);
            let left = findings(serializer.0, &after_repair);
            for (nth, (plant, _)) in PLANTS.iter().enumerate() {
                let (before, after) = (&texts[nth], &after_repair[nth]);
                assert!(left[nth].is_empty(), "{} {plant} {mode}: {:?}\n{before}\n{after}", serializer.0, left[nth]);
                let asked = before.lines().find(|line| line.contains("What is the weather like?")).unwrap();
                // An entry that holds a question and its answer is cut whole.
                let whole = asked.contains(CUT_WHOLE);
                assert!(whole || after.contains(asked), "{} {plant} {mode}: {after}", serializer.0);
                assert!(
                    mode == "stub" || after.len() <= before.len(),
                    "{} {plant} {mode} made it bigger",
                    serializer.0
                );
            }
        }
    }
}

#[test]
fn a_stub_says_that_the_call_was_interrupted() {
    for &serializer in SERIALIZERS.iter().filter(|(dialect, _)| *dialect != "simple") {
        let mut script = clean();
        script.remove(7);
        let stubbed = repaired(serializer.0, "stub", &[lines(serializer, &script)]);
        assert!(
            stubbed[0].contains("[interrupted: this tool call was never answered]"),
            "{}: {stubbed:?}",
            serializer.0
        );
    }
}
