//! Scripts as events of the Copilot CLI, linked in a row.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let record = |(nth, turn): (usize, &Turn)| {
        let parent = if nth == 0 { String::from("null") } else { format!("\"{:08x}\"", nth - 1) };
        let (kind, data) = event(turn);
        format!("{{\"type\":\"{kind}\",\"data\":{data},\"id\":\"{nth:08x}\",\"parentId\":{parent}}}")
    };
    script.iter().enumerate().map(record).collect()
}

/// The event with which a compaction begins.
pub fn compaction_start(nth: usize) -> String {
    format!("{{\"type\":\"session.compaction_start\",\"data\":{{}},\"id\":\"s{nth}\",\"parentId\":null}}")
}

/// The event with which a compaction ends.
pub fn compaction(nth: usize) -> String {
    format!(
        "{{\"type\":\"session.compaction_complete\",\"data\":{{\"success\":true,\"summaryContent\":\"Summary {nth}: the key is 42.\"}},\"id\":\"k{nth}\",\"parentId\":null}}"
    )
}

fn event(turn: &Turn) -> (&'static str, String) {
    match turn {
        Turn::System(text) => ("system.message", format!("{{\"content\":{}}}", json(text))),
        Turn::User(text) => ("user.message", format!("{{\"content\":{},\"attachments\":[]}}", json(text))),
        Turn::Result { id, text, .. } => (
            "tool.execution_complete",
            format!("{{\"toolCallId\":{},\"success\":true,\"result\":{{\"content\":{}}}}}", json(id), json(text)),
        ),
        Turn::Assistant { reasoning, text, calls } => {
            let thought =
                reasoning.as_ref().map_or_else(String::new, |text| format!(",\"reasoningText\":{}", json(text)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"toolCallId\":{id},\"name\":{name},\"arguments\":{}}}", call.arguments)
            });
            let calls: Vec<String> = calls.collect();
            let text = json(text.as_deref().unwrap_or_default());
            ("assistant.message", format!("{{\"content\":{text},\"toolRequests\":[{}]{thought}}}", calls.join(",")))
        }
    }
}
