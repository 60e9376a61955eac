//! Scripts as Codex rollouts: Responses items in an envelope, each followed by an event that repeats nothing.

use super::{Turn, responses, tokens};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let items = responses::serialize(script).into_iter();
    // Every third event has no figures.
    let event = |nth: usize| {
        let info = format!(",\"info\":{{\"last_token_usage\":{{\"input_tokens\":{}}}}}", tokens(nth));
        let info = if nth % 3 == 2 { "" } else { info.as_str() };
        format!("{{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\"{info}}}}}")
    };
    let wrapped = |item| format!("{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{item}}}");
    items.enumerate().flat_map(|(nth, item)| [wrapped(item), event(nth)]).collect()
}

/// As the program writes a session in which a person takes turns back now and then.
pub fn serialize_rewound(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    for (nth, turn) in script.iter().enumerate() {
        if let Turn::User(text) = turn
            && (nth + text.len()).is_multiple_of(3)
        {
            items.push(format!(
                "{{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"thread_rolled_back\",\"num_turns\":{}}}}}",
                1 + nth % 2
            ));
        }
        items.extend(serialize(std::slice::from_ref(turn)));
    }
    items
}
