//! Scripts as AgentKit messages.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().flat_map(items).collect()
}

fn items(turn: &Turn) -> Vec<String> {
    let text = |role: &str, text: &str| {
        format!("{{\"type\":\"text\",\"role\":\"{role}\",\"content\":{},\"stop_reason\":\"stop\"}}", json(text))
    };
    match turn {
        Turn::System(content) => vec![text("system", content)],
        Turn::User(content) => vec![text("user", content)],
        Turn::Result { id, name, text } => vec![format!(
            "{{\"type\":\"tool_result\",\"role\":\"tool_result\",\"tool\":{{\"type\":\"tool\",\"id\":{},\"name\":{},\"input\":{{}}}},\"content\":{{\"data\":{}}}}}",
            json(id),
            json(name),
            json(text)
        )],
        Turn::Assistant { text: content, calls, .. } => {
            let mut items: Vec<String> = content.iter().map(|content| text("assistant", content)).collect();
            if !calls.is_empty() {
                let tools: Vec<String> = calls
                    .iter()
                    .map(|call| {
                        let (id, name) = (json(&call.id), json(&call.name));
                        format!("{{\"type\":\"tool\",\"id\":{id},\"name\":{name},\"input\":{}}}", call.arguments)
                    })
                    .collect();
                items.push(format!(
                    "{{\"type\":\"tool_call\",\"role\":\"assistant\",\"tools\":[{}],\"stop_reason\":\"tool\"}}",
                    tools.join(",")
                ));
            }
            items
        }
    }
}
