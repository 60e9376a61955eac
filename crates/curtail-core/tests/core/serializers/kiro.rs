//! Scripts as lines of Kiro CLI, and as the entries of a stored conversation.

use super::{Call, Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for turn in script {
        if !matches!(turn, Turn::Result { .. }) && !results.is_empty() {
            items.push(line("ToolResults", &std::mem::take(&mut results)));
        }
        match turn {
            Turn::System(text) | Turn::User(text) => items.push(line("Prompt", &[block(text)])),
            Turn::Result { id, text, .. } => results.push(format!(
                "{{\"kind\":\"toolResult\",\"data\":{{\"toolUseId\":{},\"content\":[{}]}}}}",
                json(id),
                block(text)
            )),
            Turn::Assistant { text, calls, .. } => {
                let texts = text.iter().map(|text| block(text));
                let calls = calls.iter().map(|call| {
                    let (id, name) = (json(&call.id), json(&call.name));
                    format!(
                        "{{\"kind\":\"toolUse\",\"data\":{{\"toolUseId\":{id},\"name\":{name},\"input\":{}}}}}",
                        call.arguments
                    )
                });
                items.push(line("AssistantMessage", &texts.chain(calls).collect::<Vec<_>>()));
            }
        }
    }
    if !results.is_empty() {
        items.push(line("ToolResults", &results));
    }
    items
}

fn block(text: &str) -> String {
    format!("{{\"kind\":\"text\",\"data\":{}}}", json(text))
}

fn line(kind: &str, blocks: &[String]) -> String {
    format!("{{\"kind\":\"{kind}\",\"data\":{{\"content\":[{}]}}}}", blocks.join(","))
}

/// Each answer with what it answers: a question, or the results since the entry before it.
pub fn serialize_stored(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let (mut asked, mut results): (Option<&str>, Vec<String>) = (None, Vec::new());
    for turn in script {
        match turn {
            Turn::System(text) | Turn::User(text) => asked = Some(text),
            Turn::Result { id, text, .. } => results.push(format!(
                "{{\"tool_use_id\":{},\"content\":[{{\"Text\":{}}}],\"status\":\"Success\"}}",
                json(id),
                json(text)
            )),
            Turn::Assistant { text, calls, .. } => {
                let results = std::mem::take(&mut results);
                items.push(entry(asked.take(), &results, text.as_deref().unwrap_or_default(), calls));
            }
        }
    }
    items
}

fn entry(asked: Option<&str>, results: &[String], text: &str, calls: &[Call]) -> String {
    let user = match asked {
        Some(asked) if results.is_empty() => format!("\"Prompt\":{{\"prompt\":{}}}", json(asked)),
        _ => format!("\"ToolUseResults\":{{\"tool_use_results\":[{}]}}", results.join(",")),
    };
    let calls: Vec<String> = calls
        .iter()
        .map(|call| format!("{{\"id\":{},\"name\":{},\"args\":{}}}", json(&call.id), json(&call.name), call.arguments))
        .collect();
    let text = json(text);
    let reply = if calls.is_empty() {
        format!("\"Response\":{{\"message_id\":\"m\",\"content\":{text}}}")
    } else {
        format!("\"ToolUse\":{{\"message_id\":\"m\",\"content\":{text},\"tool_uses\":[{}]}}", calls.join(","))
    };
    format!("{{\"user\":{{\"content\":{{{user}}}}},\"assistant\":{{{reply}}},\"request_metadata\":null}}")
}
