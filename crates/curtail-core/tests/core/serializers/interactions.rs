//! Scripts as steps of the Gemini Interactions API.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().flat_map(steps).collect()
}

fn step(kind: &str, text: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", json(text))
}

fn steps(turn: &Turn) -> Vec<String> {
    match turn {
        Turn::System(text) | Turn::User(text) => vec![step("user_input", text)],
        Turn::Result { id, name, text } => vec![format!(
            "{{\"call_id\":{},\"result\":[{{\"text\":{},\"type\":\"text\"}}],\"name\":{},\"type\":\"function_result\"}}",
            json(id),
            json(text),
            json(name)
        )],
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.iter().map(|thought| {
                format!(
                    "{{\"signature\":\"c2ln\",\"summary\":[{{\"type\":\"text\",\"text\":{}}}],\"type\":\"thought\"}}",
                    json(thought)
                )
            });
            let text = text.iter().map(|text| step("model_output", text));
            let calls = calls.iter().map(|call| {
                let (id, name, arguments) = (json(&call.id), json(&call.name), &call.arguments);
                format!("{{\"id\":{id},\"type\":\"function_call\",\"name\":{name},\"arguments\":{arguments}}}")
            });
            thought.chain(text).chain(calls).collect()
        }
    }
}
