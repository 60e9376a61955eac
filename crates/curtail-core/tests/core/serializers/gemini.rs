//! Scripts as Gemini contents without ids, and as recordings whose records hold call and result.

use super::{Call, Turn, json, tokens};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for turn in script {
        if !matches!(turn, Turn::Result { .. }) && !results.is_empty() {
            items.push(content("user", &std::mem::take(&mut results)));
        }
        match turn {
            Turn::System(text) => items.push(content("system", &[part(text)])),
            Turn::User(text) => items.push(content("user", &[part(text)])),
            Turn::Result { name, text, .. } => results.push(response(name, text)),
            Turn::Assistant { reasoning, text, calls } => {
                let thought = reasoning.iter().map(|text| format!("{{\"thought\":true,\"text\":{}}}", json(text)));
                let texts = text.iter().map(|text| part(text));
                // Where the model thought, the first call of a batch is signed.
                let calls = calls.iter().enumerate().map(|(nth, call)| {
                    let signature = if nth == 0 && reasoning.is_some() { ",\"thoughtSignature\":\"c2ln\"" } else { "" };
                    let (name, args) = (json(&call.name), &call.arguments);
                    format!("{{\"functionCall\":{{\"name\":{name},\"args\":{args}}}{signature}}}")
                });
                items.push(content("model", &thought.chain(texts).chain(calls).collect::<Vec<_>>()));
            }
        }
    }
    if !results.is_empty() {
        items.push(content("user", &results));
    }
    items
}

/// A result that follows no call of its id has no place in a recording.
pub fn serialize_recording(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    for (at, turn) in script.iter().enumerate() {
        let results = script[at + 1..].iter().map_while(|turn| match turn {
            Turn::Result { id, text, .. } => Some((id, text)),
            _ => None,
        });
        let results: Vec<_> = results.collect();
        match turn {
            Turn::System(text) => {
                items.push(format!("{{\"id\":\"m{at}\",\"type\":\"system\",\"content\":{}}}", json(text)));
            }
            Turn::User(text) => {
                items.push(format!("{{\"id\":\"m{at}\",\"type\":\"user\",\"content\":[{}]}}", part(text)));
            }
            Turn::Result { .. } => {}
            Turn::Assistant { reasoning, text, calls } => {
                let thoughts: Vec<String> =
                    reasoning.iter().map(|text| format!("{{\"description\":{}}}", json(text))).collect();
                let records: Vec<String> = calls
                    .iter()
                    .map(|call| {
                        let result = results.iter().find(|(id, _)| **id == call.id).map(|(_, text)| text.as_str());
                        record(call, result)
                    })
                    .collect();
                items.push(format!(
                    "{{\"id\":\"m{at}\",\"type\":\"gemini\",\"content\":{},\"thoughts\":[{}],\"tokens\":{{\"input\":{},\"total\":99}},\"toolCalls\":[{}]}}",
                    json(text.as_deref().unwrap_or_default()),
                    thoughts.join(","),
                    tokens(at),
                    records.join(",")
                ));
            }
        }
    }
    items
}

/// The lines of a recording as the program writes them: a reply without its calls first, and the results again as a line of the
/// user.
pub fn serialize_lines(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    for (at, line) in serialize_recording(script).into_iter().enumerate() {
        let whole: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let results: Vec<&serde_json::Value> = whole["toolCalls"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|call| call["result"].as_array()?.first())
            .collect();
        if whole["toolCalls"].as_array().is_some_and(|calls| !calls.is_empty()) {
            let mut first = whole.clone();
            first.as_object_mut().expect("an object").remove("toolCalls");
            // The id stands first, as the program writes it.
            let id = first.as_object_mut().expect("an object").remove("id").expect("an id").to_string();
            items.push(first.to_string().replacen('{', &format!("{{\"id\":{id},"), 1));
        }
        let lines = (!results.is_empty()).then(|| {
            let parts: Vec<String> = results.iter().map(ToString::to_string).collect();
            format!("{{\"id\":\"mr{at}\",\"type\":\"user\",\"content\":[{}]}}", parts.join(","))
        });
        items.push(line);
        items.extend(lines);
    }
    items
}

/// Events of the Agent Development Kit. The calls of a second round run long: some have an interim result, and of those some
/// have their answer at the end. The user goes back now and then.
pub fn serialize_events(script: &[Turn]) -> Vec<String> {
    let is_long = |id: &str| id.split('_').nth(2) == Some("1");
    let (mut events, mut late): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut invocation, mut nth) = (0, 0);
    let mut event = |invocation: usize, author: &str, role: &str, parts: &[String], more: &str| {
        nth += 1;
        format!(
            "{{\"id\":\"v{nth}\",\"timestamp\":{nth},\"invocation_id\":\"i{invocation}\",\"author\":\"{author}\",\"content\":{}{more}}}",
            content(role, parts)
        )
    };
    for turn in script {
        match turn {
            Turn::System(text) => events.push(event(invocation, "agent", "system", &[part(text)], "")),
            Turn::User(text) => {
                if invocation > 0 && (invocation * 3 + text.len()).is_multiple_of(5) {
                    events.push(format!(
                        "{{\"invocation_id\":\"w{invocation}\",\"author\":\"user\",\"actions\":{{\"rewind_before_invocation_id\":\"i{}\"}}}}",
                        invocation.div_ceil(2)
                    ));
                }
                invocation += 1;
                events.push(event(invocation, "user", "user", &[part(text)], ""));
            }
            Turn::Assistant { reasoning, text, calls } => {
                let thought = reasoning.iter().map(|text| format!("{{\"thought\":true,\"text\":{}}}", json(text)));
                let signature = if reasoning.is_some() { ",\"thought_signature\":\"c2ln\"" } else { "" };
                let requests = calls.iter().enumerate().map(|(nth, call)| {
                    let (id, name) = (json(&call.id), json(&call.name));
                    let signature = if nth == 0 { signature } else { "" };
                    format!(
                        "{{\"function_call\":{{\"id\":{id},\"name\":{name},\"args\":{}}}{signature}}}",
                        call.arguments
                    )
                });
                let parts: Vec<String> = thought.chain(text.iter().map(|text| part(text))).chain(requests).collect();
                let long: Vec<String> =
                    calls.iter().filter(|call| is_long(&call.id)).map(|call| json(&call.id)).collect();
                let more = format!(",\"long_running_tool_ids\":[{}]", long.join(","));
                events.push(event(invocation, "agent", "model", &parts, if long.is_empty() { "" } else { &more }));
            }
            Turn::Result { id, name, text } => {
                let answer = |text: &str| {
                    response(name, text).replacen(
                        "functionResponse\":{",
                        &format!("function_response\":{{\"id\":{},", json(id)),
                        1,
                    )
                };
                let (waits, is_late) = (is_long(id), text.len().is_multiple_of(2));
                if waits && text.len().is_multiple_of(3) {
                    continue;
                }
                events.push(event(invocation, "agent", "user", &[answer(text)], ""));
                if waits && is_late {
                    late.push(answer("done"));
                }
                if waits && text.len().is_multiple_of(5) {
                    let [request, confirmation] = confirmation(id);
                    events.push(event(invocation, "agent", "model", &[request], ""));
                    late.extend(is_late.then_some(confirmation));
                }
            }
        }
    }
    events.extend(late.into_iter().map(|answer| event(invocation, "user", "user", &[answer], "")));
    events
}

/// The call with which the program asks a person to confirm a call, and the answer. It sends neither to a model.
fn confirmation(id: &str) -> [String; 2] {
    let [name, id] = [json("adk_request_confirmation"), json(&format!("{id}_r"))];
    [
        format!("{{\"function_call\":{{\"id\":{id},\"name\":{name},\"args\":{{}}}}}}"),
        format!("{{\"function_response\":{{\"id\":{id},\"name\":{name},\"response\":{{\"confirmed\":true}}}}}}"),
    ]
}

/// A compaction that replaces the first events, however many came before it. It is written later than what it replaces.
pub fn compaction(nth: usize) -> String {
    let summary = content("model", &[part(&format!("Summary {nth}: the key is 42."))]);
    format!(
        "{{\"id\":\"k{nth}\",\"timestamp\":{},\"invocation_id\":\"k\",\"author\":\"user\",\"actions\":{{\"compaction\":{{\"start_timestamp\":{nth},\"end_timestamp\":{},\"compacted_content\":{summary}}}}}}}",
        nth + 1_000,
        nth * 4 + 3
    )
}

fn record(call: &Call, result: Option<&str>) -> String {
    let (id, name) = (json(&call.id), json(&call.name));
    let response = |text| response(&call.name, text).replacen("{\"name\"", &format!("{{\"id\":{id},\"name\""), 1);
    let result = result.map_or_else(String::new, |text| format!(",\"result\":[{}]", response(text)));
    format!("{{\"id\":{id},\"name\":{name},\"args\":{}{result},\"status\":\"success\"}}", call.arguments)
}

fn response(name: &str, text: &str) -> String {
    format!("{{\"functionResponse\":{{\"name\":{},\"response\":{{\"output\":{}}}}}}}", json(name), json(text))
}

fn part(text: &str) -> String {
    format!("{{\"text\":{}}}", json(text))
}

fn content(role: &str, parts: &[String]) -> String {
    format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","))
}

/// The same with lines that roll back everything from an earlier message on.
pub fn serialize_rewound(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for (nth, item) in serialize_lines(script).into_iter().enumerate() {
        let asks = item.contains("\"type\":\"user\"") && !item.starts_with("{\"id\":\"mr");
        if asks && !ids.is_empty() && (nth + item.len()).is_multiple_of(3) {
            items.push(format!("{{\"$rewindTo\":\"{}\"}}", ids[(nth * 5 + item.len()) % ids.len()]));
        }
        let id = item.strip_prefix("{\"id\":\"").and_then(|rest| rest.split('"').next());
        ids.extend(id.map(str::to_owned));
        items.push(item);
    }
    items
}
