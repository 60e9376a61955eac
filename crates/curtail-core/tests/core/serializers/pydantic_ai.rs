//! Scripts as messages of pydantic-ai: results and what follows them from the user are one request.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    for turn in script {
        match turn {
            Turn::System(text) => {
                parts.push(format!("{{\"content\":{},\"part_kind\":\"system-prompt\"}}", json(text)));
            }
            Turn::User(text) => {
                let text = json(text);
                let content = match items.len() % 3 {
                    0 => format!("[{text},{{\"url\":\"https://a.example/b.png\",\"kind\":\"image-url\"}}]"),
                    1 => text,
                    _ => format!("[{{\"content\":{text},\"kind\":\"text-content\"}}]"),
                };
                parts.push(format!("{{\"content\":{content},\"timestamp\":null,\"part_kind\":\"user-prompt\"}}"));
                items.push(request(&std::mem::take(&mut parts)));
            }
            Turn::Result { id, name, text } => parts.push(result(id, name, text)),
            Turn::Assistant { reasoning, text, calls } => {
                if !parts.is_empty() {
                    items.push(request(&std::mem::take(&mut parts)));
                }
                let mut reply: Vec<String> = Vec::new();
                reply.extend(reasoning.iter().map(|thought| {
                    format!("{{\"content\":{},\"signature\":\"c2ln\",\"provider_name\":\"anthropic\",\"part_kind\":\"thinking\"}}", json(thought))
                }));
                reply.extend(text.iter().map(|text| format!("{{\"content\":{},\"part_kind\":\"text\"}}", json(text))));
                reply.extend(calls.iter().enumerate().map(|(nth, call)| {
                    let args = if nth % 2 == 0 { call.arguments.clone() } else { json(&call.arguments) };
                    let (id, name) = (json(&call.id), json(&call.name));
                    format!(
                        "{{\"tool_name\":{name},\"args\":{args},\"tool_call_id\":{id},\"part_kind\":\"tool-call\"}}"
                    )
                }));
                items.push(format!("{{\"parts\":[{}],\"usage\":{{}},\"kind\":\"response\"}}", reply.join(",")));
            }
        }
    }
    if !parts.is_empty() {
        items.push(request(&parts));
    }
    items
}

fn request(parts: &[String]) -> String {
    format!("{{\"parts\":[{}],\"instructions\":null,\"kind\":\"request\"}}", parts.join(","))
}

fn result(id: &str, name: &str, text: &str) -> String {
    let kind = if text == "x" { "retry-prompt" } else { "tool-return" };
    format!(
        "{{\"tool_name\":{},\"content\":{},\"tool_call_id\":{},\"part_kind\":\"{kind}\"}}",
        json(name),
        json(text),
        json(id)
    )
}
