//! The compactions of the Messages API: those that failed, and the calls in front of one.

use curtail_core::pipeline::Chain;
use curtail_core::processors::{Repair, RepairMode};
use curtail_core::transcript::Standing;

use super::files::{cut, read_transcripts};

fn chat(compaction: &str) -> String {
    format!(
        "{{\"role\":\"user\",\"content\":\"Paint the gate.\"}}\n{{\"role\":\"assistant\",\"content\":[{compaction},{{\"type\":\"text\",\"text\":\"I begin.\"}}]}}\n{{\"role\":\"user\",\"content\":\"Green, please.\"}}\n"
    )
}

/// The API ignores a compaction without content, and the model still reads what is before it.
#[test]
fn a_compaction_that_failed_is_no_boundary() {
    for (compaction, stands) in [
        (r#"{"type":"compaction","content":"The gate."}"#, true),
        (r#"{"type":"compaction","content":null,"encrypted_content":"gAAAA"}"#, true),
        (r#"{"type":"compaction","content":null}"#, false),
        (r#"{"type":"compaction"}"#, false),
    ] {
        let read = read_transcripts(&chat(compaction), |dialect, transcript| {
            assert_eq!(dialect.name(), "anthropic");
            let superseded = transcript.messages[0].standing == Standing::Superseded;
            assert_eq!((superseded, transcript.messages[1].is_boundary()), (stands, stands), "{compaction}");
        });
        read.expect("it is read");
    }
}

/// The API reads nothing in front of a compaction: an answer to a call there stands there too, and changes no thought behind it.
#[test]
fn a_call_in_front_of_a_compaction_is_answered_there() {
    let head = concat!(
        r#"{"role":"user","content":"Paint the gate."}"#,
        "\n",
        r#"{"role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"c1","name":"mix","input":{}}]}"#,
        "\n",
    );
    let tail = concat!(
        r#"{"role":"assistant","model":"claude-opus-5-5","content":[{"type":"compaction","content":"The gate.","encrypted_content":"gAAAA"}]}"#,
        "\n",
        r#"{"role":"user","content":"Green, please."}"#,
        "\n",
        r#"{"role":"assistant","model":"claude-opus-5-5","content":[{"type":"thinking","thinking":"Green?","signature":"c2ln"},{"type":"text","text":"Green."}]}"#,
        "\n",
    );
    let chain = Chain::default().then(Repair { mode: RepairMode::Stub, pending: true });
    let out = cut(chain, &format!("{head}{tail}"));
    let answer = out.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail)).expect("nothing else changes");
    assert!(answer.contains("\"tool_use_id\":\"c1\""), "{out}");
}
