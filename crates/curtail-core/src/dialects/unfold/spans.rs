//! Spans of OpenTelemetry, whose attributes hold messages in strings or under flat keys.

use std::collections::VecDeque;

use foldhash::HashSet;
use serde_json::{Map, Value as Json, json};

use super::traces::records;
use super::{decoded, items, plain, text_of};

/// Attributes that hold what a model was asked, and what it answered.
pub(super) const INPUT: &str = "gen_ai.input.messages";
pub(super) const OUTPUT: &str = "gen_ai.output.messages";

/// The spans in a value that holds them as OTLP writes them, with what is beside them; any other value as it is.
pub(super) fn in_resources(value: Json) -> Vec<Json> {
    let scopes = items(&value["resourceSpans"]).flat_map(|resource| items(&resource["scopeSpans"]));
    let mut spans: Vec<Json> = scopes.flat_map(|scope| items(&scope["spans"])).cloned().collect();
    let mut rest = value;
    if let Some(members) = rest.as_object_mut().filter(|_| !spans.is_empty()) {
        members.remove("resourceSpans");
    }
    if spans.is_empty() || rest.as_object().is_some_and(|rest| !rest.is_empty()) {
        spans.push(rest);
    }
    spans
}

/// A span by the conventions of OpenTelemetry, with messages in its attributes or beside them.
pub(super) fn opentelemetry(value: &Json) -> Option<Vec<Json>> {
    let record = value.as_object().filter(|record| record.get(INPUT).is_some_and(Json::is_string));
    let attributes = record.cloned().or_else(|| attributes(value))?;
    let lists = [INPUT, OUTPUT].map(|key| attributes.get(key).and_then(decoded));
    let [asked, answered] = lists.map(|list| list.and_then(|list| list.as_array().cloned()));
    if asked.is_none() && answered.is_none() {
        return None;
    }
    let messages = asked.into_iter().chain(answered).flatten().collect();
    let mut record = Map::new();
    record.insert(INPUT.to_owned(), Json::Array(messages));
    for key in ["gen_ai.system_instructions", "gen_ai.tool.definitions"] {
        record.extend(attributes.get(key).map(|value| (key.to_owned(), plain(value))));
    }
    Some(vec![Json::Object(record)])
}

/// A span by the conventions of `OpenInference`.
pub(super) fn openinference(value: &Json) -> Option<Vec<Json>> {
    let attributes = attributes(value)?;
    let tree = nested(&attributes);
    let [mut messages, answers] = ["input_messages", "output_messages"]
        .map(|key| items(&tree["llm"][key]).filter_map(|item| span_message(&item["message"])).collect::<Vec<_>>());
    if messages.is_empty() {
        // What instruments that know no messages record.
        let asked = attributes.get("input.value").and_then(|input| records(input, attributes.get("output.value")));
        if asked.is_some() || answers.is_empty() {
            return asked;
        }
    }
    answer_in_order(&mut messages);
    messages.extend(answers);
    let mut record = json!({ "messages": messages });
    let tools: Vec<Json> =
        items(&tree["llm"]["tools"]).filter_map(|item| Some(plain(item.pointer("/tool/json_schema")?))).collect();
    if !tools.is_empty() {
        record["tools"] = Json::Array(tools);
    }
    Some(vec![record])
}

/// Lets results that name no call answer the calls before them that no other result names, in order.
fn answer_in_order(messages: &mut [Json]) {
    let mut open = VecDeque::new();
    for at in 0..messages.len() {
        if messages[at].get("tool_calls").is_some() {
            open = unnamed_calls(&messages[at..]);
        } else if messages[at]["role"] == "tool" && messages[at]["tool_call_id"].is_null() {
            messages[at]["tool_call_id"] = open.pop_front().unwrap_or_default();
        }
    }
}

/// The ids of the calls in the first of `messages` that no result before the next calls names.
fn unnamed_calls(messages: &[Json]) -> VecDeque<Json> {
    let results = messages.iter().skip(1).take_while(|message| message.get("tool_calls").is_none());
    let named: HashSet<&Json> = results.map(|result| &result["tool_call_id"]).collect();
    let ids = items(&messages[0]["tool_calls"]).map(|call| &call["id"]);
    ids.filter(|id| !named.contains(id)).cloned().collect()
}

/// A message of a span, as chat completions write it.
fn span_message(message: &Json) -> Option<Json> {
    let role = text_of(message, "role")?;
    let mut chat = json!({ "role": role, "content": message.get("content").cloned().unwrap_or(Json::Null) });
    let blocks = items(&message["contents"]).map(|item| &item["message_content"]);
    let (thoughts, blocks): (Vec<&Json>, Vec<&Json>) = blocks.partition(|block| block["type"] == "reasoning");
    if !blocks.is_empty() {
        chat["content"] = blocks.into_iter().map(span_block).collect();
    }
    let thoughts: Vec<&str> = thoughts.into_iter().filter_map(|block| text_of(block, "text")).collect();
    if !thoughts.is_empty() {
        chat["reasoning_content"] = json!(thoughts.join("\n"));
    }
    let calls: Vec<Json> = items(&message["tool_calls"]).map(|item| span_call(&item["tool_call"])).collect();
    if !calls.is_empty() {
        chat["tool_calls"] = Json::Array(calls);
    }
    if let Some(name) = message.get("name").or_else(|| message.get("function_call_name")).filter(|_| role == "function")
    {
        chat["name"] = name.clone();
    } else if let Some(name) = message.get("function_call_name") {
        let arguments = message.get("function_call_arguments_json").cloned().unwrap_or_else(|| json!("{}"));
        chat["function_call"] = json!({ "name": name, "arguments": arguments });
    }
    if role == "tool" {
        chat["tool_call_id"] = message.get("tool_call_id").cloned().unwrap_or(Json::Null);
    }
    Some(chat)
}

fn span_block(block: &Json) -> Json {
    if text_of(block, "type") == Some("image") {
        let image = &block["image"];
        return json!({ "type": "image_url", "image_url": image.get("image").unwrap_or(image) });
    }
    json!({ "type": "text", "text": block.get("text").cloned().unwrap_or_else(|| Json::String(block.to_string())) })
}

fn span_call(call: &Json) -> Json {
    let arguments = call.pointer("/function/arguments").cloned().unwrap_or_else(|| json!("{}"));
    json!({ "id": call["id"], "type": "function", "function": { "name": call["function"]["name"], "arguments": arguments } })
}

/// The attributes of a span: an object, or a list of keys with values.
pub(super) fn attributes(span: &Json) -> Option<Map<String, Json>> {
    match span.get("attributes")? {
        Json::Object(attributes) => Some(attributes.clone()),
        Json::Array(list) => {
            let pairs = list.iter().filter_map(|pair| {
                let value = pair.get("value")?.as_object()?.values().next()?;
                Some((text_of(pair, "key")?.to_owned(), value.clone()))
            });
            Some(pairs.collect())
        }
        _ => None,
    }
}

/// The tree that flat keys spell: `llm.input_messages.0.message.role`.
fn nested(attributes: &Map<String, Json>) -> Json {
    let mut tree = Json::Object(Map::new());
    let mut keys: Vec<(&String, &Json)> = attributes.iter().filter(|(key, _)| key.starts_with("llm")).collect();
    keys.sort_by_key(|(key, _)| numbered(key));
    for (key, value) in keys {
        let steps: Vec<&str> = key.split('.').collect();
        put(&mut tree, &steps, value);
    }
    tree
}

/// Puts a value at its place in a tree. Keys come in the order of their numbers: a gap in a list is closed.
fn put(here: &mut Json, steps: &[&str], value: &Json) {
    const NUMBER: &str = "#";
    let Some((step, rest)) = steps.split_first() else {
        *here = value.clone();
        return;
    };
    if step.parse::<usize>().is_ok() {
        if !here.is_array() {
            *here = Json::Array(Vec::new());
        }
        let Json::Array(list) = here else { return };
        if list.last().is_none_or(|last| last[NUMBER] != **step) {
            list.push(json!({ NUMBER: step }));
        }
        if let Some(last) = list.last_mut() {
            put(last, rest, value);
        }
        return;
    }
    if !here.is_object() {
        *here = Json::Object(Map::new());
    }
    if let Json::Object(object) = here {
        put(object.entry(*step).or_insert(Json::Null), rest, value);
    }
}

/// A key with its numbers as numbers, so that 10 comes after 9.
fn numbered(key: &str) -> Vec<(u64, &str)> {
    key.split('.').map(|step| step.parse().map_or((u64::MAX, step), |number| (number, ""))).collect()
}
