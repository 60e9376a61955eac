//! Scripts as Qwen Code records, linked in a row.

use super::{Turn, json, rewound};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    records(script, &(0..script.len()).map(|nth| nth.checked_sub(1)).collect::<Vec<_>>())
}

/// The same with branches: the user goes back to an earlier record.
pub fn serialize_branches(script: &[Turn]) -> Vec<String> {
    records(script, &rewound(script))
}

fn records(script: &[Turn], parents: &[Option<usize>]) -> Vec<String> {
    let record = |(nth, (turn, parent)): (usize, (&Turn, &Option<usize>))| {
        let parent = parent.map_or_else(|| String::from("null"), |parent| format!("\"{parent:08x}\""));
        let (kind, role, parts) = parts(turn);
        // A thought is often a record of its own, with the id of the reply that it belongs to.
        let thought = matches!(turn, Turn::Assistant { reasoning: Some(_), .. }) && nth.is_multiple_of(2);
        let (first, rest) = parts.split_at(usize::from(thought));
        let pieces: Vec<_> = [first, rest].into_iter().filter(|piece| !piece.is_empty()).collect();
        let piece = move |parts: &[String]| {
            let message = format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","));
            format!("{{\"uuid\":\"{nth:08x}\",\"parentUuid\":{parent},\"type\":\"{kind}\",\"message\":{message}}}")
        };
        pieces.into_iter().map(piece).collect::<Vec<_>>()
    };
    script.iter().zip(parents).enumerate().flat_map(record).collect()
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
