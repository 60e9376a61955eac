//! Scripts as Cursor transcripts: no ids, results gather in user messages.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for turn in script {
        if let Turn::Result { name, text, .. } = turn {
            let (name, text) = (json(name), json(text));
            results.push(format!(
                "{{\"type\":\"tool_result\",\"name\":{name},\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}"
            ));
            continue;
        }
        if !results.is_empty() {
            items.push(item("user", &std::mem::take(&mut results)));
        }
        items.push(said(turn));
    }
    if !results.is_empty() {
        items.push(item("user", &results));
    }
    items
}

fn item(role: &str, blocks: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"message\":{{\"content\":[{}]}}}}", blocks.join(","))
}

fn said(turn: &Turn) -> String {
    let text = |said: &String| format!("{{\"type\":\"text\",\"text\":{}}}", json(said));
    match turn {
        Turn::System(said) => item("system", &[text(said)]),
        Turn::User(said) => item("user", &[text(said)]),
        Turn::Result { .. } => String::new(),
        Turn::Assistant { reasoning, text: said, calls } => {
            let thought = reasoning.iter().map(|said| format!("{{\"type\":\"thinking\",\"thinking\":{}}}", json(said)));
            let calls = calls.iter().map(|call| {
                format!("{{\"type\":\"tool_use\",\"name\":{},\"input\":{}}}", json(&call.name), call.arguments)
            });
            item("assistant", &thought.chain(said.iter().map(text)).chain(calls).collect::<Vec<_>>())
        }
    }
}
