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
