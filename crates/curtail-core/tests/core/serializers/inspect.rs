//! Scripts as messages of `inspect_ai`.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().enumerate().map(|(nth, turn)| item(turn, nth)).collect()
}

fn item(turn: &Turn, nth: usize) -> String {
    match turn {
        Turn::System(text) => format!("{{\"id\":\"m{nth}\",\"role\":\"system\",\"content\":{}}}", json(text)),
        Turn::User(text) => {
            format!("{{\"id\":\"m{nth}\",\"content\":{},\"source\":\"input\",\"role\":\"user\"}}", json(text))
        }
        Turn::Result { id, name, text } => format!(
            "{{\"id\":\"m{nth}\",\"content\":{},\"role\":\"tool\",\"tool_call_id\":{},\"function\":{}}}",
            json(text),
            json(id),
            json(name)
        ),
        Turn::Assistant { reasoning, text, calls } => {
            let shown = json(text.as_deref().unwrap_or_default());
            let content = reasoning.as_ref().map_or_else(
                || shown.clone(),
                |thought| {
                    format!(
                        "[{{\"type\":\"reasoning\",\"reasoning\":{},\"signature\":\"c2ln\"}},{{\"type\":\"text\",\"text\":{shown}}}]",
                        json(thought)
                    )
                },
            );
            let calls: Vec<String> = calls
                .iter()
                .map(|call| {
                    let (id, name) = (json(&call.id), json(&call.name));
                    format!(
                        "{{\"id\":{id},\"function\":{name},\"arguments\":{},\"type\":\"function\"}}",
                        call.arguments
                    )
                })
                .collect();
            let calls = if calls.is_empty() { String::new() } else { format!(",\"tool_calls\":[{}]", calls.join(",")) };
            format!("{{\"id\":\"m{nth}\",\"content\":{content},\"source\":\"generate\",\"role\":\"assistant\"{calls}}}")
        }
    }
}
