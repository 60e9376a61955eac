//! Reads a log in any dialect: the role of each message, which tools are called, and which calls were answered.
//!
//! `cargo run --example read_a_log -- session.jsonl`

use std::io::Write as _;

use curtail_core::{Error, PartKind, PartView, Source};

/// A line for every message: its number, its role and its parts.
fn outline(log: &str) -> Result<Vec<String>, Error> {
    let source = Source::parse(log)?;
    let mut lines = Vec::new();
    for transcript in source.transcripts()? {
        lines.push(format!("dialect {}", transcript.dialect().unwrap_or("unknown")));
        for message in transcript.messages() {
            let parts: Vec<String> = message.parts().map(describe).collect();
            lines.push(format!("{} {}: {}", message.index(), message.role().name(), parts.join(", ")));
        }
    }
    Ok(lines)
}

fn describe(part: PartView<'_>) -> String {
    let tool = part.tool().unwrap_or_default();
    match part.kind() {
        PartKind::Text => format!("{} characters", part.text().chars().count()),
        PartKind::ToolCall => match part.counterpart() {
            Some(result) => format!("calls {tool} (answered by message {})", result.message().index()),
            None => format!("calls {tool} (not answered)"),
        },
        PartKind::ToolResult => format!("result of {tool}"),
        PartKind::Reasoning => "reasoning".into(),
        PartKind::Media => "an image or a file".into(),
        _ => "something else".into(),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_a_log FILE")?;
    let lines = outline(&std::fs::read_to_string(path)?)?;
    writeln!(std::io::stdout(), "{}", lines.join("\n"))?;
    Ok(())
}

#[test]
fn calls_are_read_with_their_results() -> Result<(), Error> {
    let log = concat!(
        r#"{"role":"user","content":[{"type":"text","text":"When?"}]}"#,
        "\n",
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"timetable","input":{}}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"05:12"}]}"#,
        "\n",
    );
    let expected = [
        "dialect anthropic",
        "0 user: 5 characters",
        "1 assistant: calls timetable (answered by message 2)",
        "2 user: result of timetable",
    ];
    assert_eq!(outline(log)?, expected);
    Ok(())
}
