//! Scripts as OpenAI Responses items.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().flat_map(items).collect()
}

/// The same, of a response in the background: the first call of a second round goes on. Its result is missing if its item has an
/// even length, so that generated scripts contain both, and the same script always the same.
pub fn serialize_background(script: &[Turn]) -> Vec<String> {
    let mut items = serialize(script);
    items.retain(|item| !(goes_on(item) && item.contains("_output") && item.len().is_multiple_of(2)));
    for item in items.iter_mut().filter(|item| goes_on(item)) {
        item.insert_str(1, "\"status\":\"in_progress\",");
    }
    items
}

/// Whether an item is the first call of a second round, or its result.
fn goes_on(item: &str) -> bool {
    item.contains("_1_0\"")
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
