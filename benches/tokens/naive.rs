//! A simple program with tiktoken-rs: it keeps the system messages and the newest other messages of every record that
//! fit a budget, counted backwards from the end. It does not keep tool pairs together.

use std::io::{BufRead, BufReader, Result, Write};

use serde_json::Value;
use tiktoken_rs::CoreBPE;

/// Cuts every line of `file` to `budget` tokens and writes it to `out`.
pub(crate) fn limit(encoding: &CoreBPE, budget: usize, file: &str, out: &mut impl Write) -> Result<()> {
    for line in BufReader::new(std::fs::File::open(file)?).lines() {
        let mut record: Value = serde_json::from_str(&line?)?;
        let list = if record.is_array() { Some(&mut record) } else { record.get_mut("messages") };
        if let Some(messages) = list.and_then(Value::as_array_mut) {
            cut(encoding, budget, messages);
        }
        serde_json::to_writer(&mut *out, &record)?;
        writeln!(out)?;
    }
    Ok(())
}

fn cut(encoding: &CoreBPE, budget: usize, messages: &mut Vec<Value>) {
    let fixed: usize =
        messages.iter().filter(|message| is_system(message)).map(|message| tokens(encoding, message)).sum();
    let (mut left, mut start) = (budget.saturating_sub(fixed), messages.len());
    for (at, message) in messages.iter().enumerate().rev().filter(|(_, message)| !is_system(message)) {
        let Some(rest) = left.checked_sub(tokens(encoding, message)) else {
            break;
        };
        (left, start) = (rest, at);
    }
    let mut at = 0;
    messages.retain(|message| {
        at += 1;
        at > start || is_system(message)
    });
}

fn is_system(message: &Value) -> bool {
    message["role"] == "system"
}

fn tokens(encoding: &CoreBPE, message: &Value) -> usize {
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["function"]);
    let called = calls.flat_map(|call| [&call["name"], &call["arguments"]]);
    let blocks = message["content"].as_array().into_iter().flatten().map(|block| &block["text"]);
    let texts = called.chain(blocks).chain([&message["content"]]).filter_map(Value::as_str);
    texts.map(|text| encoding.count_ordinary(text)).sum()
}
