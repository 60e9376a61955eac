//! Scripts as sessions of Droid, linked in a row.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let entry = |(nth, turn): (usize, &Turn)| {
        let parent = if nth == 0 { String::from("null") } else { format!("\"{:08x}\"", nth - 1) };
        format!("{{\"type\":\"message\",\"id\":\"{nth:08x}\",\"parentId\":{parent},\"message\":{}}}", message(turn))
    };
    script.iter().enumerate().map(entry).collect()
}

fn message(turn: &Turn) -> String {
    let user = |block: String| format!("{{\"role\":\"user\",\"content\":[{block}]}}");
    let text = |content: &str| format!("{{\"type\":\"text\",\"text\":{}}}", json(content));
    match turn {
        Turn::System(content) => format!("{{\"role\":\"system\",\"content\":[{}]}}", text(content)),
        Turn::User(content) => user(text(content)),
        Turn::Result { id, text, .. } => {
            user(format!("{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{}}}", json(id), json(text)))
        }
        Turn::Assistant { reasoning, text: content, calls } => {
            let thought =
                reasoning.iter().map(|content| format!("{{\"type\":\"thinking\",\"thinking\":{}}}", json(content)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{}}}", call.arguments)
            });
            let blocks: Vec<String> = thought.chain(content.iter().map(|content| text(content))).chain(calls).collect();
            format!("{{\"role\":\"assistant\",\"content\":[{}]}}", blocks.join(","))
        }
    }
}
