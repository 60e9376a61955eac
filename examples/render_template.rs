//! Prints what a model reads of each record, as its chat template renders it: one JSON string per record.
//!
//! `cargo run --example render_template -- MODEL RECORDS`, where MODEL is a folder with a chat template or its file

use std::io::Write as _;
use std::path::Path;

use curtail_core::dialects::{Framing, Reading};
use curtail_tokens::templates::{ChatMessage, ChatTemplate, ToolList};

fn render(template: &ChatTemplate, reading: &Reading, record: &str) -> Result<String, Box<dyn std::error::Error>> {
    let document = reading.parse(record)?;
    let transcripts = reading.transcripts(&document)?;
    let (_, transcript) = transcripts.first().ok_or("no transcript")?;
    let (tools, _) = ToolList::from_preamble(&transcript.layout.preamble);
    let messages: Vec<ChatMessage> =
        transcript.messages.iter().flat_map(|message| template.messages_of(message)).collect();
    Ok(template.render(&messages.iter().collect::<Vec<_>>(), tools.as_ref())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, records] = arguments.as_slice() else {
        return Err("usage: render_template MODEL RECORDS".into());
    };
    let template = ChatTemplate::open(Path::new(model))?;
    let reading = Reading::new(Framing::Records, None, None)?;
    let mut out = std::io::stdout().lock();
    for (nth, record) in std::fs::read_to_string(records)?.lines().enumerate() {
        let text = render(&template, &reading, record).map_err(|error| format!("record {}: {error}", nth + 1))?;
        writeln!(out, "{}", serde_json::to_string(&text)?)?;
    }
    Ok(())
}

#[test]
fn a_record_is_rendered() {
    let template = ChatTemplate::compile("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}").unwrap();
    let reading = Reading::new(Framing::Records, None, None).unwrap();
    let record = r#"{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]}"#;
    assert_eq!(render(&template, &reading, record).unwrap(), "user: Hello\nassistant: Hi\n");
}
