//! Scripts as plain chats: text, and nothing else.

use super::{Turn, json};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let speech = |turn: &Turn| match turn {
        Turn::System(text) => Some(("system", text.clone())),
        Turn::User(text) => Some(("user", text.clone())),
        Turn::Assistant { text, .. } => text.clone().map(|text| ("ai", text)),
        Turn::Result { .. } => None,
    };
    let speech = script.iter().filter_map(speech);
    speech.map(|(speaker, text)| format!("{{\"speaker\":\"{speaker}\",\"text\":{}}}", json(&text))).collect()
}
