//! Rows with JSON in strings.

use foldhash::HashMap;
use serde_json::{Value as Json, json};

use super::{LISTS, decoded, has_list, items, joined, plain, text_of};

/// A row with its messages in a string.
pub(super) fn in_string(value: &Json) -> Option<Vec<Json>> {
    let row = value.as_object()?;
    let lists = LISTS.iter().filter_map(|key| Some((*key, decoded(row.get(*key)?)?)));
    // A row without messages is one as well, unless another member has some.
    let (key, list) = lists.min_by_key(|(_, list)| list.as_array().is_some_and(Vec::is_empty))?;
    let is_list = list.as_array().is_some_and(|list| list.iter().all(Json::is_object));
    let is_list = is_list && (list != json!([]) || !LISTS.iter().any(|key| row.get(*key).is_some_and(Json::is_array)));
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

/// The messages of rows that each hold one in a string, or the parts of one in a string beside its role: a list for each session, in
/// the order in which they begin.
pub(super) fn of_store<'j>(rows: impl Iterator<Item = &'j Json>) -> Option<Vec<Vec<Json>>> {
    let mut sessions: Vec<Vec<Json>> = Vec::new();
    let mut places: HashMap<Option<&str>, usize> = HashMap::default();
    for row in rows {
        let message = stored_message(row)?;
        let place = *places.entry(text_of(row, SESSION)).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push(Vec::new());
        }
        sessions[place].push(message);
    }
    (!sessions.is_empty()).then_some(sessions)
}

/// The column with the id of a session.
const SESSION: &str = "session_id";

fn stored_message(row: &Json) -> Option<Json> {
    // Lines of many logs have a `message`.
    let message = row.get("message_data").or_else(|| row.get("message").filter(|_| row.get(SESSION).is_some()));
    if let Some(message) = message.and_then(decoded) {
        return Some(message);
    }
    let mut row = row.as_object()?.clone();
    let parts = row.get("parts").filter(|_| row.contains_key("role")).and_then(decoded)?;
    row.insert(String::from("parts"), parts);
    Some(Json::Object(row))
}
