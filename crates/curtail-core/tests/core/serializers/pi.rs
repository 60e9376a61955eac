//! Scripts as pi entries, linked in a row.

use super::{Turn, json, rewound, tokens};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    entries(script, &(0..script.len()).map(|nth| nth.checked_sub(1)).collect::<Vec<_>>())
}

/// The same with branches: the user goes back to an earlier entry.
pub fn serialize_branches(script: &[Turn]) -> Vec<String> {
    entries(script, &rewound(script))
}

fn entries(script: &[Turn], parents: &[Option<usize>]) -> Vec<String> {
    let entry = |(nth, (turn, parent)): (usize, (&Turn, &Option<usize>))| {
        let parent = parent.map_or_else(|| String::from("null"), |parent| format!("\"{parent:08x}\""));
        format!(
            "{{\"type\":\"message\",\"id\":\"{nth:08x}\",\"parentId\":{parent},\"message\":{}}}",
            message(turn, nth)
        )
    };
    script.iter().zip(parents).enumerate().map(entry).collect()
}

fn text(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", json(text))
}

fn message(turn: &Turn, nth: usize) -> String {
    match turn {
        Turn::System(content) => format!("{{\"role\":\"system\",\"content\":[{}]}}", text(content)),
        Turn::User(content) => format!("{{\"role\":\"user\",\"content\":[{}]}}", text(content)),
        Turn::Result { id, name, text: content } => format!(
            "{{\"role\":\"toolResult\",\"toolCallId\":{},\"toolName\":{},\"content\":[{}],\"isError\":false}}",
            json(id),
            json(name),
            text(content)
        ),
        Turn::Assistant { reasoning, text: content, calls } => {
            let thought =
                reasoning.iter().map(|content| format!("{{\"type\":\"thinking\",\"thinking\":{}}}", json(content)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"type\":\"toolCall\",\"id\":{id},\"name\":{name},\"arguments\":{}}}", call.arguments)
            });
            let blocks: Vec<String> = thought.chain(content.iter().map(|content| text(content))).chain(calls).collect();
            let usage = format!("{{\"input\":{},\"cacheRead\":0,\"cost\":{{\"total\":0.25}}}}", tokens(nth));
            format!("{{\"role\":\"assistant\",\"content\":[{}],\"usage\":{usage}}}", blocks.join(","))
        }
    }
}

/// Scripts as lines of a session trace.
pub fn serialize_trace(script: &[Turn]) -> Vec<String> {
    let line = |turn: &Turn| {
        let message = match turn {
            Turn::System(text) => format!("{{\"role\":\"system\",\"content\":{}}}", json(text)),
            Turn::User(text) => format!("{{\"role\":\"user\",\"content\":{}}}", json(text)),
            Turn::Result { id, text, .. } => {
                format!("{{\"role\":\"tool\",\"toolCallId\":{},\"content\":{}}}", json(id), json(text))
            }
            Turn::Assistant { reasoning, text, calls } => {
                let thought = reasoning.iter().map(|text| format!(",\"reasoningContent\":{}", json(text)));
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| {
                        let (id, name, arguments) = (json(&call.id), json(&call.name), json(&call.arguments));
                        format!("{{\"id\":{id},\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}")
                    })
                    .collect();
                let calls =
                    if calls.is_empty() { String::new() } else { format!(",\"toolCalls\":[{}]", calls.join(",")) };
                let content = json(text.as_deref().unwrap_or_default());
                format!("{{\"role\":\"assistant\",\"content\":{content}{}{calls}}}", thought.collect::<String>())
            }
        };
        format!("{{\"type\":\"message\",\"message\":{message}}}")
    };
    script.iter().map(line).collect()
}
