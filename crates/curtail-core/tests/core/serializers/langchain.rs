//! Scripts as LangChain dumps, each call once as a block of the content and once as a call.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().map(item).collect()
}

fn item(turn: &Turn) -> String {
    match turn {
        Turn::System(text) => dump("SystemMessage", &format!("\"content\":{}", json(text))),
        Turn::User(text) => dump("HumanMessage", &format!("\"content\":{}", json(text))),
        Turn::Result { id, name, text } => dump(
            "ToolMessage",
            &format!("\"content\":{},\"tool_call_id\":{},\"name\":{}", json(text), json(id), json(name)),
        ),
        Turn::Assistant { reasoning, text, calls } => {
            let thought =
                reasoning.iter().map(|text| format!("{{\"type\":\"reasoning\",\"reasoning\":{}}}", json(text)));
            let texts = text.iter().map(|text| format!("{{\"type\":\"text\",\"text\":{}}}", json(text)));
            let uses = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{}}}", call.arguments)
            });
            let blocks: Vec<String> = thought.chain(texts).chain(uses).collect();
            let calls: Vec<String> = calls
                .iter()
                .map(|call| {
                    let (id, name) = (json(&call.id), json(&call.name));
                    format!("{{\"name\":{name},\"args\":{},\"id\":{id},\"type\":\"tool_call\"}}", call.arguments)
                })
                .collect();
            dump("AIMessage", &format!("\"content\":[{}],\"tool_calls\":[{}]", blocks.join(","), calls.join(",")))
        }
    }
}

fn dump(class: &str, kwargs: &str) -> String {
    format!(
        "{{\"lc\":1,\"type\":\"constructor\",\"id\":[\"langchain_core\",\"messages\",\"{class}\"],\"kwargs\":{{{kwargs}}}}}"
    )
}
