//! Scripts as Qwen Code records, linked in a row.

use super::{Turn, json};

pub fn spell(script: &[Turn]) -> Vec<String> {
    let record = |(nth, turn): (usize, &Turn)| {
        let parent = if nth == 0 { String::from("null") } else { format!("\"{:08x}\"", nth - 1) };
        let (kind, role, parts) = parts(turn);
        let message = format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","));
        format!("{{\"uuid\":\"{nth:08x}\",\"parentUuid\":{parent},\"type\":\"{kind}\",\"message\":{message}}}")
    };
    script.iter().enumerate().map(record).collect()
}

fn parts(turn: &Turn) -> (&'static str, &'static str, Vec<String>) {
    match turn {
        Turn::System(text) | Turn::User(text) => ("user", "user", vec![format!("{{\"text\":{}}}", json(text))]),
        Turn::Result { id, name, text } => {
            let (id, name, text) = (json(id), json(name), json(text));
            let response = format!("{{\"id\":{id},\"name\":{name},\"response\":{{\"output\":{text}}}}}");
            ("tool_result", "user", vec![format!("{{\"functionResponse\":{response}}}")])
        }
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.iter().map(|text| format!("{{\"text\":{},\"thought\":true}}", json(text)));
            let said = text.iter().map(|text| format!("{{\"text\":{}}}", json(text)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"functionCall\":{{\"id\":{id},\"name\":{name},\"args\":{}}}}}", call.arguments)
            });
            ("assistant", "model", thought.chain(said).chain(calls).collect())
        }
    }
}
