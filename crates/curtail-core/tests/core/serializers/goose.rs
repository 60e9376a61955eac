//! Scripts as messages of Goose, behind the head line of a session.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for (nth, turn) in script.iter().enumerate() {
        if !matches!(turn, Turn::Result { .. }) && !results.is_empty() {
            items.push(message("user", nth, &std::mem::take(&mut results)));
        }
        match turn {
            Turn::System(text) | Turn::User(text) => items.push(message("user", nth, &[block(text)])),
            Turn::Result { id, text, .. } => results.push(result(id, text, nth)),
            Turn::Assistant { reasoning, text, calls } => {
                let mut blocks: Vec<String> = Vec::new();
                blocks.extend(reasoning.iter().map(|thought| {
                    format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"c2ln\"}}", json(thought))
                }));
                blocks.extend(text.iter().map(|text| block(text)));
                blocks.extend(calls.iter().map(|call| {
                    let value = format!("{{\"name\":{},\"arguments\":{}}}", json(&call.name), call.arguments);
                    let id = json(&call.id);
                    format!("{{\"type\":\"toolRequest\",\"id\":{id},\"toolCall\":{{\"status\":\"success\",\"value\":{value}}}}}")
                }));
                items.push(message("assistant", nth, &blocks));
            }
        }
    }
    if !results.is_empty() {
        items.push(message("user", script.len(), &results));
    }
    let head = format!(
        "{{\"working_dir\":\"/lighthouse\",\"description\":\"d\",\"message_count\":{},\"total_tokens\":9}}",
        items.len()
    );
    items.insert(0, head);
    items
}

fn block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", json(text))
}

fn message(role: &str, nth: usize, blocks: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"created\":{},\"content\":[{}]}}", 1_744_000_000 + nth, blocks.join(","))
}

/// An error, a list of blocks as older files have it, or an object with the list.
fn result(id: &str, text: &str, nth: usize) -> String {
    let id = json(id);
    let result = match nth % 3 {
        0 => format!("{{\"status\":\"error\",\"error\":{}}}", json(text)),
        1 => format!("{{\"status\":\"success\",\"value\":[{}]}}", block(text)),
        _ => format!("{{\"status\":\"success\",\"value\":{{\"content\":[{}],\"isError\":false}}}}", block(text)),
    };
    format!("{{\"type\":\"toolResponse\",\"id\":{id},\"toolResult\":{result}}}")
}
