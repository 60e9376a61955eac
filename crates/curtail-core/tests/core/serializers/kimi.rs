//! Scripts as wire logs of the Kimi CLI: an event per piece.

use super::{Turn, json, tokens};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().enumerate().flat_map(|(nth, turn)| lines(turn, nth)).collect()
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
            let end = event(&format!("\"type\":\"step.end\",\"uuid\":\"step {nth}\",\"usage\":{usage}"));
            thought.chain(texts).chain(calls).chain([end]).collect()
        }
    }
}
