//! Sessions of the Agent Development Kit whose long-running calls are answered more than once.

use curtail_core::pipeline::Chain;
use curtail_core::processors::Live;

use super::files::cut;

fn event(time: usize, author: &str, rest: &str) -> String {
    format!("{{\"id\":\"e{time}\",\"timestamp\":{time},\"invocation_id\":\"i\",\"author\":\"{author}\",{rest}}}\n")
}

fn answer(time: usize, author: &str, id: &str, output: &str) -> String {
    let response = format!("{{\"id\":\"{id}\",\"name\":\"paint\",\"response\":{{\"output\":\"{output}\"}}}}");
    let content = format!("\"content\":{{\"role\":\"user\",\"parts\":[{{\"function_response\":{response}}}]}}");
    event(time, author, &content)
}

/// The program takes the last answer and joins it with the call. One before it, which a compaction replaced, stays with both.
#[test]
fn a_call_that_is_answered_behind_a_compaction_keeps_all_its_answers() {
    let call = |id: &str| format!("{{\"function_call\":{{\"id\":\"{id}\",\"name\":\"paint\",\"args\":{{}}}}}}");
    let calls = format!(
        "\"content\":{{\"role\":\"model\",\"parts\":[{{\"text\":\"I begin.\"}},{},{}]}},\"long_running_tool_ids\":[\"c1\",\"c2\"]",
        call("c1"),
        call("c2")
    );
    let summary = "\"actions\":{\"compaction\":{\"start_timestamp\":0,\"end_timestamp\":3,\"compacted_content\":{\"role\":\"model\",\"parts\":[{\"text\":\"The gate.\"}]}}}";
    let question = "\"content\":{\"role\":\"user\",\"parts\":[{\"text\":\"Paint the gate.\"}]}";
    let first = event(1, "user", question);
    let kept = [
        event(2, "agent", &calls),
        answer(3, "agent", "c1", "waits"),
        answer(4, "agent", "c2", "waits"),
        answer(5, "user", "c1", "done"),
        answer(6, "user", "c2", "done"),
        event(7, "user", summary),
    ];
    let kept = kept.concat();
    assert_eq!(cut(Chain::default().then(Live), &format!("{first}{kept}")), kept);
}
