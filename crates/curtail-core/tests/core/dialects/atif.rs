//! Trajectories of ATIF: results in the step of their call, the numbers of steps, and sub-agents.

use curtail_core::dialects::{Reading, detect_framing};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Repair, RepairMode};

use super::files::{cut, fixture};
use crate::laws::cases::{last, persist, without};

fn repair(mode: RepairMode) -> Chain {
    Repair { mode, pending: true }.with_drop().into_iter().fold(Chain::default(), Chain::then)
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
    let chains = || [last(1), last(2), without("*"), persist("*"), persist("*").then(Repair::default())];
    for name in ["atif/minimal.jsonl", "atif/parallel.json", "atif/in-flight.jsonl", "atif/observations.jsonl"] {
        for (nth, chain) in chains().into_iter().enumerate() {
            let out: serde_json::Value = serde_json::from_str(&cut(chain, &fixture(name))).expect("JSON");
            let steps = out["steps"].as_array().expect("steps");
            let numbers: Vec<_> = steps.iter().filter_map(|step| step["step_id"].as_u64()).collect();
            assert_eq!(numbers, (1..=steps.len() as u64).collect::<Vec<_>>(), "{name}, chain {nth}");
        }
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
