//! Exports that can be looked at and not cut: trees, of which the current branch is read, and messages that are JSON inside a
//! string or under flat keys. Each is unfolded into a document with the messages that it contains.

mod leftovers;
mod rows;
mod spans;
mod traces;
mod trees;

use serde_json::{Map, Value as Json};

use super::loose_json::loose;
use super::read_error::ReadError;
use crate::json::{Document, Value};
use crate::places::{Locator, MadePart};
use leftovers::{holds_messages, is_record};

/// What was found in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfolded {
    /// What the export is.
    pub format: &'static str,
    /// A document with a record for each conversation.
    pub text: String,
    /// The records of the document, in order.
    pub parts: Vec<MadePart>,
    /// The values of the export that hold messages and cannot be read, in order.
    pub faults: Vec<ReadError>,
}

impl Unfolded {
    /// Why nothing cuts the export, and what to do.
    #[must_use]
    pub fn refusal(&self) -> String {
        refusal(self.format)
    }
}

/// Why nothing cuts an export of this format, and what to do.
#[must_use]
pub fn refusal(format: &str) -> String {
    format!(
        "this is {format}, which is looked at (`count`, `check`, `show`, `view`, `verify`) and not cut; to cut it, write its \
         messages as a list under `messages`"
    )
}

/// How much of a text shows what it is: before the first run of a model, traces have many others.
const HEAD: usize = 1 << 18;

/// What reads a value of one format: the records that it contains, or `None` if it is in no such format.
type Reader = fn(&Json) -> Option<Vec<Json>>;

/// A format of exports.
struct Format {
    name: &'static str,
    /// Texts of which one is in the beginning of every export, each with the quotation mark before it.
    signs: &'static [&'static str],
    read: Reader,
    rest: Rest,
}

impl Format {
    /// The records of a value in this format; `None` if it has none.
    fn records(&self, value: &Json) -> Option<Vec<Json>> {
        (self.read)(value).filter(|records| !records.is_empty())
    }

    /// What is wrong with a value that holds messages where nothing looks for them.
    fn fault(&self, value: Value<'_>) -> ReadError {
        ReadError {
            offset: value.span().start as usize,
            what: format!(
                "this holds messages, and is neither {} nor a record with a list of them under `messages`; write them as such a \
                 list, or remove it",
                self.name
            ),
        }
    }
}

/// What becomes of values of an export that are not in its format.
#[derive(PartialEq, Eq)]
enum Rest {
    /// They stay as they are: a record that is none is an error.
    Stays,
    /// They are spans and runs of something else than a model, unless they hold messages.
    LeftOut,
}

const fn format(name: &'static str, signs: &'static [&'static str], read: Reader, rest: Rest) -> Format {
    Format { name, signs, read, rest }
}

const FORMATS: &[Format] = &[
    format("an export of ChatGPT", &["\"mapping\""], trees::chatgpt, Rest::Stays),
    format("an export of Open WebUI", &["\"childrenIds\""], trees::open_webui, Rest::Stays),
    format("an export of LibreChat with branches", &["\"messagesTree\""], trees::librechat, Rest::Stays),
    format(
        "a span of OpenInference",
        &["\"llm.input_messages", "\"input.value\"", "\"input_messages\""],
        spans::openinference,
        Rest::LeftOut,
    ),
    format("a run of LangSmith", &["\"run_type\""], traces::langsmith, Rest::LeftOut),
    format("a call of Weave", &["\"op_name\""], traces::weave, Rest::LeftOut),
    format("an observation of Langfuse", &["\"traceId\"", "\"trace_id\""], traces::langfuse, Rest::LeftOut),
    format(
        "a span of OpenTelemetry with messages in strings",
        &["\"gen_ai.input.messages"],
        spans::opentelemetry,
        Rest::LeftOut,
    ),
    format("a row of questions and calls", &["\"answers\""], rows::xlam, Rest::Stays),
    format("a row with its messages in a string", &["\"[{", "\"[ {", "\"[\\n"], rows::in_string, Rest::Stays),
];

/// Rows of a store, which are messages only together.
const ROWS: (&str, [&str; 3]) =
    ("rows of a store with messages in strings", ["\"message_data\"", "\"message\":\"{\\\"", "\"message\": \"{\\\""]);

/// Whether a sign of an export is in a text.
fn has_sign(text: &str) -> bool {
    let signs: Vec<&[u8]> =
        FORMATS.iter().flat_map(|format| format.signs).chain(&ROWS.1).map(|sign| sign.as_bytes()).collect();
    // Few strings begin as a sign does.
    let begins: Vec<[u8; 2]> = signs.iter().map(|sign| [sign[1], sign[2]]).collect();
    memchr::memchr_iter(b'"', text.as_bytes()).any(|at| match &text.as_bytes()[at..] {
        [_, first, second, ..] if !begins.contains(&[*first, *second]) => false,
        rest => signs.iter().any(|sign| rest.starts_with(sign)),
    })
}

/// A value of an export, or of one that has several.
struct Piece {
    /// The number of the value that it is, or was in.
    of: usize,
    json: Json,
}

impl Piece {
    fn all_of(of: usize, values: Vec<Json>) -> impl Iterator<Item = Self> {
        values.into_iter().map(move |json| Self { of, json })
    }
}

/// What an export contains; `None` if `whole`, all of a file, is none of these.
#[must_use]
pub fn unfolded(whole: &str) -> Option<Unfolded> {
    let text = whole.trim_start_matches('\u{feff}');
    if !has_sign(&text[..text.floor_char_boundary(HEAD)]) || !begins_folded(text) {
        return None;
    }
    let document = Document::parse_all(whole).ok()?;
    let listed = listed(&document);
    let values = pieces(listed.iter().copied());
    if let Some(store) = rows::of_store(&values) {
        let faults = store.unread.into_iter().map(|row| rows::fault(listed[row])).collect();
        let (mut text, parts) = list_of(&store.sessions, &listed, whole);
        if store.sessions.len() == 1 {
            text = text[1..text.len() - 1].to_owned();
        }
        return Some(Unfolded { format: ROWS.0, text, parts, faults });
    }
    let format = FORMATS.iter().find(|format| values.iter().any(|value| format.records(&value.json).is_some()))?;
    let mut records = Vec::new();
    let mut lost = Vec::new();
    for Piece { of, json } in values {
        if let Some(read) = (format.read)(&json) {
            records.extend(Piece::all_of(of, read));
        } else if is_record(&json) {
            records.push(Piece { of, json });
        } else if let Some(read) = FORMATS.iter().find_map(|other| other.records(&json)) {
            records.extend(Piece::all_of(of, read));
        } else if format.rest == Rest::Stays {
            records.push(Piece { of, json });
        } else if holds_messages(&json) {
            lost.push(of);
        }
    }
    lost.dedup();
    let faults = lost.into_iter().map(|nth| format.fault(listed[nth])).collect();
    let (text, parts) = list_of(&records, &listed, whole);
    Some(Unfolded { format: format.name, text, parts, faults })
}

/// A list of `records`, which are of the values `listed` of a text, and its parts.
fn list_of(records: &[Piece], listed: &[Value<'_>], whole: &str) -> (String, Vec<MadePart>) {
    let mut places = Locator::new(whole.as_bytes(), 1);
    let mut parts = Vec::with_capacity(records.len());
    let mut text = String::from("[");
    for Piece { of, json } in records {
        if !parts.is_empty() {
            text.push(',');
        }
        parts.push(MadePart { offset: text.len(), place: places.place(listed[*of].span().start as usize) });
        text.push_str(&json.to_string());
    }
    text.push(']');
    (text, parts)
}

/// Whether one of the first lines, if the first is a value, is of an export. A document is none of lines, and is read as a whole.
fn begins_folded(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let begins_with_value = lines.next().is_some_and(|first| Document::parse_all(first).is_ok());
    if !begins_with_value || lines.next().is_none() {
        return true;
    }
    let mut seen = 0;
    let near = text.lines().take_while(|line| {
        let is_near = seen < HEAD;
        seen += line.len();
        is_near
    });
    near.filter(|line| has_sign(line)).any(is_folded)
}

/// Whether a line is of an export.
fn is_folded(line: &str) -> bool {
    let Ok(document) = Document::parse_all(line) else { return false };
    let values = pieces(document.roots());
    rows::of_store(&values).is_some()
        || values.iter().any(|value| FORMATS.iter().any(|format| format.records(&value.json).is_some()))
}

/// The values of an export, each span of a resource for itself.
fn pieces<'a>(values: impl Iterator<Item = Value<'a>>) -> Vec<Piece> {
    let spans = values.map(|value| spans::in_resources(json_of(value)));
    spans.enumerate().flat_map(|(of, spans)| Piece::all_of(of, spans)).collect()
}

/// The values of a document that is a list, or of lines.
fn listed<'a>(document: &'a Document<'_>) -> Vec<Value<'a>> {
    let roots: Vec<Value<'_>> = document.roots().collect();
    match roots.as_slice() {
        [list] if list.is_array() => list.items().collect(),
        _ => roots,
    }
}

/// A value of a document; a branch of `LibreChat` is a list in it.
fn json_of(value: Value<'_>) -> Json {
    let Some(tree) = value.get(trees::NESTED) else { return loose(value) };
    let mut members = without(value, trees::NESTED);
    members.insert(trees::NESTED.to_owned(), trees::flattened(tree));
    Json::Object(members)
}

/// The members of an object but one.
fn without(object: Value<'_>, key: &str) -> Map<String, Json> {
    let members = object.members().filter(|member| !member.key.is(key));
    members.map(|member| (member.key.into_decoded().into_owned(), loose(member.value))).collect()
}

/// Keys under which a record has its messages, as a list or in a string.
const LISTS: [&str; 6] = ["messages", "conversations", "conversation", "trajectory", "history", "traj"];

/// Whether a value has messages of its own, or what stands for them.
fn has_list(value: &Json) -> bool {
    LISTS.iter().any(|key| value.get(key).is_some_and(|list| list.is_array() || list.is_string()))
}

fn items(value: &Json) -> impl Iterator<Item = &Json> + Clone {
    value.as_array().into_iter().flatten()
}

fn text_of<'j>(value: &'j Json, key: &str) -> Option<&'j str> {
    value.get(key)?.as_str()
}

/// The list or object that a string holds as JSON.
fn decoded(value: &Json) -> Option<Json> {
    let text = value.as_str().filter(|text| is_begun(text))?;
    serde_json::from_str(text).ok()
}

/// Whether a string begins as a list or an object does.
fn is_begun(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{'])
}

/// The value, or what it holds as JSON if it is a string.
fn plain(value: &Json) -> Json {
    decoded(value).unwrap_or_else(|| value.clone())
}

/// The texts of a list of blocks, as one; any other value as it is.
fn joined(value: &Json) -> String {
    match value.as_array() {
        Some(blocks) => blocks.iter().map(part_text).collect::<Vec<_>>().join("\n"),
        None => part_text(value),
    }
}

/// The text of a part; the part itself if it has none.
fn part_text(part: &Json) -> String {
    let text = part.as_str().or_else(|| text_of(part, "text")).or_else(|| text_of(part, "content"));
    text.map_or_else(|| part.to_string(), str::to_owned)
}
