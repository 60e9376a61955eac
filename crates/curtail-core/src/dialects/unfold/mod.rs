//! Exports that can be looked at and not cut: trees, of which the current branch is read, and messages that are JSON inside a
//! string or under flat keys. Each is unfolded into a document with the messages that it contains.

mod rows;
mod spans;
mod traces;
mod trees;

use serde_json::{Value as Json, json};

/// What was found in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfolded {
    /// What the export is.
    pub format: &'static str,
    /// A document with a record for each conversation.
    pub text: String,
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
        "this is {format}, which is looked at (`count`, `check`, `show`, `view`) and not cut; to cut it, write its messages as a \
         list under `messages`"
    )
}

/// How much of a text shows what it is.
const HEAD: usize = 1 << 16;

/// What reads a value of one format: the records that it contains, or `None` if it is in no such format.
type Reader = fn(&Json) -> Option<Vec<Json>>;

/// A format of exports.
struct Format {
    name: &'static str,
    /// Texts of which one is at the beginning of every export.
    signs: &'static [&'static str],
    read: Reader,
    rest: Rest,
}

impl Format {
    /// Whether a value contains a record in this format.
    fn has_record(&self, value: &Json) -> bool {
        (self.read)(value).is_some_and(|records| !records.is_empty())
    }
}

/// What becomes of values of an export that are not in its format.
#[derive(PartialEq, Eq)]
enum Rest {
    /// They stay as they are: a record that is none is an error.
    Stays,
    /// They are spans and runs of something else than a model.
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
        &["llm.input_messages", "\"input.value\"", "\"input_messages\""],
        spans::openinference,
        Rest::LeftOut,
    ),
    format("a run of LangSmith", &["\"run_type\""], traces::langsmith, Rest::LeftOut),
    format("a call of Weave", &["\"op_name\""], traces::weave, Rest::LeftOut),
    format("an observation of Langfuse", &["\"traceId\"", "\"trace_id\""], traces::langfuse, Rest::LeftOut),
    format(
        "a span of OpenTelemetry with messages in strings",
        &["gen_ai.input.messages"],
        spans::opentelemetry,
        Rest::LeftOut,
    ),
    format("a row of questions and calls", &["\"answers\""], rows::xlam, Rest::Stays),
    format("a row with its messages in a string", &["\"[{", "\"[ {", "\"[\\n"], rows::in_string, Rest::Stays),
];

/// Rows of a store, which are messages only together.
const ROWS: (&str, &str) = ("rows of a store with messages in strings", "\"message_data\"");

/// What an export contains; `None` if `text` is none of these.
#[must_use]
pub fn unfolded(text: &str) -> Option<Unfolded> {
    let text = text.trim_start_matches('\u{feff}');
    let head = &text[..text.floor_char_boundary(HEAD)];
    let mut signs = FORMATS.iter().flat_map(|format| format.signs).chain([&ROWS.1]);
    if !signs.any(|sign| head.contains(sign)) || !begins_folded(text) {
        return None;
    }
    let values = spans::in_resources(values(text)?);
    if let Some(messages) = rows::of_store(&values) {
        return Some(Unfolded { format: ROWS.0, text: json!({ "messages": messages }).to_string() });
    }
    let format = FORMATS.iter().find(|format| values.iter().any(|value| format.has_record(value)))?;
    let records = |value: Json| match ((format.read)(&value), &format.rest) {
        (Some(records), _) => records,
        (None, Rest::Stays) => vec![value],
        (None, Rest::LeftOut) => Vec::new(),
    };
    Some(Unfolded { format: format.name, text: values.into_iter().flat_map(records).collect::<Json>().to_string() })
}

/// Whether the first lines, if each is a value, are of an export. A document is none of lines, and is read as a whole.
fn begins_folded(text: &str) -> bool {
    const LINES: usize = 3;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(LINES);
    let first: Option<Vec<Json>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    let Some(first) = first.filter(|first| first.len() > 1) else { return true };
    let first = spans::in_resources(first);
    let has_record = |value: &Json| FORMATS.iter().any(|format| format.has_record(value));
    rows::of_store(&first).is_some() || first.iter().any(has_record)
}

/// The values of a document that is a list, or of lines.
fn values(text: &str) -> Option<Vec<Json>> {
    let values: Vec<Json> = serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().ok()?;
    match <[Json; 1]>::try_from(values) {
        Ok([Json::Array(values)]) => Some(values),
        Ok([value]) => Some(vec![value]),
        Err(values) => Some(values),
    }
}

/// Keys under which a record has its messages, as a list or in a string.
const LISTS: [&str; 6] = ["messages", "conversations", "conversation", "trajectory", "history", "traj"];

/// Whether a value has messages of its own, or what stands for them.
fn has_list(value: &Json) -> bool {
    LISTS.iter().any(|key| value.get(key).is_some_and(|list| list.is_array() || list.is_string()))
}

fn items(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn text_of<'j>(value: &'j Json, key: &str) -> Option<&'j str> {
    value.get(key)?.as_str()
}

/// The list or object that a string holds as JSON.
fn decoded(value: &Json) -> Option<Json> {
    let text = value.as_str()?.trim_start();
    text.starts_with(['[', '{']).then(|| serde_json::from_str(text).ok()).flatten()
}

/// The value, or what it holds as JSON if it is a string.
fn plain(value: &Json) -> Json {
    decoded(value).unwrap_or_else(|| value.clone())
}

/// The texts of a list of blocks, as one; any other value as it is.
fn joined(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(blocks) => {
            let texts: Vec<String> = blocks
                .iter()
                .map(|block| text_of(block, "text").map_or_else(|| block.to_string(), str::to_owned))
                .collect();
            texts.join("\n")
        }
        value => value.to_string(),
    }
}
