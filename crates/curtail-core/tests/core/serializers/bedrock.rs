//! Scripts as Bedrock Converse messages: results gather in user messages.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for turn in script {
        if !matches!(turn, Turn::Result { .. }) && !results.is_empty() {
            items.push(message("user", &std::mem::take(&mut results)));
        }
        match turn {
            Turn::System(text) => items.push(message("system", &[block(text)])),
            Turn::User(text) => items.push(message("user", &[block(text)])),
            Turn::Result { id, text, .. } => results.push(format!(
                "{{\"toolResult\":{{\"toolUseId\":{},\"content\":[{}],\"status\":\"success\"}}}}",
                json(id),
                block(text)
            )),
            Turn::Assistant { reasoning, text, calls } => {
                let thought = reasoning
                    .iter()
                    .map(|text| format!("{{\"reasoningContent\":{{\"reasoningText\":{}}}}}", block(text)));
                let texts = text.iter().map(|text| block(text));
                let calls = calls.iter().map(|call| {
                    let (id, name) = (json(&call.id), json(&call.name));
                    let input = &call.arguments;
                    format!("{{\"toolUse\":{{\"toolUseId\":{id},\"name\":{name},\"input\":{input}}}}}")
                });
                items.push(message("assistant", &thought.chain(texts).chain(calls).collect::<Vec<_>>()));
            }
        }
    }
    if !results.is_empty() {
        items.push(message("user", &results));
    }
    items
}

fn block(text: &str) -> String {
    format!("{{\"text\":{}}}", json(text))
}

fn message(role: &str, blocks: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"content\":[{}]}}", blocks.join(","))
}
