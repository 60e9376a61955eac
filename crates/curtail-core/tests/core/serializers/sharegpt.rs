//! Scripts as ShareGPT turns: texts and calls are separate turns, thoughts have no place.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().flat_map(items).collect()
}

fn items(turn: &Turn) -> Vec<String> {
    match turn {
        Turn::System(text) => vec![item("system", text)],
        Turn::User(text) => vec![item("human", text)],
        Turn::Result { text, .. } => vec![item("observation", text)],
        Turn::Assistant { text, calls, .. } => {
            let reply = text.iter().map(|text| item("gpt", text));
            let calls: Vec<String> = calls
                .iter()
                .map(|call| format!("{{\"name\": {}, \"arguments\": {}}}", json(&call.name), call.arguments))
                .collect();
            let called = match calls.as_slice() {
                [] => None,
                [only] => Some(item("function_call", only)),
                all => Some(item("function_call", &format!("[{}]", all.join(", ")))),
            };
            reply.chain(called).collect()
        }
    }
}

fn item(from: &str, value: &str) -> String {
    format!("{{\"from\":\"{from}\",\"value\":{}}}", json(value))
}
