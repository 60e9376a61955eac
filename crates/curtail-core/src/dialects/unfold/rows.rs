//! Rows with JSON in strings.

use serde_json::{Value as Json, json};

use super::{LISTS, decoded, has_list, items, joined, plain, text_of};

/// A row with its messages in a string.
pub(super) fn in_string(value: &Json) -> Option<Vec<Json>> {
    let row = value.as_object()?;
    let (key, list) = LISTS.iter().find_map(|key| Some((*key, decoded(row.get(*key)?)?)))?;
    let is_list = list.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Json::is_object));
    let mut row = row.clone();
    row.insert(key.to_owned(), list);
    is_list.then(|| vec![Json::Object(row)])
}

/// A row with a question and the calls that answer it. One with messages beside them is no such row.
pub(super) fn xlam(value: &Json) -> Option<Vec<Json>> {
    let query = text_of(value, "query").filter(|_| !has_list(value))?;
    let answers = plain(value.get("answers")?);
    let calls: Vec<Json> = items(&answers).enumerate().map(|(nth, answer)| call(nth, answer)).collect::<Option<_>>()?;
    let messages = [
        json!({ "role": "user", "content": query }),
        json!({ "role": "assistant", "content": null, "tool_calls": calls }),
    ];
    (!calls.is_empty()).then(|| vec![json!({ "messages": messages, "tools": value.get("tools").map(plain) })])
}

/// An answer as a call; `None` if it is none, as the answers of other questions are.
fn call(nth: usize, answer: &Json) -> Option<Json> {
    let function = json!({ "name": text_of(answer, "name")?, "arguments": joined(&answer["arguments"]) });
    Some(json!({ "id": format!("call_{nth}"), "type": "function", "function": function }))
}

/// The messages of rows that each hold one in a string, or the parts of one in a string beside its role.
pub(super) fn of_store<'j>(values: impl Iterator<Item = &'j Json>) -> Option<Vec<Json>> {
    let messages = values.map(|row| {
        if let Some(message) = row.get("message_data").or_else(|| row.get("message")).and_then(decoded) {
            return Some(message);
        }
        let mut row = row.as_object()?.clone();
        let parts = row.get("parts").filter(|_| row.contains_key("role")).and_then(decoded)?;
        row.insert(String::from("parts"), parts);
        Some(Json::Object(row))
    });
    messages.collect::<Option<_>>().filter(|messages: &Vec<Json>| !messages.is_empty())
}
