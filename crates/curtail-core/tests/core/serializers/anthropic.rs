//! Scripts as Anthropic messages: results gather in user messages.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for turn in script {
        if !matches!(turn, Turn::Result { .. }) && !results.is_empty() {
            items.push(user(&std::mem::take(&mut results)));
        }
        match turn {
            // The wire has no system role; the text is still an instruction.
            Turn::System(text) => items.push(format!("{{\"role\":\"system\",\"content\":{}}}", json(text))),
            Turn::User(text) => items.push(format!("{{\"role\":\"user\",\"content\":{}}}", json(text))),
            Turn::Result { id, text, .. } => results.push(format!(
                "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
                json(id),
                json(text)
            )),
            Turn::Assistant { reasoning, text, calls } => {
                let thought = reasoning.iter().map(|text| {
                    format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"c2ln\"}}", json(text))
                });
                let texts = text.iter().map(|text| format!("{{\"type\":\"text\",\"text\":{}}}", json(text)));
                let calls = calls.iter().map(|call| {
                    let (id, name) = (json(&call.id), json(&call.name));
                    format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{}}}", call.arguments)
                });
                let blocks: Vec<String> = thought.chain(texts).chain(calls).collect();
                items.push(format!("{{\"role\":\"assistant\",\"content\":[{}]}}", blocks.join(",")));
            }
        }
    }
    if !results.is_empty() {
        items.push(user(&results));
    }
    items
}

fn user(blocks: &[String]) -> String {
    format!("{{\"role\":\"user\",\"content\":[{}]}}", blocks.join(","))
}

/// The same in a file of Roo Code, in which marks hide some messages.
pub fn serialize_roo(script: &[Turn]) -> Vec<String> {
    let marked = |(at, item): (usize, String)| {
        let parent = if (1..4).contains(&at) { ",\"truncationParent\":\"t0\",\"condenseParent\":\"c0\"" } else { "" };
        item.replacen('{', &format!("{{\"ts\":{at}{parent},"), 1)
    };
    serialize(script).into_iter().enumerate().map(marked).collect()
}
