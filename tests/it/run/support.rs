//! The support network with an agent that greets: the result of every prefix of the chain.

use super::{root, stderr, stdout};

fn lines(args: &[&str]) -> Vec<String> {
    let args: Vec<&str> = ["run", "-c", "fixtures/run/support.toml"]
        .iter()
        .chain(args)
        .chain(&["fixtures/run/support.jsonl"])
        .copied()
        .collect();
    stdout(root(), &args).lines().map(str::to_owned).collect()
}

fn fixture() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("fixtures/run/support.jsonl")).expect("the fixture");
    text.lines().map(str::to_owned).collect()
}

fn names(line: &str, tool: &str) -> bool {
    line.contains(&format!("\"name\":\"{tool}\""))
}

/// The calls of `tool` in a line, by id.
fn calls(lines: &[String], tool: &str) -> Vec<String> {
    let calls = lines.iter().flat_map(|line| line.split("{\"id\":\"").skip(1));
    let found = calls.filter(|call| names(call.split("}}").next().unwrap_or_default(), tool));
    found.map(|call| call.split('"').next().unwrap_or_default().to_owned()).collect()
}

/// The fixture without `tool`: its results are dropped, a message that calls nothing else is dropped, and one that calls
/// another tool, too, loses one call and one comma.
fn without(lines: &[String], tool: &str) -> Vec<String> {
    let dropped_ids = calls(lines, tool);
    let is_result = |line: &String| dropped_ids.iter().any(|id| line.contains(&format!("\"tool_call_id\":\"{id}\"")));
    let kept = lines.iter().filter(|line| !is_result(line)).filter_map(|line| {
        let Some(at) = line.find("\"tool_calls\":[") else { return Some(line.clone()) };
        let (head, list) = line.split_at(at + "\"tool_calls\":[".len());
        let list = list.strip_suffix("]}").expect("calls are last");
        let kept_calls: Vec<&str> = list.split(", {\"id\"").filter(|call| !names(call, tool)).collect();
        (!kept_calls.is_empty()).then(|| format!("{head}{}]}}", kept_calls.join(", {\"id\"")))
    });
    kept.collect()
}

#[test]
fn the_history_drops_the_debugging() {
    let fixture = fixture();
    assert_eq!(calls(&fixture, "debug_tool").len(), 15);
    let expected = without(&fixture, "debug_tool");
    assert_eq!(lines(&[]), expected);
    assert!(
        expected.iter().any(|line| line.contains("\"content\":\"I look it up.\",\"tool_calls\":[{\"id\":\"call_004\""))
    );
}

#[test]
fn the_network_counts_what_the_history_left() {
    let (history, network) = (lines(&[]), lines(&["--network", "support"]));
    let dropped = history.len() - network.len();
    assert_eq!(network[0], history[0], "instructions stay");
    assert_eq!(network[1..], history[1 + dropped..], "what stays is the newest part, untouched");
    assert!((1..20).contains(&dropped), "{dropped} lines went: the debugging was counted");
    assert!(!network[1].contains("\"role\":\"tool\""), "no result without its call");
}

#[test]
fn the_greeter_sees_no_tools() {
    let (network, agent) = (lines(&["--network", "support"]), lines(&["--network", "support", "--agent", "greeter"]));
    let spoken = |line: &&String| !line.contains("\"role\":\"tool\"") && !line.contains("\"content\":null");
    let expected: Vec<String> = network.iter().filter(spoken).map(|line| without_calls(line)).collect();
    assert_eq!(agent, expected);
    assert!(agent.iter().any(|line| line.contains("\"I start the refund.\"}")), "text beside calls stays");
}

fn without_calls(line: &str) -> String {
    line.find(",\"tool_calls\":[").map_or(line.to_owned(), |at| format!("{}}}", &line[..at]))
}

#[test]
fn one_pass_over_the_bytes_is_as_good_as_three() {
    let folder = tempfile::tempdir().expect("a folder");
    let chain = lines(&["--network", "support", "--agent", "greeter"]).join("\n") + "\n";
    let steps: [&[&str]; 3] = [&["filter", "-x", "debug_tool"], &["limit", "-t", "16k"], &["filter"]];
    let mut text = fixture().join("\n") + "\n";
    for step in steps {
        std::fs::write(folder.path().join("in.jsonl"), &text).expect("a file");
        text = stdout(folder.path(), &[step, &["in.jsonl"]].concat());
    }
    assert_eq!(chain, text);
}

#[test]
fn decisions_name_their_level_and_sums_every_stage() {
    let args = ["run", "-c", "fixtures/run/support.toml", "--network", "support", "--agent", "greeter"];
    let printed = |more: &str| stderr(root(), &[&args[..], &["fixtures/run/support.jsonl", more]].concat());
    let explained = printed("--explain");
    for stage in ["[filter at history]", "[limit at network support]", "[filter at agent greeter]"] {
        assert!(explained.contains(stage), "{stage}");
    }
    assert!(printed("--explain=json").contains("\"level\":\"network support\",\"processor\":\"limit\""));
    let sums: serde_json::Value =
        serde_json::from_str(printed("--stats=json").lines().last().expect("a line")).expect("JSON");
    let left: Vec<u64> = (0..3).map(|nth| sums["stages"][nth]["tokens"].as_u64().expect("a number")).collect();
    assert!(left[0] > 16_000 && left[1] <= 16_000 && left[1] > 12_000 && left[2] < left[1], "{left:?}");
    assert_eq!(sums["stages"][2]["messages"], sums["messages_after"]);
    assert_eq!(sums["stages"][2]["tokens"], sums["tokens_after"]);
    assert!(printed("--stats").contains("after 2. limit at network support"));
}
