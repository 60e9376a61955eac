//! Scripts as OpenAI Responses items.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().flat_map(items).collect()
}

/// The same, of a response in the background: some calls of a second round go on.
pub fn serialize_background(script: &[Turn]) -> Vec<String> {
    let goes_on = |item: &String| item.contains("_1_0\"");
    let state = |item: String| match goes_on(&item) {
        true => item.replacen('{', "{\"status\":\"in_progress\",", 1),
        false => item,
    };
    let is_left = |item: &String| !(goes_on(item) && item.contains("_output") && item.len().is_multiple_of(2));
    serialize(script).into_iter().filter(is_left).map(state).collect()
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
