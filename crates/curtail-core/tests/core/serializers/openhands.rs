//! Scripts as events of `OpenHands`, version 1 and version 0.

use std::collections::HashMap;

use super::{Call, Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().enumerate().flat_map(|(nth, turn)| events(turn, nth)).collect()
}

fn block(text: &str) -> String {
    format!("{{\"cache_prompt\":false,\"type\":\"text\",\"text\":{}}}", json(text))
}

fn event(id: &str, source: &str, members: &str, kind: &str) -> String {
    format!(
        "{{\"id\":\"{id}\",\"timestamp\":\"2026-01-21T20:40:08.511407\",\"source\":\"{source}\",{members},\"kind\":\"{kind}\"}}"
    )
}

fn events(turn: &Turn, nth: usize) -> Vec<String> {
    let id = format!("e{nth}");
    match turn {
        Turn::System(text) => {
            let prompt = format!("\"system_prompt\":{},\"tools\":[{{\"kind\":\"TerminalTool\"}}]", block(text));
            vec![event(&id, "agent", &prompt, "SystemPromptEvent")]
        }
        Turn::User(text) => {
            let members = format!("\"llm_message\":{{\"role\":\"user\",\"content\":[{}]}}", block(text));
            vec![event(&id, "user", &members, "MessageEvent")]
        }
        Turn::Result { id: call, name, text } => {
            let members = format!(
                "\"tool_name\":{},\"tool_call_id\":{},\"observation\":{{\"content\":[{}],\"is_error\":false}},\"action_id\":\"a\"",
                json(name),
                json(call),
                block(text)
            );
            vec![event(&id, "environment", &members, "ObservationEvent")]
        }
        Turn::Assistant { reasoning, text, calls } if calls.is_empty() => {
            let thought = reasoning.iter().map(|text| format!(",\"reasoning_content\":{}", json(text)));
            let content = text.iter().map(|text| block(text)).collect::<Vec<_>>().join(",");
            let members = format!(
                "\"llm_message\":{{\"role\":\"assistant\",\"content\":[{content}]{}}},\"llm_response_id\":\"r{nth}\"",
                thought.collect::<String>()
            );
            vec![event(&id, "agent", &members, "MessageEvent")]
        }
        Turn::Assistant { reasoning, text, calls } => {
            let action = |at: usize, call: &Call| action(at, call, nth, (at == 0).then_some((reasoning, text)));
            calls.iter().enumerate().map(|(at, call)| action(at, call)).collect()
        }
    }
}

/// The first call of a reply contains its reasoning and text.
fn action(at: usize, call: &Call, nth: usize, reply: Option<(&Option<String>, &Option<String>)>) -> String {
    let (reasoning, text) = reply.map_or((None, None), |(reasoning, text)| (reasoning.as_deref(), text.as_deref()));
    let signed = |text: &str| {
        format!(
            "\"reasoning_content\":{0},\"thinking_blocks\":[{{\"type\":\"thinking\",\"thinking\":{0},\"signature\":\"c2ln\"}}],",
            json(text)
        )
    };
    let members = format!(
        "\"thought\":[{}],{}\"tool_name\":{2},\"tool_call_id\":{3},\"tool_call\":{{\"id\":{3},\"name\":{2},\"arguments\":{4}}},\"llm_response_id\":\"r{nth}\"",
        text.map_or_else(String::new, block),
        reasoning.map_or_else(String::new, signed),
        json(&call.name),
        json(&call.id),
        json(&call.arguments)
    );
    event(&format!("e{nth}-{at}"), "agent", &members, "ActionEvent")
}

pub fn serialize_version_0(script: &[Turn]) -> Vec<String> {
    let mut log = Log::default();
    script.iter().for_each(|turn| log.add(turn));
    log.events
}

/// Events of version 0. Calls and results name each other by the number of the call's event: here one for every id of the script.
#[derive(Default)]
struct Log<'s> {
    events: Vec<String>,
    numbers: HashMap<&'s str, usize>,
}

impl<'s> Log<'s> {
    fn event(&mut self, number: Option<usize>, source: &str, members: &str) {
        let id = number.unwrap_or(self.events.len());
        let time = "2025-01-21T20:40:08";
        self.events.push(format!("{{\"id\":{id},\"timestamp\":\"{time}\",\"source\":\"{source}\",{members}}}"));
    }

    fn number(&mut self, id: &'s str) -> usize {
        let next = 100_000 + self.numbers.len();
        *self.numbers.entry(id).or_insert(next)
    }

    fn add(&mut self, turn: &'s Turn) {
        let message = |text: &str| format!("\"action\":\"message\",\"args\":{{\"content\":{}}}", json(text));
        match turn {
            Turn::System(text) => {
                self.event(None, "agent", &format!("\"action\":\"system\",\"args\":{{\"content\":{}}}", json(text)));
            }
            Turn::User(text) => self.event(None, "user", &format!("\"message\":{},{}", json(text), message(text))),
            Turn::Assistant { text, calls, .. } if calls.is_empty() => {
                self.event(None, "agent", &message(text.as_deref().unwrap_or_default()));
            }
            Turn::Assistant { text, calls, .. } => {
                for (nth, call) in calls.iter().enumerate() {
                    self.call(call, text.as_deref().filter(|_| nth == 0).unwrap_or_default());
                }
            }
            Turn::Result { id, name, text } => {
                let cause = self.number(id);
                let (text, made) = (json(text), made(name, id));
                let members =
                    format!("\"observation\":\"run\",\"content\":{text},\"extras\":{{}},\"cause\":{cause},{made}");
                self.event(None, "environment", &members);
            }
        }
    }

    fn call(&mut self, call: &'s Call, thought: &str) {
        let args = format!("{{\"thought\":{},{}", json(thought), &call.arguments[1..]);
        let number = self.number(&call.id);
        self.event(
            Some(number),
            "agent",
            &format!("\"action\":\"run\",\"args\":{args},{}", made(&call.name, &call.id)),
        );
    }
}

/// How the provider called the tool.
fn made(name: &str, id: &str) -> String {
    format!("\"tool_call_metadata\":{{\"function_name\":{},\"tool_call_id\":{}}}", json(name), json(id))
}
