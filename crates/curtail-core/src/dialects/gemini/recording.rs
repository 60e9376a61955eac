//! The parts of the format that only recordings of the Gemini CLI have: headers and updates of them, thoughts beside the
//! content, and `toolCalls`, each a call with its result.

use crate::dialects::{Fit, blocks, gemini};
use crate::json::{Span, Text, Value};
use crate::transcript::{Content, Family, Part, PartPlace, Rewrite, ToolCall, ToolResult, Usage};

/// Whether a line is the header of a recording, or an update of it. What has an id is a message, except a rewind.
pub(super) fn is_header(item: Value<'_>) -> bool {
    let [session, project, set, rewind, id] = item.get_each(["sessionId", "projectHash", "$set", "$rewindTo", "id"]);
    let header = session.is_some() && project.is_some() || set.is_some_and(Value::is_object);
    rewind.is_some() || header && id.is_none_or(|id| id.text().is_none())
}

/// Whether a line says nothing but when the recording changed, so that a later one says it again.
pub(super) fn is_passing(item: Value<'_>) -> bool {
    let mut set = item.get("$set").into_iter().flat_map(Value::members);
    item.get("$rewindTo").is_some() || item.get("$set").is_some() && set.all(|member| member.key.is("lastUpdated"))
}

/// Whether an item is a line of a recording, and no content of the API or event.
pub(super) fn is_record(item: Value<'_>) -> bool {
    let [kind, role, author] = item.get_each(["type", "role", "author"]);
    kind.is_some() && role.is_none() && author.is_none() || is_header(item)
}

/// Whether a record is metadata: a header, or a notice for the user.
pub(super) fn is_metadata(item: Value<'_>) -> bool {
    const NOTICES: &[&str] = &["info", "warning", "error"];
    let notice = item.get_text("type").is_some_and(|kind| NOTICES.iter().any(|name| kind.is(name)));
    is_header(item) || notice && item.get("role").is_none()
}

/// How well a single record fits.
pub(super) fn fit(item: Value<'_>) -> Fit {
    let Some(kind) = item.get_text("type") else { return Fit::No };
    let enveloped = ["role", "message", "uuid", "payload", "data"].iter().any(|key| item.get(key).is_some());
    if enveloped || item.get("content").is_none() {
        return Fit::No;
    }
    match &*kind.decode() {
        "gemini" => Fit::Certain,
        "user" | "info" | "warning" | "error" if item.get("timestamp").is_some() => Fit::Possible,
        _ => Fit::No,
    }
}

/// The figures of a reply. The input includes cached tokens.
pub(super) fn usage(item: Value<'_>) -> Option<Usage> {
    let figures = item.some("tokens")?;
    let number = |key: &str| blocks::number(figures, key);
    let (input, output) = (number("input"), number("output") + number("thoughts"));
    (input > 0).then(|| Usage { input, cache_read: number("cached"), output, ..Usage::default() })
}

/// The thoughts beside the content.
pub(super) fn thoughts(item: Value<'_>) -> Vec<Part<'_>> {
    let thoughts = item.get("thoughts").into_iter().flat_map(Value::items);
    thoughts
        .map(|thought| Part::from_source(Content::Reasoning(thought_text(thought)), PartPlace::in_shell(thought)))
        .collect()
}

fn thought_text(thought: Value<'_>) -> Text<'_> {
    match (thought.get_text("subject"), thought.get_text("description")) {
        (Some(subject), Some(description)) => Text::Owned(format!("{}\n{}", subject.decode(), description.decode())),
        (only, None) | (None, only) => only.unwrap_or(Text::Escaped("")),
    }
}

/// A call for each record, and a result if there is one; both have the same bytes.
pub(super) fn tool_calls(item: Value<'_>) -> Vec<Part<'_>> {
    let records = item.get("toolCalls").into_iter().flat_map(Value::items);
    records.flat_map(|record| std::iter::once(read_call(record)).chain(read_result(record))).collect()
}

fn read_call(record: Value<'_>) -> Part<'_> {
    let call = ToolCall {
        id: record.get_text("id"),
        name: record.get_text("name").unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(record.some("args")),
        family: Family::Function,
        hosted: false,
    };
    Part::from_source(
        Content::ToolCall(call),
        PartPlace { rewrite: room_for_result(record), ..PartPlace::in_shell(record) },
    )
}

/// Where the result of an open call is inserted: the CLI reads a string as the output.
fn room_for_result(record: Value<'_>) -> Option<Rewrite> {
    if let Some(result) = record.get("result") {
        return result_of(record).is_none().then(|| Rewrite { span: result.span(), before: "", after: "" });
    }
    let end = record.members().last()?.span.end;
    Some(Rewrite { span: Span::new(end, end), before: ",\"result\":", after: "" })
}

fn result_of(record: Value<'_>) -> Option<Value<'_>> {
    record.some("result").filter(|result| !result.is_array() || result.items().next().is_some())
}

fn read_result(record: Value<'_>) -> Option<Part<'_>> {
    let result = result_of(record)?;
    let (content, rewrite) = read_answer(result);
    let media = result.items().filter(|&part| matches!(gemini::plain(part), Content::Media(_))).count();
    let answer = ToolResult {
        id: record.get_text("id"),
        name: record.get_text("name"),
        content,
        media,
        family: Family::Function,
        same_message: false,
    };
    Some(Part::from_source(Content::ToolResult(answer), PartPlace { rewrite, ..PartPlace::in_shell(record) }))
}

/// A string, or parts. The text of a single response may be rewritten.
fn read_answer(result: Value<'_>) -> (Vec<Text<'_>>, Option<Rewrite>) {
    let responses: Vec<Value<'_>> =
        result.items().filter_map(|part| gemini::either(part, "functionResponse", "function_response")).collect();
    if let ([only], 1) = (responses.as_slice(), result.items().count()) {
        return gemini::answer(only.some("response"));
    }
    let texts = result.items().filter_map(|part| part.get_text("text"));
    let said = responses.iter().flat_map(|response| gemini::answer(response.some("response")).0).chain(texts);
    let content = if result.is_array() { said.collect() } else { blocks::texts(Some(result)) };
    (content, Some(Rewrite { span: result.span(), before: "", after: "" }))
}
