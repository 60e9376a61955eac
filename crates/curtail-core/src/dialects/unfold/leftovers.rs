//! What stands beside the spans and runs of an export, and is read by no format.

use serde_json::Value as Json;

use super::spans::{INPUT, OUTPUT, attributes};
use super::{LISTS, decoded, items, text_of};
use crate::dialects::sharegpt;

/// Keys that make a value a span, a run, a call or an observation.
const SPANS: [&str; 5] = ["attributes", "run_type", "op_name", "traceId", "trace_id"];

/// Beginnings of attributes that hold the messages of a span.
const ATTRIBUTES: [&str; 4] = [INPUT, OUTPUT, "llm.input_messages", "llm.output_messages"];

/// Whether a value that no format reads has a list of messages, as records that are no exports have.
pub(super) fn is_record(value: &Json) -> bool {
    let attribute = value.get("attributes").and_then(|attributes| attributes.get(INPUT));
    let lists = LISTS.iter().filter_map(|key| value.get(key)).chain(attribute);
    lists.into_iter().any(is_list) || is_list(value) && items(value).all(is_message)
}

/// Whether a value is a list of objects, and of one at least.
fn is_list(list: &Json) -> bool {
    items(list).next().is_some() && items(list).all(Json::is_object)
}

/// Whether a value holds messages where nothing looks for them. Any other is a span or a run of something else than a model, or
/// says something about the export.
pub(super) fn holds_messages(value: &Json) -> bool {
    let is_span = SPANS.iter().any(|key| value.get(key).is_some());
    // What was asked of a chain or a tool, and what it answered, is in the run of the model as well.
    if is_span { names_messages(value) } else { has_message(value) }
}

fn names_messages(span: &Json) -> bool {
    let Some(attributes) = attributes(span) else { return false };
    attributes.keys().any(|key| ATTRIBUTES.iter().any(|name| key.starts_with(name)))
}

/// Whether a message is somewhere in a value, or in the JSON of a string in it.
fn has_message(value: &Json) -> bool {
    match value {
        Json::Object(members) => is_message(value) || members.values().any(has_message),
        Json::Array(list) => list.iter().any(has_message),
        Json::String(_) => decoded(value).is_some_and(|value| has_message(&value)),
        _ => false,
    }
}

/// Whether somebody says something in a value: who wrote a note or a score is none of those who speak.
fn is_message(value: &Json) -> bool {
    let mut names = ["from", "sender", "author"].iter().filter_map(|key| text_of(value, key));
    let mut said = ["content", "parts", "tool_calls", "text", "value"].iter().filter_map(|key| value.get(key));
    let speaks = text_of(value, "role").is_some() || names.any(|name| sharegpt::role_of(name).is_some());
    speaks && said.any(|said| !said.is_null())
}
