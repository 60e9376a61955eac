//! Under which keys a record keeps its messages, and a document its records.

use super::{answers, described};
use crate::json::Value;

/// Keys under which records keep their messages, in the order in which they are looked for.
pub(super) const LIST_KEYS: &[&str] = &[
    "messages",      // OpenAI, Anthropic and most others
    "conversations", // ShareGPT
    "conversation",  // datasets of chats, such as WildChat
    "items",         // conversations of the Responses API
    "input",         // requests to the Responses API
    "contents",      // requests to Gemini
    "history",       // runs of SWE-agent, and pairs of texts
    "trajectory",    // datasets of agents
    "traj",          // the same
    "events",        // sessions of the Agent Development Kit
    "steps",         // the Agent Trajectory Interchange Format
    INPUT_MESSAGES,  // spans and events of OpenTelemetry
    "question",      // the Berkeley Function Calling Leaderboard: a list of turns, each a list of messages
];

/// Where lines of a batch keep the messages of a request: under the request, in the form of OpenAI, Anthropic, Gemini and Bedrock.
/// Requests of the Model Context Protocol and of traces have the same forms.
const REQUESTS: &[(&str, &str)] = &[
    ("body", "messages"),
    ("body", "input"),
    ("params", "messages"),
    ("request", "contents"),
    ("request", "messages"),
    ("modelInput", "messages"),
];

/// The messages of a request, as spans and events of OpenTelemetry name them.
const INPUT_MESSAGES: &str = "gen_ai.input.messages";

/// Keys under which a document keeps its records. A record has a list of messages, so `history` is not the one above.
const RECORD_KEYS: &[&str] = &[
    "eval_cases", // evaluation sets of the Agent Development Kit
    "samples",    // logs of `inspect_ai`
    "history",    // exports of Chatbot UI
];

/// The records that a document is or contains. The first one decides whether they are records or messages.
pub(super) fn held_records<'a>(root: Value<'a>, messages_key: Option<&str>) -> Option<Vec<Value<'a>>> {
    let is_record = |value: Value<'_>| value.is_object() && has_messages(value, messages_key);
    if root.items().next().is_some_and(|first| first.is_array() || is_record(first)) {
        return Some(root.items().collect());
    }
    let mut lists = RECORD_KEYS.iter().filter_map(|key| root.get(key));
    if let Some(list) = lists.find(|list| list.items().next().is_some_and(is_record)) {
        return Some(list.items().collect());
    }
    let mut described = if root.is_object() { described::records_in(root) } else { Vec::new() }.into_iter();
    described.find(|records| records.first().is_some_and(|first| first.is_array() || is_record(*first)))
}

/// Whether an object is a record: it has messages under some key.
pub(super) fn has_messages(record: Value<'_>, messages_key: Option<&str>) -> bool {
    find_list(record, messages_key).is_some()
        || messages_key.is_none()
            && (two_lists(record).is_some() || answers::has_answers(record) || answers::prompt_alone(record).is_some())
}

/// The list of messages of a record.
pub(super) fn find_list<'a>(record: Value<'a>, messages_key: Option<&str>) -> Option<Value<'a>> {
    if let Some(path) = messages_key {
        return at_path(record, path).filter(|found| found.is_array());
    }
    let attributes = record.get("attributes").and_then(|attributes| attributes.get(INPUT_MESSAGES));
    let listed = LIST_KEYS.iter().filter(|key| !is_content(record, key)).filter_map(|key| record.get(key));
    let requested = REQUESTS.iter().filter_map(|(request, key)| record.get(request)?.get(key));
    let mut lists = listed.chain(attributes).chain(requested).filter(|list| is_list_of_messages(*list));
    let first = lists.next();
    if first.as_ref().is_some_and(is_filled) {
        return first;
    }
    // A column that a table fills with empty lists hides no other.
    lists.find(is_filled).or_else(|| requests(record)).or_else(|| described::list_in(record)).or(first)
}

fn is_filled(list: &Value<'_>) -> bool {
    list.items().next().is_some()
}

/// The value at `path`: keys joined by dots, each of which may contain dots itself.
fn at_path<'a>(value: Value<'a>, path: &str) -> Option<Value<'a>> {
    value.get(path).or_else(|| {
        let mut dots = path.match_indices('.');
        dots.find_map(|(dot, _)| value.get(&path[..dot]).and_then(|inner| at_path(inner, &path[dot + 1..])))
    })
}

/// Whether a list under `key` is a part of a message, as some formats call it, and no list of messages.
fn is_content(record: Value<'_>, key: &str) -> bool {
    let first = record.get(key).and_then(|list| list.items().next());
    match (key, first) {
        ("contents", Some(first)) => !first.has("parts") && !first.has("role"),
        ("items", Some(first)) => record.has("role") && !first.has("role"),
        (_, Some(_)) | ("messages" | "conversations" | "conversation", None) => false,
        (_, None) => record.has("role") && record.has("content"),
    }
}

fn is_list_of_messages(list: Value<'_>) -> bool {
    // A record is no message: it has a list of its own.
    list.is_array()
        && list.items().next().is_none_or(|first| {
            first.is_object() && !first.get("messages").is_some_and(Value::is_array) || is_exchange(first)
        })
}

/// Whether an element is a list of messages, or a pair of a user text and an assistant text.
fn is_exchange(turn: Value<'_>) -> bool {
    turn.is_array() && (turn.items().all(Value::is_object) || turn.items().all(|text| text.text().is_some()))
}

/// The requests of a chat, each with a message and a response.
fn requests(record: Value<'_>) -> Option<Value<'_>> {
    let [requests, session] = record.get_each(["requests", "sessionId"]);
    requests.filter(|requests| match requests.items().next() {
        Some(first) => first.get("requestId").is_some(),
        None => session.is_some() && requests.is_array(),
    })
}

/// The lists of a row whose transcript is divided: what was asked, and what a model made of it. Other members may stand
/// between them.
pub(super) fn two_lists(record: Value<'_>) -> Option<[Value<'_>; 2]> {
    let [prompt, completion] = record.get_each(["prompt", "completion"]);
    let lists = [prompt?, completion?];
    let in_order = lists[0].span().end <= lists[1].span().start;
    (in_order && lists.into_iter().all(answers::is_list_of_objects)).then_some(lists)
}

/// Why spans are not read that were not unfolded, or held nothing.
pub(super) const EMPTY_SPANS: &str = "no messages in these spans, unless they are inside strings, which are looked at \
    in a file without --framing and --dialect";

/// Whether a record is a span of OpenTelemetry that keeps messages as JSON inside a string, or an export of spans or logs.
pub(super) fn is_span(record: Value<'_>) -> bool {
    let attributes = record.get("attributes");
    let listed = attributes.into_iter().flat_map(Value::items).filter(|pair| pair.get("key").is_some());
    let mut holders = [Some(record), attributes].into_iter().flatten();
    holders.any(|holder| holder.get_text(INPUT_MESSAGES).is_some())
        || listed.into_iter().any(|pair| pair.get("key").is_some_and(|key| key.is(INPUT_MESSAGES)))
        || ["resourceSpans", "resourceLogs"].iter().any(|key| record.get(key).is_some_and(Value::is_array))
}

/// Keys of a message, in most dialects.
const MESSAGE_KEYS: &[&str] = &["role", "content", "from", "parts", "sender", "tool_calls", "tool_call_id", "payload"];

/// Whether `text`, which is not JSON, contains a key of messages or of lists of them.
pub(super) fn names_messages(text: &str) -> bool {
    LIST_KEYS.iter().chain(MESSAGE_KEYS).any(|key| text.contains(&format!("\"{key}\"")))
}
