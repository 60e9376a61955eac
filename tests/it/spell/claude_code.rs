//! Scripts as Claude Code records: a record per block, linked in a row.

use super::{Turn, json};

pub fn spell(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    for (nth, turn) in script.iter().enumerate() {
        for (kind, message) in records(turn, nth) {
            let parent = if items.is_empty() { String::from("null") } else { format!("\"{}\"", uuid(items.len() - 1)) };
            items.push(format!(
                "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"{kind}\",\"message\":{message},\"uuid\":\"{}\"}}",
                uuid(items.len())
            ));
        }
    }
    items
}

fn uuid(nth: usize) -> String {
    format!("00000000-0000-4000-8000-{nth:012}")
}

/// The type and the message of every record of a turn.
fn records(turn: &Turn, nth: usize) -> Vec<(&'static str, String)> {
    let user = |content: String| vec![("user", format!("{{\"role\":\"user\",\"content\":{content}}}"))];
    match turn {
        Turn::System(text) | Turn::User(text) => user(json(text)),
        Turn::Result { id, text, .. } => {
            user(format!("[{{\"tool_use_id\":{},\"type\":\"tool_result\",\"content\":{}}}]", json(id), json(text)))
        }
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning
                .iter()
                .map(|text| format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"c2ln\"}}", json(text)));
            let said = text.iter().map(|text| format!("{{\"type\":\"text\",\"text\":{}}}", json(text)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{}}}", call.arguments)
            });
            let blocks = thought.chain(said).chain(calls);
            blocks
                .map(|block| {
                    let head = format!("\"id\":\"msg_{nth}\",\"type\":\"message\",\"role\":\"assistant\"");
                    ("assistant", format!("{{{head},\"content\":[{block}]}}"))
                })
                .collect()
        }
    }
}
