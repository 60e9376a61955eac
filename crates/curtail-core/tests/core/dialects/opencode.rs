//! Sessions of `OpenCode`: what is written into records of version 2, and the order of messages.

use curtail_core::pipeline::Chain;
use curtail_core::processors::{Repair, RepairMode, Strip, StripKind};

use super::files::{cut, fixture};
use crate::laws::cases::persist;

const SESSION: &str = include_str!("../../../../../fixtures/dialects/opencode/version2-records.json");

#[test]
fn an_open_call_gets_an_error_as_version_2_writes_it() {
    let out = cut(Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }), SESSION);
    let state: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let state = &state["messages"][8]["content"][0]["state"];
    assert_eq!(state["status"], "error");
    assert!(state["error"]["message"].is_string(), "{state}");
}

#[test]
fn reasoning_is_stripped() {
    let out = cut(Chain::default().then(Strip { kinds: vec![StripKind::Reasoning], ..Strip::default() }), SESSION);
    assert!(SESSION.contains("The log of the lamp") && !out.contains("The log of the lamp"), "{out}");
}

/// `OpenCode` orders messages by their time and then their id: a note behind what is left of its message has a later one.
#[test]
fn a_note_behind_a_message_is_sorted_behind_it() {
    let out = cut(persist("read"), &fixture("opencode/parallel.json"));
    let export: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let info = export["messages"].as_array().expect("messages").iter().map(|message| &message["info"]);
    let keys: Vec<_> = info.map(|info| (info["time"]["created"].as_u64(), info["id"].as_str())).collect();
    assert!(out.contains("Used read tool") && keys.is_sorted(), "{keys:?}");
}
