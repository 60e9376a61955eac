//! Scripts as OpenAI Responses items.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().flat_map(items).collect()
}

fn items(turn: &Turn) -> Vec<String> {
    let message = |role: &str, kind: &str, text: &str| {
        format!(
            "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":{}}}]}}",
            json(text)
        )
    };
    match turn {
        Turn::System(text) => vec![message("developer", "input_text", text)],
        Turn::User(text) => vec![message("user", "input_text", text)],
        Turn::Result { id, text, .. } => {
            vec![format!("{{\"type\":\"function_call_output\",\"call_id\":{},\"output\":{}}}", json(id), json(text))]
        }
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.as_ref().map(|text| {
                format!(
                    "{{\"type\":\"reasoning\",\"summary\":[{{\"type\":\"summary_text\",\"text\":{}}}]}}",
                    json(text)
                )
            });
            let reply = text.as_ref().map(|text| message("assistant", "output_text", text));
            let calls = calls.iter().map(|call| {
                let (id, name, arguments) = (json(&call.id), json(&call.name), json(&call.arguments));
                format!("{{\"type\":\"function_call\",\"call_id\":{id},\"name\":{name},\"arguments\":{arguments}}}")
            });
            thought.into_iter().chain(reply).chain(calls).collect()
        }
    }
}
