//! Cuts a chat request to size before it is sent: the newest messages stay, and no tool call loses its result.

use std::error::Error;
use std::io::Write as _;

use curtail_core::dialects::{Framing, Reading};
use curtail_core::pipeline::{Chain, Cutter};
use curtail_core::processors::{HistoryWindow, Keep, WindowUnit};

const REQUEST: &str = r#"{"model": "gpt-4o", "messages": [
  {"role": "system", "content": "You answer in one sentence."},
  {"role": "user", "content": "When does the first train leave?"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "call_1", "type": "function", "function": {"name": "timetable", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "call_1", "content": "05:12"},
  {"role": "assistant", "content": "At 05:12."},
  {"role": "user", "content": "And the last one?"}]}
"#;

/// The request with at most the last `size` messages, its instructions and whole pairs of calls and results.
fn trimmed(request: &str, size: usize) -> Result<String, Box<dyn Error>> {
    let window = HistoryWindow {
        size,
        unit: WindowUnit::Items,
        max_expansion: None,
        cap_in_flight: false,
        keep: Keep::default(),
    };
    let cutter = Cutter { chain: Chain::default().then(window), ..Cutter::default() };
    let reading = Reading::new(Framing::Document, Some("openai"), None)?;
    let mut sent = String::new();
    cutter.cut(&reading, request, &mut sent)?;
    Ok(sent)
}

fn main() -> Result<(), Box<dyn Error>> {
    write!(std::io::stdout(), "{}", trimmed(REQUEST, 2)?)?;
    Ok(())
}

#[test]
fn the_request_is_shorter_and_keeps_its_instructions_and_its_question() -> Result<(), Box<dyn Error>> {
    let sent = trimmed(REQUEST, 2)?;
    assert!(sent.len() < REQUEST.len(), "{sent}");
    assert!(sent.contains("You answer in one sentence.") && sent.contains("And the last one?"), "{sent}");
    assert_eq!(sent.contains("tool_calls"), sent.contains("tool_call_id"), "{sent}");
    assert_eq!(trimmed(REQUEST, 100)?, REQUEST);
    Ok(())
}
