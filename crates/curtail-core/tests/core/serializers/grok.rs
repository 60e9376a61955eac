//! Scripts as chat histories of the Grok CLI.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().flat_map(lines).collect()
}

fn lines(turn: &Turn) -> Vec<String> {
    let message = |kind: &str, text: &str| {
        vec![format!("{{\"type\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", json(text))]
    };
    match turn {
        Turn::System(text) => message("system", text),
        Turn::User(text) => message("user", text),
        Turn::Result { id, text, .. } => {
            vec![format!("{{\"type\":\"tool_result\",\"tool_call_id\":{},\"content\":{}}}", json(id), json(text))]
        }
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.as_ref().map(|text| {
                format!(
                    "{{\"type\":\"reasoning\",\"summary\":[{{\"type\":\"summary_text\",\"text\":{}}}]}}",
                    json(text)
                )
            });
            let calls = calls.iter().map(|call| {
                let (id, name, arguments) = (json(&call.id), json(&call.name), json(&call.arguments));
                format!("{{\"id\":{id},\"name\":{name},\"arguments\":{arguments}}}")
            });
            let calls: Vec<String> = calls.collect();
            let calls = if calls.is_empty() { String::new() } else { format!(",\"tool_calls\":[{}]", calls.join(",")) };
            let text = json(text.as_deref().unwrap_or_default());
            let reply = format!("{{\"type\":\"assistant\",\"content\":{text}{calls},\"model_id\":\"grok\"}}");
            thought.into_iter().chain([reply]).collect()
        }
    }
}
