//! Scripts as Qwen Code records, linked in a row.

use super::{Turn, json, rewound, tokens};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    records(script, &(0..script.len()).map(|nth| nth.checked_sub(1)).collect::<Vec<_>>())
}

/// The same with branches: the user goes back to an earlier record.
pub fn serialize_branches(script: &[Turn]) -> Vec<String> {
    records(script, &rewound(script))
}

/// The same with branches and compressions, also between a call and its result: a list in the record of a compression replaces
/// everything before it.
pub fn serialize_compressed(script: &[Turn]) -> Vec<String> {
    let mut records = Vec::new();
    for (nth, (turn, parent)) in script.iter().zip(rewound(script)).enumerate() {
        let mut parent = parent.map(name);
        let (kind, _, parts) = parts(turn);
        if kind != "assistant" && (nth + parts.concat().len()).is_multiple_of(4) {
            let id = format!("k{nth}");
            records.push(compression(&id, parent.as_deref()));
            parent = Some(id);
        }
        records.extend(pieces(turn, nth, parent.as_deref()));
    }
    records
}

/// The record of a compression, with a list of a summary.
pub fn compression(id: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or_else(|| String::from("null"), json);
    let history = content("user", &[String::from("{\"text\":\"The key is 42.\"}")]);
    format!(
        "{{\"uuid\":\"{id}\",\"parentUuid\":{parent},\"type\":\"system\",\"subtype\":\"chat_compression\",\"systemPayload\":{{\"info\":{{\"originalTokenCount\":900,\"newTokenCount\":400}},\"compressedHistory\":[{history}]}}}}"
    )
}

fn content(role: &str, parts: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","))
}

fn records(script: &[Turn], parents: &[Option<usize>]) -> Vec<String> {
    let records = script.iter().zip(parents).enumerate();
    records.flat_map(|(nth, (turn, parent))| pieces(turn, nth, parent.map(name).as_deref())).collect()
}

fn name(nth: usize) -> String {
    format!("{nth:08x}")
}

/// The records of a turn. A thought is often a record of its own, with the id of the reply that it belongs to.
fn pieces(turn: &Turn, nth: usize, parent: Option<&str>) -> Vec<String> {
    let parent = parent.map_or_else(|| String::from("null"), json);
    let (kind, role, parts) = parts(turn);
    let thought = matches!(turn, Turn::Assistant { reasoning: Some(_), .. }) && nth.is_multiple_of(2);
    let (first, rest) = parts.split_at(usize::from(thought));
    let piece = |parts: &[String]| {
        let message = content(role, parts);
        let usage = format!(",\"usageMetadata\":{{\"promptTokenCount\":{},\"totalTokenCount\":9e3}}", tokens(nth));
        let usage = if kind == "assistant" { usage.as_str() } else { "" };
        format!("{{\"uuid\":\"{nth:08x}\",\"parentUuid\":{parent},\"type\":\"{kind}\",\"message\":{message}{usage}}}")
    };
    [first, rest].into_iter().filter(|parts| !parts.is_empty()).map(piece).collect()
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
            let texts = text.iter().map(|text| format!("{{\"text\":{}}}", json(text)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"functionCall\":{{\"id\":{id},\"name\":{name},\"args\":{}}}}}", call.arguments)
            });
            ("assistant", "model", thought.chain(texts).chain(calls).collect())
        }
    }
}
