//! Scripts as pi entries, linked in a row.

use super::{Turn, json};

pub fn spell(script: &[Turn]) -> Vec<String> {
    let entry = |(nth, turn): (usize, &Turn)| {
        let parent = if nth == 0 { String::from("null") } else { format!("\"{:08x}\"", nth - 1) };
        format!("{{\"type\":\"message\",\"id\":\"{nth:08x}\",\"parentId\":{parent},\"message\":{}}}", message(turn))
    };
    script.iter().enumerate().map(entry).collect()
}

fn text(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", json(text))
}

fn message(turn: &Turn) -> String {
    match turn {
        Turn::System(said) => format!("{{\"role\":\"system\",\"content\":[{}]}}", text(said)),
        Turn::User(said) => format!("{{\"role\":\"user\",\"content\":[{}]}}", text(said)),
        Turn::Result { id, name, text: said } => format!(
            "{{\"role\":\"toolResult\",\"toolCallId\":{},\"toolName\":{},\"content\":[{}],\"isError\":false}}",
            json(id),
            json(name),
            text(said)
        ),
        Turn::Assistant { reasoning, text: said, calls } => {
            let thought = reasoning.iter().map(|said| format!("{{\"type\":\"thinking\",\"thinking\":{}}}", json(said)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"type\":\"toolCall\",\"id\":{id},\"name\":{name},\"arguments\":{}}}", call.arguments)
            });
            let blocks: Vec<String> = thought.chain(said.iter().map(|said| text(said))).chain(calls).collect();
            format!("{{\"role\":\"assistant\",\"content\":[{}]}}", blocks.join(","))
        }
    }
}
