//! Scripts whose calls are texts, as chat templates make them: tags, brackets, and texts that only what follows shows to be calls.

use super::{Call, Turn, json};

/// Messages with `role` and `content`, and results of a role of their own.
pub fn serialize(script: &[Turn]) -> Vec<String> {
    script.iter().map(|turn| item(turn, "role", "content", ["system", "user", "assistant", "tool"], tagged)).collect()
}

/// The same, with results in messages of the user.
pub fn serialize_in_user(script: &[Turn]) -> Vec<String> {
    script.iter().map(|turn| item(turn, "role", "content", ["system", "user", "assistant", "user"], tagged)).collect()
}

/// Turns of `ShareGPT`.
pub fn serialize_turns(script: &[Turn]) -> Vec<String> {
    script.iter().map(|turn| item(turn, "from", "value", ["system", "human", "gpt", "tool"], bracketed)).collect()
}

/// Messages of programs without a format.
pub fn serialize_plain(script: &[Turn]) -> Vec<String> {
    script.iter().map(|turn| item(turn, "speaker", "text", ["system", "user", "ai", "environment"], spoken)).collect()
}

fn item(turn: &Turn, role: &str, content: &str, names: [&str; 4], spell: fn(&[Call]) -> String) -> String {
    let [system, user, assistant, tool] = names;
    let (name, text) = match turn {
        Turn::System(text) => (system, text.clone()),
        Turn::User(text) => (user, text.clone()),
        Turn::Result { text, .. } => (tool, format!("<tool_response>\n{text}\n</tool_response>")),
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning.as_ref().map(|thought| format!("<think>\n{thought}\n</think>\n\n"));
            let called = if calls.is_empty() { String::new() } else { spell(calls) };
            let parts = [thought, text.clone(), Some(called)];
            (assistant, parts.into_iter().flatten().collect::<String>())
        }
    };
    format!("{{\"{role}\":\"{name}\",\"{content}\":{}}}", json(&text))
}

fn tagged(calls: &[Call]) -> String {
    let tag = |call: &Call| {
        let call = format!("{{\"name\": {}, \"arguments\": {}}}", json(&call.name), call.arguments);
        format!("\n<tool_call>\n{call}\n</tool_call>")
    };
    calls.iter().map(tag).collect()
}

fn bracketed(calls: &[Call]) -> String {
    let calls: Vec<String> = calls.iter().map(|call| format!("{}(query={})", call.name, json("tides"))).collect();
    format!("[{}]", calls.join(", "))
}

fn spoken(calls: &[Call]) -> String {
    calls.iter().map(|call| format!("I use {}.", call.name)).collect()
}
