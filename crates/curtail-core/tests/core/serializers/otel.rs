//! Scripts as messages of OpenTelemetry's conventions for generative AI.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().map(item).collect()
}

fn item(turn: &Turn) -> String {
    let part = |kind: &str, text: &str| format!("{{\"type\":\"{kind}\",\"content\":{}}}", json(text));
    match turn {
        Turn::System(text) => message("system", &[part("text", text)]),
        Turn::User(text) => message("user", &[part("text", text)]),
        Turn::Result { id, text, .. } => {
            let (id, text) = (json(id), json(text));
            message("tool", &[format!("{{\"type\":\"tool_call_response\",\"id\":{id},\"response\":{text}}}")])
        }
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.iter().map(|text| part("reasoning", text));
            let texts = text.iter().map(|text| part("text", text));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"type\":\"tool_call\",\"id\":{id},\"name\":{name},\"arguments\":{}}}", call.arguments)
            });
            message("assistant", &thought.chain(texts).chain(calls).collect::<Vec<_>>())
        }
    }
}

fn message(role: &str, parts: &[String]) -> String {
    let reason = if role == "assistant" { ",\"finish_reason\":\"stop\"" } else { "" };
    format!("{{\"role\":\"{role}\",\"parts\":[{}]{reason}}}", parts.join(","))
}
