//! Scripts as Codex rollouts: Responses items in an envelope, each followed by an event that repeats nothing.

use super::{Turn, responses};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let items = responses::serialize(script).into_iter();
    let event = || String::from("{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\"}}");
    let wrapped = |item| format!("{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{item}}}");
    items.flat_map(|item| [wrapped(item), event()]).collect()
}
