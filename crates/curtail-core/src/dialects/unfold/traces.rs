//! Traces of hubs: what was asked, and what a model answered.

use serde_json::{Value as Json, json};

use super::plain;

pub(super) fn langsmith(value: &Json) -> Option<Vec<Json>> {
    value.get("run_type")?;
    let mut records = records(value.get("inputs")?, value.get("outputs"))?;
    if let Some(parameters) = value.pointer("/extra/invocation_params") {
        records.iter_mut().for_each(|record| add_preamble(record, parameters));
    }
    Some(records)
}

pub(super) fn weave(value: &Json) -> Option<Vec<Json>> {
    value.get("op_name")?;
    records(value.get("inputs")?, value.get("output"))
}

pub(super) fn langfuse(value: &Json) -> Option<Vec<Json>> {
    value.get("traceId").or_else(|| value.get("trace_id"))?;
    records(value.get("input")?, value.get("output"))
}

/// The records of what a trace calls the input and the output: one for each list of messages, as a batch has several.
pub(super) fn records(input: &Json, output: Option<&Json>) -> Option<Vec<Json>> {
    let input = plain(input);
    let chats = chats_in(&input)?;
    let output = output.map(plain).unwrap_or_default();
    let records = chats.into_iter().enumerate().map(|(nth, asked)| {
        let replies = replies(&output, nth);
        // The output of a graph is its state, with what was asked.
        let messages = if repeats(&replies, &asked) { replies } else { [asked, replies].concat() };
        let mut record = json!({ "messages": messages });
        add_preamble(&mut record, &input);
        record
    });
    Some(records.collect())
}

/// Adds the instructions and tools in `request` that a record has not yet.
fn add_preamble(record: &mut Json, request: &Json) {
    for key in ["system", "instructions", "tools", "functions"] {
        if let Some(value) = request.get(key).filter(|value| !value.is_null() && record.get(key).is_none()) {
            record[key] = plain(value);
        }
    }
}

/// The lists of messages in an input.
fn chats_in(input: &Json) -> Option<Vec<Vec<Json>>> {
    let input = plain(input);
    let list = match &input {
        Json::Array(list) => list,
        _ => input.get("messages").or_else(|| input.get("input")).or_else(|| input.get("contents"))?.as_array()?,
    };
    let chats: Vec<Vec<Json>> = match list.iter().map(Json::as_array).collect::<Option<Vec<_>>>() {
        Some(batch) => batch.into_iter().cloned().collect(),
        None => vec![list.clone()],
    };
    let are_chats = chats.iter().all(|list| !list.is_empty() && list.iter().all(Json::is_object));
    (!chats.is_empty() && are_chats).then_some(chats)
}

/// Whether an output begins with the messages of the input, whatever it adds to them.
fn repeats(output: &[Json], input: &[Json]) -> bool {
    output.len() > input.len() && output.iter().zip(input).all(|(one, other)| said(one) == said(other))
}

fn said(message: &Json) -> Option<&Json> {
    message.pointer("/kwargs/content").or_else(|| message.get("content"))
}

/// The reply in an output to the list of messages with this number.
fn replies(output: &Json, nth: usize) -> Vec<Json> {
    if let Some(reply) = object_at(output, &format!("/generations/{nth}/0/message")) {
        return vec![reply];
    }
    if nth > 0 {
        return Vec::new();
    }
    if let Some(reply) =
        ["/choices/0/message", "/message", "/output/message"].iter().find_map(|path| object_at(output, path))
    {
        return vec![reply];
    }
    match output {
        Json::String(said) => vec![json!({ "role": "assistant", "content": said })],
        Json::Object(object) if object.contains_key("role") || object.contains_key("kwargs") => vec![output.clone()],
        _ => chats_in(output).into_iter().flatten().flatten().collect(),
    }
}

fn object_at(output: &Json, path: &str) -> Option<Json> {
    output.pointer(path).filter(|found| found.is_object()).cloned()
}
