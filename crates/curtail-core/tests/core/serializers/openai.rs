//! Scripts as OpenAI chat messages.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().map(item).collect()
}

fn item(turn: &Turn) -> String {
    match turn {
        Turn::System(text) => format!("{{\"role\":\"system\",\"content\":{}}}", json(text)),
        Turn::User(text) => format!("{{\"role\":\"user\",\"content\":{}}}", json(text)),
        Turn::Result { id, name, text } => format!(
            "{{\"role\":\"tool\",\"tool_call_id\":{},\"name\":{},\"content\":{}}}",
            json(id),
            json(name),
            json(text)
        ),
        Turn::Assistant { reasoning, text, calls } => {
            let mut members = vec![String::from("\"role\":\"assistant\"")];
            members.extend(reasoning.as_ref().map(|text| format!("\"reasoning_content\":{}", json(text))));
            members.push(format!("\"content\":{}", text.as_ref().map_or(String::from("null"), |text| json(text))));
            if !calls.is_empty() {
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| {
                        let (id, name) = (json(&call.id), json(&call.name));
                        let arguments = json(&call.arguments);
                        format!("{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}")
                    })
                    .collect();
                members.push(format!("\"tool_calls\":[{}]", calls.join(",")));
            }
            format!("{{{}}}", members.join(","))
        }
    }
}
