//! Spans of OpenTelemetry: the keys of their messages.

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;

use super::files::fixture;

#[test]
fn a_messages_key_can_contain_dots() {
    let text = fixture("otel/span.jsonl");
    for (key, count) in [("attributes.gen_ai.output.messages", 1), ("attributes.gen_ai.input.messages", 3)] {
        let reading = Reading::new(Framing::Records, None, Some(key.to_owned())).expect("no dialect is named");
        let document = Document::parse_all(&text).expect("JSON");
        let transcripts = reading.transcripts(&document).expect("messages");
        assert_eq!(transcripts[0].1.messages.len(), count, "{key}");
    }
}

#[test]
fn a_state_that_the_provider_encrypts_replaces_what_is_before_it() {
    let text = r#"[{"role":"assistant","parts":[{"type":"compaction","id":"cmp_1","content":null}]},{"role":"user","parts":[{"type":"text","content":"And now?"}]}]"#;
    let document = Document::parse(text).expect("JSON");
    let reading = Reading::new(Framing::Records, None, None).expect("no dialect is named");
    let transcripts = reading.transcripts(&document).expect("messages");
    let (dialect, transcript) = (transcripts[0].0, &transcripts[0].1);
    assert_eq!(dialect.format().name, "otel");
    assert!(transcript.messages[0].is_boundary());
}
