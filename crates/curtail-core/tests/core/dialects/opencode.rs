//! Records of `OpenCode`, version 2.

use curtail_core::dialects::{Framing, Reading};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Processor, Repair, RepairMode, Strip, StripKind};

const SESSION: &str = include_str!("../../../../../fixtures/dialects/opencode/version2-records.json");

fn cut(processor: impl Processor + 'static) -> String {
    let reading = Reading::new(Framing::Document, None, None).expect("no dialect is named");
    let chain = Chain::default().then(processor);
    let mut out = String::new();
    TextCutter { chain, explain: false, counting: None }.cut(&reading, SESSION, &mut out).expect("it can be cut");
    out
}

#[test]
fn an_open_call_gets_an_error_as_version_2_writes_it() {
    let out = cut(Repair { mode: RepairMode::Stub, pending: true });
    let state: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let state = &state["messages"][8]["content"][0]["state"];
    assert_eq!(state["status"], "error");
    assert!(state["error"]["message"].is_string(), "{state}");
}

#[test]
fn reasoning_is_stripped() {
    let out = cut(Strip { kinds: vec![StripKind::Reasoning], ..Strip::default() });
    assert!(SESSION.contains("The log of the lamp") && !out.contains("The log of the lamp"), "{out}");
}
