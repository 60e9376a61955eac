//! Scripts as exports of `OpenCode`, versions 1 and 2. A result is written inside its call; one without a call before it has no
//! place.

use super::{Call, Turn, json, tokens};

/// A message of a script with the results of its calls.
struct Spoken<'s> {
    user: bool,
    reasoning: Option<&'s str>,
    text: Option<&'s str>,
    calls: Vec<(&'s Call, Option<&'s str>)>,
}

fn messages(script: &[Turn]) -> Vec<Spoken<'_>> {
    let mut spoken: Vec<Spoken<'_>> = Vec::new();
    for turn in script {
        match turn {
            Turn::System(text) | Turn::User(text) => {
                spoken.push(Spoken { user: true, reasoning: None, text: Some(text), calls: Vec::new() });
            }
            Turn::Assistant { reasoning, text, calls } => spoken.push(Spoken {
                user: false,
                reasoning: reasoning.as_deref(),
                text: text.as_deref(),
                calls: calls.iter().map(|call| (call, None)).collect(),
            }),
            Turn::Result { id, text, .. } => {
                let mut open = spoken.iter_mut().rev().flat_map(|message| &mut message.calls);
                if let Some((_, result)) = open.find(|(call, result)| call.id == *id && result.is_none()) {
                    *result = Some(text);
                }
            }
        }
    }
    spoken
}

pub fn serialize(script: &[Turn]) -> Vec<String> {
    messages(script).iter().enumerate().map(|(nth, spoken)| version1(spoken, nth)).collect()
}

fn version1(spoken: &Spoken<'_>, nth: usize) -> String {
    let (id, time) = (format!("msg_{nth:012x}ABCDEFGHIJKLMN"), 1_795_372_092_630_usize + nth);
    let mut parts: Vec<String> = Vec::new();
    let text = |kind: &str, text: &str, more: &str| format!("\"type\":\"{kind}\",\"text\":{}{more}", json(text));
    if !spoken.user {
        parts.push(String::from("\"type\":\"step-start\""));
    }
    parts.extend(
        spoken
            .reasoning
            .map(|thought| text("reasoning", thought, ",\"metadata\":{\"anthropic\":{\"signature\":\"c2ln\"}}")),
    );
    parts.extend(spoken.text.map(|spoken| text("text", spoken, "")));
    parts.extend(spoken.calls.iter().map(|(call, result)| {
        let (id, name) = (json(&call.id), json(&call.name));
        format!("\"type\":\"tool\",\"callID\":{id},\"tool\":{name},\"state\":{}", state(call, *result))
    }));
    let ids = |part: &String| format!("{{{part},\"sessionID\":\"ses_1\",\"messageID\":\"{id}\"}}");
    let parts: Vec<String> = parts.iter().map(ids).collect();
    let role = if spoken.user { "user" } else { "assistant" };
    let usage = format!("\"tokens\":{{\"input\":{},\"cache\":{{\"read\":64}}}},", tokens(nth));
    let usage = if spoken.user { "" } else { usage.as_str() };
    format!(
        "{{\"info\":{{{usage}\"role\":\"{role}\",\"time\":{{\"created\":{time}}},\"id\":\"{id}\",\"sessionID\":\"ses_1\"}},\"parts\":[{}]}}",
        parts.join(",")
    )
}

fn state(call: &Call, result: Option<&str>) -> String {
    let input = &call.arguments;
    match result {
        Some("x") => format!("{{\"status\":\"error\",\"input\":{input},\"error\":\"x\"}}"),
        Some(text) => format!("{{\"status\":\"completed\",\"input\":{input},\"output\":{}}}", json(text)),
        None => format!("{{\"status\":\"running\",\"input\":{input},\"time\":{{\"start\":1}}}}"),
    }
}

pub fn serialize_version_2(script: &[Turn]) -> Vec<String> {
    messages(script).iter().enumerate().map(|(nth, spoken)| version2(spoken, nth)).collect()
}

fn version2(spoken: &Spoken<'_>, nth: usize) -> String {
    let head = |kind: &str| format!("\"id\":\"msg_{nth}\",\"type\":\"{kind}\",\"time\":{{\"created\":{nth}}}");
    if spoken.user {
        return format!("{{{},\"text\":{},\"files\":[]}}", head("user"), json(spoken.text.unwrap_or_default()));
    }
    let mut blocks: Vec<String> =
        spoken.text.iter().map(|text| format!("{{\"type\":\"text\",\"text\":{}}}", json(text))).collect();
    blocks.extend(spoken.calls.iter().map(|(call, result)| {
        let (id, name, input) = (json(&call.id), json(&call.name), &call.arguments);
        let state = match result {
            Some(text) => format!(
                "{{\"status\":\"completed\",\"input\":{input},\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
                json(text)
            ),
            None => format!("{{\"status\":\"running\",\"input\":{input}}}"),
        };
        format!("{{\"type\":\"tool\",\"id\":{id},\"name\":{name},\"state\":{state}}}")
    }));
    let usage = format!("{{\"input\":{},\"cache\":{{\"read\":64}}}}", tokens(nth));
    format!("{{{},\"content\":[{}],\"tokens\":{usage}}}", head("assistant"), blocks.join(","))
}
