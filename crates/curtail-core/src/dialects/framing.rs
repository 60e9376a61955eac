//! How transcripts are laid out in a text, and under which key a record keeps its messages.

use super::foreign::format_of_item;
use super::read_error::ReadError;
use super::row::Row;
use super::{answers, described};
use crate::json::{Document, ParseErrorKind, Span, Value};
use crate::transcript::{Answers, Style};

/// How transcripts are laid out in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A message or event per line: the file is one transcript.
    Lines,
    /// A transcript per line.
    Records,
    /// The file is one JSON value: a transcript or a list of transcripts.
    Document,
}

impl Framing {
    /// Its name, as `--framing` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Records => "records",
            Self::Document => "document",
        }
    }
}

/// Keys under which records keep their messages, in the order in which they are looked for.
const LIST_KEYS: &[&str] = &[
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

/// Keys of a message, in most dialects.
const MESSAGE_KEYS: &[&str] = &["role", "content", "from", "parts", "sender", "tool_calls", "tool_call_id", "payload"];

/// Whether `text`, which is not JSON, contains a key of messages or of lists of them.
pub(super) fn names_messages(text: &str) -> bool {
    LIST_KEYS.iter().chain(MESSAGE_KEYS).any(|key| text.contains(&format!("\"{key}\"")))
}

/// Detects the framing of a text from its first values. `head` is the text, or a beginning of it that ends with a line.
#[must_use]
pub fn detect_framing(head: &str, messages_key: Option<&str>) -> Framing {
    by_head(head, messages_key).unwrap_or(Framing::Lines)
}

/// Detects the framing of a stream that may never end from its first lines alone: `head` ends with a line, and the next
/// line is not awaited. A list of messages, which may be a document, is taken as the first of many records; both are read
/// in the same way.
#[must_use]
pub fn framing_of_first(head: &str, messages_key: Option<&str>) -> Framing {
    match by_head(head, messages_key) {
        Some(Framing::Document) => {
            let first = head.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty());
            let document = first.and_then(|first| Document::parse_all(first).ok());
            let list = document.as_ref().and_then(|document| document.roots().next()).filter(|root| root.is_array());
            let alone = list.is_some_and(|list| held_records(list, messages_key).is_none());
            if alone { Framing::Records } else { Framing::Document }
        }
        // Only broken lines: each one is reported.
        None => Framing::Records,
        Some(framing) => framing,
    }
}

/// The framing of the first line that is a record; `None` if there is none.
fn by_head(head: &str, messages_key: Option<&str>) -> Option<Framing> {
    let mut lines = lines_of(head);
    let Some(first) = lines.next() else { return Some(Framing::Lines) };
    match record_in(first) {
        Some(document) => Some(by_value(&document, lines.next().is_some(), messages_key)),
        None if !begins_damaged(head) => Some(Framing::Document),
        None => lines.take(16).find_map(record_in).map(|document| by_value(&document, true, messages_key)),
    }
}

/// Whether the first line of `head` is torn or no record, and `head` is a log all the same: the lines after it show how it is
/// read.
#[must_use]
pub fn begins_damaged(head: &str) -> bool {
    let Some(first) = lines_of(head).next() else { return false };
    match Document::parse_all(first) {
        Ok(_) => record_in(first).is_none(),
        Err(fault) => fault.kind != ParseErrorKind::UnfinishedValue || breaks_off(head, first),
    }
}

fn lines_of(head: &str) -> impl Iterator<Item = &str> {
    head.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty())
}

/// A line that is an object or a list.
fn record_in(line: &str) -> Option<Document<'_>> {
    let document = Document::parse_all(line).ok()?;
    let is_record = document.roots().next().is_some_and(|root| root.is_object() || root.is_array());
    is_record.then_some(document)
}

/// Whether the first value of `head` ends on its `first` line, which is torn behind it, or cannot go on where a line has a value of
/// its own, perhaps behind something without quotes, or another line that begins like it is a record: it is a log, and no document.
fn breaks_off(head: &str, first: &str) -> bool {
    let beginning = first.split_inclusive(':').next().unwrap_or_default();
    let mut alike = lines_of(head).skip(1).filter(|line| line.starts_with(beginning));
    if Document::parse_first(first).is_ok() || beginning.ends_with(':') && alike.any(|line| record_in(line).is_some()) {
        return true;
    }
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let Err(fault) = Document::parse_first(head) else { return false };
    let begins_line = head[..fault.offset].trim_end_matches([' ', '\t']).ends_with('\n');
    let line = head[fault.offset..].lines().next().unwrap_or_default();
    let value = line.find(['{', '[', '"']).map(|at| &line[at..]).filter(|value| !value.starts_with('"'));
    begins_line && value.is_some_and(|value| Document::parse_first(value).is_ok())
}

/// The framing of a file whose first line is `document`; `more` says whether others follow.
fn by_value(document: &Document<'_>, more: bool, messages_key: Option<&str>) -> Framing {
    let mut roots = document.roots();
    match roots.next() {
        Some(event) if is_event(event) => Framing::Lines,
        Some(list) if list.is_array() && (more || roots.next().is_some()) => Framing::Records,
        Some(list) if list.is_array() => Framing::Document,
        Some(record) if has_messages(record, messages_key) => Framing::Records,
        Some(root) if !more && held_records(root, messages_key).is_some() => Framing::Document,
        _ => Framing::Lines,
    }
}

/// Whether a list is an event of a stream: its name and its content, and perhaps before them the path of its graph.
fn is_event(list: Value<'_>) -> bool {
    let mut steps = list.items().peekable();
    steps.next_if(|path| path.is_array());
    steps.next().is_some_and(|name| name.text().is_some())
}

/// The transcripts of a text of this framing: one for `lines`, one for a record, one or many for a document.
///
/// # Errors
/// A record contains no list of messages.
pub fn rows<'a>(
    document: &'a Document<'a>,
    framing: Framing,
    messages_key: Option<&str>,
) -> Result<Vec<Row<'a>>, ReadError> {
    let mut roots = document.roots();
    let everything = Span::new(0, end_of(document));
    if framing == Framing::Lines {
        let row = Row {
            source: document.text(),
            span: everything,
            items: roots.collect(),
            style: Style::Lines,
            record: None,
            answers: Answers::default(),
        };
        return Ok(vec![row]);
    }
    let first = roots.next();
    let held = first.filter(|_| framing == Framing::Document).and_then(|root| held_records(root, messages_key));
    let records: Vec<Value<'a>> = match held {
        Some(records) => records,
        // An interrupted write may leave two records on a line.
        None => first.into_iter().chain(roots).collect(),
    };
    records.into_iter().map(|record| row(record, messages_key)).collect()
}

/// Offsets fit, because the text of a document is shorter than 4 GiB.
fn end_of(document: &Document<'_>) -> u32 {
    u32::try_from(document.text().len()).unwrap_or(u32::MAX)
}

fn row<'a>(record: Value<'a>, messages_key: Option<&str>) -> Result<Row<'a>, ReadError> {
    let unnamed = messages_key.is_none();
    if let Some(row) = answers::row(record).filter(|_| unnamed) {
        return Ok(row);
    }
    if record.is_array() {
        return Ok(Row::of_list(record, None));
    }
    if let Some(list) = find_list(record, messages_key) {
        return Ok(Row::of_list(list, Some(record)));
    }
    if let Some([prompt, completion]) = two_lists(record).filter(|_| unnamed) {
        let span = Span::new(prompt.span().start, completion.span().end);
        return Ok(Row { span, items: vec![prompt, completion], ..Row::of_list(prompt, Some(record)) });
    }
    // Questions without an answer, as TRL keeps them.
    let list = answers::prompt_alone(record).filter(|_| unnamed).ok_or_else(|| no_messages(record, messages_key))?;
    Ok(Row::of_list(list, Some(record)))
}

/// The lists of a row whose transcript is divided: what was asked, and what a model made of it. Other members may stand
/// between them.
fn two_lists(record: Value<'_>) -> Option<[Value<'_>; 2]> {
    let [prompt, completion] = record.get_each(["prompt", "completion"]);
    let lists = [prompt?, completion?];
    let in_order = lists[0].span().end <= lists[1].span().start;
    (in_order && lists.into_iter().all(answers::is_list_of_objects)).then_some(lists)
}

/// The error for a record without a list of messages.
fn no_messages(record: Value<'_>, messages_key: Option<&str>) -> ReadError {
    let reason = if let Some(key) = messages_key {
        format!("no list of messages under `{key}`; check --messages-key")
    } else if let Some(foreign) = format_of_item(record) {
        foreign.refusal()
    } else if is_span(record) {
        EMPTY_SPANS.to_owned()
    } else {
        let keys = LIST_KEYS.join(", ");
        match described::places_of_user().as_slice() {
            [] => format!("no list of messages in this object (looked under {keys}); pass --messages-key KEY"),
            places => format!(
                "no list of messages in this object: none at `{}`, where `list` of a description says, and none under {keys}",
                places.join("`, `")
            ),
        }
    };
    ReadError { offset: record.span().start as usize, what: reason }
}

/// The records that a document is or contains. The first one decides whether they are records or messages.
fn held_records<'a>(root: Value<'a>, messages_key: Option<&str>) -> Option<Vec<Value<'a>>> {
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

fn has_messages(record: Value<'_>, messages_key: Option<&str>) -> bool {
    find_list(record, messages_key).is_some()
        || messages_key.is_none()
            && (two_lists(record).is_some() || answers::has_answers(record) || answers::prompt_alone(record).is_some())
}

/// The list of messages of a record.
fn find_list<'a>(record: Value<'a>, messages_key: Option<&str>) -> Option<Value<'a>> {
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

/// The requests of a chat, each with a message and a response.
fn requests(record: Value<'_>) -> Option<Value<'_>> {
    let [requests, session] = record.get_each(["requests", "sessionId"]);
    requests.filter(|requests| match requests.items().next() {
        Some(first) => first.get("requestId").is_some(),
        None => session.is_some() && requests.is_array(),
    })
}

/// The value at `path`: keys joined by dots, each of which may contain dots itself.
fn at_path<'a>(value: Value<'a>, path: &str) -> Option<Value<'a>> {
    value.get(path).or_else(|| {
        let mut dots = path.match_indices('.');
        dots.find_map(|(dot, _)| value.get(&path[..dot]).and_then(|inner| at_path(inner, &path[dot + 1..])))
    })
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
