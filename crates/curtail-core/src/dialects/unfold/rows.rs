//! Rows with JSON in strings.

use foldhash::HashMap;
use serde_json::{Value as Json, json};

use super::{LISTS, Piece, decoded, has_list, is_begun, items, joined, plain, text_of};
use crate::dialects::ReadError;
use crate::json::Value;

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

/// What the rows of a store hold.
pub(super) struct Store {
    /// A record for each session, in the order in which they begin.
    pub(super) sessions: Vec<Piece>,
    /// The numbers of the rows whose message cannot be read.
    pub(super) unread: Vec<usize>,
}

/// What rows hold that each have a message in a string, or the parts of one in a string beside its role.
pub(super) fn of_store(rows: &[Piece]) -> Option<Store> {
    let mut sessions: Vec<(usize, Vec<Json>)> = Vec::new();
    let mut unread = Vec::new();
    let mut places: HashMap<Option<&str>, usize> = HashMap::default();
    for Piece { of, json: row } in rows {
        let column = column(row)?;
        let Some(message) = message_in(row, column) else {
            unread.push(*of);
            continue;
        };
        let place = *places.entry(text_of(row, SESSION)).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push((*of, Vec::new()));
        }
        sessions[place].1.push(message);
    }
    let sessions = sessions.into_iter().map(|(of, messages)| Piece { of, json: json!({ "messages": messages }) });
    let sessions: Vec<Piece> = sessions.collect();
    (!sessions.is_empty()).then_some(Store { sessions, unread })
}

/// What is wrong with a row whose message cannot be read.
pub(super) fn fault(row: Value<'_>) -> ReadError {
    let what =
        "the message in this row is not whole JSON, perhaps because it was cut off; correct it, or remove the row";
    ReadError { offset: row.span().start as usize, what: String::from(what) }
}

/// The column with the id of a session.
const SESSION: &str = "session_id";
/// The column with the parts of a message.
const PARTS: &str = "parts";

/// The column of a row that has a message or its parts, as JSON in a string, whole or not.
fn column(row: &Json) -> Option<&'static str> {
    // Lines of many logs have a `message`.
    let columns = [("message_data", None), ("message", Some(SESSION)), (PARTS, Some("role"))];
    let mut columns = columns.into_iter().filter(|(_, beside)| beside.is_none_or(|key| row.get(key).is_some()));
    let (column, _) = columns.find(|(key, _)| text_of(row, key).is_some_and(is_begun))?;
    Some(column)
}

/// The message in a column of a row; `None` if it is not whole.
fn message_in(row: &Json, column: &str) -> Option<Json> {
    let read = decoded(&row[column])?;
    if column != PARTS {
        return Some(read);
    }
    let mut row = row.as_object()?.clone();
    row.insert(String::from(PARTS), read);
    Some(Json::Object(row))
}
