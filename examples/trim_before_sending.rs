//! Cuts a chat request to size before it is sent: the newest messages stay, and no tool call loses its result.

use std::io::Write as _;

use curtail_core::{Cutter, Error, LimitPolicy, WindowPolicy};
use serde_json::{Value, json};

/// The messages of a request, as a program holds them.
fn messages() -> Vec<Value> {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "timetable", "arguments": "{}"}});
    vec![
        json!({"role": "system", "content": "You answer in one sentence."}),
        json!({"role": "user", "content": "When does the first train leave?"}),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "05:12"}),
        json!({"role": "assistant", "content": "At 05:12."}),
        json!({"role": "user", "content": "And the last one?"}),
    ]
}

/// At most the last `size` messages before the question, within 8,000 tokens. Instructions stay, and calls keep their results.
fn trimmed(messages: &[Value], size: usize) -> Result<Vec<Value>, Error> {
    let window = WindowPolicy::last(size);
    let cutter = Cutter::builder().window(window).limit(LimitPolicy::tokens(8_000)).dialect("openai").build()?;
    Ok(cutter.cut_values(messages)?.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let request = json!({"model": "gpt-4o", "messages": trimmed(&messages(), 2)?});
    writeln!(std::io::stdout(), "{request:#}")?;
    Ok(())
}

#[test]
fn the_request_is_shorter_and_keeps_its_instructions_and_its_question() -> Result<(), Error> {
    let sent = trimmed(&messages(), 2)?;
    assert!(sent.len() < messages().len(), "{sent:?}");
    assert_eq!(sent[0]["content"], "You answer in one sentence.");
    assert_eq!(sent[sent.len() - 1]["content"], "And the last one?");
    let [calls, results] =
        ["tool_calls", "tool_call_id"].map(|key| sent.iter().any(|message| message.get(key).is_some()));
    assert_eq!(calls, results);
    assert_eq!(trimmed(&messages(), 100)?, messages());
    Ok(())
}
