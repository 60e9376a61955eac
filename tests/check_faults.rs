//! One planted fault at a time, in every dialect: `check` finds it, by its name and at its place, and `repair` mends it.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop at what it did not expect"
)]

mod spell;

use std::collections::BTreeSet;

use assert_cmd::Command;
use curtail::dialects::find;
use curtail::transcript::ResultPlace;
use spell::{Call, SPELLERS, Speller, Turn};

fn call(id: &str, name: &str) -> Call {
    Call { id: id.to_owned(), name: name.to_owned(), arguments: format!("{{\"for\":\"{id}\"}}") }
}

fn result(id: &str, name: &str) -> Turn {
    Turn::Result { id: id.to_owned(), name: name.to_owned(), text: format!("what {name} found") }
}

fn says(text: &str) -> Turn {
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
        says("It is sunny."),
        user("And tomorrow?"),
        calls(vec![call("call-c", "forecast")]),
        result("call-c", "forecast"),
        says("It will rain."),
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

/// What `check` must say of a plant in a dialect; nothing where the dialect cannot spell the fault.
fn expected(speller: usize, plant: &str) -> &'static [&'static str] {
    let (dialect, _) = SPELLERS[speller];
    // Where call and result are one record, there are no lonely results, and ids are spelt once.
    let one_record = SPELLERS[..speller].iter().any(|(earlier, _)| *earlier == dialect);
    let by_place = matches!(dialect, "gemini" | "sharegpt" | "cursor") && !one_record;
    let anywhere = find(dialect).unwrap().manners().results == ResultPlace::Anywhere;
    let counted = dialect == "gemini" && !one_record;
    match plant {
        _ if dialect == "simple" => &[],
        "end on a call" => &["pending-call"],
        // What a step is tells only the call before it: without one it is no result.
        "drop a call" | "drop the only call" | "duplicate a result" if dialect == "antigravity" => &[],
        "swap call and result" | "detach a result" if dialect == "antigravity" => &["unanswered-call"],
        "drop a result" if dialect == "sharegpt" => &[],
        "drop a result" if counted => &["response-count"],
        "drop a result" | "drop the only result" => &["unanswered-call"],
        "drop a call" if counted => &["response-count"],
        "drop a call" | "drop the only call" if one_record => &[],
        "drop a call" | "drop the only call" => &["orphan-result"],
        "swap call and result" if one_record => &["unanswered-call"],
        "swap call and result" if by_place => &["orphan-result", "unanswered-call"],
        "swap call and result" => &["result-before-call"],
        "duplicate a result" if one_record => &[],
        "duplicate a result" if counted => &["response-count"],
        "duplicate a result" if by_place => &["orphan-result"],
        "duplicate a result" => &["duplicate-result"],
        // Each copy is closed before the next begins; and where a text lists calls, one answer is for all of them.
        "duplicate a call" if one_record || dialect == "sharegpt" => &[],
        "duplicate a call" if counted => &["response-count"],
        "duplicate a call" if by_place || dialect == "antigravity" => &["unanswered-call"],
        "duplicate a call" => &["duplicate-call-id"],
        // A list of items has no place for results: they may stand anywhere behind their call.
        "detach a result" if anywhere && dialect != "antigravity" => &[],
        "detach a result" if one_record => &["unanswered-call"],
        "detach a result" => &["detached-result"],
        "rename an id" if by_place || dialect == "antigravity" => &[],
        "rename an id" if one_record => &["unanswered-call"],
        _ => &["orphan-result", "unanswered-call"],
    }
}

fn lines(speller: Speller, script: &[Turn]) -> String {
    (speller.1)(script).iter().map(|item| format!("{item}\n")).collect()
}

/// The findings of `check` in `text`, as JSON.
fn findings(dialect: &str, text: &str) -> Vec<serde_json::Value> {
    let mut check = Command::cargo_bin("curtail").unwrap();
    check.args(["check", "--framing", "lines", "--dialect", dialect, "-A", "turn", "--output-format", "json"]);
    let output = check.write_stdin(text).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    report["findings"].as_array().unwrap().clone()
}

fn rules(findings: &[serde_json::Value]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

fn repaired(dialect: &str, mode: &str, text: &str) -> String {
    let mut repair = Command::cargo_bin("curtail").unwrap();
    repair.args(["repair", "--mode", mode, "--pending", "--framing", "lines", "--dialect", dialect]);
    let output = repair.write_stdin(text).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_clean_script_raises_nothing_and_is_not_mended() {
    for &speller in SPELLERS {
        let text = lines(speller, &clean());
        assert_eq!(findings(speller.0, &text), Vec::<serde_json::Value>::new(), "{}: {text}", speller.0);
        for mode in ["drop", "stub", "move"] {
            assert_eq!(repaired(speller.0, mode, &text), text, "{}", speller.0);
        }
    }
}

#[test]
fn a_planted_fault_raises_its_rule() {
    let mut wrong = Vec::new();
    for (nth, &speller) in SPELLERS.iter().enumerate() {
        for (plant, change) in PLANTS {
            let mut script = clean();
            change(&mut script);
            let text = lines(speller, &script);
            let found = findings(speller.0, &text);
            if rules(&found) != expected(nth, plant).iter().copied().collect() {
                wrong.push(format!("{} {nth}, {plant}: {:?}\n{text}", speller.0, rules(&found)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands at the place of a finding, found by line and pointer, and again by byte offset.
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
fn a_finding_points_at_what_was_planted() {
    let tools = |plant: &str| match plant {
        "drop a result" => "fetch",
        "drop a call" => "fetch",
        _ => "forecast",
    };
    for &speller in SPELLERS {
        for (plant, change) in PLANTS {
            let mut script = clean();
            change(&mut script);
            let text = lines(speller, &script);
            for finding in findings(speller.0, &text) {
                let there = placed(&text, &finding["at"]).to_string();
                let ids = ["call-b", "call-c", "call-x", tools(plant)];
                // A message that answers too few calls is pointed at as a whole: what is missing cannot be.
                let whole = finding["rule"] == "response-count" && there.contains("functionResponse");
                assert!(
                    whole || ids.iter().any(|id| there.contains(id)),
                    "{} {plant}: {finding} at {there}",
                    speller.0
                );
                if finding["other_half"].is_object() {
                    placed(&text, &finding["other_half"]);
                }
            }
        }
    }
}

#[test]
fn every_mode_mends_every_plant_once_and_for_all() {
    for &speller in SPELLERS {
        for (plant, change) in PLANTS {
            let mut script = clean();
            change(&mut script);
            let text = lines(speller, &script);
            for mode in ["drop", "stub", "move"] {
                let mended = repaired(speller.0, mode, &text);
                let left = findings(speller.0, &mended);
                assert!(left.is_empty(), "{} {plant} {mode}: {left:?}\n{text}\n{mended}", speller.0);
                assert_eq!(repaired(speller.0, mode, &mended), mended, "{} {plant} {mode}", speller.0);
                let first = lines(speller, &script[..1]);
                assert!(mended.starts_with(&first), "{} {plant} {mode}: {mended}", speller.0);
                assert!(mode == "stub" || mended.len() <= text.len(), "{} {plant} {mode} made it bigger", speller.0);
            }
        }
    }
}

#[test]
fn a_stub_says_that_the_call_was_interrupted() {
    for &speller in SPELLERS.iter().filter(|(dialect, _)| *dialect != "simple") {
        let mut script = clean();
        script.remove(7);
        let mended = repaired(speller.0, "stub", &lines(speller, &script));
        assert!(mended.contains("[interrupted: this tool call was never answered]"), "{}: {mended}", speller.0);
    }
}
