//! Scripts as steps of the Antigravity CLI: no ids, results by position.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let step = |(nth, turn): (usize, &Turn)| {
        let (source, kind, rest) = parts(turn);
        format!("{{\"step_index\":{nth},\"source\":\"{source}\",\"type\":\"{kind}\",\"status\":\"DONE\"{rest}}}")
    };
    script.iter().enumerate().map(step).collect()
}

fn parts(turn: &Turn) -> (&'static str, &'static str, String) {
    let content = |text: &String| format!(",\"content\":{}", json(text));
    match turn {
        Turn::System(text) => ("SYSTEM", "SYSTEM_MESSAGE", content(text)),
        Turn::User(text) => ("USER_EXPLICIT", "USER_INPUT", content(text)),
        Turn::Result { text, .. } => ("MODEL", "RUN_COMMAND", content(text)),
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.as_ref().map_or_else(String::new, |text| format!(",\"thinking\":{}", json(text)));
            let shown = text.as_ref().map_or_else(String::new, content);
            let calls =
                calls.iter().map(|call| format!("{{\"name\":{},\"args\":{}}}", json(&call.name), call.arguments));
            let calls: Vec<String> = calls.collect();
            let calls = if calls.is_empty() { String::new() } else { format!(",\"tool_calls\":[{}]", calls.join(",")) };
            ("MODEL", "PLANNER_RESPONSE", format!("{thought}{shown}{calls}"))
        }
    }
}
