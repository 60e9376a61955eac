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
        items.push(content(turn));
    }
    if !results.is_empty() {
        items.push(item("user", &results));
    }
    items
}

fn item(role: &str, blocks: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"message\":{{\"content\":[{}]}}}}", blocks.join(","))
}

fn content(turn: &Turn) -> String {
    let text = |content: &String| format!("{{\"type\":\"text\",\"text\":{}}}", json(content));
    match turn {
        Turn::System(content) => item("system", &[text(content)]),
        Turn::User(content) => item("user", &[text(content)]),
        Turn::Result { .. } => String::new(),
        Turn::Assistant { reasoning, text: content, calls } => {
            let thought =
                reasoning.iter().map(|content| format!("{{\"type\":\"thinking\",\"thinking\":{}}}", json(content)));
            let calls = calls.iter().map(|call| {
                format!("{{\"type\":\"tool_use\",\"name\":{},\"input\":{}}}", json(&call.name), call.arguments)
            });
            item("assistant", &thought.chain(content.iter().map(text)).chain(calls).collect::<Vec<_>>())
        }
    }
}
