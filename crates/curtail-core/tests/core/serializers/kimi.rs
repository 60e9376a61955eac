//! Scripts as wire logs of the Kimi CLI: an event per piece.

use super::{Turn, json, tokens};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().enumerate().flat_map(|(nth, turn)| lines(turn, nth)).collect()
}

/// As the program writes a session in which a person takes turns back now and then, or clears all of it.
pub fn serialize_rewound(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    for (nth, turn) in script.iter().enumerate() {
        if let Turn::User(text) = turn {
            match (nth + text.len()) % 7 {
                0 => items.push(String::from("{\"type\":\"context.clear\",\"time\":1}")),
                1..=3 => items.push(format!("{{\"type\":\"context.undo\",\"count\":{},\"time\":1}}", 1 + nth % 2)),
                _ => {}
            }
        }
        items.extend(lines(turn, nth));
    }
    items
}

/// A compaction with these numbers.
pub fn compaction(nth: usize, numbers: &str) -> String {
    format!(
        "{{\"type\":\"context.apply_compaction\",\"summary\":\"Summary {nth}: the key is 42.\",{numbers},\"tokensAfter\":9,\"time\":1}}"
    )
}

fn event(event: &str) -> String {
    format!("{{\"type\":\"context.append_loop_event\",\"event\":{{{event}}},\"time\":1}}")
}

fn lines(turn: &Turn, nth: usize) -> Vec<String> {
    let message = |role: &str, text: &str| {
        let content = format!("[{{\"type\":\"text\",\"text\":{}}}]", json(text));
        vec![format!(
            "{{\"type\":\"context.append_message\",\"message\":{{\"role\":\"{role}\",\"content\":{content},\"toolCalls\":[]}},\"time\":1}}"
        )]
    };
    match turn {
        Turn::System(text) => message("system", text),
        Turn::User(text) => message("user", text),
        Turn::Result { id, text, .. } => {
            let (id, text) = (json(id), json(text));
            vec![event(&format!("\"type\":\"tool.result\",\"toolCallId\":{id},\"result\":{{\"output\":{text}}}"))]
        }
        Turn::Assistant { reasoning, text, calls } => {
            let piece = |part: String| {
                event(&format!("\"type\":\"content.part\",\"stepUuid\":\"step {nth}\",\"part\":{{{part}}}"))
            };
            let thought = reasoning.iter().map(|text| piece(format!("\"type\":\"think\",\"think\":{}", json(text))));
            let texts = text.iter().map(|text| piece(format!("\"type\":\"text\",\"text\":{}", json(text))));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                event(&format!(
                    "\"type\":\"tool.call\",\"stepUuid\":\"step {nth}\",\"toolCallId\":{id},\"name\":{name},\"args\":{}",
                    call.arguments
                ))
            });
            let usage = format!("{{\"inputOther\":{},\"inputCacheRead\":0,\"output\":5}}", tokens(nth));
            let begin = event(&format!("\"type\":\"step.begin\",\"uuid\":\"step {nth}\""));
            let end = event(&format!("\"type\":\"step.end\",\"uuid\":\"step {nth}\",\"usage\":{usage}"));
            std::iter::once(begin).chain(thought).chain(texts).chain(calls).chain([end]).collect()
        }
    }
}
