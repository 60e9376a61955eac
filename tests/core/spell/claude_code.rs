//! Scripts as Claude Code records: a record per block, linked in a row.

use std::collections::HashMap;

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

/// As the program writes a long session: results hang off the record of their call, and some questions begin behind a
/// compaction, or a tree of their own.
pub fn spell_session(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut callers: HashMap<&str, String> = HashMap::new();
    let mut leaf: Option<String> = None;
    for (nth, turn) in script.iter().enumerate() {
        if let Turn::User(text) = turn {
            match (nth + text.len()) % 5 {
                0 => leaf = leaf.map(|last| compaction(&mut items, &last)),
                1 => leaf = None,
                _ => {}
            }
        }
        let caller = if let Turn::Result { id, .. } = turn { callers.get(id.as_str()).cloned() } else { None };
        let mut parent = caller.or(leaf);
        for (block, (kind, message)) in records(turn, nth).into_iter().enumerate() {
            let own = push(&mut items, parent.as_deref(), &format!("\"type\":\"{kind}\",\"message\":{message}"));
            if let Turn::Assistant { reasoning, text, calls } = turn {
                let first = usize::from(reasoning.is_some()) + usize::from(text.is_some());
                let call = block.checked_sub(first).and_then(|call| calls.get(call));
                call.map(|call| callers.insert(&call.id, own.clone()));
            }
            parent = Some(own);
        }
        leaf = parent;
    }
    items
}

/// Writes a compaction of the tree that ends in `last`; returns the id of its summary.
fn compaction(items: &mut Vec<String>, last: &str) -> String {
    let mark = "\"type\":\"system\",\"subtype\":\"compact_boundary\"";
    let boundary = push(items, None, &format!("\"logicalParentUuid\":\"{last}\",{mark}"));
    let summary =
        "\"type\":\"user\",\"isCompactSummary\":true,\"message\":{\"role\":\"user\",\"content\":\"Summary.\"}";
    push(items, Some(&boundary), summary)
}

/// Writes a record; returns its id.
fn push(items: &mut Vec<String>, parent: Option<&str>, rest: &str) -> String {
    let own = uuid(items.len());
    let parent = parent.map_or_else(|| String::from("null"), json);
    items.push(format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",{rest},\"uuid\":\"{own}\"}}"
    ));
    own
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
