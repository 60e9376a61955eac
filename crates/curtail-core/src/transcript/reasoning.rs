//! Which reasoning a provider wants back with the call or the text that it led to: the only place that knows it, for all formats
//! that carry it inside a message.

use super::{Content, Message, Part, PartRef};
use crate::json::Value;

/// How the ids of items begin that the Responses API refers to reasoning with, as the beginning of a string or after the id of
/// a call.
const FOLLOWERS: [&str; 6] = ["\"fc_", "|fc_", "\"msg_", "\"ws_", "\"ctc_", "\"ci_"];

/// How the id of a reasoning item begins. Some programs keep the item as a text in a string.
const ITEMS: [&str; 2] = ["\"rs_", "\\\"rs_"];

/// Members that contain a signature without which a provider rejects the calls of the message.
const CALL_SIGNATURES: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// The member beside a message that a provider wants back if the message has calls.
const BESIDE_CALLS: &str = "reasoning_content";

/// Whether the reasoning at `at` must stay as long as what it led to stays in its message: an item with an id of its own refers
/// to it, it carries the only signature of the calls, or the provider wants it with every call.
#[must_use]
pub fn requires_reasoning(messages: &[Message<'_>], at: PartRef) -> bool {
    let message = &messages[at.message];
    let part = at.part_in(messages);
    if !matches!(part.content, Content::Reasoning(_)) {
        return false;
    }
    leads_to_item(message, at.part) || signs_calls(message, part) || is_beside_calls(message, part)
}

/// Whether an item of `message` has an id of its own by which the provider looks for reasoning, and none is before it.
#[must_use]
pub fn lacks_reasoning(message: &Message<'_>) -> bool {
    let mut thought = false;
    for part in &message.parts {
        thought |= matches!(part.content, Content::Reasoning(_));
        if !thought && part.content.call().is_some_and(|call| !call.hosted) && names(part, &FOLLOWERS[..2]) {
            return true;
        }
    }
    false
}

/// Whether a reasoning item with an id of its own is inside `message`.
#[must_use]
pub fn has_reasoning_item(message: &Message<'_>) -> bool {
    message.parts.len() > 1 && message.parts.iter().any(is_item)
}

fn is_item(part: &Part<'_>) -> bool {
    matches!(part.content, Content::Reasoning(_)) && names(part, &ITEMS)
}

fn leads_to_item(message: &Message<'_>, at: usize) -> bool {
    if !is_item(&message.parts[at]) {
        return false;
    }
    let after = message.parts[at + 1..].iter().take_while(|part| !matches!(part.content, Content::Reasoning(_)));
    after.into_iter().any(|part| names(part, &FOLLOWERS))
}

/// Whether the JSON of a part, or of a copy of it, contains one of `beginnings`.
fn names(part: &Part<'_>, beginnings: &[&str]) -> bool {
    let Some(place) = part.place() else { return false };
    let has = |value: Value<'_>| beginnings.iter().any(|begin| value.raw().contains(begin));
    has(place.element) || place.copies.iter().any(|copy| has(*copy))
}

fn signs_calls(message: &Message<'_>, thought: &Part<'_>) -> bool {
    let mut calls = message.parts.iter().filter(|part| part.content.call().is_some_and(|call| !call.hosted)).peekable();
    is_signed(thought) && calls.peek().is_some() && !calls.any(is_signed)
}

/// Whether a part carries a signature that calls need.
fn is_signed(part: &Part<'_>) -> bool {
    let Some(place) = part.place() else { return false };
    let mut signatures = CALL_SIGNATURES.iter().filter_map(|key| place.element.get_text(key));
    signatures.any(|text| text.len_bound() > 0)
}

fn is_beside_calls(message: &Message<'_>, thought: &Part<'_>) -> bool {
    let element = thought.place().map(|place| place.element);
    let is_beside = |element: Value<'_>| element.parent().and_then(|holder| holder.get(BESIDE_CALLS)) == Some(element);
    element.is_some_and(is_beside) && message.calls().any(|(_, call)| !call.hosted)
}
