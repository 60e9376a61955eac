//! Scripts as model messages of the AI SDK, and as UI messages whose tool parts hold call and result.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().map(item).collect()
}

fn item(turn: &Turn) -> String {
    match turn {
        Turn::System(text) => format!("{{\"role\":\"system\",\"content\":{}}}", json(text)),
        Turn::User(text) => format!("{{\"role\":\"user\",\"content\":[{}]}}", part("text", text)),
        Turn::Result { id, name, text } => format!(
            "{{\"role\":\"tool\",\"content\":[{{\"type\":\"tool-result\",\"toolCallId\":{},\"toolName\":{},\"output\":{{\"type\":\"text\",\"value\":{}}}}}]}}",
            json(id),
            json(name),
            json(text)
        ),
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.iter().map(|text| part("reasoning", text));
            let texts = text.iter().map(|text| part("text", text));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!(
                    "{{\"type\":\"tool-call\",\"toolCallId\":{id},\"toolName\":{name},\"input\":{}}}",
                    call.arguments
                )
            });
            message("assistant", "content", &thought.chain(texts).chain(calls).collect::<Vec<_>>())
        }
    }
}

/// The same; the calls of a second round wait for consent, and only some of them get it.
pub fn serialize_approvals(script: &[Turn]) -> Vec<String> {
    let waits = |id: &str| id.split('_').nth(2) == Some("1");
    let mut items = Vec::new();
    for turn in script {
        match turn {
            Turn::Result { id, text, .. } if waits(id) && text.len().is_multiple_of(2) => {}
            Turn::Result { id, .. } if waits(id) => {
                let id = json(&format!("ap_{id}"));
                items.push(format!(
                    "{{\"role\":\"tool\",\"content\":[{{\"type\":\"tool-approval-response\",\"approvalId\":{id},\"approved\":true}}]}}"
                ));
                items.push(item(turn));
            }
            Turn::Assistant { calls, .. } => {
                let requests: String = calls
                    .iter()
                    .filter(|call| waits(&call.id))
                    .map(|call| {
                        let (approval, id) = (json(&format!("ap_{}", call.id)), json(&call.id));
                        format!(",{{\"type\":\"tool-approval-request\",\"approvalId\":{approval},\"toolCallId\":{id}}}")
                    })
                    .collect();
                let item = item(turn);
                items.push(format!("{}{requests}]}}", item.strip_suffix("]}").expect("a list")));
            }
            _ => items.push(item(turn)),
        }
    }
    items
}

/// A result that follows no call of its id has no place in a UI message.
pub fn serialize_ui(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    for (at, turn) in script.iter().enumerate() {
        let result = |wanted: &str| {
            let results = script[at + 1..].iter().map_while(|turn| match turn {
                Turn::Result { id, text, .. } => Some((id, text)),
                _ => None,
            });
            results.filter(|(id, _)| *id == wanted).map(|(_, text)| json(text)).next()
        };
        match turn {
            Turn::System(text) => items.push(message("system", "parts", &[part("text", text)])),
            Turn::User(text) => items.push(message("user", "parts", &[part("text", text)])),
            Turn::Result { .. } => {}
            Turn::Assistant { reasoning, text, calls } => {
                let thought = reasoning.iter().map(|text| part("reasoning", text));
                let texts = text.iter().map(|text| part("text", text));
                let calls = calls.iter().map(|call| {
                    let state = match result(&call.id) {
                        Some(text) => format!("\"state\":\"output-available\",\"output\":{text}"),
                        None => String::from("\"state\":\"input-available\""),
                    };
                    let id = json(&call.id);
                    format!(
                        "{{\"type\":\"tool-{}\",\"toolCallId\":{id},\"input\":{},{state}}}",
                        call.name, call.arguments
                    )
                });
                items.push(message("assistant", "parts", &thought.chain(texts).chain(calls).collect::<Vec<_>>()));
            }
        }
    }
    items
}

fn part(kind: &str, text: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"text\":{}}}", json(text))
}

fn message(role: &str, key: &str, parts: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"{key}\":[{}]}}", parts.join(","))
}
